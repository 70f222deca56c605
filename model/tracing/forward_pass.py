"""One pass over ids that are checked first, without gradients, recorded as float32 on the CPU."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from model.config import Config
from model.edits import NO_EDITS, Edits
from model.edits.checks import complaints
from model.errors import InputError, printable
from model.trace import Trace, map_tensors
from model.tracing.limits import longest_trace
from model.transformer import Transformer


def forward_pass(
    model: Transformer,
    ids: Sequence[int],
    target_ids: Sequence[int] | None = None,
    type_ids: Sequence[int] | None = None,
    edits: Edits = NO_EDITS,
    *,
    logits: bool = True,
    name: str,
) -> Trace:
    """The trace of ids taken verbatim; ``name`` is the checkpoint's, for what is refused.

    Raises InputError as ``Checkpoint.trace_ids`` does.
    """
    config, both = model.config, model.config.is_encoder_decoder
    if both != (target_ids is not None):
        expected = "ids for its decoder" if both else "none, for it has no second stack"
        raise InputError(f"target_ids: {name} expects {expected}.")
    source = checked_ids(model, ids, "ids")
    target = None if target_ids is None else checked_ids(model, target_ids, "target_ids")
    one_stack = {config.architecture: len(source)}
    check_edits(config, edits, one_stack if target is None else {"encoder": len(source), "decoder": len(target)}, name)
    segments = None if type_ids is None else checked_segments(model, type_ids, len(source), name)
    with torch.no_grad():
        trace = model(source, segments=segments, target_ids=target, edits=edits, logits=logits)
    return map_tensors(trace, on_cpu)


def on_cpu(tensor: Tensor) -> Tensor:
    """The tensor on the CPU, in float32 if it is of floats."""
    tensor = tensor.detach()
    return (tensor.float() if tensor.is_floating_point() else tensor).cpu()


def checked_ids(model: Transformer, ids: Sequence[int], field: str) -> Int[Tensor, "position"]:
    """The ids on the model's device. InputError, by the name of the field, for none, too many, or one out of range."""
    values, longest, vocabulary = list(ids), longest_trace(model.config), model.config.vocabulary
    if not values:
        raise InputError(f"{field}: found none, expected one or more.")
    if len(values) > longest:
        raise InputError(f"{field}: found {len(values)}, expected at most {longest}.")
    for position, value in enumerate(values):
        if type(value) is not int or not 0 <= value < vocabulary:
            raise InputError(f"{field}[{position}]: found {printable(value, 20)}, expected 0 to {vocabulary - 1}.")
    return torch.tensor(values, device=model.embedding.weight.device)


def checked_segments(model: Transformer, type_ids: Sequence[int], count: int, name: str) -> Int[Tensor, "position"]:
    """The segment of each of ``count`` ids on the model's device. InputError where the model has no such segments."""
    segments = model.config.segments
    if not segments:
        raise InputError(f"{name} has no segments: leave type_ids out.")
    if len(type_ids) != count or any(type(one) is not int or not 0 <= one < segments for one in type_ids):
        raise InputError(f"type_ids: expected {count} numbers from 0 to {segments - 1}, one for every id.")
    return torch.tensor(type_ids, device=model.embedding.weight.device)


def check_edits(config: Config, edits: Edits, lengths: dict[str, int], name: str) -> None:
    """InputError where an edit names what the model does not have, or a position beyond these lengths of stacks."""
    for complaint in complaints(edits, config, lengths):
        raise InputError(f"edits: {name} {complaint}.")
