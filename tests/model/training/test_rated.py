"""Sentences that people rated: what is read of their archive, what a rating says of a label, what is refused."""

import io
import math
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch

from model import InputError
from model.tokenizer import Tokenizer
from model.training import sentiment
from model.training.data.batches import Batches, Mixture
from model.training.data.corpora import Example
from model.training.data.list_files import words
from model.training.data.preparation import evaluated_sentences, label_corpus
from model.training.data.rated import rated_opinions, rated_sentences, rated_texts


def archive(folder: Path, files: dict[str, bytes]) -> Path:
    """An archive of these files."""
    path = folder / "rated.tar.gz"
    with tarfile.open(path, "w:gz") as made:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return path


def test_the_sentences_of_all_parts_are_read_with_their_ratings(tmp_path: Path) -> None:
    path = archive(
        tmp_path,
        {
            "x/tweets_GroundTruth.txt": b"1\t2.5\tI &amp; she  love it\n2\t-0.1\tat nine\n",
            "x/films_GroundTruth.txt": b"1_1\t-3\tA dull\tfilm\n",
            "x/readme.txt": b"nothing",
        },
    )
    assert list(rated_sentences(path)) == [("A dull film", -3.0), ("I & she love it", 2.5), ("at nine", -0.1)]


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"readme.txt": b"nothing"}, "found no file that ends in _GroundTruth.txt"),
        ({"a_GroundTruth.txt": b"1\t0.5\tfine\n2\tgood\n"}, "line 2: expected a number, a rating and a sentence"),
        ({"a_GroundTruth.txt": b"1\tgood\tfine\n"}, "line 1: expected a number, a rating and a sentence"),
    ],
)
def test_what_holds_no_rated_sentences_is_refused(files: dict[str, bytes], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=complaint):
        list(rated_sentences(archive(tmp_path, files)))


def test_the_words_of_a_list_are_read_with_their_ratings_and_signs_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_bytes(b":)\t2.0\t1.1\t[1, 3]\ncosy\t1.8\t0.6\t[2, 1]\nstale\t-1.2\n")
    found = list(rated_texts([tmp_path / "words.txt", archive(tmp_path, {"a_GroundTruth.txt": b"1\t0.5\tfine\n"})]))
    assert found == [("cosy", 1.8), ("stale", -1.2), ("fine", 0.5)]
    (tmp_path / "words.txt").write_bytes(b"cosy\tvery\n")
    with pytest.raises(InputError, match=r"words\.txt: line 1: expected a word and a rating"):
        list(rated_texts([tmp_path / "words.txt"]))


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.tar.gz"
    path.write_bytes(b"not an archive")
    with pytest.raises(InputError, match=r"text\.tar\.gz: this is no archive"):
        list(rated_sentences(path))


def test_a_rating_of_zero_is_even_odds_and_each_step_is_worth_the_same_log_odds() -> None:
    made = rated_opinions([0.0, 1.0, -2.0])
    np.testing.assert_allclose(made.sum(axis=1), 1, atol=1e-6)
    assert made[0].tolist() == [0.5, 0.5]
    assert math.log(made[1, 1] / made[1, 0]) == pytest.approx(1.5, abs=1e-5)
    assert math.log(made[2, 1] / made[2, 0]) == pytest.approx(-3.0, abs=1e-5)


def test_shares_of_the_shortest_examples_are_sentences_of_known_opinion() -> None:
    tokenizer = Tokenizer.train_word_pieces(iter(["text one two"] * 20), 60)
    texts, first, second = (
        label_corpus(tokenizer, [Example(text=text, label=label, group=text)] * 4, ("bad", "good"))
        for text, label in (("text", "bad"), ("one", "good"), ("two", "good"))
    )
    batches = Batches(
        corpus=texts,
        mixture=Mixture(lengths=(8, 64), shares=(1.0, 0.0), known_shares=(0.5, 0.25)),
        max_length=64, tokens=64, pad_id=0, seed=0, known=(first, second),
    )  # fmt: skip
    made = [batches.at(step) for step in range(200)]
    ids = torch.cat([batch.ids[:, 0] for batch in made])
    one, two, text = (int(corpus.ids[0]) for corpus in (first, second, texts))
    assert float((ids == one).float().mean()) == pytest.approx(0.5, abs=0.02)
    assert float((ids == two).float().mean()) == pytest.approx(0.25, abs=0.02)
    assert torch.equal(torch.cat([batch.targets[:, 1] for batch in made]), (ids != text).float())


def test_sentences_of_known_opinion_stand_beside_runs_of_their_length() -> None:
    tokenizer = Tokenizer.train_word_pieces(iter(["text one two"] * 20), 60)
    texts, known = (
        label_corpus(tokenizer, [Example(text=" ".join([word] * n), label="good", group=str(n)) for n in (1, 2, 8)],
        ("bad", "good")) for word in ("text", "one")
    )  # fmt: skip
    mixture = Mixture(lengths=(8, 64), shares=(1.0, 0.0), known_shares=(0.5,))
    batches = Batches(corpus=texts, mixture=mixture, max_length=64, tokens=64, pad_id=0, seed=0, known=(known,))
    masks = [batches.at(step).padding_mask for step in range(200)]
    # A row of one token stands among rows of eight with seven fillers: a third of all, put together at random, is real.
    assert sum(int(mask.sum()) for mask in masks) > 0.8 * sum(mask.numel() for mask in masks)


def test_sentences_to_evaluate_with_are_known_by_their_words() -> None:
    assert {words("Worth every penny."), words("the TRAIN leaves at nine")} <= evaluated_sentences()
    assert words("not in any list") not in evaluated_sentences()


def test_the_command_takes_the_archive_and_the_schedule() -> None:
    options = sentiment.parse(
        ["train", "--data", "d", "--out", "o", "--rated", "r.tar.gz", "--optimiser", "muon", "--decay", "constant"]
    )
    assert (options.rated, options.optimiser, options.decay) == ([Path("r.tar.gz")], "muon", "constant")
