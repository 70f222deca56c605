"""Weights from safetensors files: headers checked first, then mapped from a private copy, one tensor at a time.

A file is never mapped where it lies: somebody may write to it while it is in use. It is copied once into the cache
folder, from which the system loads the parts that are used and may drop them again. In the copy every matrix lies row
by row as the model uses it, also one that is stored as (in, out): a single token is multiplied faster by it that way.
"""

import contextlib
import hashlib
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from model.errors import CheckpointError, printable
from model.families import Source
from model.files import LARGEST_JSON, read_bytes, refuse, regular_file, strict_json
from model.transformer import Transformer

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
LARGEST_WEIGHTS = 4 << 30
LARGEST_HEADER = 1 << 20
MOST_TENSORS, MOST_FILES = 5_000, 100
USED = ("F32", "F16", "BF16")
BYTES_OF = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2, "U32": 4,
    "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}  # fmt: skip
MAPPED_FROM = 64 << 20  # bytes; smaller files are read into memory and widened to float32 at once
CHECKED_AT_ONCE = 1 << 22  # numbers
CACHE_BYTES = 8 << 30
STALE = 24 * 3600  # seconds after which a copy that was never finished may go


@dataclass(frozen=True)
class Stored:
    """Where a tensor lies, from which byte of the file on, its shape and its type."""

    path: Path = field(compare=False)
    start: int = field(compare=False)
    shape: tuple[int, ...]
    dtype: str


class FileState(NamedTuple):
    """What tells a file from any other, and from itself with another content; size in bytes, time in nanoseconds."""

    path: str
    inode: int
    size: int
    changed: int


def read_headers(folder: Path) -> dict[str, Stored]:
    """All tensors of a folder, by name: of its one file, or of those that its index lists."""
    found: dict[str, Stored] = {}
    files, total = weight_files(folder), 0
    try:
        for file in files:
            path = regular_file(folder, file, LARGEST_WEIGHTS)
            total += path.stat().st_size
            if total > LARGEST_WEIGHTS:
                refuse(file, "size", f"{total:,} bytes with the files before it", f"at most {LARGEST_WEIGHTS:,}")
            for name, stored in read_header(path).items():
                if name in found:
                    refuse(file, name, "a tensor that another file holds too", "it once")
                found[name] = stored
    except OSError as error:
        refuse(WEIGHTS, "file", error.strerror, "a file that can be read")
    if len(found) > MOST_TENSORS:
        refuse(INDEX, "weight_map", f"{len(found):,} tensors", f"at most {MOST_TENSORS:,}")
    return found


def weight_files(folder: Path) -> list[str]:
    """The file of the weights, or the several that an index lists."""
    if (folder / WEIGHTS).exists() or not (folder / INDEX).exists():
        return [WEIGHTS]
    listed = strict_json(read_bytes(folder, INDEX, LARGEST_JSON), INDEX).get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(file, str) for file in listed.values()):
        refuse(INDEX, "weight_map", "something else", "an object of file names")
    files = sorted(set(listed.values()))
    for file in files:
        if Path(file).name != file or not file.endswith(".safetensors"):
            refuse(INDEX, "weight_map", file, "names of safetensors files in this folder")
    if not 1 <= len(files) <= MOST_FILES:
        refuse(INDEX, "weight_map", f"{len(files)} files", f"1 to {MOST_FILES}")
    return files


def read_header(path: Path) -> dict[str, Stored]:
    """The tensors of a safetensors file, its layout checked against its size."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 2 <= length <= min(LARGEST_HEADER, size - 8):
            refuse(path.name, "header", f"a length of {length:,}", "2 bytes to 1 MiB, inside the file")
        header = strict_json(file.read(length), path.name)
    header.pop("__metadata__", None)
    if len(header) > MOST_TENSORS:
        refuse(path.name, "header", f"{len(header):,} tensors", f"at most {MOST_TENSORS:,}")
    shapes = {name: read_entry(path.name, name, entry) for name, entry in header.items()}
    ends = sum(entry["data_offsets"][1] - entry["data_offsets"][0] for entry in header.values())
    if ends != size - 8 - length:
        refuse(path.name, "size", f"{size - 8 - length:,} bytes of numbers", f"{ends:,}")
    starts = {name: 8 + length + entry["data_offsets"][0] for name, entry in header.items()}
    return {name: Stored(path, starts[name], shape, header[name]["dtype"]) for name, shape in shapes.items()}


def read_entry(file: str, name: str, entry: Any) -> tuple[int, ...]:
    """The shape in one tensor's header entry."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        refuse(file, name, "another header entry", "dtype, shape and data_offsets")
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in BYTES_OF:
        refuse(file, f"{name}: dtype", entry["dtype"], "one of " + ", ".join(BYTES_OF))
    shape, offsets = entry["shape"], entry["data_offsets"]
    for numbers in (shape, offsets):
        if not isinstance(numbers, list) or not all(type(n) is int and 0 <= n < 1 << 48 for n in numbers):
            refuse(file, name, numbers, "a list of whole numbers")
    count = 1
    for axis in shape[:8]:
        count *= axis
    if len(shape) > 8 or len(offsets) != 2 or offsets[1] - offsets[0] != count * BYTES_OF[entry["dtype"]]:
        refuse(file, f"{name}: data_offsets", offsets, f"room for shape {printable(shape)}")
    return tuple(shape)


