"""What stands around every page: the bar, the sidebar, what a page begins with, how it prints."""
