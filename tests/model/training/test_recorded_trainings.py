"""The trainings that the page Learn shows, run for a few steps: what they record, and that a stopped one goes on."""

import gzip
import json
from pathlib import Path

import jaxtyping
import numpy as np
import pytest
import torch

from model.measures.learn.records.blindfold import MASKED, UNMASKED
from model.training import blindfold, loop, recurrent
from model.training.data.books import Windows
from model.training.distributed import Share
from model.transformer import Transformer

FILMS = 60
STORY = "Once upon a time there was a cat. The cat sat on the mat, and the dog sat by the cat. "


@pytest.fixture
def films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # a packed text file is no TextIO to the checker
    with gzip.open(tmp_path / "train.jsonl.gz", "wt", encoding="utf-8") as file:
        for film in range(FILMS):
            good = film % 2
            words = " ".join(["a good film" if good else "a dull film"] * (1 + film % 50))
            file.write(json.dumps({"text": words, "label": good, "movie": f"tt{film}"}) + "\n")
    return tmp_path


def train_classifiers(films: Path, out: Path, *more: str) -> dict:
    sizes = ["--steps", "4", "--every", "2", "--width", "4", "--heads", "2", "--layers", "1", "--hidden", "8"]
    sizes += ["--max-length", "32", "--batch-tokens", "64", "--validation-texts", "3", "--seeds", "0", "1"]
    record = out / "record.json"
    arguments = ["train", "--data", str(films), "--out", str(out), "--record", str(record), *sizes, *more]
    recurrent.train(recurrent.parse(arguments))
    return json.loads(record.read_text(encoding="utf-8"))


def test_both_classifiers_are_trained_with_every_seed_and_measured_on_what_was_held_out(films, tmp_path):
    record = train_classifiers(films, tmp_path / "out")
    assert [(run["model"], run["seed"]) for run in record["runs"]] == [
        ("lstm", 0), ("transformer", 0), ("lstm", 1), ("transformer", 1)
    ]  # fmt: skip
    for run in record["runs"]:
        assert [row["step"] for row in run["curve"]] == [2, 4]
        assert 0 <= run["right"] <= run["reviews"] == FILMS - record["training_reviews"]
        assert sum(part["reviews"] for part in run["by_length"]) == run["reviews"]
    sizes = [run["parameters"] for run in record["runs"]]
    assert max(sizes) < 1.02 * min(sizes)


def test_a_run_that_has_its_result_is_not_trained_again(films, tmp_path, monkeypatch):
    first = train_classifiers(films, tmp_path / "out")
    monkeypatch.setattr(loop, "train", lambda *_: pytest.fail("trained again"))
    assert train_classifiers(films, tmp_path / "out")["runs"] == first["runs"]


def test_an_lstm_learns_in_full_precision(films, tmp_path):
    options = recurrent.parse(["train", "--data", str(films), "--out", str(tmp_path)])
    assert recurrent.precision_of("lstm", options) == "float32"
    assert recurrent.precision_of("transformer", options) == "bfloat16"


def test_reviews_are_counted_by_their_length():
    rows = recurrent.by_length(np.array([True, False, True, True]), np.array([1, 128, 129, 700]))
    assert [(row["shortest"], row["longest"], row["reviews"], row["right"]) for row in rows] == [
        (1, 128, 2, 1), (129, 256, 1, 1), (257, 512, 0, 0), (513, 700, 1, 1)
    ]  # fmt: skip


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    path = tmp_path / "stories.txt"
    path.write_text(STORY * 60, encoding="utf-8")
    return path


def train_decoders(stories: Path, out: Path, *more: str) -> dict:
    sizes = ["--steps", "4", "--every", "2", "--width", "8", "--heads", "2", "--layers", "1", "--hidden", "8"]
    sizes += ["--context", "40", "--batch-tokens", "80", "--written", "10"]
    record = out / "record.json"
    arguments = ["train", "--data", str(stories), "--out", str(out), "--record", str(record), *sizes, *more]
    blindfold.train(blindfold.parse(arguments))
    return json.loads(record.read_text(encoding="utf-8"))


def test_both_decoders_are_trained_and_write_at_every_recorded_step(stories, tmp_path):
    record = train_decoders(stories, tmp_path / "out")
    assert [run["name"] for run in record["runs"]] == [MASKED, UNMASKED]
    for run in record["runs"]:
        assert [row["step"] for row in run["curve"]] == [2, 4]
        assert all(len(row["text"]) == 10 for row in run["curve"])


def test_a_training_that_was_stopped_comes_to_the_same_record(stories, tmp_path, monkeypatch):
    whole = train_decoders(stories, tmp_path / "whole")
    take, out = loop.take, tmp_path / "stopped"

    def stopped(step: int, *others):
        if step == 3:
            raise KeyboardInterrupt
        return take(step, *others)

    monkeypatch.setattr(loop, "take", stopped)
    with pytest.raises(KeyboardInterrupt):
        train_decoders(stories, out)
    monkeypatch.setattr(loop, "take", take)
    assert without_seconds(train_decoders(stories, out)) == without_seconds(whole)


def without_seconds(record: dict) -> list:
    return [[row | {"seconds": 0} for row in run["curve"]] for run in record["runs"]]


def test_without_a_mask_the_next_character_decides_the_logits_and_with_it_it_does_not():
    characters = blindfold.Characters(STORY, 30)
    options = blindfold.parse(["train", "--data", ".", "--out", "."])
    torch.manual_seed(0)
    model = Transformer(blindfold.build_config(options, characters)).eval()
    windows = Windows(characters.encode(STORY * 20), options.context, options.context, 0)
    for name, edits in blindfold.RUNS.items():
        batch = windows.at(0)[:1]
        other = batch.clone()
        other[:, 11] = 1 + other[:, 11] % (characters.size - 1)
        logits = [model(ids, edits=edits).logits[0, 10] for ids in (batch, other)]
        assert torch.equal(*logits) == (name == MASKED)


def test_what_is_to_be_predicted_is_the_next_character_of_the_window():
    characters = blindfold.Characters(STORY, 30)
    options = blindfold.parse(["train", "--data", ".", "--out", "."])
    model = Transformer(blindfold.build_config(options, characters))
    windows = Windows(characters.encode(STORY * 20), options.context, options.context, 0)
    batch = blindfold.predictions(windows, blindfold.RUNS[MASKED])(model, 0, Share())
    assert torch.equal(batch.truth, windows.at(0)[:, 1:])
    assert batch.logits.shape[:2] == batch.truth.shape


def test_characters_that_are_rare_are_left_out():
    characters = blindfold.Characters("aaabbc", 2)
    assert characters.size == 3
    assert characters.decode(characters.encode("cab").tolist()) == "ab"


def test_pairs_of_words_are_counted_without_the_one_that_may_be_cut_off():
    pairs = set(blindfold.word_pairs("the cat sat on the mat"))
    assert blindfold.known_pairs(" the cat sat. On mat", pairs) == {"pairs": 3, "known": 3}
    assert blindfold.known_pairs("mat the sat", pairs) == {"pairs": 1, "known": 0}
