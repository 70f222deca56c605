"""An answer's probability while one head after the other is muted."""

import altair as alt
import numpy as np
from jaxtyping import Bool, Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme
from viz.tokens import percent

HEIGHT = 260
SYMBOLS = {"the same answer": "circle", "another answer": "cross"}


def muted_heads_chart(
    shares: Float[np.ndarray, " count"],
    stays: Bool[np.ndarray, " count"],
    chosen: int,
    title: str,
    *,
    hidden: bool = False,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """The probability with 0, 1, … heads muted; crosses where another answer is the likeliest.

    chosen: the number of muted heads whose probability is written out. title: what the probability is of. hidden:
    nothing is drawn but the pass without a muted head, to guess before. ValueError where there is no such number, or
    the two arrays do not fit together.
    """
    if len(shares) != len(stays) or not 0 <= chosen < len(shares):
        raise ValueError(f"{len(shares)} shares, {len(stays)} answers, and {chosen} chosen of them")
    rows = [
        {"count": count, "share": float(share), "answer": list(SYMBOLS)[not same]}
        for count, (share, same) in enumerate(zip(shares, stays, strict=True))
    ][: 1 if hidden else None]
    last = len(shares) - 1
    across = alt.Scale(domain=[0, last], nice=False)
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("count:Q", title="muted heads", scale=across, axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("share:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%", tickCount=5)),
        tooltip=[alt.Tooltip("count:Q", title="muted"), alt.Tooltip("share:Q", format=".4f"), "answer:N"],
    )
    layers = [base.mark_line(color=theme.accent), points(base, theme), *chosen_number(rows, chosen, last, theme)]
    drawn = alt.LayerChart(layer=layers).properties(width="container", height=HEIGHT)
    return with_page_style(drawn, theme)


def points(base: alt.Chart, theme: Theme) -> alt.Chart:
    """One for each number of muted heads, by what the model then says."""
    names = list(SYMBOLS)
    legend = alt.Legend(title=None, orient="top", labelFontSize=FONT_SIZE - 1)
    return base.mark_point(filled=True, opacity=1, size=70).encode(
        color=alt.Color("answer:N", scale=alt.Scale(domain=names, range=[theme.accent, theme.second]), legend=legend),
        shape=alt.Shape("answer:N", scale=alt.Scale(domain=names, range=list(SYMBOLS.values())), legend=legend),
    )


def chosen_number(rows: list[dict], chosen: int, last: int, theme: Theme) -> list[alt.Chart]:
    """The chosen number: a line up to its point, and the probability beside it."""
    row = rows[min(chosen, len(rows) - 1)]
    right = row["count"] > last / 2
    one = alt.Chart(data_of([row | {"said": f"{row['count']} muted: {percent(row['share'], 1)}", "floor": 0}]))
    text = one.mark_text(
        font=FONT,
        align="right" if right else "left",
        dx=-10 if right else 10,
        dy=20 if row["share"] > 0.5 else -20,
        fontSize=FONT_SIZE,
        fontWeight="bold",
        color=theme.text,
    )
    place = {"x": alt.X("count:Q"), "y": alt.Y("share:Q")}
    rule = one.mark_rule(color=theme.quiet, strokeDash=[3, 3]).encode(x="count:Q", y="floor:Q", y2="share:Q")
    return [rule, text.encode(**place, text="said:N")]
