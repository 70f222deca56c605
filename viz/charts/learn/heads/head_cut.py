"""Whose numbers every head holds at every position: a cell for each, named and shaded by its token."""

from collections.abc import Sequence

import altair as alt
import numpy as np
from jaxtyping import Int

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.sentences.token_strip import ink_on
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme, colour_at, colour_scale
from viz.tokens import counted, visible

CELL, AROUND = 27, 48  # pixels: of a head, of the axis above them
MOST = 14  # positions that stand side by side
LONGEST = 8


def head_cut_chart(
    origins: Int[np.ndarray, "head position 2"], tokens: Sequence[str], *, theme: Theme = LIGHT
) -> alt.LayerChart:
    """Heads down, positions across; a cell is shaded by how late in the text its token stands, and says which it is.

    origins: head and token whose numbers a cell holds. Of a long text the first positions. ValueError where tokens and
    positions are not equally many.
    """
    heads, positions = origins.shape[:2]
    if positions != len(tokens):
        raise ValueError(f"{positions} positions came with {len(tokens)} tokens")
    rows = [
        record((head, position), (int(origins[head, position, 0]), int(origins[head, position, 1])), tokens, theme)
        for head in range(heads)
        for position in range(min(positions, MOST))
    ]
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("position:O", title="position", axis=alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False)),
        y=alt.Y("head:O", title="head", axis=alt.Axis(ticks=False, domain=False)),
        tooltip=["cell:N", "holds:N"],
    )
    cells = base.mark_rect(stroke=theme.background, strokeWidth=2).encode(color=alt.Color("fill:N", scale=None))
    narrow = f"width / {min(positions, MOST)} < 48"
    names = base.mark_text(
        font=FONT,
        fontSize={"expr": f"{narrow} ? 10 : {FONT_SIZE}"},
        limit={"expr": f"width / {min(positions, MOST)} - 4"},
    ).encode(text="token:N", color=alt.Color("ink:N", scale=None))
    drawn = alt.LayerChart(layer=[cells, names]).resolve_scale(color="independent")
    return with_page_style(drawn.properties(width="container", height=AROUND + CELL * heads), theme, framed=False)


def record(
    place: tuple[int, int], origin: tuple[int, int], tokens: Sequence[str], theme: Theme
) -> dict[str, str | int]:
    """One cell: where it stands, and what it holds."""
    (head, position), (real_head, token) = place, origin
    share = 0.04 + 0.5 * token / max(1, len(tokens) - 1)
    fill = colour_at(colour_scale(theme.weights), share)
    name = visible(tokens[token].strip() or tokens[token], LONGEST)
    return {
        "head": head + 1,
        "position": position + 1,
        "token": name,
        "place": token,
        "cell": f"head {counted(head)}, position {counted(position)}",
        "holds": f"head {counted(real_head)} of “{name}”",
        "fill": fill,
        "ink": ink_on(fill),
    }
