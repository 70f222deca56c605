"""The page Is attention the explanation?, without a browser: its numbers against the measures and whole passes."""

import csv
import io
import json
import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau
from streamlit.testing.v1 import AppTest

from model import Checkpoint, load_checkpoint
from model.measures.causes.gradients import integrated_gradients
from model.measures.causes.token_shares import attention_shares, gradient_shares, moved_shares
from model.measures.outcome import outcome_of
from pages.parts.explanation import token_measures
from tests.pages.test_break import values
from tests.pages.test_every_page import opened
from tests.pages.test_heads import text_of
from viz.text.causes.token_measures import MEASURES, OMISSION
from viz.tokens import decimal, percent

PAGE = "explanation.py"
TEXT = "The film was slow, but I loved it."
SURE = "The slow film was slow."


@pytest.fixture(autouse=True)
def all_at_once(monkeypatch):
    monkeypatch.setattr(token_measures, "AT_ONCE", 300.0)


def drawn(app: AppTest) -> dict[str, dict[int, float]]:
    """The picture's numbers, by measure and position."""
    assert not app.exception
    assert not app.error
    found: dict[str, dict[int, float]] = {}
    for row in bars(app):
        found.setdefault(row["measure"], {})[row["position"]] = row["value"]
    return found


def bars(app: AppTest) -> list[dict[str, Any]]:
    """Those of the picture, whose rows and bars are layers with data of their own."""
    layers = json.loads(app.get("vega_lite_chart")[0].proto.spec)["layer"]
    found: list[dict[str, Any]] = layers[1]["data"]["values"]
    return found


def without(checkpoint: Checkpoint, trace: Any, at: int) -> float:
    """The answer's probability in the text without a token."""
    kept = [place for place in range(len(trace.text_stack.ids)) if place != at]
    ids = [int(trace.text_stack.ids[place]) for place in kept]
    target = trace.decoder.ids.tolist() if trace.encoder is not None and trace.decoder is not None else None
    shorter: Any = checkpoint.trace_ids(ids, target)
    logits = shorter.logits.double()
    outcome = outcome_of(checkpoint, trace)
    logits = logits[None] if logits.ndim == 1 else logits
    rows = [-1] if outcome.kind == "next" else list(outcome.rows)
    return float(logits.softmax(dim=-1)[rows, list(outcome.answers)].mean())


@pytest.mark.parametrize("name", ["sentiment", "stories", "translate-en-fr"])
def test_every_bar_is_the_measure_of_its_token(name):
    checkpoint = load_checkpoint(name)
    trace: Any = checkpoint.trace(TEXT)
    found = drawn(opened(PAGE, checkpoint=name, text=TEXT))
    expected = {
        "attention": attention_shares(checkpoint, trace)[-1],
        "moved": moved_shares(checkpoint, trace)[-1],
        "gradient": gradient_shares(checkpoint, trace)[-1],
        "integrated": integrated_gradients(checkpoint, trace).tokens,
    }
    for measure, numbers in expected.items():
        assert [found[measure][at] for at in range(len(numbers))] == pytest.approx(numbers.tolist(), abs=1e-5)
    special = trace.text_stack.special
    places = [at for at in range(len(trace.text_stack.ids)) if not special[at]]
    assert sorted(found[OMISSION]) == places
    outcome, logits = outcome_of(checkpoint, trace), trace.logits.double()
    logits = logits[None] if logits.ndim == 1 else logits
    before = float(logits.softmax(dim=-1)[list(outcome.rows), list(outcome.answers)].mean())
    effects = [before - without(checkpoint, trace, at) for at in places]
    assert [found[OMISSION][at] for at in places] == pytest.approx(effects, abs=1e-5)


def test_no_head_is_named_for_looking_at_a_token_that_only_itself_can_see():
    """The last token of a decoder: every head looks at it from there, and from nowhere else."""
    last, earlier = (
        [
            link.proto.label
            for link in opened(PAGE, checkpoint="stories", text="Lily saw a cat", key=key).get("page_link")
        ]
        for key in ("4", "2")
    )
    only_its_own = opened(PAGE, checkpoint="stories", text="Lily saw a cat", key="4").caption
    assert "Only its own query sees this token, so that no head stands out by looking at it." in [
        caption.value for caption in only_its_own
    ]
    assert not [label for label in last if "looks at it most" in label]
    assert [label for label in earlier if "looks at it most" in label]


def test_title_and_sentence_compare_attention_with_the_effect_of_leaving_out():
    app = opened(PAGE, checkpoint="stories", text=TEXT)
    found, tokens = drawn(app), load_checkpoint("stories").trace(TEXT).text_stack.names()
    places = sorted(found[OMISSION])
    attention = [found["attention"][at] for at in places]
    effects = [abs(found[OMISSION][at]) for at in places]
    first, second = tokens[places[int(np.argmax(attention))]], tokens[places[int(np.argmax(effects))]]
    said = text_of(app)
    assert said.startswith(f"Attention looks most at “{first}”, but the answer depends most on “{second}”.")
    result = kendalltau(attention, effects)
    assert f"Of the {len(places)} tokens that can be left out" in said
    assert f"Kendall's τ = {result.statistic:.2f}, p = {result.pvalue:.2g}" in said


