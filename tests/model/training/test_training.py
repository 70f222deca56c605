"""Training: data with their line numbers, bounded batches, and a killed run that goes on as if it had not been."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from model import InputError, load_checkpoint
from model.tokenizer import Tokenizer
from model.training import loop, sentiment
from model.training.data.batches import Batches, Mixture, pad
from model.training.data.corpora import Corpus, held_out, read_examples, sentences
from model.training.data.list_files import read_lists
from model.training.data.preparation import clean, label_corpus
from model.training.evaluation.classification import in_order_of_length, predict
from model.training.teacher import Teacher, probabilities
from model.transformer import Transformer

SIZES = {"every": 4, "width": 8, "heads": 2, "layers": 1, "hidden": 16, "vocabulary": 90, "max-length": 32}
SMALL = [word for name, size in (SIZES | {"batch-tokens": 64}).items() for word in (f"--{name}", str(size))]


@pytest.fixture
def opinions(tmp_path: Path) -> Path:
    """A CSV of 80 short opinions with three labels."""
    path = tmp_path / "opinions.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        kinds = [("good", "lovely"), ("bad", "awful"), ("mixed", "ordinary")]
        writer.writerows([f"the {word} thing number {n}, I say", label] for n in range(27) for label, word in kinds)
    return path


def train(data: Path, out: Path, *more: str) -> Path:
    """Run the command."""
    sentiment.train(sentiment.parse(["train", "--data", str(data), "--out", str(out), *SMALL, *more]))
    return out


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """The parameters of a checkpoint."""
    return dict(load_checkpoint(folder, device="cpu").model.named_parameters())


def curve(folder: Path) -> list[dict[str, str]]:
    """The rows of a learning curve."""
    with (folder / "curve.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_training_on_ones_own_file_gives_a_checkpoint_that_classifies(opinions: Path, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(train(opinions, tmp_path / "out", "--steps", "8"))
    assert checkpoint.config.labels == ("bad", "good", "mixed")
    assert sum(checkpoint.classify("a lovely thing").values()) == pytest.approx(1)
    assert checkpoint.card["parameters"] == sum(p.numel() for p in checkpoint.model.parameters())
    rows = curve(tmp_path / "out")
    assert [row["step"] for row in rows] == ["4", "8"]


def test_a_killed_run_goes_on_to_the_same_result(
    opinions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ("--steps", "12", "--prepared", str(tmp_path / "prepared"))  # training a tokenizer breaks ties at random
    train(opinions, tmp_path / "whole", *more)
    update = loop.update
    calls: list[int] = []

    def killed(*arguments: object) -> None:
        if len(calls) == 6:
            raise KeyboardInterrupt
        calls.append(1)
        update(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "update", killed)
    with pytest.raises(KeyboardInterrupt):
        train(opinions, tmp_path / "killed", *more)
    monkeypatch.undo()
    train(opinions, tmp_path / "killed", *more)
    first, second = weights(tmp_path / "whole"), weights(tmp_path / "killed")
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert (tmp_path / "whole/curve.csv").read_text() == (tmp_path / "killed/curve.csv").read_text()


def test_training_lowers_the_loss(opinions: Path, tmp_path: Path) -> None:
    train(opinions, tmp_path / "out", "--steps", "60", "--rate", "0.01")
    rows = curve(tmp_path / "out")
    assert float(rows[-1]["training_loss"]) < 0.75 * float(rows[0]["training_loss"])


def test_the_state_of_another_model_is_refused(opinions: Path, tmp_path: Path) -> None:
    train(opinions, tmp_path / "out", "--steps", "4")
    with pytest.raises(InputError, match="another model"):
        train(opinions, tmp_path / "out", "--steps", "8", "--width", "16")


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.csv", "text,label\nfine,good\n,bad\n", 3),
        ("a.csv", "text,label\nfine,good\nno label\n", 3),
        ("a.jsonl", '{"text": "fine", "label": 1}\n{"text": "bad"}\n', 2),
        ("a.jsonl", '{"text": "fine", "label": 1}\n\n[1]\n', 3),
        ("a.jsonl", '{"text": "fine", "label": 1}\n{"text": \n', 2),
        ("a.jsonl", '{"text": 5, "label": 1}\n', 1),
    ],
)
def test_a_bad_row_is_named_by_its_line(name: str, content: str, line: int, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=f"^{name}: line {line}: "):
        list(read_examples(tmp_path / name))


def test_too_few_texts_or_labels_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("text,label\none,a\ntwo,a\n", encoding="utf-8")
    with pytest.raises(InputError, match="two or more"):
        train(path, tmp_path / "out")
    with pytest.raises(InputError, match="no such file"):
        train(tmp_path / "none.csv", tmp_path / "out")


def test_evaluation_prints_what_an_independent_count_gives(
    opinions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = train(opinions, tmp_path / "out", "--steps", "30", "--rate", "0.01")
    capsys.readouterr()
    sentiment.evaluate(
        sentiment.parse(["evaluate", "--data", str(opinions), "--checkpoint", str(out), "--card", str(out)])
    )
    checkpoint = load_checkpoint(out)
    examples = list(read_examples(opinions))
    answers = [checkpoint.classify(example.text) for example in examples]
    right = sum(
        max(odds, key=odds.__getitem__) == example.label for odds, example in zip(answers, examples, strict=True)
    )
    value = round(100 * right / len(examples), 2)
    assert f"accuracy, all 81 texts: {value:.2f} % of 81" in capsys.readouterr().out
    assert json.loads((out / "card.json").read_text(encoding="utf-8"))["evaluations"][0]["value"] == value


def test_a_group_is_held_out_as_a_whole_and_about_one_in_ten_is() -> None:
    groups = [f"film {n}" for n in range(2000)]
    assert [held_out(group, 10) for group in groups] == [held_out(group, 10) for group in groups]
    assert 0.07 < np.mean([held_out(group, 10) for group in groups]) < 0.13


def test_sentences_put_together_are_the_text() -> None:
    for text in ("One. Two! Three?", "no stop", "...", "a.b\n\nc", "Wait... what?! Yes."):
        assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_reviews_lose_html_line_ends_and_misread_punctuation() -> None:
    assert clean("It\x92s<br /><br />good") == "It’s\n\ngood"


def corpus() -> tuple[Tokenizer, Corpus]:
    """Forty texts of one to six sentences, with a teacher's evidence."""
    texts = [[f"word{n} is number {k}. " for k in range(1 + n % 6)] for n in range(40)]
    tokenizer = Tokenizer.train_word_pieces((s for text in texts for s in text), 120)
    count = sum(map(len, texts))
    evidence = np.linspace(-3, 3, 2 * count, dtype=np.float32).reshape(count, 2)
    targets = np.eye(2, dtype=np.float32)[[n % 2 for n in range(40)]]
    return tokenizer, Corpus.build(tokenizer, texts, targets, evidence)


