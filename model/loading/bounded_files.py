"""Reading files that may be hostile: regular, of bounded size, strict JSON; a refusal is one printable line."""

import json
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from model.errors import CheckpointError, printable

LARGEST_JSON = 1 << 20
DEEPEST_JSON = 32


def refuse(file: str, field: str, value: object, expected: str) -> NoReturn:
    """CheckpointError, one printable line."""
    raise CheckpointError(f"{file}: {printable(field)}: found {printable(value)}, expected {expected}.") from None


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
    try:
        text, pairs, number = content.decode("utf-8"), partial(each_once, file), partial(refuse_constant, file)
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=number)
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


def each_once(file: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, whose last value of a key would hide the others."""
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        refuse(file, next(key for key in keys if keys.count(key) > 1), "the key twice", "it once")
    return values


def refuse_constant(file: str, name: str) -> NoReturn:
    """NaN and the infinities, which Python reads though JSON has no such numbers."""
    refuse(file, "JSON", name, "a finite number")


def depth(value: Any) -> int:
    """How deeply a JSON value is nested; an atom is 0."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(depth, inside), default=0)
