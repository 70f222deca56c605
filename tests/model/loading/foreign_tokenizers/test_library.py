"""A tokenizer of a process of its own does what the library does in this one, and no file harms who reads it."""

import json
import random
import threading
import time
from typing import Any

import jaxtyping
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as Library

from benchmarks.fuzz import fuzz_tokenizers
from model import CheckpointError, InputError, load_checkpoint
from model.loading import checkpoint_files
from model.loading.foreign_tokenizers import library, processes, read_library_tokenizer
from model.tokenizer import NoTokenizer, Tokenizer
from tests import tiny
from tests.model.loading.foreign_tokenizers.odd_files import LONG_WORD, ODD_FILES, TEXTS, file, word_pieces

SENTENCES = [*tiny.WORDS, "Ein Fuß, zwei Füße; l'eau naïve.", "def f(x):\n\treturn x ** 2", "狗 bites 😀 man"] * 3
ODD_TEXTS = [
    "the dog",
    "  The DOG\tbit\u00a0me \n",
    "狗狗 😀👩‍👩‍👧 é e\u0301 ﬁ ½",
    "\u200bx\u202e\x00",
    "[UNK] </s> <unk>",
    "the dog bit " * 300,
]


@pytest.fixture(autouse=True)
def _as_a_user_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the type checks of a test run, which would refuse a wrong answer before our own checks do."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def trained(kind: str) -> Library:
    """A small tokenizer of this kind as people train one, which pads and cuts besides."""
    special = ["<unk>", "<s>", "</s>"]
    trainer: Any
    options: dict[str, Any] = {"special_tokens": special, "show_progress": False, "vocab_size": 150}
    if kind == "WordPiece":
        backend, trainer = Library(models.WordPiece(unk_token="<unk>")), trainers.WordPieceTrainer(**options)
        backend.normalizer, backend.decoder = normalizers.BertNormalizer(), decoders.WordPiece()
        backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    elif kind == "byte-level BPE":
        backend, trainer = Library(models.BPE()), trainers.BpeTrainer(**options | {"vocab_size": 320})
        backend.pre_tokenizer, backend.decoder = pre_tokenizers.ByteLevel(), decoders.ByteLevel()
    elif kind == "Unigram":
        backend, trainer = Library(models.Unigram()), trainers.UnigramTrainer(unk_token="<unk>", **options)
        backend.pre_tokenizer, backend.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    else:
        backend, trainer = Library(models.WordLevel(unk_token="<unk>")), trainers.WordLevelTrainer(**options)
        backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"\s+"), "removed")
    backend.train_from_iterator(SENTENCES, trainer)
    pairs = [(token, backend.token_to_id(token)) for token in ("<s>", "</s>")]
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=pairs
    )
    backend.enable_padding(length=90)
    backend.enable_truncation(4)
    return backend


KINDS = ("WordPiece", "byte-level BPE", "Unigram", "WordLevel")


@pytest.fixture(scope="module")
def both() -> dict[str, tuple[Tokenizer, Tokenizer]]:
    """Of each kind, the tokenizer of a process and the one in this process."""
    contents = {kind: trained(kind).to_str() for kind in KINDS}
    return {kind: (read(text.encode()), Tokenizer.from_json(text)) for kind, text in contents.items()}


def read(content: bytes, vocabulary: int = 1000) -> Tokenizer:
    return read_library_tokenizer(content, vocabulary)


def plain(error: Exception) -> str:
    """The sentence of a refusal, which is one short line without a path."""
    message = str(error)
    assert message.isprintable()
    assert 0 < len(message) <= 300
    assert not any(word in message for word in ("Traceback", "/tmp", "/home", ".py", "site-packages", ".rs"))
    return message


