"""The tokens of a text that a model was made to read: how probable each was, and what the model would rather have."""

from collections.abc import Sequence

import altair as alt

from model.measures.teacher_forcing import ForcedToken
from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.charts.share_bars import AROUND, LINE, ROOM
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import percent, position_name, quoted, visible

MOST_DRAWN = 40
Pieces = Sequence[tuple[str, str]]  # of every token itself, and of the likeliest in its place


def forced_chart(tokens: Sequence[ForcedToken], pieces: Pieces, *, theme: Theme = LIGHT) -> alt.LayerChart:
    """A bar a token, in the second colour and with the preferred token where another was likelier; 40 at most.

    ValueError where tokens and pieces do not fit together.
    """
    rows = _rows(tokens, pieces)[:MOST_DRAWN]
    base = alt.Chart(data_of(rows)).encode(
        y=alt.Y(
            "token:N",
            sort=[str(row["token"]) for row in rows],
            title=None,
            axis=alt.Axis(labelLimit=130, ticks=False, domain=False),
        ),
        x=alt.X("probability:Q", scale=alt.Scale(domain=[0, ROOM]), axis=alt.Axis(values=[0, 0.5, 1])),
        tooltip=[
            "token:N",
            alt.Tooltip("probability:Q", format=".6f"),
            alt.Tooltip("rank:Q"),
            "likeliest:N",
            alt.Tooltip("of the likeliest:Q", format=".6f"),
        ],
    )
    colour = alt.condition("datum.rank == 1", alt.value(theme.accent), alt.value(theme.second))
    bars = base.mark_bar(height=13).encode(color=colour)
    words = base.mark_text(align="left", dx=5, fontSize=FONT_SIZE - 2, color=theme.text).encode(text="said:N")
    return with_page_style(
        alt.LayerChart(layer=[bars, words]).properties(width="container", height=AROUND + LINE * len(rows)), theme
    )


def forced_table(tokens: Sequence[ForcedToken], pieces: Pieces) -> dict[str, list[object]]:
    """The same of all tokens, as columns."""
    rows = _rows(tokens, pieces)
    names = ("token", "probability", "log-probability", "rank", "likeliest", "of the likeliest")
    return {name: [row[name] for row in rows] for name in names}


def _rows(tokens: Sequence[ForcedToken], pieces: Pieces) -> list[dict[str, object]]:
    if len(tokens) != len(pieces):
        raise ValueError(f"{len(tokens)} tokens came with {len(pieces)} pieces, wanted one for each")
    return [
        {
            "token": position_name(place, piece),
            "probability": token.probability,
            "log-probability": token.log_probability,
            "rank": token.rank + 1,
            "likeliest": quoted(best),
            "of the likeliest": token.likeliest[0][1],
            "said": _said(token, best),
        }
        for place, (token, (piece, best)) in enumerate(zip(tokens, pieces, strict=True))
    ]


def _said(token: ForcedToken, best: str) -> str:
    rather = "" if not token.rank else f" · likelier: {visible(best)} {percent(token.likeliest[0][1])}"
    return percent(token.probability, 1) + rather
