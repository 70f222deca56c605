"""The data of a chart."""

from collections.abc import Sequence
from typing import Any, ClassVar

import altair as alt


class ChartRows:
    """Rows that Altair takes as they are, for it would copy them with every method and look at every number twice.

    They hold Python's own numbers and strings alone: nothing is converted.
    """

    _schema: ClassVar[dict[str, Any]] = {"type": "array"}  # this and to_dict are what Altair asks for

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.rows = list(rows)

    def to_dict(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        return self.rows


def data_of(rows: Sequence[dict[str, Any]]) -> alt.Data:
    return alt.Data(values=ChartRows(rows))
