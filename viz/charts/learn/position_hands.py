"""Position vectors as clocks: a hand for each position, before all positions are shifted and after."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme
from viz.tokens import decimal

RADIUS, HEIGHT = 36, 176  # pixels; the height is that of legend, clocks and words together
CENTRE = RADIUS + 4  # pixels below the legend
HAND = "M 0 0 L 0 -1"  # from the centre of the clock upwards
AREA = (2 * RADIUS) ** 2  # a shape of Vega's is as wide as the root of its size
MOST_HANDS = 4  # of a clock: more could not be told apart

Angles = Float[np.ndarray, "clock position"]


def hands_chart(
    before: Angles, after: Angles, turns: Sequence[float], names: tuple[str, str], *, theme: Theme = LIGHT
) -> alt.LayerChart:
    """A clock for each pair of dimensions, with the hands of the first positions; ``after`` dashed, in another colour.

    before, after: degrees, clockwise from the top. turns: positions to a full turn of each clock. names: of both
    kinds of hands. ValueError where they do not fit together.
    """
    if before.shape != after.shape or len(before) != len(turns):
        raise ValueError(f"hands {before.shape} and {after.shape}, wanted as many for each of {len(turns)} clocks")
    clocks = [{"clock": clock, "turn": f"1 turn in {turn_name(turn)}"} for clock, turn in enumerate(turns)]
    hands = [
        {"clock": clock, "position": position, "angle": float(angles[clock, position]), "when": name}
        for angles, name in zip((before, after), names, strict=True)
        for clock in range(len(turns))
        for position in range(min(MOST_HANDS, angles.shape[1]))
    ]
    across = alt.X("clock:O", axis=None, scale=alt.Scale(padding=0))
    base = alt.Chart(data_of(clocks)).encode(x=across)
    faces = base.mark_point(shape="circle", size=AREA, color=theme.grid, strokeWidth=2, opacity=1)
    words = base.mark_text(font=FONT, fontSize=FONT_SIZE - 2, color=theme.quiet, lineBreak="\n", baseline="top")
    layers = [
        faces.encode(y=alt.value(CENTRE)),
        drawn_hands(hands, names, across, theme).encode(y=alt.value(CENTRE)),
        words.encode(y=alt.value(CENTRE + RADIUS + 12), text="turn:N"),
    ]
    drawn = alt.LayerChart(layer=layers).properties(width="container", height=HEIGHT)
    return with_page_style(drawn, theme, framed=False)


def drawn_hands(hands: list[dict[str, Any]], names: tuple[str, str], across: alt.X, theme: Theme) -> alt.Chart:
    """The hands, turned about the centres of their clocks."""
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolSize=300, symbolStrokeWidth=2)
    colour = alt.Scale(domain=list(names), range=[theme.accent, theme.second])
    dash = alt.Scale(domain=list(names), range=[[1, 0], [4, 3]])
    return (
        alt.Chart(data_of(hands))
        .mark_point(shape=HAND, size=AREA, strokeWidth=2.5, opacity=1, filled=False)
        .encode(
            x=across,
            angle=alt.Angle("angle:Q", scale=None),
            color=alt.Color("when:N", scale=colour, legend=legend),
            strokeDash=alt.StrokeDash("when:N", scale=dash, legend=legend),
            tooltip=["position:Q", "when:N", alt.Tooltip("angle:Q", title="degrees", format=".1f")],
        )
    )


def turn_name(turn: float) -> str:
    """ "6.3\\npositions", "401\\npositions"."""
    return f"{decimal(turn, '.1f' if turn < 100 else ',.0f')}\npositions"
