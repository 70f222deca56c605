"""The headers of safetensors files, checked before a number is read: which tensors there are, and where each lies."""

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.errors import printable
from model.loading.bounded_files import LARGEST_JSON, read_bytes, refuse, regular_file, strict_json

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
LARGEST_WEIGHTS = 4 << 30
LARGEST_HEADER = 1 << 20
MOST_TENSORS, MOST_FILES = 5_000, 100
BYTES_OF = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2, "U32": 4,
    "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """Where a tensor lies, from which byte of the file on, its shape and its type."""

    path: Path = field(compare=False)
    start: int = field(compare=False)
    shape: tuple[int, ...]
    dtype: str


def read_headers(folder: Path) -> dict[str, Stored]:
    """All tensors of a folder, by name: of its one file, or of those that its index lists."""
    entries: dict[str, Stored] = {}
    files, total = weight_files(folder), 0
    try:
        for file in files:
            path = regular_file(folder, file, LARGEST_WEIGHTS)
            total += path.stat().st_size
            if total > LARGEST_WEIGHTS:
                refuse(file, "size", f"{total:,} bytes with the files before it", f"at most {LARGEST_WEIGHTS:,}")
            for name, stored in read_header(path).items():
                if name in entries:
                    refuse(file, name, "a tensor that another file holds too", "it once")
                entries[name] = stored
    except OSError as error:
        refuse(WEIGHTS, "file", error.strerror, "a file that can be read")
    if len(entries) > MOST_TENSORS:
        refuse(INDEX, "weight_map", f"{len(entries):,} tensors", f"at most {MOST_TENSORS:,}")
    return entries


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
