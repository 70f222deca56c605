"""The film of a language model: snapshots on a geometric scale, and what is measured of them, against plain loops."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from model import CheckpointError, load_checkpoint
from model.checkpoint import available_checkpoints
from model.training import language
from model.training.loop import Schedule
from model.training.watched.language_film import FILM, NAME, LanguageFilm, held_out, language_film, moment_of, record
from model.training.watched.recordings import RECORDINGS

MEGABYTE = 1_000_000
SIZES = "--vocabulary 300 --width 16 --heads 2 --layers 1 --hidden 32 --max-length 80 --batch-tokens 320 --warm-up 2"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "text.txt"
    path.write_text("\n\n".join(f"Once there were {n} kings and {n + 1} queens." for n in range(400)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training with snapshots."""
    out = tmp_path_factory.mktemp("run")
    more = ["--out", str(out), "--steps", "6", "--every", "3", "--snapshots", "4", *SIZES.split()]
    language.train(language.parse(["train", "--data", str(data), *more]))
    return out


def test_snapshots_lie_evenly_on_a_logarithmic_axis_with_the_first_and_the_last():
    schedule = Schedule(steps=999, peak_rate=1.0, warm_up=1, snapshots=4)
    assert schedule.snapshot_steps() == {0, 9, 99, 999}
    assert Schedule(steps=999, peak_rate=1.0, warm_up=1).snapshot_steps() == set()


def test_a_training_leaves_a_checkpoint_for_every_snapshot_and_the_last_is_its_own(run):
    steps = sorted(int(folder.name) for folder in (run / "snapshots").iterdir())
    assert steps == [0, 1, 3, 6]
    for step in steps:
        snapshot = load_checkpoint(run / "snapshots" / str(step))
        assert snapshot.card["training"]["steps"] == step
    last, whole = load_checkpoint(run / "snapshots/6").model, load_checkpoint(run).model
    assert all(torch.equal(*two) for two in zip(last.parameters(), whole.parameters(), strict=True))


def test_a_moment_is_measured_on_windows_of_text_that_was_held_out(run, data):
    checkpoint = load_checkpoint(run / "snapshots/3", device="cpu")
    batch = held_out(checkpoint, [data])
    moment, losses, right = moment_of(checkpoint, batch), [], 0
    for ids, truth in zip(batch.ids.tolist(), batch.truth.tolist(), strict=True):
        assert ids[1:] == truth[:-1]
        logits = checkpoint.trace_ids(ids).logits
        assert logits is not None
        for row, wanted in zip(logits.double().log_softmax(-1), truth, strict=True):
            losses.append(-float(row[wanted]))
            right += int(row.argmax()) == wanted
    assert moment.loss == pytest.approx(sum(losses) / len(losses), abs=1e-4)
    assert moment.accuracy == pytest.approx(right / len(losses), abs=2e-3)
    assert moment.step == 3


def test_a_film_is_read_as_it_was_written_and_its_texts_are_those_of_the_snapshots(run, data, tmp_path):
    film = record(run, [data], tmp_path)
    assert film.steps == [0, 1, 3, 6]
    assert film.at(3).to_json() == json.loads((tmp_path / FILM).read_text(encoding="utf-8"))["moments"][2]
    written = load_checkpoint(tmp_path / "6").generate(film.prompt, max_tokens=40).text
    assert film.written[6] == written


def test_a_run_without_snapshots_is_refused_in_a_sentence(tmp_path, data):
    with pytest.raises(CheckpointError, match="train with --snapshots"):
        record(tmp_path, [data], tmp_path / "out")


@pytest.mark.parametrize("content", ["{}", "[]", '{"prompt": "a", "moments": [3], "written": {}}'])
def test_a_file_that_is_no_film_is_refused(content, tmp_path):
    (tmp_path / FILM).write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointError, match=FILM):
        language_film(tmp_path)


@pytest.fixture(scope="module")
def film() -> LanguageFilm:
    """The recorded one."""
    return language_film()


def test_the_recorded_film_is_small_and_learned_to_write(film):
    files = [path for path in (RECORDINGS / NAME).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 4 * MEGABYTE
    losses = [moment.loss for moment in film.moments]
    assert losses[0] == pytest.approx(math.log(512), rel=0.1)
    assert losses[-1] < 3
    assert not {path.name for path in (RECORDINGS / NAME).iterdir()} & set(available_checkpoints())


def test_every_recorded_text_is_what_its_snapshot_writes(film):
    for step in film.steps[:: len(film.steps) // 3]:
        written: Any = film.checkpoint(step).generate(film.prompt, max_tokens=40)
        assert written.text == film.written[step]
