"""The selection and its address, on every page."""
