"""How a logit comes to be: bars from nothing to it, one below the other, each beginning where the last one ends."""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt

from model.measures.causes.contributions import LogitStep
from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.text.causes.logit_parts import number, step_name, step_said
from viz.theme import FONT_SIZE, LIGHT, Theme, colour_at, difference_scale
from viz.tokens import decimal

CHOSEN = "chosen_step"
ROW, AROUND = 26, 40  # pixels
ROOM = 0.2  # of the width, on either side of the bars, for their numbers


def logit_waterfall(
    steps: Sequence[LogitStep], total: str, *, chosen: tuple[str, int, int] | None = None, theme: Theme = LIGHT
) -> alt.LayerChart:
    """A bar for every step, and a last one from 0 to their sum, which is called ``total``.

    Blue adds, orange takes away. chosen: kind, layer and head that are marked. The selection parameter is
    "chosen_step", with the fields kind, layer and head from 0; a head of −1 stands for all of an attention, a layer of
    −1 for what is no attention. ValueError for no steps.
    """
    if not steps:
        raise ValueError("found no steps of a logit")
    crossed = any(step.kind == "cross" for step in steps)
    rows = [row_of(place, step, crossed, chosen, theme) for place, step in enumerate(steps)]
    rows.append(total_row(len(steps), steps[-1].end, total, theme))
    names = json.dumps({row["row"]: row["name"] for row in rows})
    ends = [end for row in rows for end in (row["from"], row["to"])]
    room = ROOM * ((max(ends) - min(ends)) or 1.0)
    pick = alt.selection_point(name=CHOSEN, fields=["kind", "layer", "head"], toggle="false", empty=False)
    base = alt.Chart(data_of(rows)).encode(
        y=alt.Y(
            "row:O",
            title=None,
            sort=None,
            axis=alt.Axis(labelExpr=f"({names})[datum.value]", ticks=False, domain=False, labelLimit=240),
        ),
        tooltip=[alt.Tooltip("said:N", title="part")],
        description="said:N",
    )
    scale = alt.Scale(domain=[min(ends) - room, max(ends) + room], nice=False, zero=False)
    across = alt.X("from:Q", scale=scale, title=total, axis=alt.Axis(orient="top", tickCount=6))
    bars = base.mark_bar(height={"band": 0.72}, strokeWidth=2).encode(
        x=across,
        x2="to:Q",
        fill=alt.Fill("colour:N", scale=None),
        stroke=alt.Stroke("edge:N", scale=None),
    )
    sides: list[tuple[str, dict[str, Any]]] = [(">=", {"align": "left", "dx": 5}), ("<", {"align": "right", "dx": -5})]
    numbers = [
        base.transform_filter(f"datum.value {sign} 0")
        .mark_text(**side, fontSize=FONT_SIZE - 2, color=theme.text, aria=False, tooltip=None)
        .encode(x=alt.X("to:Q", scale=scale), text="text:N")
        for sign, side in sides
    ]
    zero = (
        alt.Chart(data_of([{"zero": 0}]))
        .mark_rule(color=theme.quiet, aria=False)
        .encode(x=alt.X("zero:Q", scale=scale))
    )
    chart = alt.LayerChart(layer=[zero, bars.add_params(pick), *numbers])
    drawn = chart.properties(width="container", height=AROUND + ROW * len(rows))
    return with_page_style(drawn, theme, framed=False)


def row_of(
    place: int, step: LogitStep, crossed: bool, chosen: tuple[str, int, int] | None, theme: Theme
) -> dict[str, Any]:
    """One step."""
    name, attention = step_name(step, crossed=crossed), step.kind in ("self", "cross")
    layer, head = (step.layer if attention else -1), (-1 if step.head is None else step.head)
    colour = colour_at(difference_scale(theme), 0.7 if step.value >= 0 else -0.7)
    return {
        "row": place,
        "kind": step.kind,
        "layer": layer,
        "head": head,
        "name": name,
        "from": step.start,
        "to": step.end,
        "value": step.value,
        "text": number(step.value),
        "said": step_said(step, name),
        "colour": colour,
        "edge": theme.text if chosen == (step.kind, layer, head) else colour,
    }


def total_row(place: int, value: float, total: str, theme: Theme) -> dict[str, Any]:
    """The sum of all."""
    text = decimal(value, ".2f")
    said = f"{total}: {text}, the sum of all bars above"
    ends = {"from": 0.0, "to": value, "value": value, "text": text}
    names = {"row": place, "kind": "total", "layer": -1, "head": -1, "name": f"= {total}", "said": said}
    return names | ends | {"colour": theme.quiet, "edge": theme.quiet}
