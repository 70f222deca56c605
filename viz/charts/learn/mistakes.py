"""The pictures of a mistake: two lines in one chart, or two matrices side by side."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from model.measures.learn.mistakes.effect import Curves, Tables
from viz.charts.lines import line_chart
from viz.charts.number_matrices import matrix_table
from viz.theme import LIGHT, Theme

MOST_SHOWN = 8  # rows and columns of a matrix, so that a number has room on a phone


def mistake_lines(curves: Curves, titles: tuple[str, str], *, theme: Theme = LIGHT) -> alt.LayerChart:
    """The wrong line and the right one."""
    return line_chart(curves.places, {"wrong": curves.wrong, "right": curves.right}, titles, theme=theme)


def mistake_tables(
    tables: Tables, rows: Sequence[str], columns: Sequence[str], *, weights: bool
) -> list[dict[str, Any]]:
    """The first rows and columns of the wrong matrix and of the right one; ``weights`` are from 0 to 1, else counts."""
    few, form = slice(MOST_SHOWN), ".2f" if weights else ".0f"
    return [
        matrix_table(title, matrix[few, few], rows[few], columns[few], weights=weights, form=form)
        for title, matrix in (("Wrong", tables.wrong), ("Right", tables.right))
    ]
