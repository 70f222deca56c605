"""Training translators and language models: batches that lose nothing, runs that go on, figures that are right."""

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from benchmarks.training import Theirs
from model import InputError, load_checkpoint
from model.tokenizer import END, END_ID, START_ID, Tokenizer
from model.training import distributed, language, loop, next_token, optimisers, translate
from model.training.command_line import Command
from model.training.data.books import Book, Windows, parts, rows_of, split
from model.training.data.id_rows import load_rows
from model.training.data.list_files import read_lists, words
from model.training.data.sentence_pairs import (
    Pair,
    PairBatches,
    Parallel,
    augmented,
    casual,
    greetings,
    parallel,
    read_pairs,
    redated,
    renamed,
)
from model.training.evaluation import translation_quality
from model.training.evaluation.kneser_ney import KneserNey, discounts
from model.training.evaluation.language_modelling import best_head, log_probabilities, loops, repeated_phrases
from tests import tiny
from tests.model.training.test_training import curve, weights
from tests.tiny import transformer

SIZES = {"every": 4, "width": 16, "heads": 2, "layers": 1, "hidden": 32, "vocabulary": 320, "warm-up": 4}
SMALL = [
    word for name, size in (SIZES | {"max-length": 24, "batch-tokens": 96}).items() for word in (f"--{name}", str(size))
]
TASKS = [translate, language]


@pytest.fixture
def data(tmp_path: Path) -> dict[ModuleType, Path]:
    """200 pairs of sentences for a translator, a text of them for a language model."""
    pairs = [
        (f"I have {n} {what}.", f"J'ai {n} {quoi} !")
        for n in range(100)
        for what, quoi in (("cats", "chats"), ("dogs", "chiens"))
    ]
    (tmp_path / "pairs.tsv").write_text("".join(f"{one}\t{other}\tmore\n" for one, other in pairs), encoding="utf-8")
    (tmp_path / "text.txt").write_text("\n\n".join(one for one, _ in pairs), encoding="utf-8")
    return {translate: tmp_path / "pairs.tsv", language: tmp_path / "text.txt"}


def run(task: ModuleType, name: str, data: Path, *more: str) -> None:
    """Run a command."""
    command: Command = getattr(task, name)
    command(task.parse([name, "--data", str(data), *more]))


def train(task: ModuleType, data: Path, out: Path, *more: str) -> Path:
    """Train something small, with one tokenizer for all runs: training one breaks ties at random."""
    run(task, "train", data, "--out", str(out), "--prepared", str(data.with_suffix("")), *SMALL, *more)
    return out