@pytest.mark.parametrize("kind", KINDS)
def test_texts_ids_and_pieces_are_those_of_the_library(kind, both):
    theirs, ours = both[kind]
    for text in ODD_TEXTS:
        assert theirs.encode(text) == ours.encode(text)
        assert theirs.encode(text, "the man .") == ours.encode(text, "the man .")
        ids = ours.encode(text).ids
        assert theirs.decode(ids) == ours.decode(ids)
    assert theirs.encode_many([*ODD_TEXTS, ""]) == ours.encode_many([*ODD_TEXTS, ""])
    assert (theirs.size, theirs.unknown_id) == (ours.size, ours.unknown_id)
    assert theirs.pieces(range(theirs.size + 2)) == ours.pieces(range(theirs.size + 2))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30), number=st.integers(0, 319))
def test_any_text_is_cut_and_any_ids_are_read_as_the_library_does(kind, both, text, number):
    theirs, ours = both[kind]
    assert outcome(lambda: theirs.encode(text)) == outcome(lambda: ours.encode(text))
    assert theirs.decode([number, 3, number]) == ours.decode([number, 3, number])


def outcome(call: Any) -> object:
    """What a call gives, or the sentence in which it is refused."""
    try:
        return call()
    except (CheckpointError, InputError) as error:
        return plain(error)


def test_what_is_no_text_is_refused_before_it_is_sent(both):
    theirs, _ = both["WordPiece"]
    for text in ("a\ud800", 7):
        with pytest.raises(InputError):
            theirs.encode(text)
        with pytest.raises(InputError):
            theirs.encode_many([text])
    with pytest.raises(InputError, match="at most 2,000,000 are read at once"):
        theirs.encode("a" * (library.MOST_CHARACTERS + 1))


def test_many_texts_and_a_whole_book_go_through(both):
    theirs, ours = both["byte-level BPE"]
    several = ["the dog bit the man . " * 2_000] * 12 + ["a book " * 60_000, ""]
    assert theirs.encode_many(several) == ours.encode_many(several)


def test_a_tokenizer_is_saved_as_it_was_read(both, tmp_path):
    theirs, _ = both["Unigram"]
    theirs.save(tmp_path / "tokenizer.json")
    assert read((tmp_path / "tokenizer.json").read_bytes()).encode("the dog") == theirs.encode("the dog")


# Which tokenizers are read where


def test_only_the_bundled_three_are_read_in_this_process(tmp_path):
    for name in checkpoint_files.BUNDLED_NAMES:
        assert type(load_checkpoint(name, device="cpu").tokenizer) is Tokenizer
    checkpoint_files.save_checkpoint(tmp_path / "sentiment", tiny.transformer(), tiny.tokenizer(), {})
    loaded = load_checkpoint(tmp_path / "sentiment", device="cpu").tokenizer
    assert isinstance(loaded, library.LibraryTokenizer)
    assert not isinstance(loaded, NoTokenizer)
    (tmp_path / "link").symlink_to(checkpoint_files.BUNDLED / "stories")
    assert checkpoint_files.is_bundled(tmp_path / "link")
    assert not checkpoint_files.is_bundled(checkpoint_files.BUNDLED)


def test_equal_files_share_a_process(both):
    content = trained("WordLevel").to_str().encode()
    first, second = read(content), read(content)
    assert first.backend is second.backend


# Hostile files


@pytest.mark.parametrize("name", ODD_FILES)
def test_an_odd_file_is_used_or_refused_in_one_line_and_in_time(name, monkeypatch):
    monkeypatch.setattr(processes, "ASK_SECONDS", 1)
    start = time.monotonic()
    tokenizer = outcome(lambda: read(ODD_FILES[name], 80))
    if isinstance(tokenizer, str):
        assert tokenizer.startswith("tokenizer.json: ")
        return
    assert isinstance(tokenizer, Tokenizer)
    for text in TEXTS:
        outcome(lambda text=text: tokenizer.encode(text).ids)
    outcome(lambda: tokenizer.encode_many(["the dog", "a"]))
    outcome(lambda: tokenizer.decode(range(tokenizer.size)))
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(("name", "reason"), [
    ("pieces of length nought", "chunk size must be non-zero"),
    ("a template of an unknown token", "no entry found for key"),
    ("a text that grows exponentially", "its process ended, for want of memory or by a fault of the library"),
    ("a template with a foreign id", "its answer makes no sense"),
    ("a template with many tokens", "its answer is too long"),
    ("no unknown token", "WordLevel error: Missing [UNK] token from the vocabulary"),
])  # fmt: skip
def test_a_text_that_fails_is_one_line_and_the_tokenizer_stays_usable(name, reason):
    tokenizer = read(ODD_FILES[name], 80)
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            tokenizer.encode("the dog a")
        assert plain(caught.value) == f"The tokenizer of this checkpoint failed on this text ({reason})."
        assert tokenizer.decode([1, 2]) == "the dog"


