"""Marian's tokenizer: two sentencepiece models, one for each side, and a vocabulary that both share.

The models cut a text into pieces in a process of its own; the vocabulary gives them their ids here. A piece that it
lacks is the unknown token, the end is added, and a language to translate into, ``>>fr<<`` at the beginning, stays one
token (Tiedemann and Thottingal 2020; ``MarianTokenizer`` of transformers). What is typed never becomes a special token.
"""

import re
from collections.abc import Iterable
from typing import Any

from model.errors import CheckpointError, InputError, printable
from model.loading.bounded_files import refuse, strict_json
from model.loading.foreign_tokenizers.answer_checks import a_list, offsets, text, texts
from model.loading.foreign_tokenizers.library import batches, characters
from model.loading.foreign_tokenizers.processes import ProcessError, Worker
from model.loading.foreign_tokenizers.vocabulary import Vocabulary
from model.tokenizer import FAILED, NOTHING, Encoding, Tokenizer, guarded

SOURCE, TARGET, VOCABULARY = MARIAN_FILES = ("source.spm", "target.spm", "vocab.json")
TARGET_VOCABULARY = "target_vocab.json"
END_PIECE, UNKNOWN_PIECE, PAD_PIECE = "</s>", "<unk>", "<pad>"
SPECIAL = (END_PIECE, UNKNOWN_PIECE, PAD_PIECE)
SPACE = "▁"  # how a model writes the space before a word
LANGUAGE = re.compile(r">>.*?<<", re.DOTALL)


class MarianBackend(Vocabulary):
    """The vocabulary here, the pieces in the process."""

    def __init__(self, source: bytes, target: bytes, id_of: dict[str, int]) -> None:
        super().__init__(id_of)
        self.worker = Worker("marian", (source, target))
        try:
            self.worker.facts()
        except ProcessError as failure:
            why = f"found files that sentencepiece refuses ({printable(failure, 120)})"
            raise CheckpointError(f"{SOURCE} and {TARGET}: {why}.") from None

    def pieces(self, side: str, several: list[str]) -> list[tuple[list[str], list[tuple[int, int]]]]:
        """The pieces of each text by one side, with its characters [start, end). Raises ProcessError."""
        answer = self.worker.ask("encode", {"side": side, "texts": several}, sum(map(len, several)) + len(several))
        rows, spans = a_list(answer.get("pieces")), a_list(answer.get("offsets"))
        if not len(rows) == len(spans) == len(several):
            raise ProcessError("its answer makes no sense")
        cut = [(texts(row), offsets(pairs, len(one))) for row, pairs, one in zip(rows, spans, several, strict=True)]
        if any(len(row) != len(pairs) for row, pairs in cut):
            raise ProcessError("its answer makes no sense")
        return cut

    def decode(self, ids: list[int], *, skip_special_tokens: bool) -> str:
        """The text of ids, by the model of the target, without special tokens. Raises ProcessError."""
        assert skip_special_tokens
        pieces = [self.token_of[number] for number in ids if number in self.token_of]
        pieces = [piece for piece in pieces if piece not in SPECIAL]
        answer = self.worker.ask("decode", {"pieces": pieces}, len(pieces))
        return text(answer.get("text")).replace(SPACE, " ").strip()


class MarianTokenizer(Tokenizer):
    """Text of the source, of the target, and back."""

    def __init__(self, backend: MarianBackend) -> None:
        self.backend = backend
        self.readable = str

    @property
    def unknown_name(self) -> str | None:
        """What the vocabulary calls it."""
        return UNKNOWN_PIECE

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """The pieces of a text of the source and the end."""
        if pair is not None:
            raise InputError("A translator of Marian reads one text, not a pair: leave the second text out.")
        return self._encode("source", text)

    def encode_target(self, text: str) -> Encoding:
        """The pieces of a text of the target and the end."""
        return self._encode("target", text)

    def encode_many(self, texts: list[str]) -> list[list[int]]:
        """The ids alone, of many texts of the source at once."""
        return [
            list(self._whole(texts_pieces)[0]) for some in batches(texts) for texts_pieces in self._cut("source", some)
        ]

    def _encode(self, side: str, text: str) -> Encoding:
        characters(text)
        ((pieces, spans),) = self._cut(side, [text])
        if not pieces:
            raise InputError(NOTHING)
        ids, tokens = self._whole((pieces, spans))
        return Encoding(
            ids=ids,
            tokens=tokens,
            spans=(*spans, None),
            words=(*words(pieces), None),
            special=(*(False for _ in pieces), True),
            segments=(0,) * len(ids),
        )

    def _whole(self, cut: tuple[list[str], list[tuple[int, int]]]) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """The ids and tokens of pieces, with the end."""
        id_of, unknown = self.backend.id_of, self.backend.id_of[UNKNOWN_PIECE]
        pieces = cut[0]
        ids = (*(id_of.get(piece, unknown) for piece in pieces), id_of[END_PIECE])
        tokens = tuple(piece if piece in id_of else f"{UNKNOWN_PIECE} {piece.strip(SPACE)}" for piece in pieces)
        return ids, (*tokens, END_PIECE)

    def _cut(self, side: str, several: list[str]) -> list[tuple[list[str], list[tuple[int, int]]]]:
        """The pieces of each text and their spans, a language at its beginning in one piece."""
        languages = [LANGUAGE.match(one) for one in several]
        starts = [0 if language is None else language.end() for language in languages]
        rests = [one[start:] for one, start in zip(several, starts, strict=True)]
        rows = guarded(lambda: self.backend.pieces(side, rests), FAILED)
        return [
            (
                [*([] if language is None else [language.group()]), *pieces],
                [
                    *([] if language is None else [(0, start)]),
                    *((first + start, last + start) for first, last in spans),
                ],
            )
            for language, start, (pieces, spans) in zip(languages, starts, rows, strict=True)
        ]


def words(pieces: Iterable[str]) -> list[int]:
    """The number of each piece's word: a word begins with a space, and after a language."""
    numbers: list[int] = []
    word, after_language = -1, False
    for piece in pieces:
        word += not numbers or after_language or piece.startswith(SPACE)
        after_language = LANGUAGE.fullmatch(piece) is not None
        numbers.append(word)
    return numbers


def read_marian_tokenizer(source: bytes, target: bytes, vocab_json: bytes, *, vocabulary: int) -> Tokenizer:
    """The tokenizer of the three files, all of whose ids are of the model's vocabulary. Raises CheckpointError."""
    values = strict_json(vocab_json, VOCABULARY)
    for piece in (END_PIECE, UNKNOWN_PIECE):
        if piece not in values:
            refuse(VOCABULARY, piece, "nothing", "an id")
    return MarianTokenizer(MarianBackend(source, target, checked_ids(values, vocabulary)))


def checked_ids(values: dict[str, Any], vocabulary: int) -> dict[str, int]:
    """The id of every piece, each its own and of the model's vocabulary."""
    for piece, number in values.items():
        if type(number) is not int or not 0 <= number < vocabulary:
            refuse(VOCABULARY, piece, number, f"an id under {vocabulary:,}")
    if len(set(values.values())) < len(values):
        refuse(VOCABULARY, "ids", "two pieces of one id", "an id of its own for each")
    return values
