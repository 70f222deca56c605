"""What every head does for an answer: layers × heads, each cell the change of the answer without that head."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.explorer.svg.paint import ink_on
from viz.theme import FONT_SIZE, LIGHT, Theme, colour_at, colour_scale, difference_scale
from viz.tokens import counted, signed

CHOSEN = "chosen"
ROW, AROUND = 34, 44  # pixels
FLOOR = 0.05  # effects below this never get the deepest colour: where all are small, the picture is pale
FLOOR_NATS = 0.2
LEGEND = 76  # pixels of the legend below the cells
NEEDS = ("blue: the answer needs it", "orange: it works against the answer")
TURNS = "≠: without it, another answer is likelier"
MOVEMENT = "movement of the last vectors without the head, %"
MOST_SAID = 13  # heads of a layer whose numbers have room in their cells


def effect_grid(
    effects: Float[np.ndarray, "layer head"],
    said: Mapping[tuple[int, int], str],
    *,
    signed: bool,
    chosen: tuple[int, int] | None = None,
    muted: Set[tuple[int, int]] = frozenset(),
    turned: Set[tuple[int, int]] = frozenset(),
    in_nats: bool = False,
    called: str = MOVEMENT,
    least: float | None = None,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """A cell for every head, coloured by its effect on a scale that ends at the largest of all, or at ``FLOOR``.

    effects: NaN where it is not measured yet. said: what a cell says in words. signed: whether 0 is the middle of the
    scale, else its beginning. chosen: the head that is marked at first; the selection parameter is "chosen", with the
    fields layer and head from 0. muted: marked with a cross. turned: marked with ≠, another answer is likelier without
    them. in_nats: effects are of log-odds. called: what the numbers are, where 0 is the beginning of the scale. least:
    stands in the place of ``FLOOR``. ValueError where words and numbers do not fit together.
    """
    if set(said) != set(np.ndindex(*effects.shape)):
        raise ValueError(f"words for {len(said)} heads, numbers of shape {effects.shape}")
    least = least or (FLOOR_NATS if in_nats else FLOOR)
    most = float(np.nanmax(np.abs(effects), initial=least))
    form = "+.2f" if in_nats else "+.1f" if signed else ".1f"
    stops = effect_scale(theme) if signed else colour_scale(theme.weights)
    rows = [
        row_of(site, effects[site], most, said[site], stops, theme)
        | {"text": cell_text(float(effects[site]), form, in_nats=in_nats) + marks(site in turned, site in muted)}
        for site in sorted(said)
    ]
    first = [{"layer": chosen[0], "head": chosen[1]}] if chosen else []
    pick = alt.selection_point(
        name=CHOSEN, fields=["layer", "head"], toggle="false", empty=False, value=first or alt.Undefined
    )
    layers, heads = effects.shape
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("head name:O", title="head", sort=None, axis=alt.Axis(labelAngle=0, orient="top", ticks=False)),
        y=alt.Y("layer name:O", title="layer", sort=[counted(layer) for layer in range(layers)]),
        tooltip=[alt.Tooltip("said:N", title="head")],
        description="said:N",
    )
    cells = base.mark_rect(stroke=theme.background, strokeWidth=3, cursor="pointer").encode(
        fill=alt.Fill("colour:N", scale=None)
    )
    numbers = base.mark_text(fontSize=FONT_SIZE - 3, aria=False).encode(
        text="text:N", color=alt.Color("ink:N", scale=None)
    )
    # Drawn last: no neighbour hides a side of it.
    ring = base.transform_filter(pick).mark_rect(fillOpacity=0, stroke=theme.text, strokeWidth=3, aria=False)
    shown = [
        cells.add_params(pick),
        *([numbers] if heads <= MOST_SAID or muted or turned else []),
        ring,
        legend(base, most, stops, titles(turned, in_nats=in_nats) if signed else [called], in_nats=in_nats),
    ]
    drawn = alt.LayerChart(layer=shown).properties(width="container", height=AROUND + LEGEND + ROW * layers)
    return with_page_style(drawn.resolve_scale(color="independent"), theme, framed=False)


def titles(turned: Set[tuple[int, int]], *, in_nats: bool) -> list[str]:
    """What effects are that have a direction."""
    first = "change without the head, nats" if in_nats else "change without the head, points"
    return [first, *NEEDS, *([TURNS] if turned else [])]


def effect_scale(theme: Theme) -> list[tuple[float, str]]:
    """The colour of every change of the answer, −1 to 1: blue where it loses, so that blue speaks for the answer."""
    return sorted((-stop, colour) for stop, colour in difference_scale(theme))


def legend(
    base: alt.Chart, most: float, stops: Sequence[tuple[float, str]], title: list[str], *, in_nats: bool = False
) -> alt.Chart:
    """What the colours of a scale that ends at ``most`` mean, below the cells; its marks are not seen."""
    unit = 1 if in_nats else 100
    scale = alt.Scale(domain=[unit * most * stop for stop, _ in stops], range=[colour for _, colour in stops])
    drawn = alt.Legend(
        orient="bottom",
        direction="horizontal",
        title=title,
        titleLimit=600,
        titleOrient="top",
        gradientLength=240,
        gradientThickness=8,
        tickCount=5,
    )
    return base.mark_point(opacity=0, size=0, aria=False, tooltip=None).encode(
        color=alt.Color("scaled:Q", scale=scale, legend=drawn)
    )


def cell_text(effect: float, form: str, *, in_nats: bool) -> str:
    """What stands in a cell."""
    return signed(effect if in_nats else 100 * effect, form) if np.isfinite(effect) else ""


def marks(turned: bool, muted: bool) -> str:
    """What stands beside a cell's number."""
    return (" ≠" if turned else "") + (" ×" if muted else "")


def row_of(
    site: tuple[int, int], effect: float, most: float, said: str, stops: Sequence[tuple[float, str]], theme: Theme
) -> dict[str, Any]:
    """One cell: its names, its colour on a scale that ends at ``most``, and what stands in it."""
    known = bool(np.isfinite(effect))
    colour = colour_at(stops, effect / most) if known else theme.grid
    return {
        "layer": site[0],
        "head": site[1],
        "layer name": counted(site[0]),
        "head name": counted(site[1]),
        "effect": float(effect) if known else None,
        "scaled": 0.0,
        "said": said,
        "colour": colour,
        "ink": ink_on(theme, colour),
    }
