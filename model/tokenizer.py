"""Text to tokens and back: a thin, checked layer over the ``tokenizers`` library."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

from model.errors import CheckpointError, InputError, printable

PAD, UNKNOWN = "[PAD]", "[UNK]"
UNKNOWNS = (UNKNOWN, "<unk>")  # its names where a model, as Unigram, keeps only its number
START, END = "[START]", "[END]"
START_ID, END_ID = 1, 2  # of a tokenizer that ``train_byte_pairs`` made
MASKS = ("[MASK]", "<mask>")
# Signs that people type in several ways, or that a keyboard chooses for them.
PLAIN = {"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " ", "\u202f": " "}
# Words with the blank before them, as in GPT-2's own pattern; and "l'" of "l'eau" is one word, "n't" is none.
CONTRACTED = r"'(?:[sdmt]|ll|ve|re)\b"
WORDS = (
    rf"{CONTRACTED}| ?\p{{L}}+(?:'(?=\p{{L}})(?!{CONTRACTED[1:]}))?| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|\n+|\s+(?!\S)|\s+"
)
NOTHING = "There is nothing to compute: type a word, not only spaces or invisible characters."
FAILED = "The tokenizer of this checkpoint failed on this text"
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """One text as tokens; every field has one entry a token."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]  # what to show for each id
    spans: tuple[tuple[int, int] | None, ...]  # characters [start, end) of the text; None for an added token
    words: tuple[int | None, ...]
    special: tuple[bool, ...]
    segments: tuple[int, ...]

    def cut(self, limit: int) -> "Encoding":
        """The encoding without its last typed tokens, as many as make it ``limit`` long; added tokens stay."""
        typed = [position for position, added in enumerate(self.special) if not added]
        dropped = set(typed[len(typed) - max(0, len(self.ids) - limit) :])
        kept = [position for position in range(len(self.ids)) if position not in dropped]
        return Encoding(**{name: tuple(values[position] for position in kept) for name, values in vars(self).items()})


class Tokenizer:
    """A trained tokenizer."""

    backend: Any  # the library's own object, or what stands for one that works in another process
    readable: Callable[[str], str]

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        self.backend = backend
        self.backend.no_padding()
        self.backend.no_truncation()
        self.readable = byte_piece if isinstance(backend.decoder, decoders.ByteLevel) else str

    @property
    def size(self) -> int:
        """How many rows a table needs to have one for every id: the largest id and one."""
        return max(self.backend.get_vocab().values(), default=-1) + 1

    @property
    def unknown_name(self) -> str | None:
        """What its model calls the unknown token, where it has a name for it."""
        return getattr(self.backend.model, "unk_token", None)

    @property
    def unknown_id(self) -> int | None:
        """The id of whatever has no token; None where nothing is without one, as in a vocabulary of bytes."""
        ids = (self.backend.token_to_id(name) for name in (self.unknown_name, *UNKNOWNS) if name is not None)
        return next((number for number in ids if number is not None), None)

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """The tokens of a text, and of a second segment where there is one.

        Raises InputError where the text is no text, holds half of a surrogate pair, or leaves no token.
        """
        for part in (text,) if pair is None else (text, pair):
            check_text(part)
        encoding = guarded(lambda: self.backend.encode(text, pair), FAILED)
        if not encoding.ids:
            raise InputError(NOTHING)
        texts = (text, pair or "")
        special = tuple(bool(flag) for flag in encoding.special_tokens_mask)
        segments = tuple(encoding.type_ids)
        spans = tuple(None if added else span for added, span in zip(special, encoding.offsets, strict=True))
        pieces = map(self.readable, encoding.tokens)
        tokens = tuple(map(display_piece, pieces, spans, (texts[min(segment, 1)] for segment in segments)))
        return Encoding(
            ids=tuple(encoding.ids),
            tokens=tokens,
            spans=spans,
            words=tuple(encoding.word_ids),
            special=special,
            segments=segments,
        )

    def encode_target(self, text: str) -> Encoding:
        """The tokens of a text that a decoder reads beside an encoder: a translator may cut it another way."""
        return self.encode(text)

    def encode_many(self, texts: list[str]) -> list[list[int]]:
        """The ids alone, of many texts at once; an empty text gives an empty list."""
        return [encoding.ids for encoding in guarded(lambda: self.backend.encode_batch_fast(texts), FAILED)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids, without special tokens."""
        return guarded(lambda: self.backend.decode(list(ids), skip_special_tokens=True), FAILED)

    def decode_with_unknown(self, ids: Iterable[int]) -> str:
        """The text of ids, with "[UNK]" where a token is unknown; without the other special tokens."""
        unknown, runs = self.unknown_id, list[list[int]]([[]])
        for number in ids:
            if number == unknown:
                runs.append([])
            else:
                runs[-1].append(number)
        texts = [self.decode(run) if run else "" for run in runs]
        pieces = [texts[0], *(piece for text in texts[1:] for piece in (UNKNOWN, text.lstrip()))]
        return " ".join(filter(None, pieces))

    def pieces(self, ids: Iterable[int]) -> tuple[str, ...]:
        """What to show for ids that came without a text."""
        return tuple(self.readable(self.backend.id_to_token(number) or f"#{number}") for number in ids)

    @property
    def mask(self) -> str:
        """The name of the token that stands for a word to guess; "" where there is none."""
        return next((name for name in MASKS if self.backend.token_to_id(name) is not None), "")

    def first_masked(self, ids: Iterable[int]) -> int | None:
        """The position of the first mask token; None where there is none."""
        masks = {self.backend.token_to_id(name) for name in MASKS} - {None}
        return next((position for position, number in enumerate(ids) if number in masks), None)

    def save(self, path: Path) -> None:
        """Write ``tokenizer.json``."""
        self.backend.save(str(path))

    @classmethod
    def from_json(cls, text: str) -> "Tokenizer":
        """The tokenizer of a ``tokenizer.json``'s text. Raises CheckpointError where the library refuses it."""
        try:
            return cls(guarded(lambda: tokenizers.Tokenizer.from_str(text), "found a file that the library refuses"))
        except InputError as error:
            raise CheckpointError(f"tokenizer.json: {error}") from None

    @classmethod
    def train_word_pieces(cls, texts: Iterator[str], size: int) -> "Tokenizer":
        """Lower-cased word pieces (Schuster and Nakajima 2012), trained on texts; id 0 is padding, 1 the unknown."""
        backend = tokenizers.Tokenizer(models.WordPiece(unk_token=UNKNOWN))
        backend.normalizer = normalizers.BertNormalizer(lowercase=True)
        backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        backend.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(
            vocab_size=size, special_tokens=[PAD, UNKNOWN], show_progress=False, limit_alphabet=400
        )
        backend.train_from_iterator(texts, trainer)
        return cls(backend)

    @classmethod
    def train_byte_pairs(cls, texts: Iterator[str], size: int, *, ended: bool) -> "Tokenizer":
        """Byte pairs (Sennrich et al. 2016, over bytes as in GPT-2), so that no text has anything unknown in it.

        Id 0 is padding, 1 starts a target, 2 ends a text; ``ended``: the end is added to every text.
        """
        backend = tokenizers.Tokenizer(models.BPE())
        plain = [normalizers.Replace(sign, usual) for sign, usual in PLAIN.items()]
        backend.normalizer = normalizers.Sequence([normalizers.NFC(), *plain])
        words = pre_tokenizers.Split(Regex(WORDS), "isolated")
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
        )
        backend.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=[PAD, START, END],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        backend.train_from_iterator(texts, trainer)
        if ended:
            backend.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, END_ID)])
        return cls(backend)


