"""The program that runs in the child process: one tokenizer, its files read from a pipe, asked through the pipe.

It is started as a script, isolated from site-packages and the caller's folder, and knows nothing of this package:

    python -I -S child.py KIND FILES BYTES SECONDS FOLDER…

KIND of tokenizer; how many files come; the most memory and, for reading them, processor seconds; the folders in which
its library lies. A message is its length in 8 bytes and its content: first the files, then questions as JSON, each of
which gets one answer as JSON. It ends when the pipe does. On macOS the system does not keep to the limit of memory, and
on Windows there are no limits but the time that the parent waits.
"""

import json
import os
import struct
import sys
import time
from collections.abc import Callable
from typing import Any, BinaryIO

if sys.platform != "win32":
    import resource

Answer = dict[str, Any]
LENGTH = struct.Struct("<Q")


class LibraryTokenizer:
    """A ``tokenizer.json``, of the tokenizers library. Its post-processor stays; padding and truncation go."""

    def __init__(self, tokenizer_json: bytes) -> None:
        import tokenizers
        from tokenizers.decoders import ByteLevel

        self.tokenizer = tokenizers.Tokenizer.from_str(tokenizer_json.decode("utf-8"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.byte_level = isinstance(self.tokenizer.decoder, ByteLevel)

    def facts(self) -> Answer:
        """The vocabulary, and what of the rest the parent asks for."""
        vocabulary = self.tokenizer.get_vocab()
        unknown = getattr(self.tokenizer.model, "unk_token", None)
        tokens, ids = list(vocabulary), list(vocabulary.values())
        return {"tokens": tokens, "ids": ids, "byte_level": self.byte_level, "unknown": unknown}

    def encode(self, text: str, pair: str | None) -> Answer:
        """One text, or two segments; every list has one entry a token."""
        encoding = self.tokenizer.encode(text, pair)
        return {
            "ids": encoding.ids,
            "tokens": encoding.tokens,
            "offsets": encoding.offsets,
            "special_tokens_mask": encoding.special_tokens_mask,
            "type_ids": encoding.type_ids,
            "word_ids": encoding.word_ids,
        }

    def encode_many(self, texts: list[str]) -> Answer:
        """The ids alone, one text after the other."""
        return {"rows": [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts)]}

    def decode(self, ids: list[int]) -> Answer:
        """The text of ids, without special tokens."""
        return {"text": self.tokenizer.decode(ids, skip_special_tokens=True)}


class MarianPieces:
    """The two sentencepiece models of a Marian checkpoint; the parent knows the ids of pieces."""

    def __init__(self, source: bytes, target: bytes) -> None:
        import sentencepiece

        self.sides = {
            "source": sentencepiece.SentencePieceProcessor(),
            "target": sentencepiece.SentencePieceProcessor(),
        }
        self.sides["source"].LoadFromSerializedProto(source)
        self.sides["target"].LoadFromSerializedProto(target)

    def facts(self) -> Answer:
        """Nothing: the vocabulary is a file of its own."""
        return {}

    def encode(self, side: str, texts: list[str]) -> Answer:
        """The pieces of each text with their characters [start, end)."""
        encodings = [self.sides[side].encode(text, return_type="offset_mapping") for text in texts]
        return {"pieces": [one["pieces"] for one in encodings], "offsets": [one["offsets"] for one in encodings]}

    def decode(self, pieces: list[str]) -> Answer:
        """The text of pieces of the target."""
        return {"text": self.sides["target"].decode_pieces(pieces)}


KINDS: dict[str, Callable[..., LibraryTokenizer | MarianPieces]] = {"library": LibraryTokenizer, "marian": MarianPieces}


def main() -> None:
    """Read the tokenizer, answer with its facts, then answer questions until there are none."""
    kind, count, most_bytes, seconds, *folders = sys.argv[1:]
    limit_memory(int(most_bytes))
    limit_time(int(seconds))
    end_first()
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    sys.path += folders
    __import__({"library": "tokenizers", "marian": "sentencepiece"}[kind])
    limit_files()
    files = [read(questions) for _ in range(int(count))]
    tokenizer: Any = None

    def start() -> Answer:
        nonlocal tokenizer
        tokenizer = KINDS[kind](*files)
        return tokenizer.facts()

    write(answers, answer_of(start))
    files.clear()
    while question := read(questions):
        name, more_seconds, arguments = json.loads(question)
        limit_time(more_seconds)
        write(answers, answer_of(lambda: getattr(tokenizer, name)(**arguments)))  # noqa: B023 -- called at once


def answer_of(call: Callable[[], Answer]) -> bytes:
    """What a call answers; an error as its message, and whether the library may be used after it."""
    try:
        return json.dumps(call(), ensure_ascii=False).encode("utf-8")
    except Exception as error:  # noqa: BLE001 -- whatever it is, the parent says it
        return failure(error, ended=isinstance(error, MemoryError))
    except BaseException as error:  # noqa: BLE001 -- a panic of the library
        return failure(error, ended=True)


def failure(error: BaseException, *, ended: bool) -> bytes:
    """An answer that says what went wrong; ``ended``: the parent starts another process for the next question."""
    return json.dumps({"error": str(error)[:500] or type(error).__name__, "ended": ended}).encode("utf-8")


def read(questions: BinaryIO) -> bytes:
    """One message; nothing at the end of the pipe."""
    start = questions.read(LENGTH.size)
    return questions.read(LENGTH.unpack(start)[0]) if len(start) == LENGTH.size else b""


def write(answers: BinaryIO, content: bytes) -> None:
    """One message."""
    answers.write(LENGTH.pack(len(content)) + content)
    answers.flush()


def limit_memory(most_bytes: int) -> None:
    """No more addresses than this, and no core file."""
    if sys.platform != "win32":
        lower(resource.RLIMIT_CORE, 0)
        lower(resource.RLIMIT_AS, most_bytes)
        lower(resource.RLIMIT_DATA, most_bytes)


def end_first() -> None:
    """Where the machine's memory is full, have Linux end this process and not the server."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 -- pathlib takes time to import
            file.write("1000")
    except OSError:  # another system
        return


def limit_files() -> None:
    """From here on no file can be opened or written and no process started; the pipes stay open."""
    if sys.platform != "win32":
        for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
            lower(limit, 0)


def lower(limit: int, value: int) -> None:
    """Set a limit for good, where the system lets one."""
    if sys.platform != "win32":
        try:
            resource.setrlimit(limit, (value, value))
        except (OSError, ValueError):  # macOS refuses some that lie under what is used
            return


def limit_time(seconds: int) -> None:
    """So many processor seconds from now; the system ends what takes longer."""
    if sys.platform != "win32":
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + seconds, most))


if __name__ == "__main__":
    main()