def load(
    model: Transformer, sources: Mapping[str, Source], stored: Mapping[str, Stored], copies: Mapping[str, str]
) -> Transformer:
    """The model, until now without memory, with its weights. ``copies`` names tensors that must be others again.

    Vectors are float32; matrices of a large file stay in the precision that they are stored in.
    """
    expected = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    for name, source in sources.items():
        check_shape(model, expected[name], source, stored[source.name])
    check_copies(copies, stored, lambda one, other: stored[one] == stored[other])
    used, across = {source.name for source in sources.values()} | copies.keys(), transposed(model, sources, stored)
    states = {path: state_of(path) for path in sorted({entry.path for entry in stored.values()})}
    large = sum(state.size for state in states.values()) >= MAPPED_FROM
    tensors: dict[str, Tensor] = {}
    for path in states:
        wanted = {name: stored[name] for name in used if stored[name].path == path}
        tensors |= read_file(path, wanted, across & wanted.keys(), mapped=large)
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


def check_shape(model: Transformer, expected: tuple[int, ...], source: Source, found: Stored) -> None:
    """Refuse a tensor that is not of the shape and type that the model needs, before it is read."""
    file = found.path.name
    if found.dtype not in USED:
        refuse(file, f"{source.name}: dtype", found.dtype, "one of " + ", ".join(USED))
    try:
        shape = tuple(source.change(torch.empty(found.shape, device="meta"), model.config).shape)
    except (RuntimeError, IndexError, ValueError):  # it cannot even be cut or turned
        shape = ()
    if shape != expected:
        refuse(file, source.name, f"shape {found.shape}", f"one that gives {expected}")


def transposed(model: Transformer, sources: Mapping[str, Source], stored: Mapping[str, Stored]) -> set[str]:
    """The stored matrices of whose transpose the model's are rows that lie one after the other."""

    def lies(source: Source, tensor: Tensor) -> bool:
        return source.change(tensor, model.config).is_contiguous()

    found = set()
    for source in sources.values():
        empty = torch.empty(stored[source.name].shape, device="meta")
        if empty.ndim == 2 and not lies(source, empty) and lies(source, empty.mT.contiguous().mT):
            found.add(source.name)
    return found


def check_copies(copies: Mapping[str, str], stored: Mapping[str, Stored], same: Callable[[str, str], bool]) -> None:
    """Refuse a tensor that should be another one again and is not: nobody could know which is meant."""
    for name, original in copies.items():
        if not same(name, original):
            refuse(stored[name].path.name, name, f"other numbers than in {original}", "the same")


def read_file(path: Path, wanted: Mapping[str, Stored], across: Set[str], *, mapped: bool) -> dict[str, Tensor]:
    """These tensors of one file, mapped from our own copy or read into memory; those ``across``, column by column."""
    try:
        copy = private_copy(path, wanted, across) if mapped else None
        with safe_open(copy or path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in wanted}
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


def columns(matrix: Tensor) -> Tensor:
    """The transpose, with its rows in new memory one after the other."""
    return matrix.mT.clone(memory_format=torch.contiguous_format)


def check_numbers(file: str, tensors: Mapping[str, Tensor]) -> None:
    """Refuse a tensor that holds anything but finite numbers."""
    for name, tensor in tensors.items():
        if not finite(tensor):
            refuse(file, name, "a number that is infinite or none", "finite numbers")


def finite(tensor: Tensor) -> bool:
    """Whether every number is; looked at in pieces, for a mask of a large tensor is large too."""
    for piece in tensor.reshape(-1).split(CHECKED_AT_ONCE):
        # A sum with an infinite or undefined number in it is one itself; few sums of finite numbers are.
        if not piece.sum(dtype=torch.float32).isfinite() and not piece.isfinite().all():
            return False
    return True


