"""Checkpoints on disk: config.json, model.safetensors, tokenizer.json, card.json. Nothing in them is ever executed.

Reading is bounded and goes from the cheap to the dear: the config's types and ranges, the header of the weights, their
names and shapes, then the numbers themselves. Every refusal is a CheckpointError of one line, "file: field: found …,
expected …".
"""

import json
import struct
from pathlib import Path
from typing import Any, NoReturn

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from model.config import Config
from model.errors import CheckpointError, printable
from model.tokenizer import Tokenizer
from model.transformer import Transformer

CONFIG, WEIGHTS, TOKENIZER, CARD = "config.json", "model.safetensors", "tokenizer.json", "card.json"
LARGEST_JSON = 1 << 20
LARGEST_TOKENIZER = 64 << 20
LARGEST_WEIGHTS = 4 << 30
LARGEST_HEADER = 1 << 20
MOST_TENSORS = 5_000
DEEPEST_JSON = 32
BYTES_OF = {"F32": 4, "F16": 2, "BF16": 2}


def refuse(file: str, field: str, found: object, expected: str) -> NoReturn:
    """CheckpointError, one printable line."""
    raise CheckpointError(f"{file}: {printable(field)}: found {printable(found)}, expected {expected}.") from None


def regular_file(folder: Path, file: str, largest: int) -> Path:
    """The path of a regular file of bounded size."""
    path = folder / file
    if not path.is_file():
        refuse(file, "file", "something else" if path.exists() else "nothing", "a regular file")
    if (size := path.stat().st_size) > largest:
        refuse(file, "size", f"{size:,} bytes", f"at most {largest:,}")
    return path


def read_bytes(folder: Path, file: str, largest: int) -> bytes:
    """What a regular file of bounded size holds."""
    try:
        return regular_file(folder, file, largest).read_bytes()
    except OSError as error:
        refuse(file, "file", error.strerror, "a file that can be read")


def strict_json(content: bytes, file: str) -> dict[str, Any]:
    """A JSON object: UTF-8, each key once, no NaN, not nested deeply."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                refuse(file, key, "the key twice", "it once")
            found[key] = value
        return found

    def constant(name: str) -> NoReturn:
        refuse(file, "JSON", name, "a finite number")

    try:
        value = json.loads(content.decode("utf-8"), object_pairs_hook=once, parse_constant=constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")  # no half surrogates, no 1e999
        levels = depth(value)
    except CheckpointError:
        raise
    except (ValueError, RecursionError):
        refuse(file, "JSON", "something else", "valid JSON in UTF-8")
    if not isinstance(value, dict):
        refuse(file, "JSON", f"a {type(value).__name__}", "an object")
    if levels > DEEPEST_JSON:
        refuse(file, "JSON", f"{levels} levels of nesting", f"at most {DEEPEST_JSON}")
    return value


def depth(value: Any) -> int:
    """How deeply a JSON value is nested; an atom is 0."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(depth, inside), default=0)


def read_config(folder: Path) -> Config:
    """The validated config."""
    try:
        return Config.from_json(strict_json(read_bytes(folder, CONFIG, LARGEST_JSON), CONFIG))
    except CheckpointError:
        raise
    except ValueError as error:
        raise CheckpointError(f"{CONFIG}: {error}.") from None


def read_card(folder: Path) -> dict[str, Any]:
    """The card, or an empty one where there is none."""
    return strict_json(read_bytes(folder, CARD, LARGEST_JSON), CARD) if (folder / CARD).exists() else {}


def read_tokenizer(folder: Path, config: Config) -> Tokenizer:
    """The tokenizer, none of whose ids may lie outside the model's vocabulary."""
    content = read_bytes(folder, TOKENIZER, LARGEST_TOKENIZER)
    try:
        tokenizer = Tokenizer.from_json(content.decode("utf-8"))
    except UnicodeDecodeError:
        refuse(TOKENIZER, "text", "something else", "UTF-8")
    if tokenizer.size > config.vocabulary:
        refuse(TOKENIZER, "vocabulary", f"{tokenizer.size:,} ids", f"at most {config.vocabulary:,}")
    return tokenizer


def read_header(path: Path) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a safetensors file, its layout checked against its size."""
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
    return shapes


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


def read_model(folder: Path, config: Config) -> Transformer:
    """The model with its weights, as float32 on the CPU; made without memory until the file has been checked."""
    with torch.device("meta"):
        model = Transformer(config)
    expected = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    try:
        found = read_header(regular_file(folder, WEIGHTS, LARGEST_WEIGHTS))
    except OSError as error:
        refuse(WEIGHTS, "file", error.strerror, "a file that can be read")
    for name, shape in expected.items():
        if found.get(name) != shape:
            refuse(WEIGHTS, name, f"shape {found[name]}" if name in found else "nothing", f"shape {shape}")
    for name in found:
        if name not in expected:
            refuse(WEIGHTS, name, "an unknown tensor", "only those that the config names")
    try:
        tensors = {name: tensor.float() for name, tensor in load_file(folder / WEIGHTS).items()}
    except (SafetensorError, OSError):
        refuse(WEIGHTS, "file", "something that safetensors refuses", "a safetensors file")
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            refuse(WEIGHTS, name, "a number that is infinite or none", "finite numbers")
    model.load_state_dict(tensors, strict=True, assign=True)
    return model.eval().requires_grad_(False)


def save_checkpoint(
    folder: Path, model: Transformer, tokenizer: Tokenizer, card: dict[str, Any], dtype: torch.dtype = torch.float16
) -> None:
    """Write a checkpoint that ``load_checkpoint`` reads; weights in half precision unless told otherwise.

    Raises ValueError where half precision cannot hold a weight.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: parameter.detach().cpu().to(dtype).contiguous() for name, parameter in model.named_parameters()}
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise ValueError(f"{name}: a weight is not finite in {dtype}")
    save_file(tensors, folder / WEIGHTS)
    tokenizer.save(folder / TOKENIZER)
    (folder / CONFIG).write_text(json.dumps(model.config.to_json(), indent=2) + "\n", encoding="utf-8")
    (folder / CARD).write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