def batches(texts: Corpus, seed: int = 0) -> Batches:
    """Batches of runs and whole texts."""
    mixture = Mixture(lengths=(8, 64), shares=(0.5, 0.5))
    return Batches(corpus=texts, mixture=mixture, max_length=64, tokens=128, pad_id=0, seed=seed)


def test_a_corpus_gives_back_its_texts() -> None:
    tokenizer, texts = corpus()
    for number in (0, 5):
        text = "".join(f"word{number} is number {k}. " for k in range(1 + number))
        assert texts.whole(number).tolist() == list(tokenizer.encode(text).ids)
    assert texts.text_lengths().tolist() == [len(texts.whole(n)) for n in range(len(texts))]


def test_a_batch_depends_on_its_step_and_seed_alone() -> None:
    _, texts = corpus()
    first, again, other = batches(texts).at(3), batches(texts).at(3), batches(texts, seed=1).at(3)
    assert torch.equal(first.ids, again.ids)
    assert torch.equal(first.targets, again.targets)
    assert first.ids.shape != other.ids.shape or not torch.equal(first.ids, other.ids)


def test_batches_are_bounded_and_their_targets_are_probabilities() -> None:
    _, texts = corpus()
    for step in range(40):
        batch = batches(texts).at(step)
        assert batch.ids.shape[1] <= 64
        assert batch.padding_mask.any(dim=1).all()
        assert torch.allclose(batch.targets.sum(dim=1), torch.ones(len(batch.targets)))
        assert (batch.ids[~batch.padding_mask] == 0).all()


