"""What the absence of each part of the formula does to what the model says of this text, measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from model import Checkpoint, Edits, InputError
from model.measures.outcome import Outcome, answers_otherwise, outcome_of, outcome_value
from model.trace import Trace
from pages.parts.ablations.experiments import EXPERIMENTS, NO, Experiment, ExperimentPlace, edits_for
from pages.parts.lru_cache import LRUCache
from pages.parts.passes import trace_key
from pages.parts.shared_cache import bytes_of, traces
from pages.parts.state.selection import Selection
from viz.formula import EquationGroup, FormulaTerm, Line, Site, Switch, formula
from viz.tokens import counted, percent, visible

AT_ONCE = 64  # tokens of the longer stack: up to here every part is measured before the page is drawn
EFFECT_BYTES, EFFECTS_BYTES = 1_000, 4_000_000  # of one, with its key, and of all that are kept
LONGEST_OUTPUT = 40  # characters of a text that a decoder wrote
HIDDEN_IN = {
    "encoder": "no encoder head looks at",
    "decoder": "no decoder head looks at",
    "cross": "no cross-attention looks at",
}


@dataclass(frozen=True, kw_only=True)
class PartEffect:
    """What the model says of its outcome with the kept edits, and without one more part.

    turned: it says something else.
    """

    before: float
    after: float
    turned: bool

    @property
    def change(self) -> float:
        """How far the outcome moves, without its sign."""
        return abs(self.after - self.before)

    def before_and_after(self) -> str:
        """ "93.9 → 4.5 %"."""
        return f"{percent(self.before, 1)} → {percent(self.after, 1)}".replace("\u00a0% →", " →")


@dataclass(frozen=True, kw_only=True)
class Board:
    """The formula, and what is known of its parts. effects: None where a part cannot be taken out of this text.

    named: what the outcome is of, a label or a token. A part that the kept edits leave out cannot be taken out again.
    """

    groups: tuple[EquationGroup, ...]
    place: ExperimentPlace
    outcome: Outcome
    named: str
    effects: Mapping[str, PartEffect | None]
    pending: tuple[str, ...]
    kept: Edits
    gone: frozenset[str]  # parts that the kept edits leave out

    def most(self) -> str:
        """The part whose absence changes the outcome most; "" before all is measured, or where nothing can be."""
        changes = {name: effect.change for name, effect in self.compared().items()}
        return "" if self.pending or not changes else max(changes, key=lambda name: changes[name])

    def compared(self) -> dict[str, PartEffect]:
        """The parts that are taken out, and whose absence depends on the text."""
        return {
            name: effect
            for name, effect in self.effects.items()
            if effect is not None and EXPERIMENTS[name].part and EXPERIMENTS[name].of_text
        }

    def switches(self, chosen: str) -> dict[str, Switch]:
        most = self.most()
        out = {name for name in self.gone | {chosen} if name in EXPERIMENTS and EXPERIMENTS[name].part}
        return {
            name: Switch(
                result="" if name in self.pending else effect.before_and_after() if effect else "–",
                chosen=name == chosen,
                shown=name == most and not chosen,
                out=name in out,
                most=name == most,
            )
            for name, effect in {**dict.fromkeys(self.pending), **self.effects}.items()
        }


@st.cache_resource(show_spinner=False)
def effects_cache() -> LRUCache:
    """The effects that were measured, of all visitors."""
    return LRUCache(EFFECTS_BYTES)


def board_of(
    selection: Selection, checkpoint: Checkpoint, before: Trace, place: ExperimentPlace, *, at_most: int | None = None
) -> Board:
    """The formula with its parts measured: those that are known, and of the others ``at_most``; None: all."""
    kept = Edits.from_text(selection.edits)
    groups = groups_of(checkpoint, place)
    edits = {name: edits_of_part(EXPERIMENTS[name], checkpoint, place, kept) for name in parts_of(groups)}
    gone = {name for name, part_edits in edits.items() if part_edits == kept != NO}
    edits |= dict.fromkeys(gone)
    outcome, key = outcome_of(checkpoint, before), trace_key(selection, NO)
    keys = {
        name: ("effect", key, kept, part_edits.to_text())
        for name, part_edits in edits.items()
        if part_edits is not None
    }
    with_kept = partial(trace_with, kept, checkpoint, before, key)
    unknown = [name for name in keys if keys[name] not in effects_cache().values]
    pending = () if at_most is None else tuple(unknown[at_most:])
    effects = {
        name: None
        if (part_edits := edits[name]) is None
        else effect_of(keys[name], checkpoint, with_kept, outcome, part_edits)
        for name in edits
        if name not in pending
    }
    return Board(
        groups=groups,
        place=place,
        outcome=outcome,
        named=name_of(checkpoint, outcome),
        effects=effects,
        pending=pending,
        kept=kept,
        gone=frozenset(gone),
    )


def trace_with(kept: Edits, checkpoint: Checkpoint, before: Trace, key: object) -> Trace:
    """The pass with the kept edits, from memory where it was made before. key: of the pass with all parts."""
    if kept == NO:
        return before
    trace: Trace = traces().get(("again", key, kept), lambda: checkpoint.trace_again(before, kept), bytes_of)
    return trace


def longest(trace: Trace) -> int:
    """Tokens of the longer stack."""
    return max(len(stack.ids) for stack in (trace.encoder, trace.decoder) if stack is not None)


def groups_of(checkpoint: Checkpoint, place: ExperimentPlace) -> tuple[EquationGroup, ...]:
    """The formula, and below it what can be changed in it without taking anything out."""
    config = checkpoint.config
    groups = formula(config, Site(attention=place.attention, layer=place.layer, head=place.head))
    where = HIDDEN_IN[place.attention] if config.is_encoder_decoder else "no head looks at"
    changed = {
        "shuffle": ("P", "positions in another order"),
        "causal": ("+ M", "with a causal mask"),
        "hide": (f"− K_{{{counted(place.key)}}}", f"{where} “{visible(place.token)}”"),
    }
    terms = [
        FormulaTerm(notation=notation, name=name, part=part)
        for part, (notation, name) in changed.items()
        if not isinstance(edits_for(EXPERIMENTS[part], config, place), str)
    ]
    return (
        *groups,
        EquationGroup(words="Other changes", lines=(Line(words="nothing is taken out", terms=tuple(terms)),)),
    )


def parts_of(groups: Sequence[EquationGroup]) -> list[str]:
    """The parts that are switches, in the order of the formula."""
    terms = (term for group in groups for line in group.lines for term in line.terms)
    return list(dict.fromkeys(term.part for term in terms if term.part))


def edits_of_part(experiment: Experiment, checkpoint: Checkpoint, place: ExperimentPlace, kept: Edits) -> Edits | None:
    """What takes a part out, beside what is kept; None where the model, or what is kept, has no place for it."""
    try:
        edits = edits_for(experiment, checkpoint.config, place, kept)
    except InputError:
        return None
    return None if isinstance(edits, str) else edits


def effect_of(
    key: object, checkpoint: Checkpoint, with_kept: Callable[[], Trace], outcome: Outcome, edits: Edits
) -> PartEffect | None:
    """One part, measured once for all visitors; None where the edits have no place in this text.

    with_kept: the pass with the kept edits. edits: what is kept, and the part.
    """

    def measure() -> PartEffect | None:
        try:
            before = with_kept()
            after = checkpoint.trace_again(before, edits)
        except InputError:
            return None
        return PartEffect(
            before=outcome_value(outcome, before, before),
            after=outcome_value(outcome, before, after),
            turned=answers_otherwise(outcome, after) != answers_otherwise(outcome, before),
        )

    effect: PartEffect | None = effects_cache().get(key, measure, lambda _: EFFECT_BYTES)
    return effect


def name_of(checkpoint: Checkpoint, outcome: Outcome) -> str:
    """The label, the token or the output that is followed."""
    if outcome.kind == "label":
        return visible(checkpoint.config.labels[outcome.answers[0]])
    if outcome.kind in ("next", "masked"):
        return visible(checkpoint.tokenizer.pieces([outcome.answers[0]])[0])
    return visible(checkpoint.tokenizer.decode(outcome.answers), LONGEST_OUTPUT) if outcome.answers else ""
