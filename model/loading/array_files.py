"""Named arrays out of a file of anybody's: NPZ, as numpy.savez writes it, or safetensors. Nothing in it is executed.

Only the arrays that are asked for are unpacked, and only after what they say of their own size has been added up; each
is then read no further than it said. Every refusal is an InputError of one sentence.
"""

import ast
import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np

from model.errors import CheckpointError, InputError, printable
from model.loading.bounded_files import LARGEST_JSON, strict_json
from model.loading.headers import LARGEST_HEADER, MOST_TENSORS, read_entry

LARGEST_FILE = 32 << 20
LARGEST_UNPACKED = 64 << 20  # bytes of all arrays that are wanted
MOST_MEMBERS, LARGEST_DIRECTORY = 200, 1 << 16
LARGEST_NPY_HEADER = 1024  # characters; numpy's own take some hundred
MOST_AXES = 8
NPY, ZIP, PICKLE = b"\x93NUMPY", b"PK\x03\x04", b"\x80"
DIRECTORY_ENDS, LARGE_DIRECTORY = b"PK\x05\x06", b"PK\x06\x07"
TORCH, LONGEST_START = b"/data.pkl", 300  # the first member of what torch.save writes, behind the name of the file
MEMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\.npy", re.ASCII)
PLAIN_TYPE = re.compile(r"[<>|=]?(f[248]|b1|[iu][1248]|U[1-9][0-9]{0,6})", re.ASCII)
TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "BF16": "<u2", "BOOL": "|b1", "U8": "|u1", "I8": "|i1",
         "I16": "<i2", "I32": "<i4", "I64": "<i8", "U16": "<u2", "U32": "<u4", "U64": "<u8"}  # fmt: skip
FILE = "The file"  # what messages of shared checks call it: its own name may be anything
SAVE = "save it with numpy.savez"
DAMAGED = "the file is damaged"


def read_arrays(content: bytes, names: Collection[str]) -> dict[str, np.ndarray]:
    """The arrays of these names that a file has. Lists of texts come as one-dimensional arrays of str.

    In safetensors, which know no text, a list stands under its name in the metadata as JSON, or as bytes of JSON in
    UTF-8. InputError for anything but such a file within the limits.
    """
    if len(content) > LARGEST_FILE:
        refuse(f"The file has {len(content):,} bytes; at most {LARGEST_FILE:,} are read")
    if content[:4] in (ZIP, DIRECTORY_ENDS):
        return npz_arrays(content, names)
    if content[8:9] == b"{":
        return safetensors_arrays(content, names)
    if content.startswith(NPY):
        refuse(f"The file holds one array without its tokens; {SAVE}, tokens beside the weights")
    if content.startswith(PICKLE):
        refuse(f"The file is pickled, and Headlight opens no pickled file, because loading one can run code; {SAVE}")
    return refuse("The file is neither NPZ nor safetensors; numpy.savez writes one that can be opened")


def refuse(sentence: str) -> NoReturn:
    """InputError without what led to it: a caller sees the one sentence."""
    raise InputError(f"{sentence}.") from None


# NPZ: a zip of one NPY file for each array


def npz_arrays(content: bytes, names: Collection[str]) -> dict[str, np.ndarray]:
    """Those of an NPZ file, once all that they say they unpack to is within the limit."""
    if TORCH in content[:LONGEST_START]:
        refuse(f"The file is one of torch.save, which can run code when it is loaded; {SAVE}")
    check_directory(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: info for name, info in named_members(archive).items() if name in names}
            check_unpacked(sum(info.file_size for info in members.values()))
            return {name: npy_array(name, unpacked(archive, info)) for name, info in members.items()}
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error, NotImplementedError, ValueError):
        refuse(f"The file is damaged: its archive cannot be unpacked; {SAVE} again")


def check_directory(content: bytes) -> None:
    """Refuse an archive whose list of members would take long to read, before it is: its last 22 bytes say how many."""
    end = content[-22:]
    if len(end) < 22 or end[:4] != DIRECTORY_ENDS or end[-2:] != b"\0\0" or content[-42:-38] == LARGE_DIRECTORY:
        refuse(f"The file does not end as an NPZ file does: it may have been cut off; {SAVE} again")
    members, size = struct.unpack("<10xHL", end[:16])
    if members > MOST_MEMBERS or size > LARGEST_DIRECTORY:
        refuse(f"The file holds {members:,} arrays; at most {MOST_MEMBERS} are read")


def named_members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The members by the names of their arrays: no folders, none twice, none encrypted, packed as numpy packs."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name, printable_name = info.filename.removesuffix(".npy"), printable(info.filename, 40)
        if not MEMBER.fullmatch(info.filename):
            refuse(f"The file holds “{printable_name}”, but an NPZ file holds arrays alone, in no folder; {SAVE}")
        if name in members:
            refuse(f"The file holds “{printable_name}” twice, so nobody could know which is meant; {SAVE} again")
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            refuse(f"The file has “{printable_name}” encrypted, or packed as numpy does not; {SAVE}")
        members[name] = info
    return members


def check_unpacked(size: int) -> None:
    """Refuse arrays that would take more memory than they may."""
    if size > LARGEST_UNPACKED:
        refuse(
            f"The arrays take {size / (1 << 20):,.0f} MiB unpacked, and at most {LARGEST_UNPACKED >> 20} are read; a "
            "shorter text, fewer layers or float16 take less"
        )


def unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A member's bytes, of which no more are unpacked than it said it has; a false number fails at its checksum."""
    with archive.open(info) as file:
        content = file.read(info.file_size)
        file.read(1)  # at its end the checksum is compared
    if len(content) != info.file_size:
        raise zipfile.BadZipFile
    return content