@pytest.mark.parametrize("task", TASKS)
def test_training_on_ones_own_file_gives_a_checkpoint_that_writes(task: ModuleType, data, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(train(task, data[task], tmp_path / "out", "--steps", "8"))
    assert len(checkpoint.generate("I have 5 dogs.", max_tokens=3).steps) <= 3
    assert checkpoint.card["parameters"] == sum(p.numel() for p in checkpoint.model.parameters())
    assert checkpoint.card["training"]["steps"] == 8
    assert [row["step"] for row in curve(tmp_path / "out")] == ["4", "8"]


@pytest.mark.parametrize(("task", "optimiser"), [(translate, "adamw"), (language, "adamw"), (language, "muon")])
def test_a_killed_run_goes_on_to_the_same_result(
    task: ModuleType, optimiser: str, data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ("--steps", "12", "--optimiser", optimiser)
    train(task, data[task], tmp_path / "whole", *more)
    update, calls = loop.update, list[int]()

    def killed(*arguments: object) -> None:
        if len(calls) == 6:
            raise KeyboardInterrupt
        calls.append(1)
        update(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "update", killed)
    with pytest.raises(KeyboardInterrupt):
        train(task, data[task], tmp_path / "killed", *more)
    monkeypatch.undo()
    assert load_checkpoint(tmp_path / "killed").card["training"]["steps"] == 4
    train(task, data[task], tmp_path / "killed", *more)
    first, second = weights(tmp_path / "whole"), weights(tmp_path / "killed")
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert (tmp_path / "whole/curve.csv").read_text() == (tmp_path / "killed/curve.csv").read_text()


@pytest.mark.parametrize("task", TASKS)
def test_training_lowers_the_loss(task: ModuleType, data, tmp_path: Path) -> None:
    train(task, data[task], tmp_path / "out", "--steps", "40", "--rate", "0.01")
    rows = curve(tmp_path / "out")
    assert float(rows[-1]["validation_loss"]) < 0.7 * float(rows[0]["validation_loss"])


@pytest.mark.parametrize("task", TASKS)
def test_a_run_can_start_from_a_finished_checkpoint(task: ModuleType, data, tmp_path: Path) -> None:
    first = train(task, data[task], tmp_path / "first", "--steps", "8", "--rate", "0.01")
    (first / loop.STATE).unlink()
    on = train(task, data[task], tmp_path / "on", "--steps", "1", "--rate", "1e-9", "--start", str(first))
    assert all(torch.allclose(weights(on)[name], weight, atol=1e-3) for name, weight in weights(first).items())
    assert "8 steps" in load_checkpoint(on).card["training"]["notes"]


@pytest.mark.parametrize("task", TASKS)
def test_a_run_from_a_checkpoint_keeps_the_tokenizer_that_its_weights_know(
    task: ModuleType, data, tmp_path: Path
) -> None:
    first, prepared = train(task, data[task], tmp_path / "first", "--steps", "4"), str(tmp_path / "other")
    more = ("--steps", "1", "--start", str(first), "--vocabulary", "300", "--prepared", prepared)
    on = train(task, data[task], tmp_path / "on", *more)
    assert (on / "tokenizer.json").read_text() == (first / "tokenizer.json").read_text()
    anew = train(
        task, data[task], tmp_path / "anew", "--steps", "1", "--vocabulary", "300", "--prepared", f"{prepared}2"
    )
    with pytest.raises(InputError, match="another tokenizer"):
        train(task, data[task], tmp_path / "on2", *more, "--prepared", f"{prepared}2")
    assert load_checkpoint(anew).tokenizer.size == 300


def test_muon_takes_the_matrices_of_the_blocks_and_adamw_all_others() -> None:
    model = transformer("decoder", vocabulary=40)
    muon, adamw = optimisers.optimiser_of(model, "muon", 0.1).parts
    taken = {parameter for group in muon.param_groups for parameter in group["params"]}
    names = {name for name, parameter in model.named_parameters() if parameter in taken}
    assert names == {
        name for name, p in model.named_parameters() if ".blocks." in name and name.endswith("weight") and p.ndim == 2
    }
    others = [parameter for group in adamw.param_groups for parameter in group["params"]]
    assert len(others) + len(taken) == len(list(model.parameters()))
    assert not taken & set(others)


def test_a_step_of_muon_is_as_long_as_one_of_adamw() -> None:
    """0.2 · √max(rows, columns) · rate is the norm's share of an orthogonal step: Liu et al. 2025, equation 4."""
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({"blocks": torch.nn.ModuleList([torch.nn.Linear(64, 16, bias=False)])})
    outer = torch.nn.ModuleDict({"encoder": model})
    weight = next(outer.parameters())
    before = weight.detach().clone()
    weight.grad = torch.randn_like(weight)
    optimisers.optimiser_of(outer, "muon", 0.0).step(0.01)
    change = (before - weight.detach()) / (0.01 * 0.2 * 8)
    lengths = torch.linalg.svdvals(change)
    assert ((lengths > 0.6) & (lengths < 1.3)).all()


def test_the_state_of_another_optimiser_is_refused(data, tmp_path: Path) -> None:
    train(language, data[language], tmp_path / "out", "--steps", "4")
    with pytest.raises(InputError, match="--optimiser"):
        train(language, data[language], tmp_path / "out", "--steps", "8", "--optimiser", "muon")


@pytest.mark.parametrize("task", TASKS)
def test_two_processes_give_the_curve_of_one(task: ModuleType, data, tmp_path: Path) -> None:
    more = ("--steps", "8", "--dropout", "0", "--precision", "float32")
    one = train(task, data[task], tmp_path / "one", *more)
    two = tmp_path / "two"
    words = ["train", "--data", data[task], "--out", two, "--prepared", data[task].with_suffix(""), *SMALL, *more]
    launch = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        "-m",
        task.__name__,
    ]
    process = subprocess.run(
        [*launch, *map(str, words)], env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True
    )
    assert process.returncode == 0, process.stderr.decode()
    for row, other in zip(curve(one), curve(two), strict=True):
        assert {name: float(value) for name, value in row.items()} == pytest.approx(
            {name: float(value) for name, value in other.items()}, rel=1e-3
        )
    assert "2 processes" in load_checkpoint(two).card["training"]["machine"]


def test_the_rate_falls_as_one_over_the_root_of_the_step() -> None:
    schedule = loop.Schedule(steps=1000, peak_rate=2.0, warm_up=100, decay="inverse-root")
    assert [schedule.rate(step) for step in (49, 99, 399)] == pytest.approx([1.0, 2.0, 1.0])


def test_a_cool_down_brings_the_rate_to_zero_and_changes_nothing_before() -> None:
    plain = loop.Schedule(steps=100, peak_rate=1.0, warm_up=10, decay="inverse-root")
    cooled = loop.Schedule(steps=100, peak_rate=1.0, warm_up=10, decay="inverse-root", cool_down=20)
    assert [cooled.rate(step) for step in range(81)] == [plain.rate(step) for step in range(81)]
    assert cooled.rate(90) == pytest.approx(plain.rate(90) / 2)
    assert cooled.rate(100) == 0


# What is read.


def test_two_files_of_sentences_are_the_pairs_of_one_table(data, tmp_path: Path) -> None:
    pairs = list(read_pairs([data[translate]]))
    for side in (0, 1):
        (tmp_path / f"{side}.txt").write_text("\n".join(pair[side] for pair in pairs), encoding="utf-8")
    assert list(read_pairs([tmp_path / "0.txt", tmp_path / "1.txt"])) == pairs
    assert pairs[1] == Pair("I have 0 dogs.", "J'ai 0 chiens !")


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        ([b"one\tun\ntwo\n"], "a.tsv: line 2: "),
        ([b"one\tun\n \tdeux\n"], "a.tsv: line 2: "),
        ([b"one\ntwo\n", b"un\n"], "different numbers of lines"),
        ([b"\xff\xfe\tun\n"], "a.tsv: this is no text"),
        ([b"one\tun\n"], "too few"),
    ],
)
def test_bad_pairs_are_refused(contents: list[bytes], complaint: str, tmp_path: Path) -> None:
    paths = [tmp_path / name for name, _ in zip(("a.tsv", "b.tsv"), contents, strict=False)]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        translate.train(translate.parse(["train", "--data", *map(str, paths), "--out", str(tmp_path / "out")]))


