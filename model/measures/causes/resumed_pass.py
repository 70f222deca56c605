"""The rest of a pass, from one attention on, for many contexts of its heads at once.

What lies before that attention is the same in all of them and is not computed again. Head ablation, the ablation of
single weights and the patching of heads are all contexts that differ in some rows from the traced one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.attention import causal_mask, full_mask
from model.edits import NO_EDITS, Edits
from model.edits.interventions import StackInterventions, normed
from model.edits.sites import SublayerSite
from model.trace import AttentionTrace, StackTrace, Trace
from model.transformer import BesideStream, Stack, Transformer

BATCH_BYTES = 96 << 20  # of what a batch of passes holds at its widest; more rows are no faster on two cores
Contexts = Float[Tensor, "row head query head_width"]
Streams = Float[Tensor, "row position width"]


def attention_at(trace: Trace, site: SublayerSite) -> AttentionTrace:
    """The self- or cross-attention of a layer. ValueError where the pass has none there."""
    block = stack_at(trace, site).blocks[site.layer]
    attention = block.cross_attention if site.sublayer == "cross" else block.self_attention
    if attention is None:
        raise ValueError(f"layer {site.layer} of the {site.stack} has no {site.sublayer}-attention")
    return attention


def stack_at(trace: Trace, site: SublayerSite) -> StackTrace:
    """The stack that an attention is in."""
    stack = trace.encoder if site.stack == "encoder" else trace.decoder
    if stack is None:
        raise ValueError(f"the pass has no {site.stack}")
    return stack


def attention_sites(trace: Trace) -> list[SublayerSite]:
    """Every attention of a pass, in the order in which they are computed."""
    sites = []
    for name, stack in (("encoder", trace.encoder), ("decoder", trace.decoder)):
        for layer, block in enumerate(() if stack is None else stack.blocks):
            sites.append(SublayerSite(name, layer, "self"))
            sites += [SublayerSite(name, layer, "cross")] if block.cross_attention is not None else []
    return sites


@torch.no_grad()
def final_states(
    model: Transformer, trace: Trace, site: SublayerSite, contexts: Contexts, edits: Edits = NO_EDITS
) -> Iterator[Float[Tensor, "row position width"]]:
    """What the model's head would read if the heads of one attention had these contexts: in batches of rows, in order.

    trace: of this model, with ``edits``. The results are on the model's device.
    """
    rows = rows_at_once(model, trace)
    for batch in contexts.split(rows):
        yield final_state(model, trace, site, batch.to(model.embedding.weight.device), edits)


@torch.no_grad()
def final_of_streams(
    model: Transformer, trace: Trace, site: SublayerSite, streams: Streams, edits: Edits = NO_EDITS
) -> Iterator[Float[Tensor, "row _ width"]]:
    """The same if these were the streams that enter the layer of ``site``."""
    for batch in streams.split(rows_at_once(model, trace)):
        yield resumed(model, trace, site, batch.to(model.embedding.weight.device), None, edits)


def final_state(
    model: Transformer, trace: Trace, site: SublayerSite, contexts: Contexts, edits: Edits
) -> Float[Tensor, "row position width"]:
    """What the head would read with these contexts, for as many rows as fit into one batch."""
    stream = in_rows(stack_at(trace, site).blocks[site.layer].stream_in, contexts)
    return resumed(model, trace, site, stream, contexts, edits)


def resumed(
    model: Transformer, trace: Trace, site: SublayerSite, stream: Streams, contexts: Contexts | None, edits: Edits
) -> Float[Tensor, "row _ width"]:
    """The rest of the passes from the layer of ``site`` on, which these streams enter."""
    stack = model.encoder if site.stack == "encoder" else model.decoder
    assert stack is not None
    memory = None if site.stack == "encoder" or trace.encoder is None else in_rows(trace.encoder.final, stream)
    beside = beside_stream(stack, stream, memory, edits)
    if contexts is not None:
        beside = replace(beside, interventions=with_contexts(beside.interventions, site, contexts))
    final = end_of(stack, stream, beside, site.layer)
    if site.stack == "decoder" or model.decoder is None:
        return final
    assert trace.decoder is not None
    target = in_rows(trace.decoder.blocks[0].stream_in, stream)
    return end_of(model.decoder, target, beside_stream(model.decoder, target, final, edits))


@torch.no_grad()
def final_of_contexts(
    model: Transformer, trace: Trace, contexts: Mapping[SublayerSite, Contexts], edits: Edits = NO_EDITS
) -> Float[Tensor, "row _ width"]:
    """What the head would read of whole passes with these contexts in several attentions, NaN where they are computed.

    As many rows as are in ``contexts``, in one batch. trace: of the same text.
    """
    final, some = None, next(iter(contexts.values()))
    for stack, traced in ((model.encoder, trace.encoder), (model.decoder, trace.decoder)):
        if stack is None or traced is None:
            continue
        stream = in_rows(traced.blocks[0].stream_in, some)
        beside = beside_stream(stack, stream, final, edits)
        for site, each in contexts.items():
            if site.stack == stack.name:
                beside = replace(beside, interventions=with_contexts(beside.interventions, site, each))
        final = end_of(stack, stream, beside)
    assert final is not None
    return final


@torch.no_grad()
def final_of_texts(
    model: Transformer,
    trace: Trace,
    ids: Int[Tensor, "row position"],
    segments: Int[Tensor, "row position"] | None,
    edits: Edits | Sequence[Edits] = NO_EDITS,
) -> Float[Tensor, "row _ width"]:
    """What the head would read of whole passes over these texts; beside an encoder the decoder reads what it read."""
    device = model.embedding.weight.device
    target = trace.decoder if model.config.is_encoder_decoder else None
    passes = model(
        ids.to(device),
        segments=segments.to(device) if segments is not None and model.config.segments > 1 else None,
        target_ids=None if target is None else target.ids.to(device).expand(len(ids), -1),
        edits=edits,
        logits=False,
    )
    return passes.output_stack.final


def rows_at_once(model: Transformer, trace: Trace) -> int:
    """How many passes fit into one batch: a block holds some twelve vectors a token, its hidden units, its weights."""
    most = 1
    for config, stack in ((model.config, trace.encoder), (model.config.of_decoder(), trace.decoder)):
        if stack is not None:
            keys = max(len(stack.ids), 0 if trace.encoder is None else len(trace.encoder.ids))
            numbers = len(stack.ids) * (12 * config.width + 3 * config.hidden + 3 * config.heads * keys)
            most = max(most, 4 * numbers)
    return max(1, BATCH_BYTES // most)


def in_rows(stream: Float[Tensor, "_ width"], batch: Float[Tensor, "row ..."]) -> Float[Tensor, "row _ width"]:
    """A stream of the trace for every row of a batch, on its device."""
    return stream.to(batch).expand(len(batch), -1, -1)


def beside_stream(
    stack: Stack,
    stream: Float[Tensor, "row position width"],
    memory: Float[Tensor, "row memory width"] | None,
    edits: Edits,
) -> BesideStream:
    """What the blocks of a whole pass without padding read beside the stream."""
    length, memory_length = stream.shape[-2], None if memory is None else memory.shape[-2]
    full = stack.name == "encoder"
    mask = full_mask(length, length, stream.device) if full else causal_mask(length, stream.device)
    interventions = stack.interventions(edits, stream, length, memory_length)
    wide, narrow = stack.masks_and_biases(stream, mask, None, interventions)
    memory_mask = stack.memory_mask(stream, memory_length, None, interventions)
    return BesideStream(wide=wide, narrow=narrow, memory=memory, memory_mask=memory_mask, interventions=interventions)


def with_contexts(interventions: StackInterventions, site: SublayerSite, contexts: Contexts) -> StackInterventions:
    """The interventions, with these contexts in one attention."""
    layers = list(interventions.layers)
    name = f"{site.sublayer}_attention"
    attention = replace(getattr(layers[site.layer], name), context=contexts)
    layers[site.layer] = replace(layers[site.layer], **{name: attention})
    return replace(interventions, layers=tuple(layers))


def end_of(
    stack: Stack, stream: Float[Tensor, "row position width"], beside: BesideStream, first: int = 0
) -> Float[Tensor, "row position width"]:
    """What a stack ends in where its blocks from ``first`` on read this stream; nothing on the way is kept."""
    for block in stack.through(stream, beside, first):
        stream = block.stream_out
    return normed(stack.norm, stream, beside.interventions.final_norm)
