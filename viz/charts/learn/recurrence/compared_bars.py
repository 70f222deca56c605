"""Bars of two models side by side, one pair for each group, each model in its own colour."""

from collections.abc import Collection, Mapping, Sequence

import altair as alt

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme

HEIGHT = 320
NUMBERED = 16  # bars, up to which each has its number over it
WIDE = 44  # letters that a phone has room for side by side; where all groups' names need more, they stand aslant


def compared_bars(
    groups: Sequence[str],
    shares: Mapping[str, Sequence[float]],
    title: str,
    *,
    drawn: Collection[str] | None = None,
    colours: tuple[str, str] = ("second", "accent"),
    across: str | None = None,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """Shares of two models for each group, from 0 to 1; those not ``drawn`` keep their place.

    colours: of the theme, by name. across: the title of the groups.

    ValueError unless there are two models with a share for each group, or where two groups have one name.
    """
    if len(shares) != 2 or any(len(row) != len(groups) for row in shares.values()):
        raise ValueError(f"{[len(row) for row in shares.values()]} shares, wanted {len(groups)} of two models")
    if len(set(groups)) < len(groups):
        raise ValueError("two groups have one name")
    names = list(shares)
    rows = [
        {"group": group, "model": name, "share": share, "label": f"{100 * share:.1f}"}
        for name in names
        if drawn is None or name in drawn
        for group, share in zip(groups, shares[name], strict=True)
    ]
    labels = alt.Axis(
        title=across,
        labelAngle=-45 if len(groups) * max(map(len, groups), default=0) > WIDE else 0,
        labelFontSize=FONT_SIZE - 2,
        labelOverlap=False,
    )
    scale = alt.Scale(domain=names, range=[getattr(theme, colour) for colour in colours])
    look = alt.Legend(title=None, orient="top", columns=2, labelLimit=340, labelFontSize=FONT_SIZE - 1)
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("group:N", sort=None, scale=alt.Scale(domain=list(groups)), axis=labels),
        xOffset=alt.XOffset("model:N", sort=names, scale=alt.Scale(domain=names)),
        tooltip=["model:N", "group:N", alt.Tooltip("share:Q", title=title, format=".2%")],
    )
    height = alt.Y("share:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))
    layers = [base.mark_bar(clip=True).encode(y=height, color=alt.Color("model:N", scale=scale, legend=look))]
    if 2 * len(groups) <= NUMBERED:
        layers.append(base.mark_text(dy=-8, fontSize=FONT_SIZE - 2, color=theme.text).encode(y=height, text="label:N"))
    return with_page_style(alt.LayerChart(layer=layers).properties(width="container", height=HEIGHT), theme)
