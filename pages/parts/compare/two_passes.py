"""The two passes that the page Compare sets side by side, and which of their tokens are partners."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from model import Checkpoint, Edits, InputError
from model.measures.two_runs.aligned_heads import AttentionPairing, attention_layers
from model.measures.two_runs.token_pairs import Pairing, Unit, by_hand, piece_pairs, sort_of, token_pairs
from model.trace import AttentionTrace, StackTrace, Trace
from pages.parts.compare.second_text import second_text
from pages.parts.compare.settings import CompareSettings
from pages.parts.edit.kept_edits import edit_text
from pages.parts.models.catalogue import checkpoint_names, label_of
from pages.parts.passes import edits_of, trace_key, trace_of
from pages.parts.prediction import output_of
from pages.parts.shared_cache import bytes_of, checkpoint_named, traces
from pages.parts.state.selection import Selection
from pages.parts.state.session import changed_selection, unusable
from viz.explorer.attention_kinds import TITLES, kinds_of
from viz.tokens import whole_characters

NO = Edits()
NO_PARTNERS = "No token of the one text has a partner in the other: join two of them below the picture."
NO_EDITS = "No edit is kept and no head is muted, so there is nothing to compare with."
NO_OTHER_MODEL = "No other model is here."


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoPasses:
    """A pass (A) and another (B). own: B as it reads without A: of a pair of stacks, with its own target.

    found, units: which tokens of the texts are partners, as found and as chosen. pairing: the same for the attention
    that is looked at. names: that attention's, in both. key: what decides all of this.
    """

    selections: tuple[Selection, Selection]
    checkpoints: tuple[Checkpoint, Checkpoint]
    traces: tuple[Trace, Trace]
    own: Trace
    edits: Edits
    found: Pairing
    units: Pairing
    pairing: AttentionPairing
    names: tuple[str, str]
    target: str  # what two models with a decoder beside an encoder both read
    key: tuple[object, ...]

    @property
    def stacks(self) -> tuple[StackTrace, StackTrace]:
        """Those that read the texts, with all that is known of these."""
        return self.traces[0].text_stack, self.own.text_stack

    @property
    def layers(self) -> tuple[list[AttentionTrace], list[AttentionTrace]]:
        """Those of the attention that is looked at."""
        first, second = (attention_layers(trace, name) for trace, name in zip(self.traces, self.names, strict=True))
        return first, second

    def unit_names(self) -> tuple[tuple[list[str], list[str]], tuple[list[str], list[str]]]:
        """The queries of the attention that is looked at, in A and in B, and its keys."""
        decoders = self.traces[0].decoder, self.traces[1].decoder
        texts = names_of(self.stacks, self.units)
        targets = texts if self.names[0] == "encoder" or None in decoders else names_of(decoders, self.pairing.queries)
        return targets, targets if self.names[0] == "decoder" else texts

    def added(self) -> tuple[list[bool], list[bool]]:
        """Of each unit of both texts whether the tokenizer added it."""
        first, second = (
            [sort_of(stack)[unit[0]][0] for unit in units]
            for stack, units in zip(self.stacks, (self.units.first, self.units.second), strict=True)
        )
        return first, second

    @property
    def one_model(self) -> bool:
        """Whether both passes are of one model, so that a part of the one can be put into the other."""
        return self.selections[0].checkpoint == self.selections[1].checkpoint


def names_of(stacks: tuple[StackTrace | None, StackTrace | None], pairing: Pairing) -> tuple[list[str], list[str]]:
    """The tokens of two texts, or the words that their pieces make."""
    first, second = (
        [unit_name(stack, unit) for unit in units] if stack is not None else []
        for stack, units in zip(stacks, (pairing.first, pairing.second), strict=True)
    )
    return first, second


def unit_name(stack: StackTrace, unit: Unit) -> str:
    """The pieces of a unit together."""
    names = [stack.names()[place] for place in unit]
    return whole_characters("".join([*names[:1], *(name.removeprefix("##") for name in names[1:])]))


def text_beside(selection: Selection) -> str:
    """The second text: that which was typed, or the page's own."""
    return selection.of(CompareSettings).other or second_text(selection.text).text


def models_beside(selection: Selection) -> list[str]:
    """All models but the one on the screen; those of its architecture first."""
    architecture = checkpoint_named(selection.checkpoint).config.architecture
    alike = checkpoint_names(architecture)
    names = [*alike, *(name for name in checkpoint_names() if name not in alike)]
    return [name for name in names if name != selection.checkpoint]


def model_beside(selection: Selection) -> str:
    """The second model: that which was chosen, or the first of all. InputError where there is none."""
    chosen, names = selection.of(CompareSettings).other_model, models_beside(selection)
    if chosen in names:
        return chosen
    if not names:
        raise InputError(NO_OTHER_MODEL)
    if chosen:
        unusable("other_model")
    return names[0]


def edits_beside(selection: Selection, checkpoint: Checkpoint) -> Edits:
    """What is kept on the pages Break the formula and Edit, and the heads that are muted. InputError for nothing."""
    kept, muted = Edits.from_text(edit_text(selection)), edits_of(selection, checkpoint).muted
    edits = replace(kept, muted=kept.muted | muted)
    if edits == NO:
        raise InputError(NO_EDITS)
    return edits


