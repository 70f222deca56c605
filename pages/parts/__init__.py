"""What the pages are built from and are not pages: Streamlit lists the files of pages/, not those of folders in it."""
