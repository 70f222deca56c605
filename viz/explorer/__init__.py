"""The explorer: every head of every layer at once, in the browser, in a file or in a notebook.

It knows no page.
"""

from viz.explorer.standalone import html_page, show
from viz.explorer.view import View

__all__ = ["View", "html_page", "show"]
