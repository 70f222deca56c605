"""What to change in a forward pass: plain, hashable values that travel through cache keys, addresses and scripts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from model.edits.address_form import FORMS
from model.edits.sites import HeadSite, HiddenKey, NormSite, Overwrite, Shift, Shuffle, SublayerSite, expect

LEAST_FACTOR, LARGEST_FACTOR = 1e-6, 1e6
LARGEST_SHIFT, LARGEST_SEED = 1_000_000, 999_999_999


@dataclass(frozen=True, kw_only=True, repr=False)
class Edits:
    """The changes to apply, together; ``Edits()`` changes nothing. Raises InputError where two contradict each other.

    In the order in which they act:

    unpositioned, shuffled, shifted: stacks without positions (vectors and biases are 0, nothing is rotated), with the
    same positions in another order, or with later ones. A shuffle gives tokens the positions 0 to n - 1, a shift moves
    these.

    unmasked, causal: stacks in whose self-attention a query sees every key, or none after it. Where a stack is both,
    its own mask is replaced by the causal one, a window included. Padding stays masked.

    hidden: keys that no query may look at, whatever else a mask allows: the score is -inf, and the weights that are
    left of a row sum to 1, or are 0 where nothing is left. The token may not look at itself either; its own stream
    and what is read off it stay. A key that is not there, as in text yet to be produced, hides nothing.

    scale, temperature: what q·k is multiplied by in every attention instead of the model's own scale (1: no √d_k),
    and what that scale is divided by.

    uniform: heads whose weights are the same for all keys that the mask allows. overwritten: single weights, which
    may lie where the mask forbids, but not on a hidden key, unless they are 0; one whose query or key is not there
    changes nothing.

    averaged, muted, muted_layers: heads whose context is replaced, before the output projection, by its mean over the
    positions, or by 0, and whole attentions muted. The projection's bias, which belongs to no head, stays.

    without_residual: sublayers whose update replaces the stream instead of being added to it (in a parallel block,
    "self" is the one connection that there is). without_norm: norms that let through what they are given.
    """

    unpositioned: frozenset[str] = frozenset()
    shuffled: frozenset[Shuffle] = frozenset()
    shifted: frozenset[Shift] = frozenset()
    unmasked: frozenset[str] = frozenset()
    causal: frozenset[str] = frozenset()
    hidden: frozenset[HiddenKey] = frozenset()
    scale: float | None = None
    temperature: float = 1.0
    uniform: frozenset[HeadSite] = frozenset()
    overwritten: frozenset[Overwrite] = frozenset()
    averaged: frozenset[HeadSite] = frozenset()
    muted: frozenset[HeadSite] = frozenset()
    muted_layers: frozenset[SublayerSite] = frozenset()
    without_residual: frozenset[SublayerSite] = frozenset()
    without_norm: frozenset[NormSite] = frozenset()

    def __post_init__(self) -> None:
        for name, factor in (("scale", self.scale), ("temperature", self.temperature)):
            right = factor is None or LEAST_FACTOR <= factor <= LARGEST_FACTOR
            expect(right, name, factor, f"{LEAST_FACTOR:g} to {LARGEST_FACTOR:g}")
        for shuffle in self.shuffled:
            expect(0 <= shuffle.seed <= LARGEST_SEED, "seed", shuffle.seed, f"0 to {LARGEST_SEED}")
        for shift in self.shifted:
            expect(abs(shift.by) <= LARGEST_SHIFT, "shift", shift.by, f"-{LARGEST_SHIFT} to {LARGEST_SHIFT}")
        for key in self.hidden:
            expect(key.position >= 0, "hidden", key.position, "a position from 0")
        for cell in self.overwritten:
            expect(0 <= cell.value <= 1, "weight", cell.value, "0 to 1")
            expect(min(cell.query, cell.key) >= 0, "query and key", (cell.query, cell.key), "positions from 0")
        self._check_together()

    def _check_together(self) -> None:
        weights = Counter((cell.site, cell.query, cell.key) for cell in self.overwritten)
        expect(not twice(weights), "overwritten", len(self.overwritten), "one value for every weight")
        looks = {HiddenKey(cell.site.stack, cell.key, cell.site.attention) for cell in self.overwritten if cell.value}
        expect(not looks & self.hidden, "overwritten", "a weight on a hidden key", "0 there")
        for name, changed in (("shuffled", self.shuffled), ("shifted", self.shifted)):
            stacks = Counter(change.stack for change in changed)
            expect(not twice(stacks), name, len(changed), "one for every stack")
            expect(not self.unpositioned & set(stacks), name, "a stack without positions", "one that has some")

    def seed(self, stack: str) -> int | None:
        """What decides the order of a stack's positions; None where it is the right one."""
        return next((shuffle.seed for shuffle in self.shuffled if shuffle.stack == stack), None)

    def shift(self, stack: str) -> int:
        """How much later a stack's positions are."""
        return next((shift.by for shift in self.shifted if shift.stack == stack), 0)

    def __repr__(self) -> str:
        """Python that makes the value again, in an order that is always the same."""
        changed = {field.name: getattr(self, field.name) for field in fields(self)}
        changed = {name: value for name, value in changed.items() if value != getattr(NO_EDITS, name)}
        return f"Edits({', '.join(f'{name}={in_order(value)}' for name, value in changed.items())})"

    def class_names(self) -> list[str]:
        """What has to be imported from ``model`` for ``repr`` to be evaluated."""
        sets = [value for field in fields(self) if isinstance(value := getattr(self, field.name), frozenset)]
        items = {item for value in sets for item in value} | {cell.site for cell in self.overwritten}
        return sorted({type(item).__name__ for item in items if not isinstance(item, str)} | {"Edits"})

    def to_text(self) -> str:
        """A short form for addresses, of letters, digits and "-._~" alone; "" where nothing is changed.

        ``mute_e0.3_c1.2~temperature_2.5``: edits are joined by "~"; each is a word and what it is done to, joined by
        "_". Of a head, e, d and c stand for the encoder, the decoder and the decoder's cross-attention, then layer
        and head, from 0; of a hidden key its position stands after the letter. Raises InputError for a head or
        sublayer of a kind that no model has.
        """
        changed = {
            word: form for word, form in FORMS.items() if getattr(self, form.field) != getattr(NO_EDITS, form.field)
        }
        return "~".join("_".join([word, *form.items(getattr(self, form.field))]) for word, form in changed.items())

    @classmethod
    def from_text(cls, text: str) -> "Edits":
        """The value that ``to_text`` made a text of. Raises InputError for any other text."""
        values: dict[str, Any] = {}
        for word, *items in (part.split("_") for part in text.split("~") if text):
            form = FORMS.get(word)
            matches = [form.pattern.fullmatch(item) for item in items] if form else []
            if form is None or form.field in values or not matches or None in matches:
                break
            read = [form.read(*match.groups()) for match in matches if match]
            values[form.field] = frozenset(read) if form.many else read[0]
        edits = cls(**values)
        expect(edits.to_text() == text, "text", text, "one that Edits.to_text gives")
        return edits


def in_order(value: object) -> str:
    """The repr of a value; of a set, its items sorted, so that it is always the same."""
    return f"frozenset([{', '.join(sorted(map(repr, value)))}])" if isinstance(value, frozenset) else repr(value)


def twice(counts: Counter) -> bool:
    """Whether anything was counted more than once."""
    return any(count > 1 for count in counts.values())


AnyEdits = Edits | Sequence[Edits]  # one for all sentences of a batch, or one for each
NO_EDITS = Edits()
