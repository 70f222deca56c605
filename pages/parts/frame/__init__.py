"""What stands around every page: menu, bar, links, files, theme. Nothing that only one page has."""
