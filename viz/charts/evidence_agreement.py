"""All checks of a pass in one picture: how much of what is allowed the largest difference of each takes."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from model.measures.evidence import CheckResult
from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.text.evidence_tables import GROUPS
from viz.theme import LIGHT, Theme

EXACT, LEAST, MOST = 1e-8, 1e-7, 100.0  # shares where the exact ones stand, and the ends of the scale
TICKS = [EXACT, 1e-6, 1e-4, 1e-2, 1, MOST]
TICK_NAMES = f"datum.value <= {EXACT} ? 'exact' : datum.value == 1 ? 'allowed' : datum.value > 1 ? '100 ×' : \
format(datum.value * 100, '~g') + ' %'"
ROW, DOT = 44, 70  # pixels of a group's height, square pixels of a check
DECADES = 0.28  # that a dot takes on a wide screen
MOST_LEVELS = 5  # dots above and below one another in a row
MOST_NAMED = 3  # failed checks of a group whose names stand at their dots
TOOLTIP_TITLES = {
    "quantity": "quantity",
    "result": "result",
    "difference": "largest difference",
    "allowed": "allowed",
    "count": "numbers",
}


def share_chart(findings: Sequence[CheckResult], *, theme: Theme = LIGHT) -> alt.LayerChart:
    """A dot for each check that applies, by the share of what is allowed that its largest difference takes.

    A row for each group. Exact ones stand at the left; beyond "allowed", a check fails: a cross, named. A share that is
    no number, or beyond the scale, stands at its end. ValueError where no check applies.
    """
    rows = dots(findings)
    if not rows:
        raise ValueError("found no check that applies, expected at least one")
    groups = list(dict.fromkeys(row["group"] for row in rows))
    scale = alt.Scale(type="log", domain=[EXACT / 2, MOST * 2], nice=False)
    axis = alt.Axis(values=TICKS, labelExpr=TICK_NAMES, grid=False, labelOverlap="greedy", labelSeparation=8)
    across: Any = alt.X("place:Q", scale=scale, axis=axis, title="largest difference ÷ what is allowed")
    up = alt.Y("group:N", sort=groups, title=None, axis=alt.Axis(labelLimit=190, ticks=False, domain=False, grid=True))
    levels = alt.YOffset("level:Q", scale=alt.Scale(domain=[-MOST_LEVELS / 2, MOST_LEVELS / 2]))
    tooltips = [alt.Tooltip(f"{name}:N", title=title) for name, title in TOOLTIP_TITLES.items()]
    base = alt.Chart(data_of(rows)).encode(x=across, y=up, yOffset=levels, tooltip=tooltips)
    verdicts = ["agrees", "differs"]
    marks = base.mark_point(size=DOT, opacity=0.85, strokeWidth=2).encode(
        color=alt.Color("result:N", scale=alt.Scale(domain=verdicts, range=[theme.accent, theme.second]), legend=None),
        shape=alt.Shape("result:N", scale=alt.Scale(domain=verdicts, range=["circle", "cross"]), legend=None),
        fill=alt.Fill("result:N", scale=alt.Scale(domain=verdicts, range=[theme.accent, theme.second]), legend=None),
    )
    names = base.transform_filter("datum.label !== ''").mark_text(align="right", dx=-8, color=theme.text, fontSize=12)
    limit = alt.Chart(data_of([{"place": 1}])).mark_rule(strokeDash=[4, 3], color=theme.quiet).encode(x=across)
    chart = alt.LayerChart(layer=[limit, marks, names.encode(text="label:N")])
    return with_page_style(
        chart.properties(width="container", height=ROW * len(groups)), theme, framed=False, labels=13
    )


def dots(findings: Sequence[CheckResult]) -> list[dict[str, Any]]:
    """A row of data for each check that applies."""
    checked = [finding for finding in findings if finding.passed is not None]
    named_checks = {finding.check.name for finding in named_failures(checked)}
    dots_by_column: Counter[tuple[str, int]] = Counter()
    rows = []
    for finding in checked:
        column = finding.check.group, round(math.log10(place(finding)) / DECADES)
        rows.append(
            {
                "group": GROUPS[finding.check.group],
                "quantity": finding.check.quantity,
                "place": place(finding),
                "level": level(dots_by_column[column]),
                "result": "agrees" if finding.passed else "differs",
                "difference": f"{finding.difference:.2g}",
                "allowed": f"{finding.allowed:.2g}",
                "count": f"{finding.count:,}",
                "label": finding.check.quantity if finding.check.name in named_checks else "",
            }
        )
        dots_by_column[column] += 1
    return rows


def named_failures(checked: Sequence[CheckResult]) -> list[CheckResult]:
    """Those whose names stand at their dots: the first few of each group that fail."""
    wrong = [finding for finding in checked if not finding.passed]
    return [one for group in GROUPS for one in [each for each in wrong if each.check.group == group][:MOST_NAMED]]


def place(finding: CheckResult) -> float:
    """Where a check stands on the axis: its share, within the scale."""
    share = finding.share
    if share == 0 and finding.passed:
        return EXACT
    return MOST if not math.isfinite(share) or not finding.count else min(max(share, LEAST), MOST)


def level(number: int) -> float:
    """The places of dots in one column: 0, then above and below it by turns, then the same again."""
    within = number % MOST_LEVELS
    return float((within + 1) // 2 * (1 if within % 2 else -1))
