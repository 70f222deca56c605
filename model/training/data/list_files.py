"""The text files in lists/: words, patterns and sentences, under headings. lists/README.md describes the format."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from model.errors import InputError, printable
from model.training.data.corpora import lines

LISTS = Path(__file__).parent / "lists"
NOTHING = "(nothing)"  # an entry without a word; an empty line would be easy to lose

Lists = Mapping[str, tuple[str, ...]]  # the entries under each heading, both in the order of the file


@cache
def read_lists(name: str) -> Lists:
    """The lists of ``lists/<name>.txt``, read once. Raises InputError naming the file and the line."""
    return parse_lists(LISTS / f"{name}.txt")


def parse_lists(path: Path) -> Lists:
    """The lists of a file. Raises InputError naming the file, and the line that breaks the format."""
    lists: dict[str, list[str]] = {}
    entries: list[str] | None = None
    for where, line in content_lines(path):
        if line.startswith("["):
            heading = heading_of(line, where)
            if heading in lists:
                raise InputError(f"{where}: the heading {printable(line)} stands here a second time.")
            entries = lists[heading] = []
        elif entries is None:
            raise InputError(f"{where}: found an entry, expected a [heading] before the first one.")
        else:
            entries.append("" if line == NOTHING else line)
    for heading, entries in lists.items():
        if not entries:
            raise InputError(f"{path.name}: found no entry under [{printable(heading)}], expected one or more.")
    return MappingProxyType({heading: tuple(entries) for heading, entries in lists.items()})


def content_lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines that are neither empty nor comments, each behind the words that name its place, "words.txt: line 3"."""
    for number, line in enumerate(lines(path), start=1):
        where = f"{path.name}: line {number}"
        if line != " ".join(line.split()):
            raise InputError(f"{where}: found a tab, or a blank beside another or at an end, expected single blanks.")
        if line and not line.startswith("#"):
            yield where, line


def heading_of(line: str, where: str) -> str:
    """The name in a line ``[name]``. Raises InputError beginning with ``where``."""
    name = line[1:-1].strip()
    if not line.endswith("]") or not name:
        raise InputError(f"{where}: found {printable(line)}, expected a heading such as [name].")
    return name


def words(text: str) -> tuple[str, ...]:
    """The words of a text, whatever their case and the marks between them."""
    return tuple(re.findall(r"[a-z0-9]+", text.lower()))
