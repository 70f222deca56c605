"""Sentences under one another as a browser component, some of their words marked."""

from collections.abc import Sequence

from pages.parts.components.component import component
from viz.sentences.sentence_rows import RowGroup, sentence_rows
from viz.theme import Theme

MARKUP = '<div class="groups"></div>'


def show_sentence_rows(groups: Sequence[RowGroup], theme: Theme, *, key: str) -> None:
    """Draw them: groups side by side where there is room, the rows of one under one another."""
    draw = component("sentence_rows", __file__, MARKUP)
    draw(key=key, data=sentence_rows(groups) | {"colours": {"mark": theme.second}}, height="content")
