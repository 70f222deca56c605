"""Marian's tokenizer beside that of transformers, on small models that sentencepiece trains here."""

import io
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from model import CheckpointError, InputError, load_checkpoint
from tests import reference
from tests.kinds import MARIAN

ENGLISH = ["the dog bit the man .", "a cat saw the old dog !", "it was not good , not bad at all .", "two feet"] * 20
FRENCH = ["le chien a mordu l'homme .", "un chat a vu le vieux chien !", "ce n'était ni bon ni mauvais .", "deux"] * 20
TEXTS = [
    "The dog bit the man.", "  a  dog ", "dog 😀 bit é ﬁ ½ e\u0301.", "狗狗", ">>fr<< the dog", ">>xx<<the dog",
    ">>fr<<", "the >>fr<< dog", ">>fr the dog", "\u200bdog\x00 x", "a\ndog\ttoo", "le chien n'était", "the dog " * 200,
]  # fmt: skip
REFUSED = "source.spm and target.spm: found files that sentencepiece refuses"
FILES = ("source.spm", "target.spm", "vocab.json")


def pieces_of(texts: list[str], kind: str, size: int) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        model_type=kind,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return written.getvalue()


def write_files(folder: Path, kind: str = "unigram") -> None:
    """The files of a Marian tokenizer, whose vocabulary lacks a piece of each side, as those of opus-mt may."""
    folder.mkdir(exist_ok=True)
    models = pieces_of(ENGLISH, kind, 34), pieces_of(FRENCH, kind, 34)
    pieces: dict[str, None] = {}
    for model in models:
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        own = [processor.id_to_piece(number) for number in range(3, processor.get_piece_size())]
        pieces |= dict.fromkeys(own[:-2])
    order = ["</s>", "<unk>", *pieces, ">>fr<<", "<pad>"]
    for name, model in zip(FILES, models, strict=False):
        (folder / name).write_bytes(model)
    (folder / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(order)}))


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def both(request, tmp_path_factory) -> tuple[Any, Any]:
    """A checkpoint of ours, and the tokenizer of transformers, of one folder."""
    folder = tmp_path_factory.mktemp("marian") / "model"
    reference.make("MarianMTModel", folder, **MARIAN)
    write_files(folder, request.param)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends sacremoses, which it does not use to cut a text
        theirs = transformers.MarianTokenizer.from_pretrained(folder)
    return load_checkpoint(folder, device="cpu"), theirs


def test_every_text_has_the_ids_of_transformers_on_both_sides(both):
    checkpoint, theirs = both
    for text in TEXTS:
        assert list(checkpoint.tokenizer.encode(text).ids) == theirs(text).input_ids
        assert list(checkpoint.tokenizer.encode_target(text).ids) == theirs(text_target=text).input_ids
    assert checkpoint.tokenizer.encode_many([*TEXTS, ""]) == [theirs(text).input_ids for text in [*TEXTS, ""]]


@settings(max_examples=30)
@given(text=st.text(st.sampled_from("the dog.é 狗😀'>< \u200b"), max_size=30))
def test_any_text_has_the_ids_of_transformers(both, text):
    checkpoint, theirs = both
    ids = theirs(text).input_ids
    if len(ids) > 1:
        assert list(checkpoint.tokenizer.encode(text).ids) == ids


def test_ids_are_read_as_the_target_s_model_reads_them(both):
    checkpoint, theirs = both
    processor = theirs.spm_target
    for text in FRENCH[:4]:
        ids = theirs(text_target=text).input_ids
        pieces = [piece for piece in theirs.convert_ids_to_tokens(ids) if piece not in ("<unk>", "</s>")]
        decoded = checkpoint.tokenizer.decode([theirs.pad_token_id, *ids])
        assert decoded == processor.decode_pieces(pieces)
        assert decoded == theirs.decode(ids, skip_special_tokens=True)


def test_spans_slice_the_typed_text_and_words_begin_with_a_space(both):
    tokenizer = both[0].tokenizer
    text = ">>fr<< the dog 😀"
    encoding = tokenizer.encode(text)
    assert {len(values) for values in vars(encoding).values()} == {len(encoding.ids)}
    assert encoding.tokens[0] == text[slice(*encoding.spans[0])] == ">>fr<<"
    assert (encoding.spans[-1], encoding.words[-1], encoding.special[-1]) == (None, None, True)
    assert not any(encoding.special[:-1])
    by_word: dict[int, str] = {}
    for span, word in zip(encoding.spans[:-1], encoding.words[:-1], strict=True):
        by_word[word] = by_word.get(word, "") + text[slice(*span)]
    assert [word.strip() for word in by_word.values()] == [">>fr<<", "the", "dog", "😀"]
    assert tokenizer.encode("狗").tokens[-2] == "<unk> 狗"
    assert tokenizer.unknown_id == 1