class NoTokenizer(Tokenizer):
    """What stands in for a tokenizer where a checkpoint brings none: ids can be traced, text cannot."""

    def __init__(self, why: str) -> None:
        super().__init__(tokenizers.Tokenizer(models.WordLevel({}, unk_token=UNKNOWN)))
        self.why = why

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """InputError, always."""
        raise InputError(self.why)

    def decode(self, ids: Iterable[int]) -> str:
        """The ids themselves, as they are shown."""
        return " ".join(self.pieces(ids))


def check_text(text: str) -> None:
    """InputError unless it is a text that can be written as UTF-8."""
    if not isinstance(text, str):
        raise InputError(f"The text is of type {type(text).__name__}, expected a string.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"Character {error.start + 1} of the text is half of a surrogate pair, which stands for nothing: delete it."
        ) from None


def byte_characters() -> dict[str, int]:
    """How vocabularies of bytes (GPT-2) write a byte: as itself where it prints, else as a character from 256 up."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printed]
    return {chr(byte): byte for byte in printed} | {chr(256 + number): byte for number, byte in enumerate(others)}


BYTE_OF = byte_characters()


def byte_piece(token: str) -> str:
    """A token of a vocabulary of bytes as its text; bytes that are no whole character as "�F09F"."""
    if any(character not in BYTE_OF for character in token):
        return token  # added by hand, and so plain text
    content = bytes(BYTE_OF[character] for character in token)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return f"\ufffd{content.hex().upper()}"


def display_piece(token: str, span: tuple[int, int] | None, text: str) -> str:
    """A token as it is shown; beside an unknown one stands what was typed."""
    if token == UNKNOWN and span is not None:
        return f"{UNKNOWN} {text[span[0] : span[1]]}"
    return token


def guarded(call: Callable[[], Result], complaint: str) -> Result:
    """The result of a call into the library; InputError, with this complaint, where the call fails."""
    try:
        return call()
    except (KeyboardInterrupt, SystemExit, InputError):
        raise
    except BaseException as error:  # noqa: BLE001 -- plain Exceptions, and the Rust side's PanicException, which is none
        raise InputError(f"{complaint} ({printable(error, 120) or type(error).__name__}).") from None
