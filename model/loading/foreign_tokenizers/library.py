"""A ``tokenizer.json`` that is not bundled: the tokenizers library reads and uses it in a process of its own."""

import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from weakref import WeakValueDictionary

from model.errors import CheckpointError, InputError, printable
from model.loading.bounded_files import refuse
from model.loading.foreign_tokenizers.answer_checks import RawEncoding, a_list, integers, raw_encoding, text, texts
from model.loading.foreign_tokenizers.processes import ProcessError, Worker
from model.loading.foreign_tokenizers.vocabulary import Vocabulary
from model.tokenizer import FAILED, Tokenizer, byte_piece, check_text

LIBRARY_FILE = "tokenizer.json"
MOST_CHARACTERS = 2_000_000  # of one text
AT_ONCE = 200_000  # characters of many texts


class LibraryBackend(Vocabulary):
    """Stands for the library's own object, as far as a ``Tokenizer`` asks: the vocabulary is here, the work there."""

    def __init__(self, content: bytes) -> None:
        self.content, self.worker = content, Worker("library", (content,))
        try:
            facts = self.worker.facts()
            tokens, ids = texts(facts.get("tokens")), integers(facts.get("ids"), 1 << 63)
        except ProcessError as failure:
            refuse_library_file(failure)
        if len(tokens) != len(ids) or len(set(tokens)) != len(tokens):
            refuse_library_file(ProcessError("its answer makes no sense"))
        super().__init__(dict(zip(tokens, ids, strict=True)))
        self.byte_level = facts.get("byte_level") is True
        unknown = facts.get("unknown")
        self.unknown = unknown if isinstance(unknown, str) else None
        self.most_ids = max(ids, default=-1) + 1

    def encode(self, first: str, pair: str | None = None) -> RawEncoding:
        """A text, or two segments. Raises ProcessError."""
        size = characters(first) + characters(pair or "")
        answer = self.worker.ask("encode", {"text": first, "pair": pair}, size)
        return raw_encoding(answer, max(len(first), len(pair or "")), self.most_ids)

    def encode_batch_fast(self, several: list[str]) -> list["Ids"]:
        """The ids of many texts. Raises ProcessError."""
        encodings: list[Ids] = []
        for some in batches(several):
            answer = self.worker.ask("encode_many", {"texts": some}, sum(map(len, some)) + len(some))
            encodings += [Ids(integers(ids, self.most_ids)) for ids in a_list(answer.get("rows"))]
        if len(encodings) != len(several):
            raise ProcessError("its answer makes no sense")
        return encodings

    def decode(self, ids: list[int], *, skip_special_tokens: bool) -> str:
        """The text of ids, without special tokens. Raises ProcessError."""
        assert skip_special_tokens
        return text(self.worker.ask("decode", {"ids": ids}, len(ids)).get("text"))

    def save(self, path: str) -> None:
        """Write the file as it was read."""
        Path(path).write_bytes(self.content)


class Ids:
    """What the library calls an encoding, where the ids alone were asked for."""

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids


class LibraryTokenizer(Tokenizer):
    """A tokenizer of a process of its own. Equal files share one, as long as anyone uses it."""

    def __init__(self, backend: LibraryBackend) -> None:
        self.backend = backend
        self.readable = byte_piece if backend.byte_level else str

    @property
    def unknown_name(self) -> str | None:
        """What its model calls the unknown token."""
        return self.backend.unknown


BACKENDS: WeakValueDictionary[bytes, LibraryBackend] = WeakValueDictionary()
BACKENDS_LOCK = threading.Lock()


def read_library_tokenizer(content: bytes, vocabulary: int) -> Tokenizer:
    """The tokenizer of a file, each of whose tokens has an id of its own, under the size of the model's vocabulary.

    Raises CheckpointError.
    """
    digest = hashlib.sha256(content).digest()
    with BACKENDS_LOCK:
        backend = BACKENDS.get(digest)
    if backend is None:
        backend = LibraryBackend(content)
        if backend.most_ids <= vocabulary and len(backend.token_of) == len(backend.id_of):
            with BACKENDS_LOCK:
                backend = BACKENDS.setdefault(digest, backend)
    if backend.most_ids > vocabulary:
        refuse(LIBRARY_FILE, "vocabulary", f"{backend.most_ids:,} ids", f"at most {vocabulary:,}")
    if len(backend.token_of) < len(backend.id_of):
        refuse(LIBRARY_FILE, "vocabulary", "two tokens of one id", "an id of its own for each")
    return LibraryTokenizer(backend)


def refuse_library_file(failure: ProcessError) -> NoReturn:
    """CheckpointError: the library did not read the file."""
    raise CheckpointError(
        f"{LIBRARY_FILE}: found a file that the library refuses ({printable(failure, 120)})."
    ) from None


def characters(one: str) -> int:
    """How many there are in a text that can be sent."""
    check_text(one)
    if len(one) > MOST_CHARACTERS:
        raise InputError(f"{FAILED} (it has {len(one):,} characters; at most {MOST_CHARACTERS:,} are read at once).")
    return len(one)


def batches(several: list[str]) -> Iterator[list[str]]:
    """The texts in their order, in lists of some hundred thousand characters; a longer text is alone."""
    some: list[str] = []
    total = 0
    for one in several:
        size = characters(one)
        if some and total + size > AT_ONCE:
            yield some
            some, total = [], 0
        some.append(one)
        total += size
    if some:
        yield some