def test_measures_with_signs_are_compared_with_the_effect_with_their_signs():
    app = opened(PAGE, text=SURE)
    found = drawn(app)
    places = sorted(found[OMISSION])
    effects = [found[OMISSION][at] for at in places]
    signed = kendalltau([found["integrated"][at] for at in places], effects)
    sizes = kendalltau([found["moved"][at] for at in places], np.abs(effects))
    assert signed.statistic != kendalltau(np.abs([found["integrated"][at] for at in places]), np.abs(effects)).statistic
    said = text_of(app)
    assert "Integrated gradients, by size: " in said
    assert re.search(rf"Integrated gradients, signs and all: .*Kendall's τ = {decimal(signed.statistic, '.2f')}", said)
    assert re.search(rf"The size of what attention moves: .*Kendall's τ = {decimal(sizes.statistic, '.2f')}", said)


def test_an_answer_that_is_nearly_sure_depends_on_no_token_and_words_that_come_again_are_named():
    app = opened(PAGE, text=SURE)
    effects = drawn(app)[OMISSION]
    assert 0.01 < max(map(abs, effects.values())) < 0.05
    said = text_of(app)
    assert said.startswith("Attention looks most at “slow” (token 5), but leaving out any one token hardly changes")
    assert "nearly sure" not in said, "it has a better reason"
    assert "“slow” (token 5) is there 2 times, and each was left out alone." in said
    once = "A truly wonderful, warm and funny film that I loved from start to end."
    sure = load_checkpoint("sentiment").classify(once)["positive"]
    assert f"At {100 * sure:.1f} % the answer is nearly sure" in text_of(opened(PAGE, text=once))
    needed = text_of(opened(PAGE, text="Not bad, not bad at all."))
    assert needed.startswith("Attention looks most at “not” (token 4), but the answer depends most on “bad” (token 5).")
    assert "times, and each" not in needed, "there is a token on which the answer depends"
    plain = text_of(opened(PAGE, text=TEXT))
    assert "nearly sure" not in plain
    assert "times:" not in plain


def test_the_token_that_is_first_with_attention_rolled_out_otherwise_is_named_where_it_is_another():
    checkpoint, said = load_checkpoint("sentiment"), {True: 0, False: 0}
    for text in (TEXT, "I loved the film, but it was slow.", "It was not bad at all.", "I loved it."):
        trace: Any = checkpoint.trace(text)
        first = [
            trace.encoder.names()[int(attention_shares(checkpoint, trace, residual=residual)[-1].argmax())]
            for residual in (True, False)
        ]
        shown = text_of(opened(PAGE, text=text))
        differs = first[0] != first[1]
        assert (f"Rolled out without the residual stream (below), attention puts “{first[1]}”" in shown) == differs
        said[differs] += 1
    assert all(said.values())


def test_a_piece_of_a_word_is_said_to_be_one_where_the_answer_depends_on_it_most():
    app = opened(PAGE, text="Unforgettablest")
    assert "is a piece of a word; each piece is left out by itself." in text_of(app)
    assert "is a piece of a word" not in text_of(opened(PAGE, text=TEXT))


def test_what_is_muted_elsewhere_is_said_to_be_left_out_of_account():
    said = [
        any("do not count on this page" in caption.value for caption in opened(PAGE, text=TEXT, **muted).caption)
        for muted in ({"muted": "2.4"}, {})
    ]
    assert said == [True, False]


def test_the_token_that_attention_puts_first_is_named_though_it_cannot_be_left_out():
    checkpoint = load_checkpoint("translate-en-fr")
    trace: Any = checkpoint.trace(TEXT)
    shares = attention_shares(checkpoint, trace)[-1]
    most = int(shares.argmax())
    assert trace.text_stack.special[most]
    name = trace.text_stack.names()[most]
    said = text_of(opened(PAGE, checkpoint="translate-en-fr", text=TEXT))
    assert f"The largest share of the attention, rolled out, is on “{name}”, which cannot be left out." in said


def test_a_chosen_token_says_its_numbers_and_what_becomes_of_the_answer():
    checkpoint = load_checkpoint("sentiment")
    trace: Any = checkpoint.trace(TEXT)
    at = trace.encoder.names().index("slow")
    before, after = checkpoint.classify(TEXT)["positive"], without(checkpoint, trace, at)
    said = text_of(opened(PAGE, text=TEXT, key=str(at)))
    assert f"Without “slow”, the verdict “positive” goes from {100 * before:.1f} % to {100 * after:.1f} %." in said


def test_the_first_token_of_a_decoder_is_said_to_get_what_finds_nothing():
    here, there = (
        "rest on the first token" in text_of(opened(PAGE, text=TEXT, checkpoint=name))
        for name in ("stories", "sentiment")
    )
    assert (here, there) == (True, False)


