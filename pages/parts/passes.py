"""The forward pass over what is selected: its text, the target of a decoder beside an encoder, and what is muted."""

from collections.abc import Callable

from model import Checkpoint, Edits, InputError
from model.edits import HeadSite
from model.tokenizer import NOTHING
from model.trace import Trace
from pages.parts.shared_cache import bytes_of, check_lengths, checkpoint_key, checkpoint_named, reads_pairs, traces
from pages.parts.state.selection import Selection
from pages.parts.state.session import changed_selection
from pages.parts.translate.productions import candidate_of, candidate_target, produced_of
from pages.parts.translate.settings import Options
from pages.parts.widgets.head_switches import muted_heads
from viz.export.provenance import Provenance
from viz.export.trace_code import Target

# Checkpoint, text, second text, target, edits.
PassKey = tuple[tuple[str, str, tuple[int, ...]], str, str | None, str | tuple[int, ...] | None, Edits]


def trace_of(selection: Selection, edits: Edits) -> Trace:
    """The forward pass of the selection's text. InputError where the text cannot be read."""
    return trace_later(selection, edits)()


def trace_later(selection: Selection, edits: Edits) -> Callable[[], Trace]:
    """The same for whoever asks later, as for a file: Streamlit makes files where there is no session to look into."""
    check_lengths(selection.text, selection.pair, selection.target)
    checkpoint = checkpoint_named(selection.checkpoint)
    key = key_of(selection, checkpoint, edits)
    _, _, pair, target, _ = key

    def run() -> Trace:
        return checkpoint.trace(selection.text, pair=pair, target=target, edits=edits)

    def trace() -> Trace:
        forward_trace: Trace = traces().get(key, run, bytes_of)
        refuse_empty(forward_trace)
        return forward_trace

    return trace


def trace_key(selection: Selection, edits: Edits) -> tuple[object, ...]:
    """What decides all numbers of a pass."""
    return key_of(selection, checkpoint_named(selection.checkpoint), edits)


def key_of(selection: Selection, checkpoint: Checkpoint, edits: Edits) -> PassKey:
    """The same where the checkpoint is at hand: to find it is to look at its files."""
    pair = (selection.pair if checkpoint.config.segments > 1 else "") or None
    return (
        checkpoint_key(selection.checkpoint),
        selection.text,
        pair,
        target_of(selection, checkpoint, edits),
        edits,
    )


def pair_of(selection: Selection) -> str | None:
    """The second text, where the checkpoint reads one."""
    return (selection.pair if reads_pairs(selection.checkpoint) else "") or None


def target_of(selection: Selection, checkpoint: Checkpoint, edits: Edits) -> str | tuple[int, ...] | None:
    """What a decoder beside an encoder reads: a typed text, or the ids of a searched or sampled translation.

    None: what greedy decoding says; and where there is no such decoder. Whatever is produced, is produced with the
    edits.
    """
    options = selection.of(Options)
    if not checkpoint.config.is_encoder_decoder:
        return None
    if selection.target.strip():
        return selection.target
    if options.method == Options().method:
        return None
    return candidate_of(produced_of(selection, checkpoint, options, edits), options).ids


def reads_typed(selection: Selection) -> bool:
    """Whether a decoder beside an encoder reads a target that was typed."""
    architecture = checkpoint_named(selection.checkpoint).config.architecture
    return architecture == "encoder-decoder" and bool(selection.target.strip())


def target_with_origin(selection: Selection, checkpoint: Checkpoint, edits: Edits) -> Target | None:
    """The same with how it came to be; None: what greedy decoding says, or there is no such decoder."""
    if target_of(selection, checkpoint, edits) is None:
        return None
    options = selection.of(Options)
    if selection.target.strip():
        return Target(text=selection.target)
    return candidate_target(selection, options, produced_of(selection, checkpoint, options, edits))


def provenance_of(selection: Selection, checkpoint: Checkpoint, edits: Edits) -> Provenance:
    """What a file of this pass was made from."""
    target = target_with_origin(selection, checkpoint, edits)
    told = {} if target is None else {"target": target.text, "target_by": target.by}
    return Provenance(
        checkpoint=checkpoint.name, text=selection.text, pair=pair_of(selection) or "", edits=edits, **told
    )


def with_text(selection: Selection, text: str) -> Selection:
    """The selection with another text alone, whose target is the model's own."""
    return changed_selection(selection, text=text, pair="", target="", **{"translation.method": Options().method})


def refuse_empty(trace: Trace) -> None:
    """InputError where all that was read are tokens of the model's own, as of an empty text."""
    special = trace.text_stack.special
    if special is not None and all(special):
        raise InputError(NOTHING)


def edits_of(selection: Selection, checkpoint: Checkpoint) -> Edits:
    """The heads that are muted: those chosen, and those that are off, if the selection says so."""
    both = checkpoint.config.is_encoder_decoder
    of_encoder = not checkpoint.config.has_decoder or (both and selection.view.attention == "encoder")
    stack, kind = "encoder" if of_encoder else "decoder", "cross" if selection.view.attention == "cross" else "self"
    sizes = checkpoint.config if of_encoder or not both else checkpoint.config.of_decoder()
    there = ((layer, head) for layer, head in muted_heads(selection) if layer < sizes.layers and head < sizes.heads)
    return Edits(muted=frozenset(HeadSite(stack, layer, head, kind) for layer, head in there))
