"""Has the page begin at its top where another question is asked."""

from pages.parts.components.component import component


def begin_at_top(question: str) -> None:
    """Scroll to the top of the page, if another question stood there before."""
    component("page_top", __file__)(key="page_top", data={"question": question}, height=1)