def cache_folder() -> Path:
    """Where copies of large weight files lie: HEADLIGHT_CACHE, or headlight in the user's cache folder."""
    own, user = os.environ.get("HEADLIGHT_CACHE"), os.environ.get("XDG_CACHE_HOME")
    return Path(own) if own else (Path(user) if user else Path.home() / ".cache") / "headlight"


def private_copy(path: Path, wanted: Mapping[str, Stored], across: Set[str]) -> Path | None:
    """A copy of a file in our own cache, made once for every state of the file; None where none can be written.

    What lies in the cache under its last name has been checked: header as found before, and numbers. The numbers of a
    matrix ``across`` are in the order of its columns, whatever the header says of its shape.
    """
    copy = cache_folder() / f"{digest(state_of(path), sorted(wanted), sorted(across))}.safetensors"
    if copy.exists():
        os.utime(copy)
        return copy
    part = copied(path, copy)
    if part is None:
        return None
    try:
        check_copy(part, path.name, wanted)
        transpose(part, across)
        part.replace(copy)
    finally:
        part.unlink(missing_ok=True)
    return copy


def state_of(path: Path) -> FileState:
    """What tells a file from any other and from itself with another content."""
    state = path.stat()
    return FileState(str(path.resolve()), state.st_ino, state.st_size, state.st_mtime_ns)


def digest(*facts: object) -> str:
    """One name for these facts, without the odd characters that a path may hold."""
    return hashlib.sha256(repr(facts).encode(errors="surrogateescape")).hexdigest()


def check_pass(model: Transformer) -> None:
    """Refuse weights that are finite and too large to compute with: one short pass must give finite numbers."""
    ids = torch.zeros(1, dtype=torch.long)
    trace = model(ids, target_ids=ids if model.config.architecture == "encoder-decoder" else None)
    stack = trace.decoder or trace.encoder
    if not all(result is None or result.isfinite().all() for result in (stack.final, trace.logits)):
        refuse(WEIGHTS, "weights", "numbers that overflow", "a pass with finite results")


def check_pass_once(model: Transformer, states: Sequence[FileState]) -> None:
    """The same for large files, whose every number it reads from the disk: once for every state of them."""
    note = cache_folder() / f"{digest(states, model.config)}.passed"
    if not note.exists():
        check_pass(model)
        with contextlib.suppress(OSError):  # where no note can be written, the pass is made again next time
            note.touch()


def copied(path: Path, copy: Path) -> Path | None:
    """The file's bytes under a name of their own beside ``copy``; None where the cache is full or not writable."""
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        make_room(copy.parent, path.stat().st_size)
        handle, name = tempfile.mkstemp(dir=copy.parent, suffix=".part")
    except OSError:
        return None
    try:
        with path.open("rb") as file, os.fdopen(handle, "wb") as part:
            shutil.copyfileobj(file, part, 1 << 24)
    except OSError:
        Path(name).unlink(missing_ok=True)
        return None
    return Path(name)


def check_copy(part: Path, file: str, wanted: Mapping[str, Stored]) -> None:
    """Refuse a copy that is not what was checked before, because the file has changed, or that is not finite."""
    try:
        found = read_header(part)
    except CheckpointError:
        found = {}
    if any(found.get(name) != one for name, one in wanted.items()):
        refuse(file, "file", "one that changed while it was read", "one that stays as it is")
    with safe_open(part, framework="pt") as opened:
        for name in wanted:
            check_numbers(file, {name: opened.get_tensor(name)})


def transpose(part: Path, across: Set[str]) -> None:
    """Put the numbers of these matrices in the order of their columns, each where it was in the file."""
    places = read_header(part)
    with safe_open(part, framework="pt") as opened, part.open("r+b") as file:
        for name in across:
            file.seek(places[name].start)
            file.write(columns(opened.get_tensor(name)).view(torch.uint8).numpy().tobytes())


def make_room(folder: Path, needed: int) -> None:
    """Delete what was not used for longest until the rest and ``needed`` bytes stay within the cache's size."""
    files = sorted(folder.glob("*.safetensors"), key=lambda file: file.stat().st_mtime)
    files += [part for part in folder.glob("*.part") if time.time() - part.stat().st_mtime > STALE]
    kept = sum(file.stat().st_size for file in files)
    while files and kept + needed > CACHE_BYTES:
        oldest = files.pop(0)
        kept -= oldest.stat().st_size
        oldest.unlink(missing_ok=True)
