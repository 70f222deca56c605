"""The pass that is checked, and others of the same model beside it."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import torch
from torch import Tensor

from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits, HeadSite
from model.measures.numpy_reference import Numbers
from model.trace import AttentionTrace, StackTrace, Trace, map_tensors
from model.tracing.forward_pass import on_cpu

PLACED_BY_DISTANCE = ("rotary", "relative", "alibi")
ON_WEIGHTS = ("uniform", "overwritten")


class Attention(NamedTuple):
    """One attention of a trace and where it is."""

    place: dict[str, str | int]
    trace: AttentionTrace


@dataclass(frozen=True, kw_only=True)
class Pass:
    """A trace, what made it, and the head that is looked at."""

    checkpoint: Checkpoint
    trace: Trace
    edits: Edits = NO_EDITS
    head: HeadSite

    @property
    def stacks(self) -> dict[str, StackTrace]:
        """The stacks that the trace has, in the order in which they run."""
        both = {"encoder": self.trace.encoder, "decoder": self.trace.decoder}
        return {name: stack for name, stack in both.items() if stack is not None}

    @property
    def numbers(self) -> Numbers:
        """The path of NumPy through the stored weights."""
        return Numbers(self.checkpoint.model, self.edits)

    def attentions(self) -> Iterator[Attention]:
        """Every attention of every layer."""
        for name, stack in self.stacks.items():
            yield from attentions_of(name, stack)

    def edited(self, *names: str) -> bool:
        """Whether any of these fields of the edits changes something."""
        return any(getattr(self.edits, name) != getattr(NO_EDITS, name) for name in names)

    def ids(self) -> dict[str, Tensor]:
        """What the model is given, on its device."""
        device, both = self.checkpoint.device, len(self.stacks) > 1
        names = {"encoder": "ids", "decoder": "target_ids" if both else "ids"}
        tensors = {names[name]: stack.ids.to(device) for name, stack in self.stacks.items()}
        segments = next(iter(self.stacks.values())).segments
        if segments is not None and self.checkpoint.config.segments > 1:
            tensors["segments"] = torch.tensor(segments, device=device)
        return tensors

    def run(self, edits: Edits, **changes: Any) -> Trace:
        """Another pass over the same ids, or over others."""
        with torch.no_grad():
            return map_tensors(self.checkpoint.model(**self.ids() | changes, edits=edits), on_cpu)


def attentions_of(name: str, stack: StackTrace) -> Iterator[Attention]:
    """Every attention of one stack."""
    for layer, block in enumerate(stack.blocks):
        for kind, trace in (("self", block.self_attention), ("cross", block.cross_attention)):
            if trace is not None:
                yield Attention({"stack": name, "layer": layer, "attention": kind}, trace)


def named_tensors(record: Any, name: str = "") -> Iterator[tuple[str, Tensor]]:
    """Every tensor and float of a record by the way to it, as "encoder.blocks.0.self_attention.query"."""
    if isinstance(record, Tensor | float):
        yield name, torch.as_tensor(record, dtype=torch.float64)
    elif isinstance(record, tuple):
        for place, item in enumerate(record):
            yield from named_tensors(item, f"{name}.{place}")
    elif hasattr(record, "__dataclass_fields__"):
        for field in fields(record):
            yield from named_tensors(getattr(record, field.name), f"{name}.{field.name}".lstrip("."))
