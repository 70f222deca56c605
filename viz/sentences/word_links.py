"""Words above words: what every word of a translation looks at in the source, as the browser draws it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from viz.charts.alignment import check_sides
from viz.tokens import percent, visible

LEAST = 0.01  # of the weight: a link that is drawn
UNWRITTEN = "?"
MOST_SAID = 3  # links that are told to a screen reader


@dataclass(frozen=True, kw_only=True)
class Side:
    """The words of one text, in full.

    special: which of them nobody wrote, such as a mark for the end.
    """

    words: Sequence[str]
    special: Sequence[bool]


def word_links(
    weights: Float[np.ndarray, "target source"], targets: Side, sources: Side, steps: Sequence[int], marked: int
) -> dict[str, Any]:
    """Both rows of words, and the links of every target word: its weights from 1 % on, and its largest in any case.

    steps: the step that produces each target word, or the first of its pieces. marked: the word that is being written;
    those after it are not there yet. ValueError where words, weights and steps do not fit together.
    """
    check_sides(weights, targets.words, sources.words)
    if len(steps) != len(targets.words):
        raise ValueError(f"{len(targets.words)} words came with {len(steps)} steps, wanted one for each")
    links = [_links(row) for row in weights]
    return {
        "marked": marked,
        "sources": [
            {"text": visible(word), "special": special}
            for word, special in zip(sources.words, sources.special, strict=True)
        ],
        "targets": [
            {
                "text": visible(word),
                "special": targets.special[place],
                "later": place > marked,
                "step": steps[place],
                "said": _said(word, links[place], sources.words),
                "links": links[place],
            }
            for place, word in enumerate(targets.words)
        ],
    }


def written_until(links: dict[str, Any], until: int, label: str) -> dict[str, Any]:
    """The same where only the target words up to one are written: those after it are "?", without links.

    label: what a screen reader says of these.
    """
    unwritten = {"text": UNWRITTEN, "said": label, "links": []}
    targets = [each if place <= until else each | unwritten for place, each in enumerate(links["targets"])]
    return links | {"targets": targets}


def _links(row: Float[np.ndarray, "source"]) -> list[dict[str, Any]]:
    """The links of one target word, the largest first."""
    order = [int(place) for place in np.argsort(-row, kind="stable")]
    drawn = [place for rank, place in enumerate(order) if row[place] >= LEAST or (rank == 0 and row[place] > 0)]
    return [{"source": place, "weight": float(row[place]), "number": percent(float(row[place]))} for place in drawn]


def _said(word: str, links: Sequence[dict[str, Any]], sources: Sequence[str]) -> str:
    """ "rouge: red 87 %, house 6 %. Go to this step": what a screen reader says of a target word."""
    parts = [f"{visible(sources[link['source']])} {link['number']}" for link in links[:MOST_SAID]]
    return f"{visible(word)}: {', '.join(parts) or 'looks at nothing'}. Go to this step"