@pytest.mark.parametrize(("text", "complaint"), [("short", "too little text"), ("word " * 500, "max-length")])
def test_too_little_text_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        run(language, "train", tmp_path / "a.txt", "--out", str(tmp_path / "out"))
    with pytest.raises(InputError, match="no such file"):
        run(language, "train", tmp_path / "b.txt", "--out", str(tmp_path / "other"))


def test_of_many_books_some_are_held_out_whole_and_of_few_the_ends(tmp_path: Path) -> None:
    many = [{"title": f"Book {n}", "text": f"Once {n} " * 30} for n in range(80)]
    (tmp_path / "many.jsonl").write_text("\n".join(map(json.dumps, many)), encoding="utf-8")
    kept, out = split([tmp_path / "many.jsonl"])
    assert sorted(book.title for book in kept + out) == sorted(str(book["title"]) for book in many)
    assert 1 <= len(out) <= 12
    (tmp_path / "few.txt").write_text("0123456789" * 400, encoding="utf-8")
    kept, out = split([tmp_path / "few.txt"])
    assert (len(kept[0].text), len(out[0].text)) == (3800, 200)


def test_books_encoded_in_parts_have_the_ids_of_whole_ones() -> None:
    text = "\n\n".join(f"Paragraph {n} of a book, with\ntwo lines." for n in range(400))
    tokenizer = Tokenizer.train_byte_pairs(iter([text]), 320, ended=False)
    books = [Book("long", text * 9), Book("short", "One line."), Book("none", "")]
    assert len(list(parts(books[0].text))) > 2
    rows = rows_of(tokenizer, books)
    assert [rows.row(n).tolist() for n in range(3)] == [list(tokenizer.encode(book.text + END).ids) for book in books]


def test_byte_pairs_give_back_every_text_and_keep_elisions_and_contractions_apart() -> None:
    texts = ["I don't know, it's l'eau de la mer.", "Qu'est-ce que c'est ?"] * 3
    tokenizer = Tokenizer.train_byte_pairs(iter(texts), 330, ended=True)
    for text in (*texts, "日本語 🙂 été\n\nnew", "  two blanks "):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
        assert tokenizer.encode(text).ids[-1] == END_ID
    assert [piece for piece in tokenizer.encode("it's l'eau").tokens if "'" in piece] == ["'s", " l'"]
    assert tokenizer.encode("it’s").ids == tokenizer.encode("it's").ids


