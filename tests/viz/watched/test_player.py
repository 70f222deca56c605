"""The player's data, read back: curves, scores and pictures are those of the training."""

import base64

import numpy as np
import pytest

from model.training.watched.__main__ import record
from model.training.watched.head_pictures import HeadPictures, head_pictures
from model.training.watched.recordings import RECORDED, recorded
from model.training.watched.run_settings import RunSettings
from viz.watched.player import EVERY_KIND, KINDS, head_line, place_of, player_data, run_data

LINE = "wordplaywordplay"


@pytest.fixture(scope="module")
def history():
    return recorded("induction-two-layers")


@pytest.fixture(scope="module")
def run(history):
    return run_data("two", history, head_pictures(history, LINE), 1000)


def test_the_curves_are_the_moments(history, run):
    for field in ("step", "loss", "accuracy"):
        assert run["curve"][field] == [getattr(moment, field) for moment in history.moments]
    assert run["steps"] == [moment.step for moment in history.moments if moment.scores is not None]


def test_the_pictures_are_the_weights_to_half_a_byte_of_their_roots(history, run):
    weights = head_pictures(history, LINE).weights
    sent = np.frombuffer(base64.b64decode(run["weights"]), np.uint8).reshape(weights.shape)
    assert np.abs(sent / 255 - np.sqrt(weights)).max() <= 0.5 / 255 + 1e-6


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_line_is_of_the_head_furthest_above_its_null_at_the_end(history, kind):
    line = head_line(history, kind)
    last = history.at(history.steps[-1]).scores[kind]
    assert line.excess == pytest.approx(float((last.scores - last.nulls).max()))
    for step, score, null in zip(history.steps, line.scores, line.nulls, strict=True):
        at_step = history.at(step).scores[kind]
        assert (score, null) == (at_step.scores[line.site], at_step.nulls[line.site])


def test_a_guess_is_a_hit_where_it_is_the_letter_that_stood_after_the_same_one_last_time(history, run):
    for guesses, hits in zip(run["guesses"], run["hits"], strict=True):
        assert hits[:8] == [None] * 8
        assert hits[8:] == [guess == right for guess, right in zip(guesses[8:], "ordplayw", strict=True)]
    assert run["hits"][-1][8:] == [True] * 8
    assert not all(run["hits"][0][8:])


def test_a_sudden_change_is_that_of_the_history(history, run):
    change = history.sudden_change()
    assert run["change"] == {"step": change.step, "before": change.before, "after": change.after}


def test_pictures_of_another_number_of_snapshots_are_refused(history):
    pictures = head_pictures(history, LINE)
    with pytest.raises(ValueError, match="pictures of 3 snapshots"):
        run_data("two", history, HeadPictures(LINE, pictures.weights[:3], pictures.guesses[:3]), 1000)


def test_every_task_has_kinds_to_begin_with():
    assert KINDS.keys() == {"induction", "copy", "reverse", "sort", "text", "language"}
    assert all(set(kinds) <= set(EVERY_KIND) for kinds in KINDS.values())
    assert player_data([], {}, "sort", "key")["shown"] == ["previous_token", "answer"]


def test_a_guess_that_is_no_character_is_a_question_mark():
    history = record(RunSettings(width=16, steps=1))
    pictures = head_pictures(history, "ab")
    unknown = HeadPictures("ab", pictures.weights, np.zeros_like(pictures.guesses))
    assert run_data("one", history, unknown, 1)["guesses"] == [["?", "?"]] * len(history.steps)


def test_the_axis_of_time_begins_at_step_0_and_is_logarithmic():
    assert (place_of(0, 1000), place_of(1000, 1000)) == (0, 1)
    assert place_of(1, 3) == pytest.approx(0.5)


def test_all_recorded_trainings_can_be_drawn():
    for name, settings in RECORDED.items():
        history = recorded(name)
        line = {"induction": LINE, "reverse": "light>thgil"}[settings.task]
        assert run_data(name, history, head_pictures(history, line), settings.steps)["last"] == settings.steps
