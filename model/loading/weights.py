"""From stored tensors to a model that computes: shapes and numbers checked, one tensor in memory at a time."""

import contextlib
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from model.errors import CheckpointError
from model.families import Source
from model.loading.bounded_files import refuse
from model.loading.headers import BYTES_OF, WEIGHTS, Stored
from model.loading.weight_cache import FileState, cache_folder, check_numbers, columns, digest, private_copy, state_of
from model.transformer import Transformer

USED = ("F32", "F16", "BF16")
MAPPED_FROM = 64 << 20  # bytes; smaller files are read into memory and widened to float32 at once


def load(
    model: Transformer, sources: Mapping[str, Source], stored: Mapping[str, Stored], copies: Mapping[str, str]
) -> Transformer:
    """The model, until now without memory, with its weights. ``copies`` names tensors that must be others again.

    Vectors are float32; matrices of a large file stay in the precision that they are stored in.
    """
    check_shapes(model, sources, stored)
    check_copies(copies, stored, lambda one, other: stored[one] == stored[other])
    used, across = {source.name for source in sources.values()} | copies.keys(), transposed(model, sources, stored)
    states = {path: state_of(path) for path in sorted({entry.path for entry in stored.values()})}
    large = is_large(stored)
    tensors: dict[str, Tensor] = {}
    for path in states:
        entries = {name: stored[name] for name in used if stored[name].path == path}
        tensors |= read_file(path, entries, across & entries.keys(), mapped=large)
    check_copies(copies, stored, lambda one, other: torch.equal(tensors[one], tensors[other]))
    changed = {name: source.change(tensors[source.name], model.config) for name, source in sources.items()}
    model.load_state_dict(
        {name: tensor if large and tensor.ndim > 1 else tensor.float() for name, tensor in changed.items()},
        strict=True,
        assign=True,
    )
    model.eval().requires_grad_(False)
    if large:
        check_pass_once(model, list(states.values()))
    else:
        check_pass(model)
    return model


def is_large(stored: Mapping[str, Stored]) -> bool:
    """Whether the files of these tensors are mapped; smaller ones are read into memory."""
    return sum(path.stat().st_size for path in {entry.path for entry in stored.values()}) >= MAPPED_FROM


def memory_kept(model: Transformer, sources: Mapping[str, Source], stored: Mapping[str, Stored]) -> int:
    """How many bytes the weights take once they are loaded, before they are: the rule of ``load``."""
    large = is_large(stored)
    return sum(
        parameter.numel() * (BYTES_OF[stored[sources[name].name].dtype] if large and parameter.ndim > 1 else 4)
        for name, parameter in model.named_parameters()
    )


def check_shapes(model: Transformer, sources: Mapping[str, Source], stored: Mapping[str, Stored]) -> None:
    """Refuse tensors of another shape or type than the model needs."""
    expected = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    for name, source in sources.items():
        check_shape(model, expected[name], source, stored[source.name])


def check_shape(model: Transformer, expected: tuple[int, ...], source: Source, stored: Stored) -> None:
    """Refuse a tensor that is not of the shape and type that the model needs, before it is read."""
    file = stored.path.name
    if stored.dtype not in USED:
        refuse(file, f"{source.name}: dtype", stored.dtype, "one of " + ", ".join(USED))
    try:
        shape = tuple(source.change(torch.empty(stored.shape, device="meta"), model.config).shape)
    except (RuntimeError, IndexError, ValueError):  # it cannot even be cut or transposed
        shape = ()
    if shape != expected:
        refuse(file, source.name, f"shape {stored.shape}", f"one that gives {expected}")


def transposed(model: Transformer, sources: Mapping[str, Source], stored: Mapping[str, Stored]) -> set[str]:
    """The stored matrices of whose transpose the model's are rows that lie one after the other."""

    def lies(source: Source, tensor: Tensor) -> bool:
        return source.change(tensor, model.config).is_contiguous()

    across = set()
    for source in sources.values():
        empty = torch.empty(stored[source.name].shape, device="meta")
        if empty.ndim == 2 and not lies(source, empty) and lies(source, empty.mT.contiguous().mT):
            across.add(source.name)
    return across


def check_copies(copies: Mapping[str, str], stored: Mapping[str, Stored], same: Callable[[str, str], bool]) -> None:
    """Refuse a tensor that should be another one again and is not: nobody could know which is meant."""
    for name, original in copies.items():
        if not same(name, original):
            refuse(stored[name].path.name, name, f"other numbers than in {original}", "the same")


def read_file(path: Path, entries: Mapping[str, Stored], across: Set[str], *, mapped: bool) -> dict[str, Tensor]:
    """These tensors of one file, mapped from our own copy or read into memory; those ``across``, column by column."""
    try:
        copy = private_copy(path, entries, across) if mapped else None
        with safe_open(copy or path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in entries}
    except CheckpointError:
        raise
    except (SafetensorError, OSError, ValueError):
        refuse(path.name, "file", "something that safetensors refuses", "a safetensors file")
    if copy is None:
        tensors = {name: columns(tensor) if name in across else tensor.clone() for name, tensor in tensors.items()}
        check_numbers(path.name, tensors)
    else:
        tensors |= {name: tensors[name].view(tensors[name].shape[::-1]) for name in across}
    return tensors | {name: tensors[name].mT for name in across}


def check_pass(model: Transformer) -> None:
    """Refuse weights that are finite and too large to compute with: one short pass must give finite numbers."""
    ids = torch.zeros(1, dtype=torch.long)
    trace = model(ids, target_ids=ids if model.config.is_encoder_decoder else None)
    stack = trace.output_stack
    if not all(result is None or result.isfinite().all() for result in (stack.final, trace.logits)):
        refuse(WEIGHTS, "weights", "numbers that overflow", "a pass with finite results")


def check_pass_once(model: Transformer, states: Sequence[FileState]) -> None:
    """The same for large files, whose every number it reads from the disk: once for every state of them."""
    note = cache_folder() / f"{digest(states, model.config)}.passed"
    if not note.exists():
        check_pass(model)
        with contextlib.suppress(OSError):  # where no note can be written, the pass is made again next time
            note.touch()