def test_hurried_and_joined_pairs_come_on_top_of_the_others() -> None:
    pairs = [Pair(f"Is it {n}?", f"Est-ce {n} ?") for n in range(100)]
    more = augmented(pairs)
    assert more[:100] == pairs
    assert {pair.source for pair in more[100:104]} <= {casual(pair.source) for pair in pairs}
    assert all(pair.source.count("?") == pair.target.count("?") > 1 for pair in more[104:109])
    assert len(more) == 111, "two greet"
    assert casual("Well... I DO!") == "well... i do"


def test_greetings_are_put_together_the_same_on_both_sides_without_those_to_evaluate_with() -> None:
    made = list(greetings(3000, np.random.default_rng(0)))
    evaluated = {words(text) for texts in read_lists("translations").values() for text in texts}
    assert not evaluated & {words(pair.source) for pair in made}
    assert len(made) < 3000
    names = {name for some in read_lists("names").values() for name in some}
    marks = set[str]()
    for pair in made:
        assert "{" not in pair.source + pair.target
        assert {word for word in words_as_written(pair.source) if word in names} == {
            word for word in words_as_written(pair.target) if word in names
        }
        assert not ("Salut" in pair.target and "vous" in pair.target), "one register"
        marks |= {mark for mark in (", ", "! ", ". ") if mark in pair.source}
    assert marks == {", ", "! ", ". "}
    behind_hello = [pair for pair in made if pair.source.startswith("Hello, how are you")]
    assert behind_hello
    assert all(", comment" in pair.target or ", ça va" in pair.target for pair in behind_hello)


