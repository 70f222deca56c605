"""A text with two of its tokens swapped: what a stack makes of the one order and the other, with positions and without.

Without positions an encoder cannot tell them apart: it gives every token the vector that it gives it in the other order
(Vaswani et al. 2017, section 3.5). A decoder can, for its mask shows each token those before it alone; and so can an
encoder whose windows hide from each token those far before it. Segments tell texts apart, so that both tokens are
swapped within one.
"""

from collections import Counter
from dataclasses import dataclass
from functools import partial

import torch

from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits
from model.measures.positions.shuffled_order import shuffled_stack
from model.trace import StackTrace, Trace

LONGEST = 512  # tokens; a pass of two longer texts takes a visitor's time for a sentence
LETTERS = 3
SAME = 1e-4  # of a vector's length: what rounding may change, with room


@dataclass(frozen=True, kw_only=True)
class TwoOrders:
    """How much the order of two tokens matters.

    places: of the tokens that are swapped.
    placed, unplaced: for each token, how far its last vector is from that in the other order, as a share of the
    vector's length, with the model's positions and without. ``placed`` is None where the model has none.
    hides: what tells the orders apart without positions, the "mask" of a decoder or a "window" of an encoder; "" where
    every token sees every other.
    """

    places: tuple[int, int]
    placed: tuple[float, ...] | None
    unplaced: tuple[float, ...]
    hides: str = ""

    @property
    def told_apart(self) -> bool:
        """Whether the model tells the orders apart without positions."""
        return max(self.unplaced) > SAME


def two_orders(checkpoint: Checkpoint, trace: Trace, name: str) -> TwoOrders | None:
    """Measured on the stack of this name; None where it has no two tokens to swap, or is too long."""
    stack: StackTrace = getattr(trace, name)
    places = places_to_swap(stack)
    if places is None or len(stack.ids) > LONGEST:
        return None
    without = Edits(unpositioned=frozenset({name}))
    hides = "mask" if name == "decoder" else "window" if checkpoint.config.windowed_layers else ""
    changes = partial(changed_by, checkpoint, trace, name, places)
    if checkpoint.config.positions == "none":
        return TwoOrders(places=places, placed=None, unplaced=changes(NO_EDITS), hides=hides)
    return TwoOrders(places=places, placed=changes(NO_EDITS), unplaced=changes(without), hides=hides)


def places_to_swap(stack: StackTrace) -> tuple[int, int] | None:
    """The first and the last word of those that a text holds once; of other tokens where there are no two.

    Words of three letters that do not begin the text go first: swapped, they leave a sentence. Of several segments,
    both stand in the first that has two tokens of the kind.
    """
    tokens, words = stack.names(), stack.words or (None,) * len(stack.ids)
    special, segments = stack.special or (False,) * len(tokens), stack.segments or (0,) * len(tokens)
    parts = list(zip(segments, words, strict=True))
    times, pieces = Counter(stack.ids.tolist()), Counter(parts)
    typed = [place for place in range(len(tokens)) if not special[place]]
    of_segment = [[place for place in typed if segments[place] == each] for each in sorted(set(segments))]
    first = {places[0] for places in of_segment if places}
    once = [place for place in typed if times[int(stack.ids[place])] == 1]
    spelled = [place for place in once if any(map(str.isalpha, tokens[place]))]
    whole = [place for place in spelled if words[place] is not None and pieces[parts[place]] == 1]
    inner = [place for place in whole if place not in first and len(tokens[place].strip(" ▁")) >= LETTERS]
    for kind in (inner, whole, spelled, once):
        for segment in of_segment:
            places = [place for place in segment if place in kind]
            if len(places) > 1:
                return places[0], places[-1]
    for segment in of_segment:
        other = [place for place in segment if stack.ids[place] != stack.ids[segment[0]]]
        if other:
            return segment[0], other[-1]
    return None


def changed_by(
    checkpoint: Checkpoint, trace: Trace, name: str, places: tuple[int, int], edits: Edits
) -> tuple[float, ...]:
    """How far each token's last vector is from that in the other order, as a share of its length."""
    ids: list[int] = getattr(trace, name).ids.tolist()
    order = list(range(len(ids)))
    one, other = places
    order[one], order[other] = other, one
    rows = torch.tensor([ids, [ids[place] for place in order]], device=checkpoint.device)
    with torch.no_grad():
        first, second = shuffled_stack(checkpoint, trace, name, rows, edits).final.double().cpu()
    changes = torch.linalg.vector_norm(first - second[order], dim=-1) / torch.linalg.vector_norm(first, dim=-1)
    return tuple(changes.tolist())
