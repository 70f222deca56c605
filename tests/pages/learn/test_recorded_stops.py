"""The stops with recorded trainings as without a browser: each round, its knob, texts without an answer."""

import pytest

from pages.parts.learn.stops import PATH
from pages.parts.learn.stops.blindfold import STOP as BLINDFOLD
from pages.parts.learn.stops.recurrent_network import STOP as RECURRENT
from tests.pages.test_every_page import opened

EVERY_ROUND = [(stop, number) for stop in (BLINDFOLD, RECURRENT) for number in (1, 2, 3)]


def number_of(stop) -> int:
    return PATH.index(stop) + 1


def at(stop, number: int, guess: str = "", **more: str):
    question = f"{number_of(stop)}" if number == 1 else f"{number_of(stop)}.{number}"
    guesses = {"guesses": question + guess} if guess else {}
    return opened("learn.py", stop=str(number_of(stop)), round=str(number), **guesses, **more)


@pytest.mark.parametrize(("stop", "number"), EVERY_ROUND)
def test_every_round_asks_and_answers_with_a_number(stop, number):
    before, after = at(stop, number), at(stop, number, "a")
    assert not before.exception
    assert not after.exception
    assert before.title[0].value != after.title[0].value
    assert [each.label for each in after.button if each.label.startswith("✓ ")]


@pytest.mark.parametrize("stop", [BLINDFOLD, RECURRENT])
def test_a_text_of_one_token_has_no_answer_where_the_text_is_asked(stop):
    number = 3 if stop is BLINDFOLD else 1
    app = at(stop, number, text="the")
    assert not app.exception
    assert [each.key for each in app.button if each.key == "clear_text"]


@pytest.mark.parametrize(
    "text", ["Fine.", "🎬", "שלום עולם", "<b>x</b> $y$ [a](b) `c`", " ".join(["a long film"] * 160)]
)
@pytest.mark.parametrize(("stop", "number"), [(BLINDFOLD, 3), (RECURRENT, 1)])
def test_a_round_on_the_text_bears_any(stop, number, text):
    app = at(stop, number, "a", text=text)
    assert not app.exception
    assert not app.error


def test_the_step_that_is_chosen_is_the_one_that_wrote():
    app = at(BLINDFOLD, 2, "a", knob="100")
    texts = [each.value for each in app.code]
    assert any(text.startswith("Once upon a time the the the") for text in texts)
    app.selectbox(key="blindfold_step").select(2000).run()
    assert app.query_params["knob"] == "2000"
    assert not any(each.value.startswith("Once upon a time the the the") for each in app.code)


def test_a_forget_gate_that_is_open_lets_the_gradient_through():
    app = at(RECURRENT, 1, "a")
    app.radio(key="forget_bias").set_value("4").run()
    assert app.query_params["knob"] == "4"
    sentence = next(each.value for each in app.markdown if "With 4 added" in each.value)
    assert "10⁻" not in sentence


def test_what_is_drawn_can_be_chosen_and_an_unknown_knob_is_the_first():
    for knob in ("memory", "nonsense"):
        app = at(RECURRENT, 2, "a", knob=knob)
        assert not app.exception
        assert app.radio(key="cost_drawn").value == ("memory" if knob == "memory" else "forward")


def test_measuring_anew_replaces_what_was_recorded(monkeypatch):
    from model.measures.learn.recurrence import recurrent_cost
    from pages.parts.learn import cost_measurement

    monkeypatch.setattr(cost_measurement, "costs", lambda rounds: recurrent_cost.costs((16, 32), rounds=1))
    app = at(RECURRENT, 2, "a")
    assert any("Recorded on" in each.value for each in app.caption)
    app.button(key="measure_costs").click().run()
    assert not app.exception
    assert any("Measured here just now" in each.value for each in app.caption)
    assert "32 tokens" in app.title[0].value or "From" in app.title[0].value
    assert "From 16 to 32 tokens" in next(each.value for each in app.markdown if "time grows" in each.value)


def test_parameters_are_told_beside_those_of_the_paper():
    app = at(RECURRENT, 3, "a", knob="parameters")
    table = next(each.value for each in app.markdown if "| parameters |" in each.value)
    assert "63.1\u00a0M" in table
    assert "2,841,602" in table
    assert "84.8\u00a0% of 5,000" in table
