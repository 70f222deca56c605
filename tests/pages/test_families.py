"""The pages on a folder of every family: a tiny random model of each kind, as people save it, with a tokenizer."""

import re
from typing import Any

import numpy as np
import pytest

from model import load_checkpoint
from tests.folders import KINDS
from tests.pages.test_every_page import bar, opened, picture, typed
from viz.explorer.attention_kinds import kinds_of
from viz.tokens import markdown_text

TEXT = "the dog bit the man ."


@pytest.mark.parametrize("name", KINDS)
def test_explore_shows_the_weights_of_every_family(name, app_folders):
    app = opened(checkpoint=name, text=TEXT, layer="1")
    assert not app.exception
    assert not app.error
    kinds = kinds_of(load_checkpoint(app_folders / name, device="cpu").trace(TEXT))
    explorer = picture(app)
    assert (explorer["view"]["attention"], explorer["view"]["layer"]) == (next(iter(kinds)), 1)
    assert {kind for kind, _ in explorer["layers"]} == set(kinds)
    for (kind, layer), weights in explorer["layers"].items():
        assert np.abs(weights - kinds[kind].weights[layer]).max() <= 0.004


@pytest.mark.parametrize("name", KINDS)
def test_inside_says_in_every_family_why_a_head_looks_where_it_does(name, app_folders):
    app = opened("inside.py", checkpoint=name, text=TEXT, step="product", layer="1", query="2", key="1")
    assert not app.exception
    assert not app.error
    (sums,) = [text.value for text in app.markdown if text.value.startswith("The parts of each side add up to")]
    parts, traced = (float(number.replace("−", "-")) for number in re.findall(r"−?\d[\d.]*(?:e−\d+)?(?=[;. ])", sums))
    assert parts == pytest.approx(traced, abs=1e-4)
    assert sums.endswith(" before its cap.") == (load_checkpoint(app_folders / name).config.score_cap is not None)


def test_the_checkpoints_page_shows_every_family(app_folders):
    app = opened("checkpoints.py")
    assert not app.exception
    assert not app.error
    assert len(app.header) == len(KINDS) + 1
    texts = [markdown.value for markdown in app.markdown]
    gpt2 = [text for text in texts if text.startswith(markdown_text("GPT-2 family: decoder, 3 layers × 3 heads"))]
    assert len(gpt2) == sum(name.startswith("gpt2") for name in KINDS)
    assert all(
        text.endswith(markdown_text("The checkpoint has no card: its data, training and evaluation are unknown."))
        for text in gpt2
    )
    assert sum("The checkpoint has no card" in text for text in texts) == len(KINDS) + 1
    assert not any("<b>" in text.replace(markdown_text("<b>"), "") for text in texts), "a label is shown as it is spelt"


def test_explore_names_the_next_token_of_a_decoder_and_its_probability(app_folders):
    app = opened(checkpoint="gpt2", text=TEXT)
    checkpoint = load_checkpoint(app_folders / "gpt2", device="cpu")
    trace: Any = checkpoint.trace(TEXT)
    probabilities = trace.logits[-1].double().softmax(dim=-1)
    (metric,) = [metric for metric in app.metric if metric.label == "Next token"]
    assert checkpoint.tokenizer.pieces([int(probabilities.argmax())])[0] in metric.value
    assert f"{100 * float(probabilities.max()):.1f}" in metric.value


def test_a_second_text_is_read_by_a_checkpoint_that_reads_pairs(app_folders):
    app = opened(checkpoint="bert", text=TEXT, pair="a cat saw", segments="AB")
    assert not app.exception
    assert bar(app)["pair"] == "a cat saw"
    trace: Any = load_checkpoint(app_folders / "bert", device="cpu").trace(TEXT, pair="a cat saw")
    explorer = picture(app)
    assert (
        np.abs(explorer["layers"]["encoder", 0] - trace.encoder.blocks[0].self_attention.weights.numpy()).max() <= 0.004
    )
    assert explorer["header"]["texts"]["encoder"]["segments"] == list(trace.encoder.segments)
    assert app.dataframe[0].value["text"].tolist() == [segment + 1 for segment in trace.encoder.segments]
    typed(app, TEXT)
    assert picture(app)["header"]["texts"]["encoder"]["segments"] is None


def test_other_checkpoints_have_no_place_for_a_second_text(app_folders):
    app = opened(checkpoint="gpt2", text=TEXT, pair="a cat saw")
    assert not app.exception
    assert bar(app)["pair"] is None


@pytest.mark.parametrize(
    ("kind", "reason"), [("bert-bare", "This model makes no prediction"), ("bert", "This text has no mask")]
)
def test_explore_says_once_why_no_change_has_a_result(kind, reason, app_folders, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("[MASK]", "[PAD]"))  # this vocabulary has no mask of its own
    app = opened(checkpoint=kind, text=TEXT)
    written = [each.value for each in (*app.caption, *app.markdown)]
    assert len([each for each in written if each.startswith(reason)]) == 1
    assert not any("could change" in each for each in written if not each.startswith(reason))
    assert any(r"write \[PAD\] in place of a word" in each for each in written) == (kind == "bert")
    assert not any("could change" in each.value for each in opened(checkpoint="gpt2", text=TEXT).caption)
