"""The questions about heads on the page: what they ask of which text, what they answer, and what their knobs do."""

import json

import numpy as np
import pyarrow.ipc
import pytest

from model import Edits, HiddenKey, load_checkpoint
from model.edits import HeadSite
from model.measures.learn.heads import head_effects
from model.measures.learn.heads.clear_row import clear_row
from pages.parts.learn.stops import PATH
from pages.parts.learn.stops.heads_needed import STOP as HEADS_NEEDED
from pages.parts.learn.stops.looking_and_mattering import STOP as LOOKING
from pages.parts.learn.stops.where_it_looks import STOP as WHERE_IT_LOOKS
from tests.pages.test_every_page import opened
from viz.text.learn.stops.looking_and_mattering import OPTIONS
from viz.tokens import percent

WHERE, MATTERING, NEEDED = (1 + PATH.index(stop) for stop in (WHERE_IT_LOOKS, LOOKING, HEADS_NEEDED))
FILM = "The film was slow, but I loved it."
DOCTOR = "My brother is a doctor."
LONG = " ".join(["a film"] * 260)
TEXTS = (FILM, DOCTOR, "The acting is not bad at all.", "It was never boring.")


@pytest.fixture(scope="module")
def sentiment():
    return load_checkpoint("sentiment", device="cpu")


def asked(stop: int, text: str = FILM, number: int = 1, *, guess: bool = True, **address: str):
    """A stop with its first option guessed, unless it is to be asked only."""
    guesses = {"guesses": f"{stop}a" if number == 1 else f"{stop}.{number}a"} if guess else {}
    return opened("learn.py", stop=str(stop), round=str(number), text=text, **guesses, **address)


def right(app) -> list[str]:
    return [each.label.removeprefix("✓ ") for each in app.button if each.label.startswith("✓ ")]


def chart(app, place: int = 0) -> list[dict]:
    """What the first layer of a chart draws."""
    proto = app.get("vega_lite_chart")[place].proto
    sent = proto.data.data or (proto.datasets[0].data.data if proto.datasets else b"")
    if not sent:  # each layer has its own
        return json.loads(proto.spec)["layer"][0]["data"]["values"]
    return pyarrow.ipc.open_stream(sent).read_all().to_pylist()


def test_where_it_looks_draws_a_row_of_the_trace_and_calls_its_largest_weight_right(sentiment):
    app = asked(WHERE)
    encoder, row = sentiment.trace(FILM).encoder, row_asked_about(sentiment)
    weights = encoder.weights()[row.layer, row.head, row.query]
    np.testing.assert_allclose([row["weight"] for row in chart(app)], weights.numpy(), atol=1e-6)
    assert right(app) == [f"“{encoder.names()[int(weights.argmax())].strip()}”"]
    assert percent(float(weights.max())) in app.title[0].value


def row_asked_about(checkpoint):
    """The row of the first sentence that is clearest: tests/model/measures/learn has the tests of its rule."""
    encoder = checkpoint.trace(FILM).encoder
    weights, places = encoder.weights().numpy(), [place for place, name in enumerate(encoder.names()) if name.isalpha()]
    row = clear_row(weights, encoder.tokens, places, causal=False)
    assert row is not None
    return row


def test_another_word_shows_its_own_row_of_the_same_head(sentiment):
    app = asked(WHERE)
    app.radio(key="row_of_word").set_value(3).run()
    assert app.query_params["knob"] == "3"
    row = row_asked_about(sentiment)
    weights = sentiment.trace(FILM).encoder.weights()[row.layer, row.head, 3]
    np.testing.assert_allclose([row["weight"] for row in chart(app)], weights.numpy(), atol=1e-6)
    assert any(each.value.startswith("“slow” gives most to") for each in app.markdown)


@pytest.mark.parametrize("knob", ["4", "99", "x", "-1"])
def test_a_knob_that_names_no_word_leaves_the_row(knob):
    assert chart(asked(WHERE, knob=knob)) == chart(asked(WHERE))


@pytest.mark.parametrize("text", TEXTS)
def test_muting_is_answered_by_a_pass_of_the_checkpoint(sentiment, text):
    app = asked(MATTERING, text)
    cells = [cell for cell in chart(app, 1) if cell["mark"]]
    sites = frozenset(HeadSite("encoder", cell["layer"] - 1, cell["head"] - 1) for cell in cells)
    plain, after = (sentiment.classify(text, edits=edits) for edits in (Edits(), Edits(muted=sites)))
    label = max(plain, key=plain.get)
    bars = chart(app)
    assert bars[0]["share"] == pytest.approx(plain[label], abs=1e-5)
    assert bars[1]["share"] == pytest.approx(after[label], abs=1e-5)
    assert percent(after[label], 1) in app.title[0].value


@pytest.mark.parametrize("number", [1, 2])
def test_what_is_right_is_what_the_verdict_does(number):
    app = asked(MATTERING, number=number)
    before, after = (chart(app)[place]["share"] for place in (0, number))
    change = sum(after - before > limit for limit in (-0.1, -0.02, 0.02))
    assert right(app) == [OPTIONS[1 + change] if after > 0.5 else "Another answer wins"]


