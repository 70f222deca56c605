"""The page on paper: as wide as a sheet, without what can only be clicked."""

from pages.parts.components.component import component


def fit_paper() -> None:
    """Have the browser lay the page out at the width of a sheet before it prints; nothing of it is seen."""
    component("paper", __file__)(key="paper", height=1)
