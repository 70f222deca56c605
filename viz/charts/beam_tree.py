"""The hypotheses that a beam search followed: where they part, which were dropped, which became translations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt

from model.decoding.steps import Node
from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import decimal, visible

LINE = 21  # pixels
ROOM = 12  # levels that the longest label takes
BELOW = 0.45  # lines from the middle of a label to where its stem begins
LONGEST = 64
MOST_DRAWN = 80  # lines
DROPPED, PARTED = "dropped", "goes on"


@dataclass(frozen=True, kw_only=True)
class Branch:
    """Tokens that follow each other without a fork, down to where they part, end or are dropped."""

    level: int  # forks above it
    parent: int | None  # its place among the runs
    tokens: tuple[str, ...]
    hypothesis: str  # all from the start
    score: float  # of the hypothesis: what beams are ranked by
    rank: int | None  # of the translation that ends here, 0 the best
    dropped: bool

    @property
    def outcome(self) -> str:
        """What became of it."""
        return DROPPED if self.dropped else PARTED if self.rank is None else f"translation {self.rank + 1}"


def runs_of(nodes: Sequence[Node], finals: Sequence[tuple[int, ...]]) -> list[Branch]:
    """The tree from top to bottom, what leads to the best translation first; ``finals``: their ids, best first."""
    ranks, children = _ranks(nodes, finals), _children(nodes, finals)
    waiting: list[tuple[int, int, int | None, str]] = [(root, 0, None, "") for root in reversed(children.get(None, []))]
    branches = list[Branch]()
    while waiting:
        first, level, parent, before = waiting.pop()
        chain = [first]
        while len(below := children.get(chain[-1], [])) == 1 and chain[-1] not in ranks:
            chain += below
        last, tokens = chain[-1], tuple(nodes[place].token for place in chain)
        rank, text = ranks.get(last), before + "".join(tokens)
        waiting += [(child, level + 1, len(branches), text) for child in reversed(below)]
        run = Branch(
            level=level,
            parent=parent,
            tokens=tokens,
            hypothesis=display_text(text),
            score=nodes[last].score,
            rank=rank,
            dropped=rank is None and not below,
        )
        branches.append(run)
    return branches


def _ranks(nodes: Sequence[Node], finals: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """The nodes at which translations end."""
    steps = {(node.parent, node.token_id): place for place, node in enumerate(nodes)}
    ranks = dict[int, int]()
    for rank, ids in enumerate(finals):
        place: int | None = None
        for token_id in ids:
            place = steps[place, token_id]
        if place is not None:
            ranks[place] = rank
    return ranks


def _children(nodes: Sequence[Node], finals: Sequence[tuple[int, ...]]) -> dict[int | None, list[int]]:
    """The nodes after each: first those that lead to the best translation, then by score."""
    best = {place: len(finals) for place in range(len(nodes))} | _ranks(nodes, finals)
    children: dict[int | None, list[int]] = {}
    for place in reversed(range(len(nodes))):  # a child's best is known before its parent's
        parent = nodes[place].parent
        children.setdefault(parent, []).append(place)
        if parent is not None:
            best[parent] = min(best[parent], best[place])
    return {parent: sorted(below, key=lambda one: (best[one], -nodes[one].score)) for parent, below in children.items()}


def display_text(text: str) -> str:
    """A text in one line, nothing in it invisible."""
    return " ".join(map(visible_word, text.split()))


# Deep trees repeat their hypotheses on every line.
visible_word = lru_cache(maxsize=4096)(visible)


def label(run: Branch) -> str:
    """ "✕ −3.21 · car": dropped, its score, its tokens."""
    text = display_text("".join(run.tokens)) or "␣"
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    sign = "✕ " if run.dropped else "" if run.rank is None else f"▶ {run.rank + 1}: "
    return f"{sign}{number(run.score)} · {text}"


def number(score: float) -> str:
    """ "−2.47"."""
    return decimal(score, ".2f")


def tree_chart(branches: Sequence[Branch], *, chosen: int = 0, theme: Theme = LIGHT) -> alt.LayerChart:
    """An outline: what stands under a line and further right goes on from it. ``chosen``: a translation's rank.

    Of more than 80 lines the first 80 are drawn.
    """
    branches = branches[:MOST_DRAWN]
    rows = [_row(branches, place, chosen) for place in range(len(branches))]
    widest = max((run.level for run in branches), default=0) + ROOM
    across = _axis(0.0, float(widest))
    down = _axis(-0.5, len(branches) - 0.5, reverse=True)
    forks = alt.Chart(data_of([row for row in rows if row["from"] is not None]))
    rule: dict[str, Any] = {"color": theme.grid, "strokeWidth": 2}
    x, y = alt.X("stem:Q", **across), alt.Y("line:Q", **down)
    upright = forks.mark_rule(**rule).encode(x=x, y=alt.Y("top:Q", **down), y2=alt.Y2("line"))
    level = forks.mark_rule(**rule).encode(x=x, x2=alt.X2("level"), y=y)
    looks = alt.Scale(domain=["chosen", "kept", "dropped"], range=[theme.accent, theme.text, theme.quiet])
    words = alt.Chart(data_of(rows)).mark_text(align="left", dx=4, fontSize=FONT_SIZE - 1)
    written = words.encode(
        x=alt.X("level:Q", **across),
        y=y,
        text=alt.Text("label:N"),
        color=alt.Color("look:N", legend=None, scale=looks),
        tooltip=["hypothesis:N", alt.Tooltip("score:Q", format=".4f"), "outcome:N"],
    )
    layers = alt.LayerChart(layer=[upright, level, written]).properties(width="container", height=LINE * len(branches))
    return with_page_style(layers, theme, framed=False)


def _axis(first: float, last: float, *, reverse: bool = False) -> dict[str, Any]:
    """No axis is drawn; places are places."""
    return {"axis": None, "scale": alt.Scale(domain=[first, last], nice=False, zero=False, reverse=reverse)}


def _row(branches: Sequence[Branch], place: int, chosen: int) -> dict[str, object]:
    run = branches[place]
    look = "dropped" if run.dropped else "chosen" if run.rank == chosen else "kept"
    return {
        "line": place,
        "level": run.level,
        "stem": run.level - 0.6,
        "from": run.parent,
        "top": None if run.parent is None else run.parent + BELOW,
        "label": label(run),
        "hypothesis": run.hypothesis,
        "score": run.score,
        "outcome": run.outcome,
        "look": look,
    }


def tree_table(branches: Sequence[Branch]) -> dict[str, list[object]]:
    """The same as columns, for those who cannot see the outline."""
    return {
        "hypothesis": [run.hypothesis for run in branches],
        "score": [run.score for run in branches],
        "last tokens": [f"“{display_text(''.join(run.tokens))}”" for run in branches],
        "outcome": [run.outcome for run in branches],
    }