def two_passes(selection: Selection) -> TwoPasses:
    """Both passes. InputError where one of them cannot be made, or where they have nothing in common."""
    beside = {"text": beside_text, "model": beside_model, "edits": beside_edits}
    passes = beside[selection.of(CompareSettings).against](selection)
    units = chosen_units(selection, passes)
    return replace(passes, units=units, pairing=pairing_of(passes, units), key=(*passes.key, units.pairs))


def beside_text(selection: Selection) -> TwoPasses:
    """Another text through the same model; a decoder beside an encoder reads the same target."""
    other = changed_selection(selection, text=text_beside(selection))
    first, own = trace_of(selection, NO), trace_of(other, NO)
    key = ("target of the other", trace_key(selection, NO), trace_key(other, NO))
    second = reading_target(selection, own, first, key)
    found = token_pairs(first.text_stack, own.text_stack)
    return of_one_model(selection, other, (first, second, own), NO, found)


def beside_edits(selection: Selection) -> TwoPasses:
    """The same text through the same model with the edits; a decoder beside an encoder reads the same target."""
    first, checkpoint = trace_of(selection, NO), checkpoint_named(selection.checkpoint)
    edits = edits_beside(selection, checkpoint)
    own = trace_of(selection, edits)
    key = ("aligned", *trace_key(selection, NO), edits)
    second = reading_target(selection, own, first, key, edits)
    return of_one_model(
        selection, selection, (first, second, own), edits, token_pairs(first.text_stack, first.text_stack)
    )


def beside_model(selection: Selection) -> TwoPasses:
    """The same text through another model; where both have a decoder beside an encoder, both read the first's text."""
    other = changed_selection(selection, checkpoint=model_beside(selection))
    first = trace_of(selection, NO)
    checkpoints = checkpoint_named(selection.checkpoint), checkpoint_named(other.checkpoint)
    own = trace_of(other, NO)
    second, written = own, ""
    if all(checkpoint.config.is_encoder_decoder for checkpoint in checkpoints):
        written = selection.target.strip() or output_of(checkpoints[0], first)
        first, second = (trace_of(changed_selection(each, target=written), NO) for each in (selection, other))
    names = selection.view.attention, name_beside(selection.view.attention, first, second, other.checkpoint)
    found = piece_pairs(first.text_stack, second.text_stack, (selection.text, selection.pair))
    return TwoPasses(
        selections=(selection, other),
        checkpoints=checkpoints,
        traces=(first, second),
        own=own,
        edits=NO,
        found=found,
        units=found,
        pairing=AttentionPairing(queries=found, keys=found),
        names=names,
        target=written,
        key=(trace_key(selection, NO), trace_key(other, NO), written, names),
    )


def of_one_model(
    first: Selection, second: Selection, passes: tuple[Trace, Trace, Trace], edits: Edits, found: Pairing
) -> TwoPasses:
    """A pass, the other as it reads the first's target, and the other as it is."""
    checkpoint, name = checkpoint_named(first.checkpoint), first.view.attention
    return TwoPasses(
        selections=(first, second),
        checkpoints=(checkpoint, checkpoint),
        traces=passes[:2],
        own=passes[2],
        edits=edits,
        found=found,
        units=found,
        pairing=AttentionPairing(queries=found, keys=found),
        names=(name, name),
        target="",
        key=(trace_key(first, NO), trace_key(second, edits), name),
    )


def reading_target(selection: Selection, own: Trace, first: Trace, key: object, edits: Edits = NO) -> Trace:
    """The second pass with the first's target; itself where there is no decoder beside an encoder."""
    if own.encoder is None or own.decoder is None or first.decoder is None:
        return own
    checkpoint, decoder, encoder = checkpoint_named(selection.checkpoint), first.decoder, own.encoder
    types = encoder.segments if checkpoint.config.segments > 1 else None
    run: Callable[[], Trace] = lambda: checkpoint.trace_ids(  # noqa: E731
        encoder.ids.tolist(), decoder.ids.tolist(), type_ids=types, edits=edits
    )
    trace: Trace = traces().get(key, run, bytes_of)
    return trace


def name_beside(name: str, first: Trace, second: Trace, model: str) -> str:
    """The attention of the second model that is compared: of the same name, or what reads the text in both."""
    there = list(kinds_of(second))
    if name in there:
        return name
    if name == next(iter(kinds_of(first))):
        return there[0]
    raise InputError(f"{label_of(model)} has no {TITLES[name]} to compare with.")


def chosen_units(selection: Selection, passes: TwoPasses) -> Pairing:
    """The partners that were chosen by hand; those that were found where none was, or where these cannot be."""
    numbers = selection.of(CompareSettings).aligned
    if not numbers:
        return passes.found
    try:
        return by_hand(passes.found, zip(numbers[::2], numbers[1::2], strict=True), *passes.stacks)
    except ValueError:
        unusable("aligned")
        return passes.found


def pairing_of(passes: TwoPasses, units: Pairing) -> AttentionPairing:
    """The partners among queries and keys of the attention that is looked at. InputError where no query has one."""
    name, (first, second) = passes.names[0], passes.traces
    queries = units
    if name in ("decoder", "cross") and first.encoder is not None:
        assert first.decoder is not None
        assert second.decoder is not None
        stacks = first.decoder, second.decoder
        same = passes.one_model
        queries = token_pairs(stacks[0], stacks[0]) if same else piece_pairs(*stacks, [passes.target])
    keys = units if name != "decoder" or first.encoder is None else queries
    if not queries.pairs:
        raise InputError(NO_PARTNERS)
    return AttentionPairing(queries=queries, keys=keys)
