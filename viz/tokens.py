"""How a token, a position, a layer and a head are printed. Whatever a visitor or a vocabulary wrote is untrusted."""

import re
import unicodedata
from collections.abc import Sequence

LONGEST = 24
ROUNDING = 1e-6  # what a sum of float32 shares may lack of 1
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
RUN_OF_BYTES = re.compile("(?:�(?:[0-9A-F]{2})+)+")
UNKNOWN_MARK = re.compile("^(\u2068?)(?:\\[UNK\\]|<unk>) (?=.)")  # before the word that the model has no token for
_JOINER = "\u200d"
_RIGHT_TO_LEFT = {"R", "AL", "AN"}
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_BREAKS = re.compile(r"[^\S\u00a0]+")


def visible(token: str, longest: int = LONGEST) -> str:
    """The token as one short line in which nothing is invisible: "U+200B" for a zero-width space, "↵" for a line's end.

    At most ``longest`` characters; where that is too few, the mark of an unknown token goes before its word does. Text
    that runs from right to left is isolated, so that it cannot reorder what follows.
    """
    if not token:
        return "(empty)"
    line = "".join(_visible_character(token, place) for place in range(len(token)))
    line = line if len(line) <= longest else without_mark(line)
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in line):
        return f"\u2068{line}\u2069"
    return line


def without_mark(name: str) -> str:
    """The name of a token that is unknown to the model without the mark that says so: "[UNK] zyx" is "zyx"."""
    return UNKNOWN_MARK.sub(r"\1", name)


def spelled(text: str) -> str:
    """The text with every character that XML does not know as its number, "U+FFFE"."""
    return NOT_XML.sub(lambda match: f"U+{ord(match[0]):04X}", text)


def quoted(token: str) -> str:
    """ "“slow”": a token in a cell of a table, which may be saved as CSV: no spreadsheet takes it for a formula."""
    return f"“{visible(token)}”"


def whole_characters(word: str) -> str:
    """The pieces of a word joined: bytes that make whole characters together, "�F0�9F�93�B1", as these characters."""
    return RUN_OF_BYTES.sub(_characters, word)


def _characters(run: re.Match[str]) -> str:
    try:
        return bytes.fromhex(run[0].replace("�", "")).decode("utf-8")
    except UnicodeDecodeError:
        return run[0]


def _visible_character(token: str, place: int) -> str:
    character = token[place]
    category = unicodedata.category(character)
    if character == _JOINER and 0 < place < len(token) - 1:  # holds a family emoji or an Indic letter together
        return character
    if character == "\n":
        return "↵"
    if character == " ":
        return character if 0 < place < len(token) - 1 else "␣"
    if category[0] in "CZ" and category != "Cn":
        return f"U+{ord(character):04X}"
    if category[0] == "M" and place == 0:  # a combining mark alone needs something to sit on
        return f"◌{character}"
    return character


def markdown_text(text: str) -> str:
    """The text with every punctuation mark escaped, so that Markdown, LaTeX and colour codes in it stay text.

    It is one line; spaces that do not break, as before "%", stay such.
    """
    return _PUNCTUATION.sub(r"\\\1", _BREAKS.sub(" ", text).strip(" "))


def full_stop(text: str) -> str:
    """What ends a sentence that ends with this text: "" where the text, quoted or not, has its own."""
    return "" if text.removesuffix("”").endswith((".", "!", "?", "…")) else "."


def position_name(position: int, token: str, longest: int = LONGEST) -> str:
    """ "5 · slow": positions are counted from 1 on the screen; the number tells repeated tokens apart."""
    return f"{position + 1} · {visible(token, longest)}"


def token_named(tokens: Sequence[str], at: int, unit: str = "token", place: int | None = None) -> str:
    """The token in quotation marks, and which of them where the text has it several times, Markdown.

    place: by which it is counted, where that is not its own.
    """
    where = f" ({unit} {counted(at if place is None else place)})" if list(tokens).count(tokens[at]) > 1 else ""
    return f"“{markdown_text(visible(tokens[at]))}”{where}"


def counted(index: int) -> str:
    """A layer or a head as the screen counts it: from 1."""
    return str(index + 1)


def percent(share: float, digits: int = 0) -> str:
    """ "71 %", with spaces that do not break; below 10 % at least one decimal.

    What would be rounded to nothing, or to all, without being it, is "< 0.1 %" or "> 99 %".
    """
    digits = max(digits, 1) if share < 0.0995 else digits
    least = 10.0**-digits
    rounded = round(100 * share, digits)
    if share > 0 and rounded == 0:
        return f"<\u00a0{least:.{digits}f}\u00a0%"
    if share < 1 - ROUNDING and rounded == 100:
        return f">\u00a0{100 - least:.{digits}f}\u00a0%"
    return f"{rounded:.{digits}f}\u00a0%"


def decimal(number: float, form: str) -> str:
    """ "−2.47" for ".2f": a number in a sentence or a label, with a minus sign where Python writes a hyphen."""
    return format(number, form).replace("-", "−")


def signed(number: float, form: str) -> str:
    """The same; no sign stands before what is shown as zero."""
    text = decimal(number, form)
    return text if float(text.replace("−", "-")) else text.lstrip("+−")


def list_of(indices: Sequence[int]) -> str:
    """ "1", "1 and 3", "1, 2 and 5": counted from 1."""
    return list_of_names([counted(index) for index in indices])


def list_of_names(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