def npy_array(name: str, content: bytes) -> np.ndarray:
    """What an NPY file holds: numpy's format, versions 1 to 3 (numpy.lib.format), without Python objects."""
    version, length_bytes = content[6:7], 2 if content[6:7] == b"\x01" else 4
    start = 8 + length_bytes
    length = int.from_bytes(content[8:start], "little")
    if not content.startswith(NPY) or version not in (b"\x01", b"\x02", b"\x03") or length > LARGEST_NPY_HEADER:
        refuse(f"{name} is no array as numpy writes it; {SAVE}")
    kind, shape, across = npy_header(name, content[start : start + length])
    return laid_out(name, content[start + length :], kind, shape, "F" if across else "C")


def npy_header(name: str, header: bytes) -> tuple[np.dtype, tuple[int, ...], bool]:
    """Type, shape, and whether the columns come first. The header is short, and literals are all that is read of it."""
    try:
        fields = ast.literal_eval(header.decode("latin-1").strip())
        described, shape, across = fields["descr"], fields["shape"], fields["fortran_order"]
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
        refuse(f"{name} has a header that numpy does not write; {SAVE} again")
    if isinstance(described, str) and described.endswith("O"):
        refuse(f"{name} holds Python objects, which only pickle can open; save numpy.array({name}) with a plain type")
    if not isinstance(described, str) or not PLAIN_TYPE.fullmatch(described) or type(across) is not bool:
        refuse(f"{name} has the type {printable(described, 40)}; numbers and texts of numpy are read")
    if not isinstance(shape, tuple) or len(shape) > MOST_AXES or not all(type(n) is int and n >= 0 for n in shape):
        refuse(f"{name} has the shape {printable(shape, 40)}, which no array has")
    return np.dtype(described), shape, across


def laid_out(name: str, content: bytes, kind: np.dtype, shape: tuple[int, ...], order: Any = "C") -> np.ndarray:
    """The array, where its bytes are as many as type and shape need. It shares their memory and cannot be written."""
    if kind.itemsize * math.prod(shape) != len(content):
        refuse(f"{name} has {len(content):,} bytes, and its shape {printable(shape, 40)} needs others: {DAMAGED}")
    try:
        return np.frombuffer(content, kind).reshape(shape, order=order)
    except ValueError:  # an axis of 0 beside others that no array could have
        refuse(f"{name} has the shape {printable(shape, 40)}, which no array has: {DAMAGED}")


# safetensors: a header of JSON, then all numbers one after the other


def safetensors_arrays(content: bytes, names: Collection[str]) -> dict[str, np.ndarray]:
    """Those of a safetensors file, and the lists of texts in its metadata."""
    try:
        header, body = safetensors_header(content)
        metadata = header.pop("__metadata__", {})
        entries = {name: entry for name, entry in header.items() if name in names}
        shapes = {name: read_entry(FILE, name, entry) for name, entry in entries.items()}
        check_unpacked(sum(map(memory_of, entries.values())))
        arrays = {name: tensor_of(name, body, entries[name], shape) for name, shape in shapes.items()}
        lists = metadata if isinstance(metadata, dict) else {}
        return arrays | {name: listed(name, str(text)) for name, text in lists.items() if name in names}
    except CheckpointError as refusal:  # of the checks that checkpoints share
        raise InputError(str(refusal)) from None


def safetensors_header(content: bytes) -> tuple[dict[str, Any], bytes]:
    """The header, and the bytes after it."""
    (length,) = struct.unpack("<Q", content[:8])
    if not 2 <= length <= min(LARGEST_HEADER, len(content) - 8):
        refuse("The file has a safetensors header that is longer than the file, or than 1 MiB")
    header = strict_json(content[8 : 8 + length], FILE)
    if len(header) > MOST_TENSORS:
        refuse(f"The file holds {len(header):,} arrays; at most {MOST_TENSORS:,} are read")
    return header, content[8 + length :]


def memory_of(entry: dict[str, Any]) -> int:
    """The bytes that a tensor takes in memory; several may say that they lie at the same place."""
    start, end = entry["data_offsets"]
    return (end - start) * (2 if entry["dtype"] == "BF16" else 1)


def tensor_of(name: str, body: bytes, entry: dict[str, Any], shape: tuple[int, ...]) -> np.ndarray:
    """One tensor; bfloat16, which numpy does not have, as float32; bytes in a row as the list that they spell."""
    start, end = entry["data_offsets"]
    kind = TYPES.get(entry["dtype"])
    if kind is None:
        refuse(f"{name} has the type {entry['dtype']}; float16, bfloat16, float32 and float64 are read")
    if end > len(body):
        refuse(f"{name} ends after the file: it may have been cut off")
    array = laid_out(name, body[start:end], np.dtype(kind), shape)
    if entry["dtype"] == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    if entry["dtype"] == "U8" and array.ndim == 1:
        return listed(name, bytes(array).decode("utf-8", "replace"))
    return array


def listed(name: str, text: str) -> np.ndarray:
    """A list of texts that stands as JSON."""
    if len(text) > LARGEST_JSON:
        refuse(f"{name} has {len(text):,} characters of JSON; at most {LARGEST_JSON:,} are read")
    try:
        texts = strict_json(f'{{"list": {text}}}'.encode(), FILE).get("list")
    except (CheckpointError, UnicodeEncodeError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        refuse(f"{name} is no list of texts; write json.dumps(list(tokens)) there")
    longest = max(map(len, texts), default=0)
    check_unpacked(len(texts) * longest * np.dtype("U1").itemsize)  # numpy makes each as long as the longest
    return np.array(texts, np.str_)
