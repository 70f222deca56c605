"""What is said of a training: the numbers in the sentences are those of its history."""

from dataclasses import replace
from typing import Any

import pytest

from model.training.watched import tasks
from model.training.watched.__main__ import record
from model.training.watched.recordings import recorded
from model.training.watched.run_settings import RunSettings
from viz.text import watched as sentences
from viz.tokens import percent
from viz.watched.player import EVERY_KIND, SEEN, HeadLine, head_line


def test_a_training_with_a_jump_says_where_and_from_what_to_what():
    history = recorded("induction-two-layers")
    change: Any = history.sudden_change()
    said = sentences.title(history)
    assert said == f"About step {change.step}, accuracy jumps from {percent(change.before)} to {percent(change.after)}."


def test_one_without_says_so():
    history = recorded("induction-one-layer")
    first, last = (percent(moment.accuracy) for moment in (history.moments[0], history.last))
    assert sentences.title(history) == f"Accuracy goes from {first} to {last} in 1,000 steps, without a jump."


def test_one_that_was_stopped_before_its_first_step_is_said_to_be():
    history = recorded("induction-one-layer")
    first = replace(history, moments=history.moments[:1])
    right = percent(first.last.accuracy)
    assert sentences.title(first) == (
        f"Stopped before the first step: the weights are random, and {right} of the answers right by chance."
    )


def test_the_sentence_names_the_head_with_its_score_and_its_null_and_how_the_other_ended():
    history, beside = recorded("induction-two-layers"), recorded("induction-one-layer")
    kinds: Any = history.at(1000).scores
    scores = kinds["induction"]
    layer, head = divmod(int((scores.scores - scores.nulls).argmax()), 2)
    assert sentences.sentence(history, beside) == (
        f"In the end, layer {layer + 1}, head {head + 1} gives {percent(scores.scores[layer, head])} of its attention "
        f"to what followed the same letter before (by chance {percent(scores.nulls[layer, head])}). "
        f"**1 layer of 2 heads**, beside it, ends at {percent(beside.last.accuracy)}: in one layer, no head can use "
        "what another has found out."
    )


def test_a_head_that_did_it_with_random_weights_already_is_not_named():
    line = HeadLine("induction", (0, 2), scores=[0.126, 0.13], nulls=[0.064, 0.064])
    assert line.excess > SEEN
    assert not line.is_seen
    assert line._replace(scores=[0.07, 0.13]).is_seen


def test_a_head_that_does_no_more_than_by_chance_is_not_named():
    history = recorded("induction-one-layer")
    line = head_line(history, "induction")
    assert not line.is_seen
    assert sentences.head_sentence(line, "induction", "induction") == ("no head has learned what this task needs")


@pytest.mark.parametrize(
    ("task", "measured"),
    [
        ("copy", "on fresh sequences of the task."),
        ("text", "on the last tenth of the text."),
        ("language", "on held-out text."),
    ],
)
def test_what_heads_are_measured_on_is_that_of_the_task(task, measured):
    assert sentences.player_words(task)["previous_token_explained"].endswith(measured)


def test_no_reason_is_given_where_both_learned_it_or_none_did():
    history = recorded("induction-two-layers")
    assert sentences.beside_sentence(history, history).endswith(f"ends at {percent(history.last.accuracy)}.")
    failed = recorded("induction-one-layer")
    assert sentences.beside_sentence(failed, failed).endswith(f"ends at {percent(failed.last.accuracy)}.")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (RunSettings(), "2 layers of 2 heads"),
        (RunSettings(layers=1, heads=1), "1 layer of 1 head"),
        (RunSettings(positions="none", norm_order="post"), "2 layers of 2 heads, without positions, post-norm"),
    ],
)
def test_a_training_is_named_by_what_tells_it_from_others(settings, name):
    assert sentences.run_name(settings) == name


def test_progress_gives_step_loss_accuracy_and_speed():
    history = record(RunSettings(width=16, steps=3))
    last = history.last
    assert sentences.progress(history) == (
        f"Step 3 of 3 · loss {last.loss:.2f} · accuracy {percent(last.accuracy)} · "
        f"{last.tokens / last.seconds:,.0f} tokens a second"
    )


def test_every_task_and_every_kind_has_its_words():
    assert sentences.TASKS.keys() == sentences.LEARNS.keys() == set(tasks.NAMES)
    for words in (sentences.KIND_NAMES, sentences.KIND_SENTENCES, sentences.KINDS_EXPLAINED):
        assert words.keys() == set(EVERY_KIND)


def test_who_waits_is_told_how_many_come_before():
    assert "you are next in the line" in sentences.waiting(1)
    assert "2 before you in the line" in sentences.waiting(3)