def test_every_text_is_evaluated_exactly_once() -> None:
    _, texts = corpus()
    assert sorted(np.concatenate(list(in_order_of_length(texts, 64)))) == list(range(40))


def test_prediction_in_batches_equals_one_text_at_a_time(opinions: Path, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(train(opinions, tmp_path / "out", "--steps", "4"), device="cpu")
    examples = list(read_examples(opinions))[:9]
    log_probabilities = predict(
        checkpoint.model, label_corpus(checkpoint.tokenizer, examples, checkpoint.config.labels), 32
    )
    for row, example in zip(log_probabilities, examples, strict=True):
        assert np.exp(row) == pytest.approx(list(checkpoint.classify(example.text).values()), abs=1e-5)


def test_rows_are_padded_at_the_end() -> None:
    batch = pad([np.array([3, 4, 5], np.int32), np.array([6], np.int32)], np.eye(2, dtype=np.float32), 0)
    assert batch.ids.tolist() == [[3, 4, 5], [6, 0, 0]]
    assert batch.padding_mask.tolist() == [[True, True, True], [True, False, False]]


def test_the_teacher_tells_opinions_apart_and_its_evidence_adds_up() -> None:
    texts = ["a good film", "a bad film", "good good fun", "bad bad bore"] * 5
    teacher = Teacher(texts, [1, 0, 1, 0] * 5, 2)
    good, bad, nothing = teacher.evidence(["good", "bad", "zebra"])
    assert good[1] > 0 > bad[1]
    assert nothing.tolist() == [0, 0]
    assert probabilities(good + bad).sum() == pytest.approx(1)


def test_probabilities_of_two_labels_are_the_logistic_function() -> None:
    assert probabilities(np.array([[-2.0, 2.0]], np.float32))[0, 1] == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-6)


def test_schedule_warms_up_and_ends_at_zero() -> None:
    schedule = loop.Schedule(steps=100, peak_rate=1.0, warm_up=10)
    rates = [schedule.rate(step) for step in range(101)]
    assert rates[:2] == pytest.approx([0.1, 0.2])
    assert max(rates) == 1.0
    assert rates[100] == pytest.approx(0)


def test_the_bundled_checkpoint_knows_the_example_and_negation() -> None:
    checkpoint = load_checkpoint("sentiment")
    text = "The film was slow and far too long, but I loved every minute of it."
    assert checkpoint.classify(text)["positive"] > 0.5
    for text, label in (
        ("not good", "negative"),
        ("Not bad at all.", "positive"),
        ("It is not bad at all", "positive"),
    ):
        assert checkpoint.classify(text)[label] > 0.5


def test_the_bundled_checkpoint_gets_as_many_everyday_sentences_right_as_its_card_says() -> None:
    checkpoint = load_checkpoint("sentiment")
    accuracies = []
    for lists in map(read_lists, ("everyday", "unseen", "negations")):
        right = [checkpoint.classify(text)["positive"] > 0.5 for text in lists["positive"]]
        right += [checkpoint.classify(text)["positive"] < 0.5 for text in lists["negative"]]
        accuracies.append(round(100 * float(np.mean(right)), 2))
    assert accuracies == [row["value"] for row in checkpoint.card["evaluations"] if "everyday" in row["what"]]


def test_the_bundled_checkpoint_is_as_large_as_its_card_says_and_at_most_3_million() -> None:
    checkpoint = load_checkpoint("sentiment")
    assert isinstance(checkpoint.model, Transformer)
    assert checkpoint.model.parameter_count() == checkpoint.card["parameters"] <= 3_000_000
