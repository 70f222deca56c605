"""What a child process answers, checked: a file may have led its library astray, and nothing is taken on trust."""

from dataclasses import dataclass
from typing import Any

from model.loading.foreign_tokenizers.processes import ProcessError

MOST_SEGMENT = (1 << 32) - 1


@dataclass(frozen=True)
class RawEncoding:
    """A text as tokens, with the field names of the tokenizers library."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    special_tokens_mask: list[int]
    type_ids: list[int]
    word_ids: list[int | None]


def raw_encoding(answer: dict[str, Any], length: int, most: int) -> RawEncoding:
    """The encoding of a text of this length, each id under ``most``. Raises ProcessError where it cannot be one."""
    ids = integers(answer.get("ids"), most)
    tokens = texts(answer.get("tokens"))
    mask, segments = integers(answer.get("special_tokens_mask"), 2), integers(answer.get("type_ids"), MOST_SEGMENT)
    words = [None if word is None else integer(word, 1 << 32) for word in a_list(answer.get("word_ids"))]
    spans = offsets(answer.get("offsets"), length)
    expect(len({len(ids), len(tokens), len(mask), len(segments), len(words), len(spans)}) == 1)
    return RawEncoding(ids, tokens, spans, mask, segments, words)


def expect(holds: bool) -> None:
    """ProcessError unless it holds."""
    if not holds:
        raise ProcessError("its answer makes no sense")


def a_list(value: Any) -> list[Any]:
    """A list of anything."""
    expect(isinstance(value, list))
    return value


def integer(value: Any, most: int) -> int:
    """A number from 0 up to, but without, ``most``."""
    expect(type(value) is int and 0 <= value < most)
    return value


def integers(value: Any, most: int) -> list[int]:
    """A list of such numbers."""
    numbers = a_list(value)
    expect(all(type(number) is int for number in numbers))
    expect(not numbers or (min(numbers) >= 0 and max(numbers) < most))
    return numbers


def texts(value: Any) -> list[str]:
    """A list of texts."""
    several = a_list(value)
    expect(all(type(one) is str for one in several))
    for one in several:
        text(one)
    return several


def text(value: Any) -> str:
    """A text that can be written as UTF-8."""
    expect(isinstance(value, str))
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        expect(False)
    return value


def offsets(value: Any, length: int) -> list[tuple[int, int]]:
    """Pairs of positions in a text of this length, in order."""
    pairs = a_list(value)
    expect(all(isinstance(pair, list) and len(pair) == 2 for pair in pairs))
    starts, ends = integers([pair[0] for pair in pairs], length + 1), integers([pair[1] for pair in pairs], length + 1)
    expect(all(map(int.__le__, starts, ends)))
    return list(zip(starts, ends, strict=True))
