"""What has to hold of every pass, whatever the weights are."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.edits import Shift
from model.edits.checks import room
from model.measures.answer_reference import logits_of
from model.measures.evidence.agreement import Comparison, Skipped
from model.measures.evidence.checked_pass import Pass, attentions_of, named_tensors
from model.measures.evidence.numpy_pass import placed_by_distance, without_head
from model.trace import StackTrace, Trace

PADDING, SHIFT = 3, 5
OVERWRITTEN = "Single weights are overwritten here, which need not keep to this."
SEES_ALL = "Every query may see every key here: nothing is masked."
NORMED_SUM = {
    "post": "This model norms the sum of stream and update; torch's own layers, below, do that too.",
    "both": "This model norms what a sublayer says before it is added; the stream is compared with NumPy's.",
}
CUT = "A connection around a sublayer is cut here: the stream is not added to."
NO_ROOM = "The text takes all positions that the model has; there is no room for padding."
NOT_CAUSAL = "An encoder's tokens see those after them, as they should."
BEYOND_CAUSAL = "What is switched off or changed here lets a token depend on later ones."
ONE_TOKEN = "One token has no later one."
ABSOLUTE_PLACES = "This model is told at which place a token stands, not only how far apart two are."
MOVED = "The positions are switched off, shuffled or shifted here already."
Results = Iterator[Comparison | Skipped]


def rows(one: Pass) -> Results:
    """What a query gives adds up to 1, or to 0 where it may see nothing; and nothing goes where the mask forbids."""
    if one.edited("overwritten"):
        yield from (Skipped(check=name, reason=OVERWRITTEN) for name in ("rows", "forbidden"))
        return
    yield Skipped(check="forbidden", reason=SEES_ALL)
    for place, trace in one.attentions():
        seeing = trace.mask.any(dim=-1).double()
        sums = trace.weights.double().sum(dim=-1)
        yield Comparison(check="rows", ours=sums, expected=seeing.expand_as(sums), place=place, axes=("head", "query"))
        hidden = trace.weights[:, ~trace.mask]
        if hidden.numel():
            nothing = torch.zeros_like(hidden)
            axes = ("head", "masked cell")
            yield Comparison(check="forbidden", ours=hidden, expected=nothing, place=place, axes=axes)


def sums(one: Pass) -> Results:
    """Token + position + segment is what enters; stream + attention + feed-forward is what leaves a layer."""
    for name, stack in one.stacks.items():
        embedding = stack.embedding
        parts = [part for part in (embedding.token, embedding.position, embedding.segment) if part is not None]
        total = sum(part.double().numpy() for part in parts)
        total = one.numbers.normed_embedding(name, np.asarray(total))
        yield Comparison(
            check="sum", ours=embedding.total, expected=total, place={"stack": name}, axes=("position", "coordinate")
        )
    order = one.checkpoint.config.norm_order
    reason = CUT if one.edited("without_residual") else NORMED_SUM.get(order)
    if reason is not None:
        yield Skipped(check="residual", reason=reason)
        return
    for name, stack in one.stacks.items():
        yield from stream_additions(name, stack)


def stream_additions(name: str, stack: StackTrace) -> Results:
    """The stream after each layer against the stream before it and what the sublayers said."""
    for layer, block in enumerate(stack.blocks):
        cross = None if block.cross_attention is None else block.cross_attention.output
        parts = [block.stream_in, block.self_attention.output, cross, block.feed_forward.output]
        total = sum(part.double().numpy() for part in parts if part is not None)
        place: dict[str, str | int] = {"stack": name, "layer": layer}
        axes = ("position", "coordinate")
        yield Comparison(check="residual", ours=block.stream_out, expected=np.asarray(total), place=place, axes=axes)


def same_bits(one: Pass) -> Results:
    """The pass once more, with an edit that changes nothing: every bit is the same."""
    placed = [name for name in one.stacks if name not in one.edits.unpositioned]
    shifted_stacks = {shift.stack for shift in one.edits.shifted}
    still = frozenset(Shift(name, 0) for name in placed if name not in shifted_stacks)
    again = one.run(replace(one.edits, shifted=one.edits.shifted | still))
    expected = dict(named_tensors(again))
    for name, tensor in named_tensors(one.trace):
        if tensor.numel():
            ours, other = tensor.numpy(), expected[name].numpy()
            yield Comparison(
                check="again", ours=ours.ravel(), expected=other.ravel(), place={"field": name}, axes=("entry",)
            )


def batch(one: Pass) -> Results:
    """The text in a batch with a longer one, padded to its length, against the text alone."""
    config, inputs = one.checkpoint.config, one.ids()
    lengths = {name: len(stack.ids) for name, stack in one.stacks.items()}
    space = min(min(room(one.edits, config, name), config.max_length) - count for name, count in lengths.items())
    if space < 1:
        yield Skipped(check="batch", reason=NO_ROOM)
        return
    count = min(PADDING, space)
    given: dict[str, Tensor] = {}
    for name, ids in inputs.items():
        filling = 0 if name == "segments" else config.pad_id
        given[name] = torch.stack([torch.cat([ids, ids.new_full((count,), filling)]), longer_ids(ids, count)])
        if name != "segments":
            mask_name = {"ids": "padding_mask", "target_ids": "target_padding_mask"}[name]
            given[mask_name] = torch.stack(
                [torch.arange(len(ids) + count) < len(ids), torch.ones(len(ids) + count) > 0]
            )
    given = {name: tensor.to(one.checkpoint.device) for name, tensor in given.items()}
    yield from common_positions("batch", one, one.run(one.edits, **given), row=(0,))


def longer_ids(ids: Tensor, count: int) -> Tensor:
    """Another text that is longer by ``count``: this one from its end to its beginning, again and again."""
    return ids.flip(0).repeat(1 + count // len(ids) + 1)[: len(ids) + count]


def causal(one: Pass) -> Results:
    """The first half of what the decoder reads, alone, against the same half within the whole."""
    if one.trace.decoder is None:
        yield Skipped(check="causal", reason=NOT_CAUSAL)
    elif "decoder" in one.edits.unmasked or one.edited("averaged", "shuffled", "overwritten"):
        yield Skipped(check="causal", reason=BEYOND_CAUSAL)
    elif len(one.trace.decoder.ids) < 2:
        yield Skipped(check="causal", reason=ONE_TOKEN)
    else:
        name = "ids" if one.trace.encoder is None else "target_ids"
        ids = one.ids()[name]
        half = one.run(one.edits, **{name: ids[: len(ids) // 2]})
        yield from common_positions("causal", one, half, stacks=("decoder",))


def common_positions(
    check: str, one: Pass, other: Trace, row: tuple[int, ...] = (), stacks: tuple[str, ...] = ("encoder", "decoder")
) -> Results:
    """Weights, streams and answers of both passes at the positions that both have."""
    for name, stack in one.stacks.items():
        if name not in stacks:
            continue
        theirs: StackTrace = getattr(other, name)
        for (place, trace), (_, other_trace) in zip(
            attentions_of(name, stack), attentions_of(name, theirs), strict=True
        ):
            pair = common_part(trace.weights, other_trace.weights[row])
            yield Comparison(check=check, **pair, place=place, axes=("head", "query", "key"))
        pair = common_part(stack.final, theirs.final[row])
        yield Comparison(check=check, **pair, place={"stack": name}, axes=("position", "coordinate"))
    if one.trace.logits is not None and other.logits is not None:
        axes = ("label",) if one.trace.logits.ndim == 1 else ("position", "token id")
        yield Comparison(
            check=check, **common_part(one.trace.logits, other.logits[row]), place={"field": "logits"}, axes=axes
        )


def common_part(first: Tensor, second: Tensor) -> dict[str, Any]:
    """The part of two tensors that both have: from the first entry of every axis on."""
    part = tuple(slice(min(sizes)) for sizes in zip(first.shape, second.shape, strict=True))
    return {"ours": first[part], "expected": second[part]}


def shifted_positions(one: Pass) -> Results:
    """All positions moved by as much: where only distances count, nothing changes."""
    if not placed_by_distance(one):
        yield Skipped(check="shifted", reason=ABSOLUTE_PLACES)
    elif one.edited("unpositioned", "shuffled", "shifted"):
        yield Skipped(check="shifted", reason=MOVED)
    else:
        moved = replace(one.edits, shifted=frozenset(Shift(name, SHIFT) for name in one.stacks))
        yield from common_positions("shifted", one, one.run(moved))


def muted_head(one: Pass) -> Results:
    """The chosen head muted by an edit, against NumPy with its columns of the output projection set to 0."""
    edits = replace(one.edits, muted=one.edits.muted | {one.head})
    ours, numbers, memory, final = one.run(edits), without_head(one.numbers, one), None, np.zeros(0)
    for name in one.stacks:
        x = numbers.entering(name, one.trace)
        for layer in numbers.layers(name, x, memory):
            x = layer.stream_out
        final = memory = numbers.finished(name, x)
    place: dict[str, str | int] = {"stack": one.head.stack, "layer": one.head.layer, "head": one.head.head}
    stack = ours.output_stack
    yield Comparison(check="muted", ours=stack.final, expected=final, place=place, axes=("position", "coordinate"))
    logits = logits_of(numbers, final)
    if logits is not None and ours.logits is not None:
        axes = ("label",) if logits.ndim == 1 else ("position", "token id")
        yield Comparison(check="muted", ours=ours.logits, expected=logits, place=place, axes=axes)
