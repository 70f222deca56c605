"""One answer's probability in several passes: a bar for each, its name above it."""

from collections.abc import Sequence

import altair as alt

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme
from viz.tokens import percent

LINE, THICK = 46, 18  # pixels: of a pass, of its bar
AROUND = 50  # pixels of the axis
ROOM = 1.14  # where the axis ends: beyond a full bar its number has to fit
UNKNOWN = "?"
GAP = 6  # pixels around the letters of a name


def verdict_chart(
    names: Sequence[str], shares: Sequence[float | None], title: str, *, even: float | None = None, theme: Theme = LIGHT
) -> alt.LayerChart:
    """A bar for each pass, in the order given; None is one that is still to be guessed, "?".

    even: a line across all, below which another answer is the likeliest. ValueError where names and shares do not fit
    together.
    """
    if len(names) != len(shares):
        raise ValueError(f"{len(names)} names came with {len(shares)} shares")
    rows = [
        {
            "place": place,
            "name": name,
            "share": share,
            "start": 0,
            "said": UNKNOWN if share is None else percent(share, 1),
        }
        for place, (name, share) in enumerate(zip(names, shares, strict=True))
    ]
    across = alt.X("share:Q", title=title, scale=alt.Scale(domain=[0, ROOM]), axis=axis())
    base = alt.Chart(data_of(rows)).encode(y=alt.Y("place:O", axis=None, scale=alt.Scale(padding=0)))
    bar = base.mark_bar(height=THICK, yOffset=8, color=theme.accent).encode(
        x=across, tooltip=["name:N", alt.Tooltip("share:Q", title=title, format=".4f")]
    )
    number = base.mark_text(
        font=FONT, align="left", dx=6, dy=8, fontSize=FONT_SIZE, fontWeight="bold", color=theme.text
    )
    name = base.mark_text(font=FONT, align="left", dy=-14, fontSize=FONT_SIZE, color=theme.text)
    named = name.encode(x=alt.X("start:Q"), text="name:N")
    numbered = number.encode(x=alt.X("end:Q"), text="said:N").transform_calculate(
        end="datum.share === null ? 0 : datum.share"
    )
    layers = [bar, numbered, named]
    if even is not None:
        rule = alt.Chart(data_of([{"even": even}])).mark_rule(strokeDash=[4, 3], color=theme.quiet)
        gaps = [numbered.copy(), named.copy()]  # the line ends beside a text and goes on after it
        for gap in gaps:
            gap.mark = alt.MarkDef(**gap.mark.to_dict() | {"stroke": theme.background, "strokeWidth": GAP})
        layers = [bar, rule.encode(x="even:Q"), *gaps, *layers[1:]]
    drawn = alt.LayerChart(layer=layers).properties(width="container", height=AROUND + LINE * len(rows))
    return with_page_style(drawn, theme, framed=False)


def axis() -> alt.Axis:
    """From nothing to all, in percent."""
    return alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%", grid=False)
