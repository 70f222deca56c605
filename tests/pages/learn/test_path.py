"""The page Learn as without a browser: where one stands on the path, what was guessed, and what is not shown before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts.learn.settings import OPENINGS, OPTIONS, STOPS, WHATEVER, Path
from pages.parts.learn.stops import NAMES, PATH
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import EXAMPLES
from tests.pages.test_every_page import bar, button, follow, opened

EVERY_STOP = range(1, len(PATH) + 1)
LAST_QUESTION = (STOPS, len(PATH[-1].rounds))
OPENING = CODEC.opening("learn")
OWN = "We laughed all evening, but nobody in our row liked the ending."


def test_the_path_has_twelve_stops():
    assert len(PATH) == len(NAMES) == STOPS


@given(st.lists(st.tuples(st.integers(1, STOPS), st.integers(1, 3), st.sampled_from(OPTIONS)), max_size=20))
def test_every_guess_is_kept_until_another_is_made_at_the_same_question(made):
    path, last = Path(), {}
    for stop, number, option in made:
        path = Path(stop=stop, round=number, guesses=path.guesses)
        path = Path(stop=stop, round=number, guesses=path.with_guess(option))
        last[stop, number] = option
    assert CODEC.parse("guesses", path.guesses) == path.guesses
    for (stop, number), option in last.items():
        assert Path(stop=stop, round=number, guesses=path.guesses).guess == option


@pytest.mark.parametrize("guesses", ["a", "1", "1g", "1.1a", "1a2b", "1a_", "1.4a", "<b>"])
def test_what_is_no_guess_is_refused(guesses):
    with pytest.raises(ValueError, match="wanted"):
        CODEC.parse("guesses", guesses)


@pytest.mark.parametrize("stop", EVERY_STOP)
@pytest.mark.parametrize("text", ["", OWN], ids=["its own text", "another"])
def test_a_stop_asks_before_it_answers_and_answers_after_a_guess(stop, text):
    address = {"stop": str(stop)} | ({"text": text} if text else {})
    before = opened("learn.py", **address)
    assert not before.exception
    assert not before.error
    guesses = [each for each in before.button if each.key and each.key.startswith(f"guess_{stop}_")]
    unclear = [each for each in before.button if each.key == "clear_text"]
    assert bool(guesses) != bool(unclear)
    assert len(guesses) != 1
    if unclear:
        assert text
        return
    question = before.title[0].value
    after = guesses[0].click().run()
    assert not after.exception
    assert after.title[0].value != question
    assert question in after.main.caption[0].value
    assert after.query_params["guesses"] == f"{stop}a"
    marked = [each.label for each in after.button if each.label.startswith("✓ ")]
    assert marked


@pytest.mark.parametrize("stop", EVERY_STOP)
def test_the_title_is_not_the_answer_before_the_guess(stop):
    before, after = opened("learn.py", stop=str(stop)), opened("learn.py", stop=str(stop), guesses=f"{stop}a")
    assert before.title[0].value != after.title[0].value
    assert after.title[0].value not in " ".join(each.value for each in before.markdown)


@pytest.mark.parametrize("stop", EVERY_STOP)
@pytest.mark.parametrize(
    "text", ["Fine.", "🎬", "שלום עולם", "<b>x</b> $y$ [a](b) `c`", " ".join(["a long film"] * 190)]
)
def test_a_stop_bears_any_text(stop, text):
    for guesses in ("", f"{stop}a"):
        app = opened("learn.py", stop=str(stop), text=text, guesses=guesses)
        assert not app.exception
        assert app.title


@pytest.mark.parametrize("stop", EVERY_STOP)
def test_a_stop_has_further_rounds_once_it_was_guessed(stop):
    for number in range(2, len(PATH[stop - 1].rounds) + 1):
        before = opened("learn.py", stop=str(stop), round=str(number))
        after = opened("learn.py", stop=str(stop), round=str(number), guesses=f"{stop}.{number}a")
        assert not before.exception
        assert not after.exception
        assert before.title[0].value != after.title[0].value


@pytest.mark.parametrize("stop", EVERY_STOP)
def test_every_door_opens_a_page_that_can_show_all_that_it_is_asked_for(stop):
    for number in range(1, len(PATH[stop - 1].rounds) + 1):
        guess = f"{stop}a" if number == 1 else f"{stop}.{number}a"
        app = opened("learn.py", stop=str(stop), round=str(number), guesses=guess)
        doors = [each.proto.label for each in app.get("page_link") if each.proto.page]
        assert len(doors) == (2 if (stop, number) == LAST_QUESTION else 1)  # the last one leads on to Explore, too
        for door in doors:
            beyond = follow(opened("learn.py", stop=str(stop), round=str(number), guesses=guess), door).run()
            assert not beyond.exception
            assert not beyond.error
            assert not [each.value for each in beyond.info if "no usable value" in each.value]


def test_an_empty_text_gets_a_sentence():
    app = opened("learn.py", text=" ")
    assert not app.exception
    assert app.error or app.title


@pytest.mark.parametrize("stop", EVERY_STOP)
def test_an_address_gives_back_the_model_and_the_text_that_somebody_chose(stop):
    chosen = {"checkpoint": OPENING["checkpoint"], "text": OPENING["text"]}
    app = opened("words.py")
    app.session_state["_chosen"] = chosen  # as of a list and a field on a page before
    app = follow(app, "Learn: twelve questions that show these things happen").run()
    app = app.selectbox(key="all_stops").select(stop).run()
    again = opened("learn.py", **dict(app.query_params))
    assert not app.exception
    assert bar(app)["text"] == bar(again)["text"]
    assert bar(app)["model"] == bar(again)["model"]
    assert app.title[0].value == again.title[0].value


def test_an_address_names_no_model_and_no_text_that_its_stop_shows_anyway():
    for number, opening in enumerate(OPENINGS.values(), 1):
        chosen = {"stop": number, "checkpoint": opening.checkpoint, "text": opening.text}
        address = CODEC.write(CODEC.unnamed("learn", chosen) | chosen, "learn")
        assert address == ({"stop": str(number)} if number > 1 else {})


def test_next_and_back_keep_guesses_and_text():
    app = button(opened("learn.py", text=OWN, guesses="1a_2b"), f"Next: {PATH[1].name}").click().run()
    assert (app.query_params["stop"], app.query_params["guesses"]) == ("2", "1a_2b")
    app = button(app, "← Back").click().run()
    assert app.query_params["guesses"] == "1a_2b"
    assert "stop" not in app.query_params
    assert bar(app)["text"] == OWN


def test_back_leads_through_the_rounds():
    app = opened("learn.py", stop="3", guesses="2b_2.2c")
    app = button(app, "← Back").click().run()
    assert (app.query_params["stop"], app.query_params["round"]) == ("2", "2")
    app = button(app, "← Back").click().run()
    assert app.query_params["stop"] == "2"
    assert "round" not in app.query_params
    app = button(opened("learn.py", stop="3", guesses="2b"), "← Back").click().run()
    assert app.query_params["stop"] == "2"
    assert "round" not in app.query_params, "its second round was not reached"


def test_another_text_is_guessed_anew():
    app = opened("learn.py", guesses="1a")
    app.session_state["_chosen"] = CODEC.reset(app.session_state["_chosen"], {"text"}) | {"text": OWN}
    app.session_state["_touched"] = True
    app = app.run()
    assert "guesses" not in app.query_params


def test_a_guess_stays_where_the_question_does_not_read_the_text():
    every = "1a_2.2b_7c_10a_10.2b_10.3c_12a_12.2b_12.3c"
    assert CODEC.reset({"guesses": every}, {"text"}) == {"guesses": "7c_10a_10.2b_12.2b_12.3c"}
    assert CODEC.reset({"guesses": every}, {"text", "checkpoint"}) == {"guesses": "10a_10.2b_12.2b_12.3c"}
    assert CODEC.reset({"guesses": "1a"}, {"text"}) == {}


@pytest.mark.parametrize("question", WHATEVER)
def test_a_question_whose_guess_stays_is_the_same_for_another_text(question):
    stop, _, number = question.partition(".")
    address = {"stop": stop, "round": number or "1", "guesses": f"{question}a"}
    first, second = opened("learn.py", **address), opened("learn.py", **address, text="A bank is open.")
    asked = [
        (
            app.main.caption[0].value,
            app.title[0].value,
            [each.label for each in app.button if "guess_" in str(each.key)],
        )
        for app in (first, second)
    ]
    assert asked[0] == asked[1]


def test_a_model_that_cannot_answer_waits():
    app = opened("learn.py", checkpoint="stories", stop="2")
    assert bar(app)["model"] == "sentiment"
    assert any("stories cannot answer" in each.value for each in app.main.caption)
    app = opened("learn.py", checkpoint="stories")
    assert bar(app)["text"] == EXAMPLES[0]


@pytest.mark.parametrize("stop", EVERY_STOP)
def test_a_picture_alone_asks_and_hides_the_answer_until_the_guess(stop):
    before = opened("learn.py", stop=str(stop), view="picture")
    assert not before.exception
    assert not [each for each in before.button if each.key == "next_stop"]
    assert [each for each in before.button if each.key == f"guess_{stop}_a"]
    answer = opened("learn.py", stop=str(stop), guesses=f"{stop}a").title[0].value
    assert before.title[0].value != answer


@pytest.mark.parametrize("address", [{"stop": "0"}, {"stop": "13"}, {"round": "9"}, {"guesses": "x"}, {"knob": "A b"}])
def test_an_address_that_cannot_be_is_said_once(address):
    app = opened("learn.py", **address)
    assert not app.exception
    assert any("no usable value" in each.value for each in app.info)


def test_a_round_that_a_stop_does_not_have_is_its_last():
    app = opened("learn.py", stop="1", round="3")
    assert not app.exception
    assert app.title


@pytest.mark.parametrize(
    ("stop", "said"),
    [(1, ""), (2, ""), (9, "of 12, to another model: translate-en-fr"), (10, "to another model: stories")],
)
def test_a_question_to_another_model_than_the_one_before_says_so(stop, said):
    def asides(**address: str) -> str:
        said = " ".join(each.value for each in opened("learn.py", stop=str(stop), **address).main.caption)
        return said.replace("\\", "")

    assert said in asides()
    assert ("another model" in asides()) == bool(said)
    assert "another model" not in asides(checkpoint="translate-en-fr"), "it is the visitor's choice"


def test_a_text_in_another_language_is_doubted_as_on_other_pages():
    text = "Der Unterricht war nicht schlecht, aber die Prüfung ist ein Albtraum für alle."
    asides = " ".join(each.value for each in opened("learn.py", stop="3", text=text).main.caption)
    assert "It was trained for classification of English texts" in asides.replace("\\", "")
