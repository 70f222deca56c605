"""The nearest rows of a table, against torch's own cosine; and chance, against tables of random numbers."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity

from model import load_checkpoint
from model.measures.learn.nearest_rows import (
    embedding_scale,
    largest_by_chance,
    nearest_rows,
    unit,
    whole_words,
    word_id,
)
from tests import tiny


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((50, 12))


def test_the_nearest_rows_are_those_of_torchs_cosine(table):
    words = {f"w{number}": number for number in range(5, 45)}
    nearest = nearest_rows(table, words, ["w7", "w44", "absent"], 4)
    assert list(nearest) == ["w7", "w44"]
    for word, row in nearest.items():
        own = words[word]
        cosines = {
            name: float(cosine_similarity(torch.tensor(table[own]), torch.tensor(table[number]), dim=0))
            for name, number in words.items()
            if number != own
        }
        best = sorted(cosines, key=lambda name: -cosines[name])[:4]
        assert [neighbour.word for neighbour in row.neighbours] == best
        assert [neighbour.cosine for neighbour in row.neighbours] == pytest.approx([cosines[name] for name in best])
        assert (row.row == table[own]).all()


def test_a_case_worked_by_hand():
    rows = np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.0], [4.0, -3.0, 0.0], [0.0, 0.0, 0.0]])
    words = {"one": 0, "double": 1, "across": 2, "zero": 3}
    near = nearest_rows(rows, words, ["one"], 5)["one"].neighbours
    assert [(each.word, round(each.cosine, 12)) for each in near] == [("double", 1.0), ("across", 0.0), ("zero", 0.0)]


def test_noise_is_what_lies_no_nearer_than_chance(table):
    words = {f"w{number}": number for number in range(50)}
    twins = np.concatenate([table[:49], table[:1] + 0.01])
    rows = nearest_rows(twins, words, list(words), 49).values()
    assert {neighbour.noise for row in rows for neighbour in row.neighbours} == {True, False}
    for row in rows:
        assert all(neighbour.noise == (neighbour.cosine <= row.chance) for neighbour in row.neighbours)


@pytest.mark.parametrize(("rows", "width"), [(30, 8), (400, 32)])
def test_chance_is_what_random_tables_show(rows, width):
    generator = np.random.default_rng(1)
    largest = [
        (unit(generator.standard_normal((rows, width))) @ unit(generator.standard_normal((1, width)))[0]).max()
        for _ in range(4000)
    ]
    bound = largest_by_chance(rows, width)
    assert np.mean(np.array(largest) <= bound) == pytest.approx(0.99, abs=0.006)
    assert np.median(largest) == pytest.approx(largest_by_chance(rows, width, 0.5), abs=0.01)


def test_chance_of_three_numbers_is_known_in_closed_form():
    # In three dimensions the cosine is even over [−1, 1] (Archimedes): the bound b fulfils ((1 + b)/2)^n = 0.99.
    assert largest_by_chance(7, 3) == pytest.approx(2 * 0.99 ** (1 / 7) - 1, abs=1e-6)
    assert largest_by_chance(0, 3) == largest_by_chance(9, 2) == 1


def test_whole_words_are_the_tokens_that_can_be_one():
    byte_pairs = [" the", "the", " a", " dog", "ing", " 's", "\n", " déjà", " x1"]
    assert whole_words(byte_pairs) == {"the": 0, "dog": 3, "déjà": 7}
    assert whole_words(["▁le", "▁chat", "s"]) == {"le": 0, "chat": 1}
    assert whole_words(["[PAD]", "the", "##s", "dog", "a", "42"]) == {"the": 1, "dog": 3}
    words = {"King": 1, "king": 2, "dog": 3}
    assert [word_id(words, word) for word in ("King", "KING", "Dog", "cat")] == [1, 2, 3, None]


@pytest.mark.parametrize("name", ["sentiment", "stories", "translate-en-fr"])
def test_a_row_times_its_scale_is_what_enters_the_stack(name):
    checkpoint = load_checkpoint(name)
    stack = checkpoint.trace("The king is old.", target="Oui." if name.startswith("trans") else None).text_stack
    words = whole_words(checkpoint.tokenizer.pieces(range(checkpoint.config.vocabulary)))
    row = nearest_rows(checkpoint.model.embedding.weight.detach().numpy(), words, ["king"], 1)["king"]
    place = stack.ids.tolist().index(row.token_id)
    entering = row.scaled(embedding_scale(checkpoint.config))
    np.testing.assert_allclose(entering, stack.embedding.token[place].numpy(), rtol=1e-6)


def test_a_table_learns_what_its_task_needs():
    nearest = {}
    for name in ("sentiment", "stories"):
        checkpoint = load_checkpoint(name)
        words = whole_words(checkpoint.tokenizer.pieces(range(checkpoint.config.vocabulary)))
        nearest[name] = nearest_rows(checkpoint.model.embedding.weight.detach().numpy(), words, ["boring", "king"], 3)
    judge = load_checkpoint("sentiment", device="cpu")
    assert [judge.classify(each.word)["negative"] > 0.5 for each in nearest["sentiment"]["boring"].neighbours] == [
        True
    ] * 3
    assert [each.word for each in nearest["stories"]["king"].neighbours] == ["queen", "King", "princess"]
    assert not any(each.noise for each in nearest["sentiment"]["boring"].neighbours)


def test_rows_without_a_scale_enter_as_they_are():
    assert embedding_scale(tiny.config(scale_embeddings=False)) == 1
    assert embedding_scale(tiny.config(scale_embeddings=True)) == 4
