"""Histories: the same seed gives the same, snapshots are the model as it was, and files are read strictly."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from model import CheckpointError, InputError, load_checkpoint
from model.checkpoint import available_checkpoints
from model.training.watched import language_film
from model.training.watched.__main__ import record
from model.training.watched.history import History, steepest
from model.training.watched.history_files import (
    MOMENTS,
    SNAPSHOTS,
    read_history,
    save_snapshot,
    write_history,
)
from model.training.watched.learning_run import LearningRun, learning_run
from model.training.watched.moments import geometric_steps
from model.training.watched.recordings import RECORDED, RECORDINGS, recorded
from model.training.watched.run_settings import RunSettings

SMALL = RunSettings(width=16, steps=6)
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def history() -> History:
    return record(SMALL)


@pytest.fixture
def folder(history: History, tmp_path: Path) -> Path:
    write_history(tmp_path / "history", history)
    return tmp_path / "history"


def without_seconds(history: History) -> list[dict]:
    return [moment.to_json() | {"seconds": 0} for moment in history.moments]


def test_the_same_seed_gives_the_same_history_to_the_bit_and_another_seed_another(history):
    again, other = record(SMALL), record(RunSettings(width=16, steps=6, seed=1))
    assert without_seconds(again) == without_seconds(history) != without_seconds(other)
    for step in history.steps:
        for name, weight in history.snapshots[step].items():
            assert torch.equal(again.snapshots[step][name], weight)


def test_steps_are_kept_on_a_geometric_scale_with_the_first_and_the_last():
    assert geometric_steps(20, 1.0) == [0, 1, 2, 4, 8, 16, 20]
    assert geometric_steps(1, 2.5) == [0, 1]


def test_a_large_model_has_fewer_snapshots_so_that_all_of_them_fit():
    run = LearningRun(RunSettings(width=128, heads=8, layers=4, steps=10_000))
    count = len(run.kept_steps()) + 1
    assert count < len(geometric_steps(10_000, 2.5))
    assert count * 2 * run.model.parameter_count() <= 16 << 20


def test_a_stopped_training_keeps_its_last_step(history):
    steps = iter([False, False, False, True])
    progress = list(learning_run(SMALL, lambda: next(steps)))
    assert progress[-1].moment.step == 3
    assert progress[-1].weights is not None


@pytest.mark.parametrize("norm_order", ["pre", "post"])
@pytest.mark.parametrize("positions", ["learned", "none"])
def test_the_attention_of_a_snapshot_is_the_trace_of_its_weights_loaded_anew(norm_order, positions, tmp_path):
    history = record(RunSettings(width=16, steps=3, norm_order=norm_order, positions=positions))
    save_snapshot(tmp_path / "snapshot", history, 2)
    loaded = load_checkpoint(tmp_path / "snapshot")
    ours: Any
    theirs: Any
    ours, theirs = (each.trace("abcabd").decoder for each in (history.checkpoint(2), loaded))
    assert torch.equal(ours.weights(), theirs.weights())
    assert theirs.tokens == tuple("abcabd")


def test_accuracy_and_loss_are_those_of_the_snapshot_on_fresh_sequences(history):
    run, model = LearningRun(SMALL), history.checkpoint(6).model
    losses, right, count = 0.0, 0, 0
    for ids, truth, counted in run.fresh:
        for row, asked, known in zip(ids, truth, counted, strict=True):
            chances = model(row).logits.double().log_softmax(dim=-1).numpy()
            for position in np.flatnonzero(known):
                losses -= chances[position, asked[position]]
                right += chances[position].argmax() == asked[position].item()
                count += 1
    assert history.last.loss == pytest.approx(losses / count, abs=1e-5)
    assert history.last.accuracy == right / count


def test_a_snapshot_is_the_model_that_learned_in_half_precision(history):
    run = LearningRun(SMALL)
    run.take(0)
    run.take(1)
    for name, parameter in run.model.named_parameters():
        assert torch.equal(history.snapshots[2][name], parameter.detach().half())


def test_what_is_read_is_what_was_written(history, folder):
    read = read_history(folder)
    assert [each.to_json() for each in read.moments] == [each.to_json() for each in history.moments]
    assert read.settings == SMALL
    for step, weights in history.snapshots.items():
        assert all(torch.equal(read.snapshots[step][name], weight) for name, weight in weights.items())


def change_json(folder: Path, change) -> None:
    values = json.loads((folder / MOMENTS).read_text(encoding="utf-8"))
    change(values)
    (folder / MOMENTS).write_text(json.dumps(values), encoding="utf-8")


WRONG = {
    "wide": lambda values: values["settings"].update(width=10**9),
    "unknown setting": lambda values: values["settings"].update(more=1),
    "other layers": lambda values: values["settings"].update(layers=1),
    "no settings": lambda values: values.pop("settings"),
    "no moments": lambda values: values.update(moments=[]),
    "order": lambda values: values["moments"].reverse(),
    "loss": lambda values: values["moments"][0].update(loss="low"),
    "step": lambda values: values["moments"][0].update(step=True),
    "ragged": lambda values: values["moments"][0]["scores"]["copying"].update(scores=[[1, 2], [3]]),
    "words": lambda values: values["moments"][0]["scores"]["copying"].update(scores="many"),
    "list": lambda values: values["moments"][0].update(scores=[1]),
    "no scores": lambda values: values["moments"][0].pop("scores"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_history_is_refused_in_one_line(folder, name):
    change_json(folder, WRONG[name])
    with pytest.raises(CheckpointError, match=r"^(history\.json|snapshots\.safetensors): [^\n]+\.$"):
        read_history(folder)


@pytest.mark.parametrize("change", ["missing", "shape", "kind", "infinite"])
def test_wrong_weights_are_refused_in_one_line(folder, change):
    tensors = load_file(folder / SNAPSHOTS)
    name = next(iter(tensors))
    changed = {"shape": tensors[name][None], "kind": tensors[name].float(), "infinite": tensors[name] / 0}
    tensors[name] = changed.get(change, tensors[name])
    if change == "missing":
        del tensors[name]
    save_file(tensors, folder / SNAPSHOTS)
    with pytest.raises(CheckpointError, match=r"^snapshots\.safetensors: [^\n]+\.$"):
        read_history(folder)


@pytest.mark.parametrize(
    "values",
    [{"layers": 5}, {"heads": 3}, {"width": 200}, {"steps": 0}, {"task": "dance"}, {"task": "text"}, {"text": "a"},
     {"seed": -1}, {"positions": "rotary"}, {"layers": True}, {"task": "text", "text": "a" * 2000 + "\ud800"}],
)  # fmt: skip
def test_settings_out_of_bounds_are_refused(values):
    with pytest.raises(InputError):
        RunSettings(**values)


def test_the_sudden_change_is_the_steepest_doubling_and_a_slow_rise_is_none():
    steps = np.array([1, 2, 4, 8, 16, 32, 64])
    sudden: Any = steepest(steps, np.array([0.1, 0.1, 0.1, 0.1, 0.8, 0.9, 0.9]))
    assert (sudden.step, sudden.before, sudden.after) == (16, pytest.approx(0.45), pytest.approx(0.85))
    assert steepest(steps, np.linspace(0.1, 0.7, 7)) is None
    assert steepest(steps, np.array([0.1, 0.1, 0.4, 0.7, 0.95, 1.0, 1.0])) is None, (
        "a third of the rise in each doubling"
    )
    assert steepest(np.array([1]), np.array([0.1])) is None


def test_two_recorded_layers_learn_induction_by_an_induction_head_and_one_does_not():
    two: Any
    one: Any
    two, one = recorded("induction-two-layers"), recorded("induction-one-layer")
    scores = two.last.scores
    assert two.last.accuracy > 0.99
    assert scores["induction"].scores[1].max() > 0.9 > 0.1 > scores["induction"].nulls.max()
    assert scores["previous_token"].scores[0].max() > 0.9
    assert two.sudden_change() is not None
    assert one.last.accuracy < 0.25
    assert one.last.scores["induction"].scores.max() < 0.1
    assert one.sudden_change() is None


def test_reversing_needs_positions():
    with_them, without = recorded("reverse-with-positions"), recorded("reverse-without-positions")
    assert with_them.last.accuracy > without.last.accuracy + 0.3


def test_backwards_one_layer_tells_what_stood_before_and_the_next_finds_the_letter_just_written():
    """What the page says that heads may learn for this task, of the recorded training."""
    history = recorded("reverse-with-positions")
    model, word = history.checkpoint(history.last.step), "light"
    trace: Any = model.trace(f"{word}>{word[::-1]}")
    weights = trace.decoder.weights()
    before = [float(weights[0, :, at, at - 1].max()) for at in range(1, len(word))]
    assert min(before) > 0.5
    for at in range(len(word) + 1, 2 * len(word)):  # the letters after the sign, but for the last
        first = word.index(word[::-1][at - len(word) - 1])
        assert float(weights[1, :, at, first].min()) > 0.8


def test_recorded_trainings_are_small_those_of_their_settings_and_no_checkpoints_of_the_list():
    files = [path for name in RECORDED for path in (RECORDINGS / name).rglob("*")]
    assert sum(path.stat().st_size for path in files) <= 4 * MEGABYTE
    assert {path.name for path in RECORDINGS.iterdir()} == {*RECORDED, language_film.NAME}
    assert not set(RECORDED) & set(available_checkpoints())
    assert all(recorded(name).settings == settings for name, settings in RECORDED.items())