def words_as_written(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_some_pairs_come_again_with_another_name_the_same_on_both_sides() -> None:
    pairs = [Pair(f"Tom has {n} cats.", f"Tom a {n} chats.") for n in range(50)]
    pairs += [Pair(f"Mary has {n}.", f"Marie en a {n}.") for n in range(50)]
    again = list(renamed(pairs, np.random.default_rng(0)))
    assert len(again) == 5
    for pair in again:
        assert pair.source.split()[0] == pair.target.split()[0] in read_lists("names")["he"]
        assert pair.source.split()[2] == pair.target.split()[2]


def test_pairs_with_a_year_come_again_with_other_years_the_same_on_both_sides() -> None:
    pairs = [Pair("Born in 1990.", "Né en 1990."), Pair("In 1000 days.", "Dans mille jours.")]
    again = list(redated(pairs, np.random.default_rng(0)))
    assert len(again) == 8
    assert all(pair.source[8:12] == pair.target[6:10] for pair in again)
    assert len({pair.source for pair in again}) > 1


# Batches.


def pair_batches(seed: int = 0, tokens: int = 64) -> PairBatches:
    """Batches of 90 pairs of 2 to 14 tokens."""
    pairs = [Pair("a" * (1 + n % 13), "b" * (1 + n * 7 % 11)) for n in range(90)]
    tokenizer = Tokenizer.train_byte_pairs(iter(["a b"]), 259, ended=True)
    return PairBatches(pairs=Parallel(**parallel(tokenizer, pairs)), tokens=tokens, longest=20, seed=seed)


def test_every_pair_comes_once_in_every_pass_each_in_another_order() -> None:
    batches = pair_batches()
    passes = [[batches.at(number * batches.steps + step) for step in range(batches.steps)] for number in (0, 1)]
    counts = [Counter(tuple(row) for batch in one for row in batch.target.tolist()) for one in passes]
    assert sum(counts[0].values()) == 90
    lengths = [
        Counter(int(padding_mask.sum()) for batch in one for padding_mask in batch.padding_mask) for one in passes
    ]
    assert lengths[0] == lengths[1] == Counter(2 + n % 13 for n in range(90))
    assert [batch.source.shape for batch in passes[0]] != [batch.source.shape for batch in passes[1]]


def test_a_batch_of_pairs_depends_on_its_step_and_seed_alone_and_is_bounded() -> None:
    batches = pair_batches()
    assert all(torch.equal(one, other) for one, other in zip(batches.at(30), pair_batches().at(30), strict=True))
    assert any(batches.at(step).source.shape != pair_batches(seed=1).at(step).source.shape for step in range(9))
    for step in range(batches.steps):
        batch = batches.at(step)
        assert max(batch.source.numel(), batch.target[:, 1:].numel()) <= 64
        assert (batch.target[:, 0] == START_ID).all()
        assert all(row[row != 0][-1] == END_ID for row in batch.target)
        assert (batch.source[~batch.padding_mask] == 0).all()


def test_windows_of_a_pass_follow_one_another_and_next_pass_cuts_elsewhere() -> None:
    windows = Windows(np.arange(1000, dtype=np.int32), context=10, tokens=40, seed=0)
    rows = [
        [row for step in range(windows.steps) for row in windows.at(windows.steps * n + step).tolist()] for n in (0, 1)
    ]
    for of_pass in rows:
        assert all(row == list(range(row[0], row[0] + 11)) for row in of_pass)
        assert len({row[0] for row in of_pass}) == len(of_pass) == 4 * windows.steps
        assert len({row[0] % 10 for row in of_pass}) == 1
    assert rows[0][0][0] % 10 != rows[1][0][0] % 10
    assert torch.equal(windows.at(3), Windows(windows.ids, context=10, tokens=40, seed=0).at(3))


def test_in_a_share_of_windows_a_span_comes_again() -> None:
    plain = Windows(np.arange(40_000, dtype=np.int32), context=32, tokens=3200, seed=0)
    windows, changed = replace(plain, repeats=0.25), 0
    for step in range(8):
        for before, after in zip(plain.at(step).tolist(), windows.at(step).tolist(), strict=True):
            again = [place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
            changed += bool(again)
            if again:
                assert again == list(range(again[0], again[-1] + 1))
                assert 33 // 16 < len(again) <= 33 // 3
                first = before.index(after[again[0]])
                assert first + len(again) <= again[0]
                assert [after[place] for place in again] == before[first : first + len(again)]
    assert changed / (8 * 100) == pytest.approx(0.25, abs=0.05)
    assert torch.equal(windows.at(3), replace(plain, repeats=0.25).at(3))


def test_shares_make_up_the_batch() -> None:
    rows = torch.arange(5)
    shares = [distributed.Share(rank, 3) for rank in range(3)]
    assert sorted(int(row) for share in shares for row in share.of(rows)) == [0, 1, 2, 3, 4]
    idle = distributed.Share(2, 3)
    assert idle.idle(2)
    nothing = next_token.predicted(
        torch.zeros(1, 2, 9), idle.of(torch.ones(2, 2, dtype=torch.int64)), torch.ones(2, 2), idle
    )
    assert (next_token.total_loss(nothing).item(), nothing.tokens) == (0.0, 4)


def test_the_loss_of_a_batch_is_that_of_its_pairs_whatever_the_padding() -> None:
    model = transformer("encoder-decoder", vocabulary=300, start_id=START_ID, end_id=END_ID)
    measured = []
    for tokens in (20, 400):
        batches = pair_batches(tokens=tokens)
        measured.append(next_token.measure(model, translate.predictions(batches), batches.steps))
    assert measured[0].loss == pytest.approx(measured[1].loss, rel=1e-5)
    assert measured[0].accuracy == pytest.approx(measured[1].accuracy)


def test_label_smoothing_spreads_a_tenth_over_the_vocabulary() -> None:
    logits, truth = torch.randn(1, 3, 5, generator=torch.Generator().manual_seed(0)), torch.tensor([[4, 2, 0]])
    batch = next_token.Predicted(logits, truth, 1, 2)
    logs = logits[0, :2].log_softmax(dim=-1)
    expected = -0.9 * (logs[0, 4] + logs[1, 2]) - 0.1 * logs.mean(dim=-1).sum()
    assert next_token.total_loss(batch, 0.1).item() == pytest.approx(float(expected), rel=1e-5)


# Figures of translators.


def test_a_beam_of_one_is_greedy_and_a_text_alone_is_translated_as_in_a_batch(data, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(train(translate, data[translate], tmp_path / "out", "--steps", "40", "--rate", "0.01"))
    texts = ["I have 5 dogs.", "I have cats.", "dogs"]
    greedy = translation_quality.translator(checkpoint.model, checkpoint.tokenizer, 1)(texts)
    for text, ids in zip(texts, greedy, strict=True):
        expected = checkpoint.generate(text, max_tokens=23).token_ids
        assert ids == expected[: len(ids)]
    beam = translation_quality.translator(checkpoint.model, checkpoint.tokenizer, 3)
    assert beam(texts) == [beam([text])[0] for text in texts]


def test_references_of_one_sentence_are_grouped_and_each_of_them_counts() -> None:
    pairs = [
        Pair("Go.", "Va tout de suite !"),
        Pair("Go now.", "Vas-y tout de suite."),
        Pair("Go.", "Allez-y tout de suite !"),
    ]
    assert translation_quality.grouped_references(pairs) == {
        "Go.": ["Va tout de suite !", "Allez-y tout de suite !"],
        "Go now.": ["Vas-y tout de suite."],
    }
    references = list(translation_quality.grouped_references(pairs).values())
    for texts in (["Va tout de suite !", "Vas-y tout de suite."], ["Allez-y tout de suite !", "Vas-y tout de suite."]):
        scores = {name: (value, signature) for name, value, signature in translation_quality.scores(texts, references)}
        assert scores["BLEU"][0] == pytest.approx(100)
        assert scores["chrF"][0] == pytest.approx(100)
        assert "nrefs:var|case:mixed" in scores["BLEU"][1]
    worse = {name: value for name, value, _ in translation_quality.scores(["Va !", "Vas-y."], references)}
    assert worse["BLEU"] < 50


def test_evaluating_a_translator_prints_its_figures_and_writes_them_down(data, tmp_path: Path, capsys) -> None:
    out = train(translate, data[translate], tmp_path / "out", "--steps", "4")
    capsys.readouterr()
    more = ("--checkpoint", str(out), "--card", str(out), "--first", "30", "--beam", "2")
    run(translate, "evaluate", data[translate], *more)
    lengths = load_rows(data[translate].with_suffix("") / "training.safetensors")["source"].lengths()
    usual = json.loads((out / "card.json").read_text(encoding="utf-8"))["usual_length"]
    assert (lengths <= usual).mean() >= 0.95 > (lengths < usual).mean()
    printed, card = capsys.readouterr().out, json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert [row["what"].split(",")[0] for row in card["evaluations"]] == ["BLEU", "chrF", "translations that end"]
    assert all(row["what"] in printed for row in card["evaluations"])
    assert card["evaluations"][0]["signature"] in printed
    assert card["evaluations"][0]["what"].endswith(f", beam 2, {data[translate].name}")
    with pytest.raises(InputError, match="does not translate"):
        run(translate, "evaluate", data[translate], "--checkpoint", "sentiment")


# Figures of language models.


def test_windows_predict_a_text_as_one_pass_does_where_it_fits() -> None:
    model = transformer("decoder", vocabulary=30, max_length=32)
    ids = torch.randint(0, 30, (100,), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for length in (2, 20, 33):
            logs = model(ids[: length - 1]).logits.log_softmax(dim=-1)
            expected = logs.gather(1, ids[1:length, None])[:, 0]
            assert np.allclose(log_probabilities(model, ids[:length].numpy()), expected, atol=1e-5)
        long = log_probabilities(model, ids.numpy())
        for start in (16, 67):
            logs = model(ids[start : start + 32]).logits.log_softmax(dim=-1)
            expected = logs.gather(1, ids[start + 1 : start + 33, None])[16:, 0]
            assert np.allclose(long[start + 16 : start + 32], expected, atol=1e-5)
    assert len(long) == 99


def text_of_numbers(count: int) -> np.ndarray:
    """A text with something to learn in it."""
    return np.cumsum(np.random.default_rng(0).integers(0, 3, count)) % 7


@pytest.mark.parametrize("context", [[1, 2, 3], [8, 8, 8], [0, 0, 1], [5], [2, 8, 1, 1, 2]])
def test_probabilities_of_n_grams_sum_to_one(context: list[int]) -> None:
    model = KneserNey(text_of_numbers(600), 4, 9)
    total = sum(math.exp(model.log_probabilities(np.array([*context, word]))[-1]) for word in range(9))
    assert total == pytest.approx(1)


def test_bigrams_are_smoothed_as_the_formula_written_out_says() -> None:
    text, vocabulary = text_of_numbers(300).tolist(), 9
    pairs, follows = Counter(pairwise(text)), Counter[int]()
    for _, word in pairs:
        follows[word] += 1
    model = KneserNey(np.array(text), 2, vocabulary)
    first, second = (discounts(np.array(list(counts.values()))) for counts in (follows, pairs))

    def unigram(word: int) -> float:
        left = sum(first[min(3, count)] for count in follows.values())
        return (max(0, follows[word] - first[min(3, follows[word])]) + left / vocabulary) / sum(follows.values())

    def bigram(context: int, word: int) -> float:
        row = {after: count for (before, after), count in pairs.items() if before == context}
        left = sum(second[min(3, count)] for count in row.values())
        own = max(0, row.get(word, 0) - second[min(3, row.get(word, 0))])
        return float((own + left * unigram(word)) / sum(row.values()))

    logs = model.log_probabilities(np.array([3, 4, 1, 8, 3]))
    expected = [unigram(3), bigram(3, 4), bigram(4, 1), bigram(1, 8), unigram(3)]
    assert np.exp(logs) == pytest.approx(expected)


def test_evaluating_a_language_model_prints_what_a_count_by_hand_gives(data, tmp_path: Path, capsys) -> None:
    out = train(language, data[language], tmp_path / "out", "--steps", "4")
    (tmp_path / "new.txt").write_text("I have 7 cats.", encoding="utf-8")
    capsys.readouterr()
    more = ("--checkpoint", str(out), "--card", str(out), "--training", str(data[language]))
    run(language, "evaluate", tmp_path / "new.txt", *more)
    checkpoint = load_checkpoint(out, device="cpu")
    ids = torch.tensor([END_ID, *checkpoint.tokenizer.encode("I have 7 cats.").ids, END_ID])
    with torch.no_grad():
        loss = F.cross_entropy(checkpoint.model(ids[:-1]).logits, ids[1:], reduction="sum")
    rows = json.loads((out / "card.json").read_text(encoding="utf-8"))["evaluations"]
    assert rows[0]["value"] == pytest.approx(loss.item() / math.log(2) / 14, abs=1e-3)
    assert "Kneser-Ney 5-grams" in rows[1]["what"]
    assert rows[0]["what"] in capsys.readouterr().out
    assert [row["unit"] for row in rows] == ["bits"] * 4 + ["%"] * 2


@pytest.mark.parametrize(
    ("ids", "expected"),
    [([5, 6, 7, 8, 7, 8, 7, 8], True), ([5, 5, 5], True), ([7, 8, 7, 8], False), ([7, 8, 7, 8, 7, 8, 9], False),
     ([5, 5, 5, END_ID, 9], True), ([5, 5, END_ID, 5], False), ([], False)],
)  # fmt: skip
def test_a_text_loops_that_ends_with_something_three_times(ids: list[int], expected: bool) -> None:
    assert loops(ids) == expected


def test_a_head_that_looks_after_the_first_occurrence_is_found() -> None:
    ids, length = repeated_phrases(6, 50, seed=0), 6
    assert torch.equal(ids[:, 1:7], ids[:, 7:])
    model = transformer("decoder", vocabulary=50, layers=2, heads=2, max_length=16)
    blocks = [block.self_attention.weights.detach().clone() for block in model(ids).decoder.blocks]
    for query in range(length + 1, 2 * length):
        blocks[1][:, 1, query] = F.one_hot(torch.tensor(query - length + 1), 2 * length + 1).float()
    stand_ins = [
        type("Block", (), {"self_attention": type("Attention", (), {"weights": weights})}) for weights in blocks
    ]
    assert best_head(stand_ins, length) == (1.0, 1, 1)


def test_what_training_is_timed_beside_computes_the_same():
    ours = transformer("encoder-decoder").train()
    theirs = Theirs(ours.config, same_dropout=True)
    theirs.embedding.load_state_dict(ours.embedding.state_dict())
    sides = ((theirs.transformer.encoder, ours.encoder), (theirs.transformer.decoder, ours.decoder))
    for layers, blocks in ((one.layers, other.blocks) for one, other in sides):
        for layer, block in zip(layers, blocks, strict=True):
            layer.load_state_dict(tiny.torch_layer(block, ours.config).state_dict())
    source, padding_mask, target = tiny.ids(2, 7), tiny.padding_mask(7, 4), tiny.ids(2, 5, seed=1)
    expected = ours(source, padding_mask=padding_mask, target_ids=target).logits
    assert torch.allclose(theirs(source, padding_mask, target), expected, atol=1e-5)
    assert sum(one.numel() for one in theirs.parameters()) == ours.parameter_count()
