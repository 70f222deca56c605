"""The command and its file: read back as written, refused when damaged, the same from one process as from two."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.checkpoint import CHECKPOINTS, available_checkpoints, load_checkpoint
from model.errors import CheckpointError
from model.loading.checkpoint_files import save_checkpoint
from model.measures import score_heads
from model.measures.head_scores.interruption import interruptible
from model.measures.head_scores.kind_sums import sums_of_text
from model.measures.head_scores.score_file import (
    FILE,
    HeadScores,
    KindTable,
    file_of_texts,
    kind_table,
    read_head_scores,
    score_files,
    write_head_scores,
)
from model.measures.head_scores.text_set import measured_texts
from tests import tiny

WORDS = [*tiny.WORDS, "the old cat saw the dog and the dog saw the old cat .", "bad , bad dog ! not a good man ."]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny encoder's."""
    return saved(tmp_path, "encoder")


def saved(root: Path, architecture: str) -> Path:
    save_checkpoint(root / "tiny", tiny.transformer(architecture), tiny.tokenizer(), {"name": "tiny"})
    return root / "tiny"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "own.txt"
    path.write_text("\n".join([WORDS[0], "", *WORDS[1:]]), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A treebank in which every word's head is the next one, and a set of pronouns."""
    words = ["the", "old", "cat", "saw", "the", "dog"]
    rows = [f"{n}\t{word}\t_\t_\t_\t_\t{(n + 1) % 7}\t{'dep' if n < 6 else 'root'}" for n, word in enumerate(words, 1)]
    sentence = "\n".join([f"# text = {' '.join(words)}", *rows, "", ""])
    for part in ("train", "dev"):
        (tmp_path / f"x-ud-{part}.conllu").write_text(sentence * 8, encoding="utf-8")
    (tmp_path / "coref").mkdir()
    row = {"text": "the dog bit the man and it saw", "pronoun": [24, 26], "candidates": [[0, 7], [12, 19]], "answer": 0}
    (tmp_path / "coref" / "few.jsonl").write_text(f"{json.dumps(row)}\n" * 72, encoding="utf-8")
    return tmp_path


def run(monkeypatch, *words) -> None:
    monkeypatch.setattr(sys, "argv", ["score_heads", *map(str, words), "--device", "cpu"])
    score_heads.main()


def read(folder: Path, file: str = FILE):
    scores = read_head_scores(folder, file)
    assert scores is not None
    return scores


def test_the_command_writes_kinds_syntax_and_coreference_and_says_so(folder, data, monkeypatch, capsys):
    run(monkeypatch, folder, "--data", data)
    scores = read(folder)
    assert scores.command == "python -m model.measures.score_heads tiny --data DIR"
    assert {"broad", "positional", "induction", "next_token"} <= set(scores.kinds["encoder"])
    assert scores.kinds["encoder"]["next_token"].texts == 8
    dependents = [one for one in scores.syntax if one.name == "dep"]
    assert [(one.rule, one.baseline, one.questions) for one in dependents] == [("offset +1", 1.0, 40)] * 2
    assert score_files(folder) == [FILE]
    (pronouns,) = scores.coreference
    assert (pronouns.name, pronouns.rule, pronouns.baseline) == ("few.jsonl", "first candidate", 1.0)
    assert "offset +1 100.0 % of 40" in capsys.readouterr().out


def test_texts_of_ones_own_have_a_file_of_their_own_with_examples(folder, texts, monkeypatch):
    run(monkeypatch, folder, "--texts", texts)
    assert read_head_scores(folder) is None
    assert score_files(folder) == ["head_scores-own.json"]
    scores = read(folder, file_of_texts(texts))
    assert scores.counts == {"own.txt, kinds": 5}
    numbered = dict(enumerate(texts.read_text(encoding="utf-8").split("\n")))
    assert all(numbered[number] == text for number, text in scores.texts.items())
    model = load_checkpoint(folder)
    for example in scores.kinds["encoder"]["previous_token"].examples:
        stack: Any = model.trace(numbered[example.text]).encoder
        place = (example.layer, example.head, example.query, example.key)
        assert stack.weights()[place] == pytest.approx(example.weight, abs=1e-4)
        assert (stack.tokens[example.query], stack.tokens[example.key]) == (example.query_token, example.key_token)


def test_kinds_can_be_measured_on_one_genre_of_the_treebank_alone(folder, data, monkeypatch):
    dev = data / "x-ud-dev.conllu"
    sentence = dev.read_text(encoding="utf-8")[: dev.stat().st_size // 8]
    dev.write_text(sentence * 5 + f"# sent_id = reviews-1-1\n{sentence}" * 3, encoding="utf-8")
    run(monkeypatch, folder, "--data", data, "--genre", "reviews")
    scores = read(folder)
    assert scores.command == "python -m model.measures.score_heads tiny --data DIR --genre reviews"
    assert scores.counts["x-ud-dev.conllu, reviews, kinds"] == scores.kinds["encoder"]["next_token"].texts == 3
    assert scores.counts["x-ud-dev.conllu"] == 8, "syntax is measured on all of them"
    with pytest.raises(SystemExit, match="no sentence is of the genre email"):
        run(monkeypatch, folder, "--data", data, "--genre", "email")


def test_a_decoder_has_kinds_alone(tmp_path, data, monkeypatch):
    folder = saved(tmp_path, "decoder")
    run(monkeypatch, folder, "--data", data)
    scores = read(folder)
    assert (set(scores.kinds), scores.syntax, scores.coreference) == ({"decoder"}, (), ())


def test_a_refusal_is_one_line(folder, tmp_path, monkeypatch):
    for words, said in [
        (("org/name", "--texts", "a"), "--out"),
        ((folder, "--texts", tmp_path / "none.txt"), r"none\.txt: there is no such file"),
        ((folder, "--data", folder), "found no file"),
    ]:
        with pytest.raises(SystemExit, match=said):
            run(monkeypatch, *words)


@pytest.mark.parametrize("architecture", ["encoder", "encoder-decoder"])
def test_two_processes_give_the_scores_of_one(tmp_path, data, texts, monkeypatch, architecture):
    folder = saved(tmp_path, architecture)
    words = [folder, "--data", data, "--texts", texts, "--out"]
    run(monkeypatch, *words, tmp_path / FILE)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    launch += ["-m", "model.measures.score_heads", *map(str, words), str(folder / FILE), "--device", "cpu"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.run([sys.executable, *launch], env=environment, capture_output=True)
    assert process.returncode == 0, process.stderr.decode()
    one, two = read(tmp_path), read(folder)
    assert (one.counts, one.syntax, one.coreference) == (two.counts, two.syntax, two.coreference)
    assert {name: set(tables) for name, tables in one.kinds.items()} == {
        name: set(tables) for name, tables in two.kinds.items()
    }
    for name, tables in one.kinds.items():
        for kind, table in tables.items():
            assert_equal(table, two.kinds[name][kind])


def assert_equal(table: KindTable, other: KindTable) -> None:
    """Equal but for the last digit kept, in which sums in another order may round to the other side."""
    assert (table.texts, table.queries) == (other.texts, other.queries)
    for name in ("scores", "nulls", "errors"):
        assert getattr(table, name) == pytest.approx(getattr(other, name), abs=1.01e-4)
    assert [vars(each) | {"weight": 0} for each in table.examples] == [
        vars(each) | {"weight": 0} for each in other.examples
    ]


# Stopping


def test_ctrl_c_keeps_what_is_measured_so_far():
    with interruptible() as stopped:
        results = measured_texts(tiny.checkpoint(), enumerate(WORDS), stopped=stopped)
        sums = next(results)
        signal.raise_signal(signal.SIGINT)
        assert list(results) == []
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert sums["encoder"]["broad"].texts == 1
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_scores_of_a_stopped_measurement_say_so(folder, texts, monkeypatch, capsys):
    def pressed(checkpoint, numbered, *, stopped):
        results = measured_texts(checkpoint, numbered, stopped=stopped)
        yield next(results)
        signal.raise_signal(signal.SIGINT)
        yield from results

    monkeypatch.setattr("model.measures.head_scores.measurement.measured_texts", pressed)
    run(monkeypatch, folder, "--texts", texts)
    scores = read(folder, file_of_texts(texts))
    assert scores.stopped
    assert scores.counts == {"own.txt, kinds": 1}
    assert scores.kinds["encoder"]["broad"].errors is None
    assert not scores.kinds["encoder"]["broad"].exceeding.any()
    assert "before you stopped it" in capsys.readouterr().out


# The file


def test_a_file_read_and_written_again_is_the_same(folder, texts, monkeypatch, tmp_path):
    run(monkeypatch, folder, "--texts", texts, "--out", folder / FILE)
    write_head_scores(tmp_path / FILE, read(folder))
    assert (tmp_path / FILE).read_text(encoding="utf-8") == (folder / FILE).read_text(encoding="utf-8")


def test_a_head_lies_above_its_null_by_three_errors_and_visibly():
    def text(*scores):
        return sums_of_text(np.array([scores]), np.full((1, 3), 0.1), 4)

    table = kind_table(text(0.5, 0.11, 0.1) + text(0.6, 0.12, 0.9) + text(0.4, 0.11, 0.1))
    assert table.exceeding.tolist() == [[True, False, False]], "the second hardly, the third in one text alone"


def test_the_kinds_of_a_head_are_those_above_their_null_the_most_excessive_first():
    def table(*scores):
        return KindTable(
            texts=2, queries=9, scores=np.array([scores]), nulls=np.full((1, 2), 0.1), errors=np.zeros((1, 2))
        )

    kinds = {"broad": table(0.3, 0.1), "induction": table(0.9, 0.12), "duplicate": table(0.05, 0.2)}
    scores = HeadScores(
        command="", counts={}, stopped=False, kinds={"decoder": kinds}, texts={}, syntax=(), coreference=()
    )
    assert scores.above_null("decoder", 0, 0) == ("induction", "broad")
    assert scores.above_null("decoder", 0, 1) == ("duplicate",)
    assert scores.above_null("cross", 0, 0) == ()


def change(values, path, value):
    """The JSON with another value at a path."""
    *way, last = path
    inside = values
    for key in way:
        inside = inside[key]
    inside[last] = value
    return json.dumps(values)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("command",), 3),
        (("stopped",), 0),
        (("counts",), []),
        (("counts",), {"a": -1}),
        (("texts",), {"one": "a"}),
        (("texts",), {"1": 2}),
        (("syntax",), [{"name": "det"}]),
        (("coreference",), [3]),
        (("kinds", "elsewhere"), {}),
        (("kinds", "encoder"), []),
        (("kinds", "encoder", "broad"), 1),
        (("kinds", "encoder", "broad", "scores"), [[0.1, 0.2], [0.3]]),
        (("kinds", "encoder", "broad", "scores"), [[2.0] * 4] * 2),
        (("kinds", "encoder", "broad", "scores"), [["a"] * 4] * 2),
        (("kinds", "encoder", "broad", "scores"), []),
        (("kinds", "encoder", "broad", "nulls"), [[0.1]]),
        (("kinds", "encoder", "broad", "errors"), [[0.1]]),
        (("kinds", "encoder", "punctuation", "examples", 0, "head"), 7),
        (("kinds", "encoder", "punctuation", "examples", 0, "weight"), True),
    ],
)
def test_a_damaged_file_is_refused_in_one_plain_sentence(tmp_path, scored, path, value):
    (tmp_path / FILE).write_text(change(json.loads(scored), path, value), encoding="utf-8")
    with pytest.raises(CheckpointError) as refusal:
        read_head_scores(tmp_path)
    assert str(refusal.value).startswith(FILE)
    assert str(refusal.value).endswith(".")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"{}", b'{"command": NaN}'])
def test_what_is_no_file_of_scores_is_refused(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(CheckpointError):
        read_head_scores(tmp_path)


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> str:
    """The text of a good file."""
    root = tmp_path_factory.mktemp("scored")
    folder = saved(root, "encoder")
    (root / "own.txt").write_text("\n".join(WORDS), encoding="utf-8")
    options = score_heads.parse([str(folder), "--texts", str(root / "own.txt"), "--device", "cpu"])
    score_heads.score(options)
    return (folder / "head_scores-own.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", available_checkpoints())
def test_bundled_scores_are_small_and_of_every_head(name):
    folder = CHECKPOINTS / name
    scores, config = read(folder), load_checkpoint(name).config
    assert (folder / FILE).stat().st_size < 100_000
    assert not scores.stopped
    sizes = {"encoder": config, "decoder": config.of_decoder(), "cross": config.of_decoder()}
    for attention, tables in scores.kinds.items():
        for table in tables.values():
            assert table.scores.shape == (sizes[attention].layers, sizes[attention].heads)
    assert bool(scores.syntax) == bool(scores.coreference) == config.has_encoder