def test_a_typed_special_token_stays_text(both):
    checkpoint, theirs = both
    ids = checkpoint.tokenizer.encode("</s> <pad> dog").ids
    assert ids.count(theirs.eos_token_id) == 1
    assert theirs.pad_token_id not in ids


def test_a_typed_target_and_a_produced_one_are_cut_by_the_target_s_model(both):
    checkpoint, theirs = both
    trace = checkpoint.trace("the dog bit the man .", target="le chien")
    assert trace.decoder.ids.tolist() == [89, *theirs(text_target="le chien").input_ids[:-1]]
    produced = tuple(theirs(text_target="le chien a vu").input_ids)
    words = checkpoint.trace("the dog", target=produced).decoder.words
    assert words[0] is None
    assert len(set(words[1:])) == 4


def test_a_pair_and_an_empty_text_are_refused(both):
    tokenizer = both[0].tokenizer
    with pytest.raises(InputError, match="reads one text, not a pair"):
        tokenizer.encode("the dog", "the man")
    for text in ("", " ", "\u200b"):
        with pytest.raises(InputError, match="There is nothing to compute"):
            tokenizer.encode(text)
    with pytest.raises(InputError, match="half of a surrogate pair"):
        tokenizer.encode("a\ud800")


def spoil(folder: Path, **changes: Any) -> None:
    path = folder / "vocab.json"
    values = {name: number for name, number in (json.loads(path.read_text()) | changes).items() if number != "gone"}
    path.write_text(json.dumps(values))


@pytest.mark.parametrize(("change", "message"), [
    (lambda folder: (folder / "target.spm").unlink(), "target.spm: file: found nothing, expected a regular file."),
    (lambda folder: (folder / "vocab.json").unlink(), "vocab.json: file: found nothing, expected a regular file."),
    (lambda folder: (folder / "source.spm").write_bytes(b"junk"), f"{REFUSED} (INTERNAL"),
    (lambda folder: (folder / "target.spm").write_bytes(b""), f"{REFUSED} ("),
    (lambda folder: (folder / "vocab.json").write_text("[]"), "vocab.json: JSON: found a list, expected an object."),
    (lambda folder: spoil(folder, the=90), "vocab.json: the: found 90, expected an id under 90."),
    (lambda folder: spoil(folder, the=-1), "vocab.json: the: found -1, expected an id under 90."),
    (lambda folder: spoil(folder, the=True), "vocab.json: the: found True, expected an id under 90."),
    (lambda folder: spoil(folder, the=1.0), "vocab.json: the: found 1.0, expected an id under 90."),
    (lambda folder: spoil(folder, the=1), "vocab.json: ids: found two pieces of one id, expected an id of its own for"),
    (lambda folder: spoil(folder, **{"<unk>": "gone"}), "vocab.json: <unk>: found nothing, expected an id."),
    (lambda folder: spoil(folder, **{"</s>": "gone"}), "vocab.json: </s>: found nothing, expected an id."),
])  # fmt: skip
def test_a_file_that_is_missing_or_wrong_is_said_in_one_sentence(change, message, tmp_path):
    reference.make("MarianMTModel", tmp_path / "model", **MARIAN)
    write_files(tmp_path / "model")
    change(tmp_path / "model")
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(tmp_path / "model", device="cpu")
    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()
    assert str(tmp_path) not in str(caught.value)
    assert len(str(caught.value)) <= 300


def test_two_vocabularies_are_not_read_and_ids_still_are(tmp_path):
    reference.make("MarianMTModel", tmp_path, **MARIAN)
    write_files(tmp_path)
    (tmp_path / "target_vocab.json").write_text("{}")
    checkpoint = load_checkpoint(tmp_path, device="cpu")
    assert checkpoint.trace_ids([5, 6], [89]).encoder is not None
    with pytest.raises(InputError, match=r"target_vocab.json is not read"):
        checkpoint.trace("the dog")
