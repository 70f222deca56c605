"""The recorded trainings and measurements: whole, consistent with themselves, and with commands that exist."""

import shlex
import subprocess
import sys

import pytest
import torch

from model.config import Config
from model.measures.learn import records
from model.measures.learn.records.blindfold import MASKED, UNMASKED, Moment, blindfold_record
from model.measures.learn.records.recurrence import cost_record, training_record
from model.measures.learn.recurrence.recurrent_classifier import RecurrentClassifier
from model.measures.learn.recurrence.recurrent_cost import (
    LENGTHS,
    MODELS,
    cost,
    described_models,
    measured_models,
    waits,
)
from model.training import blindfold, recurrent
from model.training.data.preparation import REVIEW_LABELS
from model.transformer import Transformer
from tests.running import ROOT

MOST_BYTES = 100_000
SUFFIXES = {".json", ".py"}


def test_the_records_are_small_and_hold_no_weights():
    files = [path for path in records.RECORDS.iterdir() if path.is_file()]
    assert {path.suffix for path in files} <= SUFFIXES
    assert all(path.stat().st_size <= MOST_BYTES for path in files)


@pytest.mark.parametrize("name", ["blindfold", "recurrent_training", "recurrent_cost"])
def test_a_record_names_the_command_that_writes_it(name):
    record = records.read(name)
    words = shlex.split(record["command"])
    assert words[:2] == ["python", "-m"]
    assert record["machine"]
    subprocess.run([sys.executable, *words[1:3], "--help"], check=True, capture_output=True, cwd=ROOT)


def test_the_commands_of_the_trainings_are_understood_and_have_the_recorded_numbers():
    for module, name in ((blindfold, "blindfold"), (recurrent, "recurrent_training")):
        record = records.read(name)
        options = vars(module.parse(shlex.split(record["command"])[3:]))
        assert {field: options[field] for field in module.NUMBERS} == {field: record[field] for field in module.NUMBERS}
        assert {field: options[field] for field in module.RATES} == {field: record[field] for field in module.RATES}


def test_both_decoders_are_recorded_to_the_end_and_begin_alike():
    record = blindfold_record()
    steps, every = record.facts["steps"], record.facts["every"]
    assert set(record.runs) == {MASKED, UNMASKED}
    for moments in record.runs.values():
        assert [moment.step for moment in moments] == list(range(every, steps + 1, every))
        assert all(len(moment.text) == record.facts["written"] for moment in moments)
    options = blindfold.parse(["train", "--data", ".", "--out", "."])
    characters = blindfold.Characters("".join(map(chr, range(32, 32 + record.facts["characters"]))), 999)
    assert Transformer(blindfold.build_config(options, characters)).parameter_count() == record.parameters


def test_the_written_texts_have_as_many_pairs_of_words_as_recorded():
    for moments in blindfold_record().runs.values():
        for moment in moments:
            words = moment_words(moment.text)
            assert moment.pairs == max(0, len(words) - 2)
            assert 0 <= moment.known <= moment.pairs


def moment_words(text: str) -> list[str]:
    """The words, by another way than an expression: letters stay, all else separates."""
    return "".join(letter if "a" <= letter <= "z" else " " for letter in text.lower()).split()


def test_without_the_mask_the_loss_goes_to_nothing_and_what_is_written_is_worse_than_chance():
    record = blindfold_record()
    masked, unmasked = record.at(MASKED, -1), record.at(UNMASKED, -1)
    assert record.lower() == UNMASKED
    assert unmasked.training_loss < 0.001 < 1 < masked.training_loss
    assert masked.prefix_loss < record.chance < unmasked.prefix_loss
    assert record.writers() == {MASKED}


def test_a_text_is_english_where_at_least_half_of_its_pairs_are():
    def moment(pairs: int, known: int) -> Moment:
        return Moment(
            step=1, training_loss=1.0, validation_loss=1.0, prefix_loss=1.0, text="", pairs=pairs, known=known
        )

    assert moment(10, 5).writes_english
    assert not moment(10, 4).writes_english
    assert not moment(0, 0).writes_english


def test_every_run_of_the_classifiers_is_recorded_and_adds_up():
    record = training_record()
    assert {(run.model, run.seed) for run in record.runs} == {(m, s) for m in recurrent.MODELS for s in (0, 1, 2)}
    for run in record.runs:
        assert list(run.curve) == list(range(70, 701, 70))
        assert sum(part.reviews for part in run.by_length) == run.reviews == 2513
        assert sum(part.right for part in run.by_length) == run.right
        assert run.by_length[0].shortest == 1
        neighbours = zip(run.by_length, run.by_length[1:], strict=False)
        assert all(before.longest + 1 == after.shortest for before, after in neighbours)


def test_the_classifiers_have_the_parameters_that_their_sizes_make():
    record = training_record()
    sizes = {name: record.facts[name] for name in ("width", "heads", "layers", "hidden", "max_length")}
    config = Config(architecture="encoder", vocabulary=16_000, norm_order="pre", labels=REVIEW_LABELS, **sizes)
    states = {run["state"] for run in records.read("recurrent_training")["runs"] if run["model"] == "lstm"}
    with torch.device("meta"):
        both = {"transformer": Transformer(config), "lstm": RecurrentClassifier(config, *states)}
    for name, model in both.items():
        count = sum(parameter.numel() for parameter in model.parameters())
        assert {run.parameters for run in record.of(name)} == {count}


def test_means_are_over_the_seeds():
    record = training_record()
    for model in recurrent.MODELS:
        rights = [run.right for run in record.of(model)]
        assert record.accuracy(model) == pytest.approx(sum(rights) / 3 / 2513)
        shares = [run.by_length[-1].right / run.by_length[-1].reviews for run in record.of(model)]
        assert record.accuracy_by_length(model)[-1] == pytest.approx(sum(shares) / 3)
        assert record.curve(model)[700] == pytest.approx(sum(run.curve[700] for run in record.of(model)) / 3)


def test_the_costs_are_of_every_model_at_every_length():
    record = cost_record()
    assert [(each.tokens, each.model) for each in record.costs] == [(n, name) for n in LENGTHS for name in MODELS]
    assert record.models == described_models()
    assert all(each.waits == waits(each.model, each.tokens) for each in record.costs)


def test_the_recorded_memory_is_what_is_measured_again():
    recorded = {(each.model, each.tokens): each for each in cost_record().costs}
    for name, model in measured_models().items():
        again = cost(name, model, 64, 1, 1.0)
        assert again.forward_bytes == pytest.approx(recorded[name, 64].forward_bytes, rel=0.02)
        assert again.training_bytes == pytest.approx(recorded[name, 64].training_bytes, rel=0.02)
