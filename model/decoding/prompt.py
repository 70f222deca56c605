"""Where decoding begins: the ids that a decoder reads first, how far it may go, and the trace of what it wrote."""

from collections.abc import Sequence

import torch

from model.config import Config
from model.decoding.steps import ChosenToken, Decoder, most_written
from model.decoding.stitched_trace import DecoderPass
from model.edits import Edits
from model.edits.checks import room
from model.trace import Trace, map_tensors
from model.tracing.forward_pass import check_edits, checked_ids, forward_pass, on_cpu
from model.tracing.limits import TRACE_BYTES, longest_trace, trace_bytes
from model.transformer import Transformer


def start_ids(config: Config, ids: tuple[int, ...]) -> tuple[int, ...]:
    """What a decoder reads before it produces anything: the text itself, or in a pair the start token."""
    return (int(config.start_id or 0),) if config.is_encoder_decoder else ids


def most_ids(config: Config, ids: tuple[int, ...], edits: Edits, max_tokens: int) -> int:
    """How many ids the decoder may have in all, ``max_tokens`` of which it may produce from the text of these ids."""
    asked = len(start_ids(config, ids)) + most_written(config, len(ids), max_tokens)
    return min(longest_trace(config), asked, room(edits, config, "decoder"))


def decoder_of(
    model: Transformer, ids: tuple[int, ...], edits: Edits, *, name: str, rows: int | None = None, longest: int = 0
) -> Decoder:
    """The decoder, in a pair with the memory of these ids, in so many rows of a batch or in none.

    longest: how many ids it may read and keep what it computes of them, where there is the memory for it. Raises
    InputError, by the checkpoint's ``name``, for edits that the model has no place for.
    """
    config, both = model.config, model.config.is_encoder_decoder
    check_edits(config, edits, {"encoder": len(ids)} if both else {}, name)
    encoder = memory = None
    if both:
        with torch.no_grad():
            encoder = model.encode(checked_ids(model, ids, "ids"), edits=edits)
        memory = encoder.final if rows is None else encoder.final.expand(rows, -1, -1)
    taken = (rows or 1) * trace_bytes(config, max(longest, len(ids)))
    passes = list[DecoderPass]() if longest and taken <= TRACE_BYTES else None
    return Decoder(model=model, memory=memory, edits=edits, encoder=encoder, passes=passes)


def written_trace(
    decoder: Decoder,
    ids: tuple[int, ...],
    started: tuple[int, ...],
    written: Sequence[ChosenToken],
    rows: Sequence[int] = (),
    *,
    name: str,
    logits: bool = True,
) -> Trace:
    """The trace of a decoder that has read what it started with and what it wrote; in a pair all but the last of it.

    From what the decoder kept, in these rows of its passes where it made them in rows; else of a pass anew. ``ids`` are
    the text's.
    """
    both = decoder.model.config.is_encoder_decoder
    read = (*started, *(chosen.token_id for chosen in written))
    read = read[: max(1, len(read) - 1)] if both else read
    if decoder.passes:
        step_logits = [chosen.logits for chosen in written] if logits else None
        return map_tensors(decoder.trace(read, step_logits, rows or [0] * len(decoder.passes)), on_cpu)
    source, target = (ids, read) if both else (read, None)
    return forward_pass(decoder.model, source, target, edits=decoder.edits, logits=logits, name=name)
