"""The flat modules of ``model``; each of its packages has a folder here. No page is opened."""