def test_the_rollout_by_layer_is_that_of_the_measure_with_and_without_the_residual_stream():
    checkpoint = load_checkpoint("sentiment")
    trace: Any = checkpoint.trace(TEXT)
    for name, residual in (("residual", True), ("alone", False)):
        app = opened(PAGE, text=TEXT, rollout=name, key="7")
        cells = [row for row in values(app, 1) if "share" in row]
        expected = attention_shares(checkpoint, trace, residual=residual).double().numpy()
        listed = ", ".join(percent(float(share), 1) for share in expected[:, 7])
        marked = (
            f"“{trace.encoder.tokens[7]}”, whose row is marked in the picture above, after layers 1 to 4: {listed}."
        )
        assert marked in [caption.value for caption in app.caption]
        assert len(cells) == expected.size
        for cell in cells:
            assert cell["share"] == pytest.approx(expected[int(cell["layer"]) - 1, cell["position"]], abs=1e-6)


def test_the_head_that_looks_most_at_a_token_has_the_largest_mean_weight():
    layers = [np.zeros((2, 2, 2)), np.zeros((1, 2, 2))]
    layers[0][1] = [[0.2, 0.8], [0.6, 0.4]]
    layers[1][0] = [[0.5, 0.5], [0.1, 0.9]]
    assert token_measures.head_looking_at(layers, 0) == (0, 1)
    assert token_measures.head_looking_at(layers, 1) == (1, 0)


def test_what_takes_longer_shows_what_there_is_and_goes_on(monkeypatch):
    monkeypatch.setattr(token_measures, "AT_ONCE", 0.0)
    token_measures.measurings.clear()
    app = opened(PAGE, text="A cat sleeps here.")
    assert app.title[0].value == "Does the answer depend on the words that the model looks at?"
    assert "Leaving one token out after the other: 0 of 5." in text_of(app)
    assert {row["measure"] for row in bars(app)} == set(MEASURES) - {"integrated", OMISSION}
    monkeypatch.setattr(token_measures, "AT_ONCE", 300.0)
    assert "Kendall's τ" in text_of(app.run())


def test_measuring_stops_keeps_what_there_is_and_goes_on(monkeypatch):
    monkeypatch.setattr(token_measures, "AT_ONCE", 0.0)
    token_measures.measurings.clear()
    app = opened(PAGE, text="A dog sleeps here.").button(key="stop_measuring").click().run()
    assert "Stopped before every token was left out." in text_of(app)
    monkeypatch.setattr(token_measures, "AT_ONCE", 300.0)
    assert "Stopped" in text_of(app.run())
    app.button(key="go_on_measuring").click().run()
    assert "Kendall's τ" in text_of(app)
    assert "Stopped" not in text_of(app)


def test_another_rollout_measures_nothing_else_again(monkeypatch):
    opened(PAGE, text=TEXT)
    monkeypatch.setattr(token_measures, "measured_steps", None)
    assert "Kendall's τ" in text_of(opened(PAGE, text=TEXT, rollout="alone"))


def test_one_token_cannot_be_compared():
    app = opened(PAGE, checkpoint="stories", text="The")
    assert not app.exception
    assert "too short" in text_of(app)
    assert "after the token before it" not in text_of(app)
    two = opened(PAGE, text="good film")
    assert "The text has too few tokens to compare two orders: 2." in text_of(two)


def test_the_file_has_every_token_with_all_digits():
    checkpoint = load_checkpoint("sentiment")
    trace: Any = checkpoint.trace(TEXT)
    *_, measures = token_measures.measured_steps(checkpoint, trace)
    skip, fact, *lines = measures.table({"text": "a text"}).splitlines(keepends=True)
    assert (skip, fact) == ("# read: pandas.read_csv(file, skiprows=2)\n", "# text: a text\n")
    rows = list(csv.DictReader(io.StringIO("".join(lines))))
    assert [row["token"] for row in rows] == list(trace.encoder.names())
    for at, row in enumerate(rows):
        assert [float(row[name]) for name in MEASURES] == [float(measures.values[name][at]) for name in MEASURES]
        assert float(row["probability without it"]) == pytest.approx(without(checkpoint, trace, at), abs=1e-6)


def test_a_long_text_shows_the_tokens_that_are_largest_by_some_measure():
    text = " ".join(["The film was slow, but I loved it."] * 8)
    app = opened(PAGE, text=text)
    found = drawn(app)
    assert len(found["attention"]) == 40
    checkpoint = load_checkpoint("sentiment")
    largest = int(attention_shares(checkpoint, checkpoint.trace(text))[-1].argmax())
    assert largest in found["attention"]
    cut = f"40 of {len(checkpoint.trace(text).text_stack.ids)} tokens: those that are largest by some measure."
    assert [caption.value for caption in app.caption].count(cut) == 2, "of the bars, and of the rollout"
