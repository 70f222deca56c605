"""What a training's snapshots do with a text, against the same weights loaded anew and the tasks' own answers."""

from typing import Any

import numpy as np
import pytest
import torch

from model import Edits, InputError, load_checkpoint
from model.training.watched.__main__ import record
from model.training.watched.characters import ids_of
from model.training.watched.head_measures import ROWS
from model.training.watched.head_pictures import (
    character_of,
    check_readable,
    head_pictures,
    known_characters,
    right_answers,
    written_after,
)
from model.training.watched.history_files import save_snapshot
from model.training.watched.learning_run import LearningRun
from model.training.watched.run_settings import RunSettings
from model.training.watched.tasks import FIRST_ID, OF_LETTERS, Batch


@pytest.fixture(scope="module")
def history():
    return record(RunSettings(width=16, steps=6))


def test_a_snapshots_pictures_are_those_of_its_weights_saved_and_loaded_anew(history, tmp_path):
    text = "abcabc"
    pictures = head_pictures(history, text)
    assert pictures.weights.shape == (len(history.steps), 2, 2, 6, 6)
    for place, step in enumerate(history.steps):
        save_snapshot(tmp_path / str(step), history, step)
        trace: Any = load_checkpoint(tmp_path / str(step)).trace(text)
        assert np.array_equal(pictures.weights[place], trace.decoder.weights().numpy())
        assert pictures.guesses[place].tolist() == trace.logits.argmax(dim=-1).tolist()


@pytest.mark.parametrize("task", sorted(OF_LETTERS))
def test_the_right_answers_to_a_text_are_those_that_the_task_teaches(task):
    batch = OF_LETTERS[task].draw(torch.Generator().manual_seed(3), 20)
    characters = OF_LETTERS[task].characters
    for ids, truth, counted in zip(batch.ids.tolist(), batch.truth.tolist(), batch.counted.tolist(), strict=True):
        text = "".join(characters[token - FIRST_ID] for token in ids)
        expected = [
            characters[answer - FIRST_ID] if known else None for answer, known in zip(truth, counted, strict=True)
        ]
        assert right_answers(task, text) == expected


@pytest.mark.parametrize(
    ("characters", "said"),
    [
        ("abcdefghijklmnopqrstuvwxyz>", "the letters a to z and >"),
        ("able", "“able”"),
        ("able ", "the blank and “able”"),
        (" .able", "the blank and “.able”"),
    ],
)
def test_the_characters_that_a_model_knows_are_named_a_blank_among_them(characters, said):
    assert known_characters(characters) == said


def test_of_a_text_every_next_character_is_right_and_nothing_is_known_after_the_last():
    assert right_answers("text", "hey") == ["e", "y", None]


def test_what_stands_after_a_whole_answer_or_without_a_mark_cannot_be_known():
    assert right_answers("reverse", "ab>ba") == [None, None, "b", "a", None]
    assert right_answers("copy", "abc") == [None, None, None]


def test_what_is_written_is_the_likeliest_character_after_what_was_written_before(history):
    checkpoint = history.checkpoint(6)
    written = written_after(history, 6, "abc>", 3)
    for place, letter in enumerate(written):
        trace: Any = checkpoint.trace("abc>" + written[:place])
        assert letter == character_of(history, FIRST_ID + int(trace.logits[-1, FIRST_ID:].argmax()))


def test_without_its_mask_a_model_sees_the_answers_and_learns_nothing_that_it_could_write():
    settings = RunSettings(task="copy", mask="none", width=16, steps=120)
    blind, seeing = record(RunSettings(task="copy", width=16, steps=120)), record(settings)
    assert seeing.last.accuracy > blind.last.accuracy + 0.3
    weights = head_pictures(seeing, "ab>ab").weights[-1]
    assert weights[..., 0, 1:].min() > 0, "the first query looks ahead"
    assert head_pictures(blind, "ab>ab").weights[..., 0, 1:].max() == 0
    ids = ids_of("ab>ab", OF_LETTERS["copy"].characters)
    with torch.no_grad():
        passed: Any = seeing.checkpoint(120).model(torch.tensor(ids), edits=Edits(unmasked=frozenset({"decoder"})))
    assert np.allclose(weights, passed.decoder.weights().numpy(), atol=1e-6)
    scores: Any = seeing.at(120).scores
    batch = Batch(*(part[:ROWS] for part in LearningRun(settings).fresh[0]))
    places = (batch.ids[:, None] == batch.truth[..., None])[batch.counted].double()  # of each query's answer
    chance = places[places.any(dim=-1)].mean(dim=-1).mean()
    assert scores["answer"].nulls == pytest.approx(np.full((2, 2), float(chance)), abs=1e-6), "among all keys"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "This model reads 1 to 32 characters; the text has 0."),
        ("a" * 33, "This model reads 1 to 32 characters; the text has 33."),
        (
            "abC",
            "This model has no character C. It knows the letters a to z and >. In small letters it can read this: abc.",
        ),
    ],
)
def test_what_a_model_cannot_read_is_refused_in_one_sentence(history, text, said):
    with pytest.raises(InputError) as refusal:
        check_readable(history, text)
    assert str(refusal.value) == said


def test_an_id_is_its_character_and_what_is_none_is_empty(history):
    assert [character_of(history, token) for token in (0, 1, FIRST_ID, FIRST_ID + 26)] == ["", "", "a", ">"]