@pytest.mark.parametrize("number", [1, 2])
def test_before_the_guess_the_last_bar_is_a_question_mark(number):
    app = asked(MATTERING, number=number, guess=False)
    assert chart(app)[-1]["said"] == "?"
    answer = asked(MATTERING, number=number)
    after = percent(chart(answer)[number]["share"], 1)
    assert after not in json.dumps([each.value for each in app.markdown] + [each.value for each in app.title])


def test_another_word_is_forbidden_by_the_list(sentiment):
    app = asked(MATTERING, number=2)
    app.selectbox(key="word_forbidden").set_value(3).run()
    edits = Edits(hidden=frozenset({HiddenKey("encoder", 3)}))
    assert chart(app)[-1]["share"] == pytest.approx(sentiment.classify(FILM, edits=edits)["positive"], abs=1e-5)
    assert "“slow”" in chart(app)[-1]["name"]


def test_another_head_is_muted_by_the_list(sentiment):
    app = asked(MATTERING)
    app.selectbox(key="head_alone").set_value(9).run()
    edits = Edits(muted=frozenset({HeadSite("encoder", 1, 1)}))
    assert chart(app)[-1]["share"] == pytest.approx(sentiment.classify(FILM, edits=edits)["positive"], abs=1e-5)
    assert chart(app)[-1]["name"] == "Layer 2, head 2 muted alone"


NUMBERS = {"1 or 2": range(1, 3), "3 to 8": range(3, 9), "9 to 16": range(9, 17), "17 to 32": range(17, 33)}


@pytest.mark.parametrize("text", [FILM, "It was never boring.", "I loved the film, but it was slow."])
def test_as_few_heads_are_enough_as_the_curve_says_and_the_slider_mutes_as_many(sentiment, text):
    app = asked(NEEDED, text)
    shares = [point["share"] for point in chart(app)]
    enough = 33 - next(muted for muted, share in enumerate(shares) if share < 0.5)
    assert app.title[0].value.startswith(f"{enough} of 32")
    assert [enough in NUMBERS[option] for option in right(app)] == [True]
    app.slider(key="heads_muted").set_value(5).run()
    cells = [cell for cell in chart(app, 1) if cell["mark"]]
    assert len(cells) == 5
    sites = frozenset(HeadSite("encoder", cell["layer"] - 1, cell["head"] - 1) for cell in cells)
    label = max(sentiment.classify(text).items(), key=lambda each: each[1])[0]
    share = sentiment.classify(text, edits=Edits(muted=sites))[label]
    assert chart(app)[5]["share"] == pytest.approx(share, abs=1e-5)


def test_a_text_that_needs_no_head_says_so(sentiment):
    text = "A wonderful film."
    app = asked(NEEDED, text)
    sites = frozenset(HeadSite("encoder", layer, head) for layer in range(4) for head in range(8))
    share = sentiment.classify(text, edits=Edits(muted=sites))["positive"]
    assert share > 0.5
    assert right(app) == ["None"]
    assert percent(share, 1) in app.title[0].value


def test_a_decoder_is_asked_for_its_next_token():
    app = asked(NEEDED, "The dog bit the man.", checkpoint="stories")
    assert app.title[0].value.startswith("17 of 48: with the other 31 muted it still says “↵↵”")
    assert right(app) == ["13 to 24"]


def test_an_answer_that_hardly_wins_is_no_question(monkeypatch, sentiment):
    monkeypatch.setattr(head_effects, "LEAST_LEAD", 0.99)
    app, shares = asked(NEEDED), sentiment.classify(FILM)
    assert (
        f"{100 * (shares['positive'] - shares['negative']):.1f} points more, so that any small change decides"
        in app.markdown[0].value
    )
    assert not right(app)


def test_without_the_transpose_head_1_reads_two_of_ten_tokens_and_with_it_all():
    app = asked(NEEDED, number=2)
    assert right(app) == ["2 tokens"]
    assert app.title[0].value == "Head 1 reads 2 of 10 tokens: “the” and “film”."
    assert [cell["place"] for cell in chart(app) if cell["head"] == 1] == [0] * 8 + [1] * 2
    app.radio(key="code_of_cut").set_value(1).run()
    assert [cell["place"] for cell in chart(app) if cell["head"] == 1] == list(range(10))
    assert [cell["place"] for cell in chart(asked(NEEDED, number=2, guess=False)) if cell["head"] == 1] == list(
        range(10)
    )


@pytest.mark.parametrize(("stop", "number"), [(WHERE, 1), (MATTERING, 1), (MATTERING, 2), (NEEDED, 1), (NEEDED, 2)])
@pytest.mark.parametrize("text", [LONG, "Fine.", "<b>x</b> $y$ [a](b) `c`", "שלום עולם", "🎬"])
def test_odd_texts_are_answered_or_said_to_give_no_answer(stop, number, text):
    app = asked(stop, text, number)
    assert not app.exception
    assert not app.error
    assert bool(right(app)) != any(each.key == "clear_text" for each in app.button)
    assert not any("<b>" in each.value for each in [*app.markdown, *app.title, *app.caption])


def test_a_long_text_is_told_what_the_heads_would_take():
    app = asked(NEEDED, LONG)
    assert "takes texts of up to 64 tokens" in app.markdown[0].value
