"""A pretrained encoder as a teacher: what it reads and labels, and what the classifier makes of its labels."""

import gzip
import json
import lzma
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, BertTokenizer

from model import InputError
from model.tokenizer import Tokenizer
from model.training import sentence_teacher, sentiment
from model.training.data.corpora import Corpus
from model.training.data.preparation import Prepared, known_sentences
from model.training.data.taught import Taught, taught_sentences
from model.training.sentence_teacher import SentenceEncoder, SentenceTeacher, batches_of, fresh, review_sentences

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "good", "bad", "film", "day", "the", ".", "not"]
GOOD, BAD = ("a good film", "the good day .", "good"), ("a bad film .", "the bad day", "bad")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny encoder of random weights, as transformers saves it."""
    torch.manual_seed(0)
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES))
    sizes: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 8, "num_attention_heads": 2}
    BertModel(BertConfig(vocab_size=len(PIECES), intermediate_size=32, **sizes)).save_pretrained(tmp_path / "encoder")
    BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path / "encoder")
    return tmp_path / "encoder"


@pytest.fixture
def _few_opinions(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"negative": BAD, "neutral": (), "positive": GOOD}
    monkeypatch.setattr(sentence_teacher, "opinions", listed.__getitem__)


def test_a_vector_is_the_mean_over_the_tokens_whatever_stands_beside_it(folder: Path) -> None:
    encoder = SentenceEncoder(folder, torch.float32)
    found = encoder.vectors([*GOOD, *BAD])
    network, tokenizer = BertModel.from_pretrained(folder).eval(), BertTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        alone = network(**tokenizer(BAD[0], return_tensors="pt"), output_hidden_states=True).hidden_states
    expected = torch.cat([alone[layer][0].mean(dim=0) for layer in (6, 8)])
    assert found.shape == (6, 32)
    torch.testing.assert_close(found[3], expected, atol=1e-5, rtol=1e-4)


def test_a_batch_has_room_for_its_longest_sentence() -> None:
    lengths = random.Random(0).choices(range(1, 48), k=500)
    found = list(batches_of(lengths))
    assert sorted(at for batch in found for at in batch) == list(range(500))
    assert all(len(batch) * max(lengths[at] for at in batch) <= sentence_teacher.BATCH_TOKENS for batch in found)


def test_a_teacher_learns_what_can_be_told_from_vectors() -> None:
    torch.manual_seed(0)
    vectors = torch.randn(4096, 6)
    teacher = SentenceTeacher(vectors, (vectors[:, 0] > 0).float(), torch.ones(len(vectors)))
    asked = torch.randn(200, 6)
    assert ((teacher.positive(asked) > 0.5) == (asked[:, 0] > 0).numpy()).mean() > 0.9


@pytest.mark.usefixtures("_few_opinions")
def test_the_command_labels_the_sentences_of_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence_teacher, "CLEAR", 0.5)
    with gzip.open(tmp_path / "pairs.tsv.gz", "wt") as file:
        file.write("a good day\tun bon jour\nA good day.\tx\nthe bad film\ty\nWorth every penny.\tz\n")
    texts, out = [str(tmp_path / "pairs.tsv.gz")], tmp_path / "taught.tsv"
    sentence_teacher.label(
        sentence_teacher.parse(["label", "--encoder", str(folder), "--texts", *texts, "--out", str(out)])
    )
    found = {one.text: one.positive for one in taught_sentences([out])}
    assert set(found) == {"a good day", "the bad film"}, "each once, and none that an evaluation asks for"
    assert found["a good day"] > found["the bad film"]


@pytest.mark.usefixtures("_few_opinions")
def test_sentences_of_reviews_are_labelled_whole_or_a_clause_of_them(folder: Path, tmp_path: Path) -> None:
    review = "A good day, but a bad film<br />Not long. " + "very " * 30 + "long."
    with lzma.open(tmp_path / "unsup.jsonl.xz", "wt") as file:
        file.write("".join(json.dumps({"text": review, "movie": number}) + "\n" for number in range(30)))
    found = set(review_sentences(tmp_path, random.Random(0)))
    assert found == {"A good day, but a bad film", "A good day", "but a bad film", "Not long."}
    out = tmp_path / "taught.tsv"
    arguments = ["label", "--encoder", str(folder), "--reviews", str(tmp_path), "--out", str(out), "--most", "2"]
    sentence_teacher.label(sentence_teacher.parse(arguments))
    assert len(list(taught_sentences([out]))) <= 2


@pytest.mark.usefixtures("_few_opinions")
def test_of_sentences_those_with_a_negation_alone_are_labelled_on_demand(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence_teacher, "CLEAR", 0.5)
    (tmp_path / "days.tsv").write_text("a good day\nnot a good day\nIt isn't bad.\na nothing of a film\nnoted\n")
    arguments = ["label", "--encoder", str(folder), "--texts", str(tmp_path / "days.tsv"), "--out", str(tmp_path / "o")]
    sentence_teacher.label(sentence_teacher.parse([*arguments, "--negated"]))
    found = {one.text for one in taught_sentences([tmp_path / "o"])}
    assert found == {"not a good day", "It isn't bad.", "a nothing of a film"}


@pytest.mark.usefixtures("_few_opinions")
def test_all_clear_opinions_are_kept_and_as_many_others(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = dict(zip([f"day {number}" for number in range(60)], 20 * [0.9, 0.5, 0.4], strict=True))
    monkeypatch.setattr(sentence_teacher, "fresh", lambda texts, draw: list(texts))
    monkeypatch.setattr(SentenceTeacher, "positive", lambda self, vectors: np.array(list(said.values())))
    (tmp_path / "days.tsv").write_text("\n".join(said))
    arguments = ["label", "--encoder", str(folder), "--texts", str(tmp_path / "days.tsv"), "--out", str(tmp_path / "o")]
    sentence_teacher.label(sentence_teacher.parse(arguments))
    found = [one.positive for one in taught_sentences([tmp_path / "o"])]
    assert found.count(0.9) == found.count(0.5) == 20
    assert 0.4 not in found


def test_the_order_depends_on_the_seed_alone() -> None:
    texts = [f"sentence {number}" for number in range(50)]
    first = fresh(iter(texts), random.Random(1))
    assert fresh(iter(texts), random.Random(1)) == first
    assert sorted(first) == sorted(texts)
    assert first != texts


def test_what_is_no_encoder_and_no_text_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found no encoder"):
        SentenceEncoder(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"none\.tsv: this file cannot be read"):
        list(sentence_teacher.listed_sentences([tmp_path / "none.tsv"]))
    (tmp_path / "empty.tsv").write_text("\n")
    arguments = ["label", "--encoder", str(folder), "--texts", str(tmp_path / "empty.tsv"), "--out", "o"]
    with pytest.raises(InputError, match="found no sentence to label"):
        sentence_teacher.label(sentence_teacher.parse(arguments))


def test_what_was_labelled_is_read_as_it_was_written(tmp_path: Path) -> None:
    pairs = [Taught("So so.", 0.5), Taught("Fine.", 1.0)]
    (tmp_path / "taught.tsv").write_text("".join(pair.line() for pair in pairs))
    assert list(taught_sentences([tmp_path / "taught.tsv"])) == pairs


@pytest.mark.parametrize("line", ["fine", "1.2\tfine", "nan\tfine", "good\tfine", "0.5\t ", "0.5"])
def test_a_line_that_is_no_labelled_sentence_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "taught.tsv").write_text(f"0.5\tfine\n{line}\n")
    with pytest.raises(InputError, match=r"taught\.tsv: line 2: expected a probability and a sentence"):
        list(taught_sentences([tmp_path / "taught.tsv"]))


def test_the_classifier_reads_the_labels_as_probabilities_in_a_share_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "taught.tsv"
    file.write_text("0.900\tA good day.\n0.300\tWorth every penny.\n0.250\tA bad film.\n")
    tokenizer = Tokenizer.train_word_pieces(iter(["a good day . a bad film"] * 20), 60)
    known = known_sentences(tokenizer, (), (file,))
    assert list(known) == ["phrases", "opinions", "taught"]
    np.testing.assert_allclose(known["taught"].targets, [[0.1, 0.9], [0.75, 0.25]], atol=1e-6)
    options = sentiment.parse(["train", "--data", "d", "--out", "o", "--taught", str(file)])
    training = known["phrases"]
    evidence = np.zeros((len(training), 2), np.float32)
    corpus = type(training)(**vars(training) | {"evidence": evidence})
    prepared = Prepared(tokenizer=tokenizer, labels=("n", "p"), training=corpus, validation=corpus, known=known)
    assert sentiment.mixture(options, prepared).known_shares == (0.1, 0.25, 0.5)


def test_what_is_left_out_is_not_trained_on_and_the_rest_is() -> None:
    tokenizer = Tokenizer.train_word_pieces(iter(["a good day . a bad film"] * 20), 60)
    targets = np.array([[0.0, 1.0], [1.0, 0.0], [0.3, 0.7]], np.float32)  # two of people
    texts, evidence = [["A good day."], ["A bad film."], ["A film."]], np.ones((3, 2), np.float32)
    known = {name: Corpus.build(tokenizer, [["fine"]], targets[:1]) for name in ("phrases", "opinions")}
    training = Corpus.build(tokenizer, texts, targets, evidence)
    prepared = Prepared(tokenizer=tokenizer, labels=("n", "p"), training=training, validation=training, known=known)
    assert list(sentiment.left_out(prepared, ["phrases"]).known) == ["opinions"]
    assert sentiment.left_out(prepared, ["phrases"]).training is training
    people = sentiment.left_out(prepared, ["ngrams"]).training
    assert people.targets.tolist() == targets[:2].tolist()
    assert (len(people), people.evidence) == (2, None)
    options = sentiment.parse(["train", "--data", "d", "--out", "o", "--without", "ngrams", "phrases"])
    without = sentiment.left_out(prepared, options.without)
    assert sentiment.mixture(options, without).known_shares == (0.35,)
    with pytest.raises(InputError, match=r"--without: found 'taught', expected one of ngrams, opinions, phrases\."):
        sentiment.left_out(prepared, ["taught"])
