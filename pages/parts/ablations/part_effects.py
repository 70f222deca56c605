"""What the absence of each part of the formula does to what the model says of this text, and which matters most."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from model import Checkpoint, Edits, InputError
from model.measures.outcome import Outcome, answers_otherwise, outcome_of, outcome_value
from model.trace import Trace
from pages.parts.ablations.experiments import EXPERIMENTS, NO, Experiment, Place, edits_for
from pages.parts.cache import LRUCache, bytes_of, traces
from pages.parts.passes import trace_key
from pages.parts.state.selection import Selection
from viz.export.share_picture import Bar, plain_text
from viz.formula import Group, Line, Site, Switch, Term, formula
from viz.tokens import counted, markdown_text, percent, visible

AT_ONCE = 64  # tokens of the longer stack: up to here every part is measured before the page is drawn
EFFECT_BYTES, EFFECTS_BYTES = 1_000, 4_000_000  # of one, with its key, and of all that are kept
STILL = 0.01  # a change of probability below this is none that anybody would see
CHOSEN_BY = (
    "Every part of the formula was taken out {how}, and the change of {what} was measured. The page names the part "
    "with the largest change. Norms are measured but not compared: without them the numbers grow from layer to "
    "layer, and the model's answer has little to do with this text."
)
HIDDEN_IN = {
    "encoder": "no encoder head looks at",
    "decoder": "no decoder head looks at",
    "cross": "no cross-attention looks at",
}
WHAT = {
    "label": "the probability of the label that the model finds most probable",
    "next": "the probability of the token that the model finds most probable after the text",
    "masked": "the probability of the word that the model finds most probable in place of the first mask",
    "output": "the mean probability of the output's tokens, including its end,",
    "stream": "the vectors after the last layer (the length of the difference, as a share of their length)",
}


@dataclass(frozen=True, kw_only=True)
class Effect:
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

    groups: tuple[Group, ...]
    place: Place
    outcome: Outcome
    named: str
    effects: Mapping[str, Effect | None]
    pending: tuple[str, ...]
    kept: Edits
    gone: frozenset[str]  # parts that the kept edits leave out

    def most(self) -> str:
        """The part whose absence changes the outcome most; "" before all is measured, or where nothing can be."""
        changes = {name: effect.change for name, effect in self.compared().items()}
        return "" if self.pending or not changes else max(changes, key=lambda name: changes[name])

    def compared(self) -> dict[str, Effect]:
        """The parts that are taken out, and whose absence depends on the text."""
        return {
            name: effect
            for name, effect in self.effects.items()
            if effect is not None and EXPERIMENTS[name].part and EXPERIMENTS[name].of_text
        }

    def switches(self, chosen: str) -> dict[str, Switch]:
        most = self.most()
        out = self.gone | {chosen}
        return {
            name: Switch(
                result="" if name in self.pending else effect.before_and_after() if effect else "–",
                chosen=name == chosen,
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
    selection: Selection, checkpoint: Checkpoint, before: Trace, place: Place, *, at_most: int | None = None
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


def groups_of(checkpoint: Checkpoint, place: Place) -> tuple[Group, ...]:
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
        Term(notation=notation, name=name, part=part)
        for part, (notation, name) in changed.items()
        if not isinstance(edits_for(EXPERIMENTS[part], config, place), str)
    ]
    return (*groups, Group(words="Other changes", lines=(Line(words="nothing is taken out", terms=tuple(terms)),)))


def parts_of(groups: Sequence[Group]) -> list[str]:
    """The parts that are switches, in the order of the formula."""
    terms = (term for group in groups for line in group.lines for term in line.terms)
    return list(dict.fromkeys(term.part for term in terms if term.part))


def edits_of_part(experiment: Experiment, checkpoint: Checkpoint, place: Place, kept: Edits) -> Edits | None:
    """What takes a part out, beside what is kept; None where the model, or what is kept, has no place for it."""
    try:
        edits = edits_for(experiment, checkpoint.config, place, kept)
    except InputError:
        return None
    return None if isinstance(edits, str) else edits


def effect_of(
    key: object, checkpoint: Checkpoint, with_kept: Callable[[], Trace], outcome: Outcome, edits: Edits
) -> Effect | None:
    """One part, measured once for all visitors; None where the edits have no place in this text.

    with_kept: the pass with the kept edits. edits: what is kept, and the part.
    """

    def measure() -> Effect | None:
        try:
            before = with_kept()
            after = checkpoint.trace_again(before, edits)
        except InputError:
            return None
        return Effect(
            before=outcome_value(outcome, before, before),
            after=outcome_value(outcome, before, after),
            turned=answers_otherwise(outcome, after) != answers_otherwise(outcome, before),
        )

    effect: Effect | None = effects_cache().get(key, measure, lambda _: EFFECT_BYTES)
    return effect


def name_of(checkpoint: Checkpoint, outcome: Outcome) -> str:
    """The label or the token that is followed."""
    if outcome.kind == "label":
        return visible(checkpoint.config.labels[outcome.answers[0]])
    if outcome.kind in ("next", "masked"):
        return visible(checkpoint.tokenizer.pieces([outcome.answers[0]])[0])
    return ""


def finding(board: Board, pressed: str = "") -> tuple[str, str]:
    """What a part that was pressed does, or else what matters most in this text: a title, and a sentence with numbers.

    Markdown; "" before it is known.
    """
    most, compared = board.most(), board.compared()
    if not most:
        return "", ""
    if pressed != most and (effect := board.effects.get(pressed)) is not None:
        return finding_of(board, pressed, effect)
    if compared[most].change < STILL:
        return needs_none(board), nothing_moves(board, compared[most])
    rest = sorted(compared.keys() - {most}, key=lambda name: -compared[name].change)
    begins = without(board) if pressed == most else most_matters(board)
    title = f"{begins}{EXPERIMENTS[most].part_at(board.place)}, {outcome_change(board, compared[most])}"
    return title, rest_sentence(board, rest)


def finding_of(board: Board, name: str, effect: Effect) -> tuple[str, str]:
    """What one part does, and beside it the part that matters most."""
    experiment, most = EXPERIMENTS[name], board.most()
    lead = f"{without(board)}{experiment.part_at(board.place)}, " if experiment.part else experiment.title(board.place)
    if not experiment.part:
        lead += " on top of the kept edits: " if board.kept != NO else ": "
    aside = ", the norms aside," if norms_aside(board) else ""
    largest = f"{EXPERIMENTS[most].part_at(board.place)} ({board.compared()[most].before_and_after()})"
    return (
        f"{lead}{outcome_change(board, effect)}",
        f"Of the parts that can be taken out{aside} {largest} matters most here.",
    )


def without(board: Board) -> str:
    """How a title about a part that is taken out begins."""
    return "On top of the kept edits, without " if board.kept != NO else "Without "


def most_matters(board: Board) -> str:
    """How the title begins where no part is taken out: what follows is of the part that matters most."""
    among = ", on top of the kept edits" if board.kept != NO else ""
    return f"What matters most here{among}: without "


def needs_none(board: Board) -> str:
    """The title where no part that is compared moves the outcome."""
    other = "other " if board.kept != NO else ""
    title = f"{norms_aside(board)}this text needs no single {other}part of the formula."
    return title[0].upper() + title[1:]


def norms_aside(board: Board) -> str:
    """ "norms aside, " where parts were taken out that are not compared."""
    effects = board.effects.items()
    names = [EXPERIMENTS[name].part for name, effect in effects if effect and not EXPERIMENTS[name].of_text]
    return f"{', '.join(names)} aside, " if names else ""


def beside_what(board: Board) -> str:
    """What else is edited while a part is taken out."""
    return "on top of the kept edits" if board.kept != NO else "alone"


def outcome_change(board: Board, effect: Effect) -> str:
    """What becomes of the outcome, after "Without …, "."""
    before, after, name = percent(effect.before, 1), percent(effect.after, 1), markdown_text(board.named)
    stays = before == after and not effect.turned
    goes = f"stays at {before}" if stays else f"goes from {before} to {after}"
    verdict = f"changes; “{name}” goes from {before} to {after}." if effect.turned else f"{goes} {name}."
    return {
        "label": f"the verdict {verdict}",
        "next": f"the next token “{name}” {goes}.",
        "masked": f"the masked word “{name}” {goes}.",
        "output": f"the probability of its own output {goes}.",
        "stream": f"the last vectors move by {after} of their length.",
    }[board.outcome.kind]


def rest_sentence(board: Board, rest: Sequence[str]) -> str:
    """The other parts that were compared, those with the largest change first."""
    if not rest:
        return "No other part of this model can be compared with it."
    compared = board.compared()
    second = f"{EXPERIMENTS[rest[0]].part_at(board.place)} ({compared[rest[0]].before_and_after()})"
    most = "this one changes the answer most"
    if norms_aside(board):
        most += ", norms aside: without them the answer has little to do with the text"
    return f"Each part was taken out {beside_what(board)}; {most}. The second largest change comes from {second}."


def nothing_moves(board: Board, largest: Effect) -> str:
    """What it means that every part can be missed."""
    name, before = markdown_text(board.named), percent(largest.before, 1)
    what = {
        "label": f"the probability of “{name}” ({before})",
        "next": f"the probability of the next token “{name}” ({before})",
        "masked": f"the probability of the masked word “{name}” ({before})",
        "output": f"the probability of its own output ({before})",
        "stream": "the last vectors",
    }[board.outcome.kind]
    points = f"{100 * largest.change:.2g} points when it is taken out {beside_what(board)}"
    none = f"{norms_aside(board)}none moves {what} by more than {points}"
    none = none[0].upper() + none[1:]
    if board.kept != NO:
        return f"{none}."
    return (
        f"{none}: here, the other parts make up for any one part. A text that depends on the order of its words needs "
        "more of them."
    )


def unmoved_sentence(board: Board, name: str, moved: float) -> str:
    """What it means that the outcome stays where one part is gone; "" where it moves, or where that is not known.

    moved: how far the stream after the last layer moves from that of the unchanged model, as a share of its length.
    Both are held against STILL. Where the stream is all there is to follow, it does not stay if either moves.
    """
    effect, goes = board.effects.get(name), moved >= STILL
    if effect is None or effect.change >= STILL or effect.turned or (goes and board.outcome.kind == "stream"):
        return ""
    if board.kept != NO:
        return f"**The answer hardly changes** beyond the kept edits ({effect.before_and_after()})."
    although = f", although the stream after the last layer moves by {percent(moved)} of its length" if goes else ""
    return f"**The answer hardly changes** ({effect.before_and_after()}){although}. {EXPERIMENTS[name].unmoved}"


def how_chosen(board: Board) -> str:
    return CHOSEN_BY.format(how=beside_what(board), what=WHAT[board.outcome.kind])


def box_legend(board: Board) -> str:
    """What the numbers beside a part are."""
    if board.outcome.kind == "stream":
        beside = f", {beside_what(board)}" if board.kept != NO else ""
        return f"how far the vectors after the last layer move without it{beside}, as a share of their length"
    of = f" of “{markdown_text(board.named)}”" if board.named else " of the output's tokens, on average,"
    if board.kept != NO:
        return f"the probability{of} with the kept edits → without this part as well"
    return f"the probability{of} with all parts → without this one"


def bars(board: Board) -> list[Bar]:
    """The parts that are compared, those with the largest change first; nothing before that is known."""
    effects, most = board.compared(), board.most()
    names = sorted(effects, key=lambda name: -effects[name].change) if most else []
    longest = max(effects[most].change, STILL) if most else 1.0
    return [
        Bar(
            name=EXPERIMENTS[name].part_at(board.place),
            length=effects[name].change / longest,
            label=effects[name].before_and_after(),
        )
        for name in names
    ]


def bars_legend(board: Board) -> str:
    """What the bars are, plain text."""
    legend = plain_text(box_legend(board))
    return f"{legend[0].upper()}{legend[1:]}. The length of a bar is the change."
