"""Verdicts on several sentences, before and after a change: two bars a sentence."""

from collections.abc import Sequence

import altair as alt

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme
from viz.tokens import counted, percent

LINE, THICK, AROUND = 52, 10, 50  # pixels
ROOM = 1.12


def verdict_pairs(
    names: Sequence[str],
    before: Sequence[float],
    after: Sequence[float] | None,
    titles: tuple[str, str],
    axis: str,
    *,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """For each sentence its name, a bar before and a bar after; the second are missing while they are to be guessed.

    titles: of the two bars. ValueError where the numbers do not fit the names.
    """
    if len(names) != len(before) or (after is not None and len(after) != len(names)):
        raise ValueError(f"{len(names)} names came with {len(before)} and {after and len(after)} shares")
    passes = [(titles[0], before, 0)] + ([] if after is None else [(titles[1], after, THICK + 2)])
    layers = []
    for (title, shares, offset), colour in zip(passes, (theme.accent, theme.second), strict=False):
        rows = [
            {"place": counted(place), "name": name, "pass": title, "share": float(each), "said": percent(each, 1)}
            for place, (name, each) in enumerate(zip(names, shares, strict=True))
        ]
        base = alt.Chart(data_of(rows)).encode(
            y=alt.Y("place:O", axis=None, sort=None, scale=alt.Scale(padding=0)),
            x=alt.X(
                "share:Q",
                title=axis,
                scale=alt.Scale(domain=[0, ROOM]),
                axis=alt.Axis(values=[0, 0.5, 1], format=".0%"),
            ),
        )
        legend = alt.Legend(title=None, orient="top")
        scale = alt.Scale(domain=[title for title, *_ in passes], range=[theme.accent, theme.second][: len(passes)])
        bar = base.mark_bar(height=THICK, yOffset=offset).encode(
            color=alt.Color("pass:N", scale=scale, legend=legend),
            tooltip=["name:N", "pass:N", alt.Tooltip("share:Q", format=".4f")],
        )
        number = base.mark_text(font=FONT, align="left", dx=5, dy=offset, fontSize=FONT_SIZE - 3, color=colour)
        layers += [bar, number.encode(text="said:N")]
        if title == titles[0]:
            name = base.mark_text(font=FONT, align="left", dy=-14, fontSize=FONT_SIZE - 1, color=theme.text)
            layers.append(name.encode(x=alt.value(0), text="name:N"))
    height = AROUND + LINE * len(names)
    return with_page_style(
        alt.LayerChart(layer=layers).properties(width="container", height=height), theme, framed=False
    )
