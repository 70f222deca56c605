"""Where a file comes from: the checkpoint, the texts, the edits, and how the file counts; and what it is called."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from model import PROGRAM as PROGRAM
from model.edits import NO_EDITS, Edits
from viz.tokens import spelled, visible

COUNTING = (
    "layers, heads and positions count from 0 here, from 1 on the screen",
    "layers, heads and positions count from 1 here, as on the screen; in edits they count from 0",
)
PLACES = (COUNTING[0], "layers, heads and positions count from 1 here, as on the screen")  # of what has no edits
SHORTENED, SHORT_TITLE = 120, 60  # characters of a text in a caption, in a title
LONGEST_NAME = 40  # characters of a page or a checkpoint in the name of a file
# A spreadsheet that splits a line at one of these takes what follows for a cell, and so perhaps for a formula.
_STARTS_A_FORMULA = re.compile(r"(?<=[,;|])[=+\-@]")


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What a file was made from.

    pair: the second text, where the model reads two. target: what the decoder of an encoder-decoder read, or what a
    decoder wrote; target_by: how it came to be, as "typed" or what ``Target.by`` says.
    """

    checkpoint: str
    text: str
    pair: str = ""
    target: str = ""
    target_by: str = ""
    edits: Edits = NO_EDITS

    def facts(self, first: int = 0) -> dict[str, str]:
        """Every fact by its name, in an order that does not change; texts that there are not are left out.

        first: 0 for files that count from 0, 1 for pictures and pages, which count as the screen does. ``edits`` is
        what ``Edits.to_text`` gives, or "none". A character that XML does not allow stands as its number, "U+0000".
        """
        texts = {"checkpoint": self.checkpoint, "text": self.text, "pair": self.pair, "target": self.target}
        named = texts | {"target_by": self.target_by if self.target else ""}
        facts = {name: spelled(text) for name, text in named.items() if text or name in ("checkpoint", "text")}
        return facts | {"edits": self.edits.to_text() or "none", "counting": COUNTING[first], "program": PROGRAM}

    def sentence(self) -> str:
        """A caption for what counts from 1: long texts are cut, and nothing in them is invisible."""
        parts = [f"Checkpoint {visible(self.checkpoint, LONGEST_NAME)}", f"text {shortened(self.text)}"]
        parts += [f"second text {shortened(self.pair)}"] if self.pair else []
        if self.target:
            by = f" ({visible(self.target_by, SHORTENED)})" if self.target_by else ""
            parts.append(f"target {shortened(self.target)}{by}")
        edits = self.edits.to_text()
        parts.append(f"edits {visible(edits, SHORTENED)}, which count from 0" if edits else "no edits")
        return spelled(f"{', '.join(parts)}. Layers, heads and positions count from 1.")

    def title(self) -> str:
        """A short line for the title of a file."""
        return spelled(f"{visible(self.checkpoint, LONGEST_NAME)}: {shortened(self.text, SHORT_TITLE)}")


@dataclass(frozen=True, kw_only=True)
class FileProvenance(Provenance):
    """What a file was made from that has attention of another program in it.

    checkpoint: what the page calls that. text: its tokens in one line. sha256: the first digits of the file's.
    """

    sha256: str

    def facts(self, first: int = 0) -> dict[str, str]:
        """As of any other, without what only a checkpoint has; "source" is what the page calls the file."""
        named = {"source": self.checkpoint, "text": self.text, "sha256": self.sha256}
        return {name: spelled(fact) for name, fact in named.items()} | {"counting": PLACES[first], "program": PROGRAM}

    def sentence(self) -> str:
        """A caption for what counts from 1."""
        name = visible(self.checkpoint, LONGEST_NAME)
        return spelled(f"Attention of {name}, tokens {shortened(self.text)}. Layers, heads and positions count from 1.")


def shortened(text: str, longest: int = SHORTENED) -> str:
    """ "“The film was…”"."""
    return f"“{visible(text, longest)}”"


def facts_of(provenance: Provenance | None, first: int = 0) -> dict[str, str]:
    """Its facts; none of what is not known."""
    return {} if provenance is None else provenance.facts(first)


def one_line(text: str) -> str:
    r"""The text without line breaks, quotation marks and anything invisible: as JSON writes them, ``\n``, ``\u0022``.

    ``json.loads(f'"{line}"')`` gives the text back.
    """
    return "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character == '"':  # JSON's own way to write it has one in it, and a reader of CSV would look for its partner
        return "\\u0022"
    return character if character.isprintable() and character != "\\" else json.dumps(character)[1:-1]


def fact_lines(facts: Mapping[str, str]) -> list[str]:
    """The lines "# name: fact" that stand before the header of a CSV file; the first says how to skip them.

    Each fact is ``one_line``. No part of it is a formula to a spreadsheet that cuts the line at commas.
    """
    if not facts:
        return []
    told = {"read": f"pandas.read_csv(file, skiprows={len(facts) + 1})"} | dict(facts)
    return [f"# {name}: {_STARTS_A_FORMULA.sub(_as_number, one_line(fact))}\n" for name, fact in told.items()]


def _as_number(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def comment(provenance: Provenance | None) -> str:
    """The facts that the lines of a script do not say themselves, as comments that stand after its docstring."""
    evident = ("checkpoint", "text", "pair", "edits")
    facts = {name: fact for name, fact in facts_of(provenance).items() if name not in evident}
    return "".join(f"# {name}: {one_line(fact)}\n" for name, fact in facts.items()) + ("\n" if facts else "")


def file_name(page: str, checkpoint: str, selection: str, ending: str) -> str:
    """ "explore-sentiment-1a2b3c4d.svg": page, checkpoint, and eight hexadecimal digits of what is selected.

    selection: the address of what is on the screen. Page, checkpoint and ending come down to a-z, 0-9 and hyphens,
    whatever they are; the name is never empty and never a path.
    """
    digits = hashlib.sha256(selection.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain(page, 'page')}-{plain(checkpoint, 'checkpoint')}-{digits}.{plain(ending, 'file')}"


def plain(name: str, instead: str) -> str:
    """The name in letters, digits and hyphens, at most forty; ``instead`` where nothing is left of it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:LONGEST_NAME].strip("-") or instead