@pytest.mark.parametrize(("name", "complaint"), [
    ("duplicate ids", "vocabulary: found two tokens of one id, expected an id of its own for each."),
    ("an id out of range", "vocabulary: found 501 ids, expected at most 80."),
    ("a sparse id", "vocabulary: found 2,147,483,649 ids, expected at most 80."),
    ("a normalizer of nonsense", "found a file that the library refuses (its process ended"),
    ("an empty Unigram", "found a file that the library refuses (Unable to load vocab EmptyVocabulary"),
])  # fmt: skip
def test_what_is_wrong_with_a_file_is_said(name, complaint):
    with pytest.raises(CheckpointError) as caught:
        read(ODD_FILES[name], 80)
    assert plain(caught.value).startswith(f"tokenizer.json: {complaint}")


def test_a_word_that_takes_for_ever_is_given_up_while_another_tokenizer_answers(both):
    hanging, (sound, _) = read(ODD_FILES["a long word"], 80), both["WordPiece"]
    sound.encode("the dog")
    messages: list[object] = []
    thread = threading.Thread(target=lambda: messages.append(outcome(lambda: hanging.encode(LONG_WORD * 2))))
    start = time.monotonic()
    thread.start()
    count = 0
    while thread.is_alive():
        sound.encode("the dog")
        count += 1
    taken = time.monotonic() - start
    thread.join()
    assert messages == [
        "The tokenizer of this checkpoint failed on this text (it took longer than 2 seconds; a shorter text may do)."
    ]
    assert count > 20 * taken  # a held lock would let through none in all this time
    assert hanging.encode("a a").ids == read(file(word_pieces(100)), 80).encode("a a").ids


def test_spoilt_tokenizers_are_used_or_refused_in_one_line():
    outcomes = fuzz_tokenizers([trained(kind).to_str().encode() for kind in KINDS], range(150))
    assert not outcomes.escaped, outcomes.escaped[:3]
    assert outcomes.loaded >= 5
    assert outcomes.refused >= 20


@pytest.mark.parametrize("seed", range(40))
def test_an_answer_that_was_tampered_with_is_refused_or_is_an_encoding(seed, both, monkeypatch):
    """The library's answers are changed at random: whatever gets through has ids, spans and lengths that fit."""
    theirs, _ = both["WordPiece"]
    chance, ask = random.Random(seed), theirs.backend.worker.ask

    def tampered(*arguments: Any) -> dict[str, Any]:
        answer = ask(*arguments)
        values = answer[chance.choice(list(answer))]
        wrong: list[Any] = [-1, 10**9, 2**70, True, None, "x", "\ud800", 1.5, [3, 2], [0, 99], [], {}]
        values[chance.randrange(len(values))] = chance.choice(wrong)
        if chance.random() < 0.3:
            values.pop()
        return json.loads(json.dumps(answer))

    monkeypatch.setattr(theirs.backend.worker, "ask", tampered)
    encoding: Any = outcome(lambda: theirs.encode("the dog bit"))
    if isinstance(encoding, str):
        assert encoding.endswith("failed on this text (its answer makes no sense).")
        return
    assert len({len(values) for values in vars(encoding).values()}) == 1
    assert all(type(number) is int and 0 <= number < theirs.size for number in encoding.ids)
    assert all(span is None or 0 <= span[0] <= span[1] <= 11 for span in encoding.spans)
