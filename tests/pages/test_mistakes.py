"""The page Mistakes as without a browser: which mistake it opens on, what it says, which model it needs."""

import pytest

from model import load_checkpoint
from model.measures.learn.mistakes.catalogue import MISTAKES, usable
from model.measures.learn.mistakes.effect import Curves, subject_of
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import EXAMPLES
from tests.pages.test_every_page import bar, button, link, one_refusal, opened
from viz.text.learn.mistakes import NOT_HERE, SAME, SAME_TITLE, UNMOVED, WORDS, bars, title

OTHER = "The acting is not bad at all."


def mistake_shown(app) -> str:
    return app.selectbox(key="mistake").value


def most_moving(text: str) -> str:
    """The mistake after which the probability of the answer is the farthest from what it was."""
    checkpoint = load_checkpoint("sentiment")
    subject = subject_of(checkpoint.model, checkpoint.trace(text).text_stack.ids.tolist())
    moved = {name: MISTAKES[name].effect(subject).moved for name in usable(checkpoint.config)}
    return max(moved, key=moved.__getitem__)


def test_it_opens_on_the_mistake_that_moves_the_answer_most():
    app = opened("mistakes.py")
    now = load_checkpoint("sentiment").classify(EXAMPLES[0])["positive"]
    moves = f" moves the answer from {100 * now:.1f} % positive to "
    assert moves in app.title[0].value.replace("\u00a0", " ")
    assert "mistake" not in app.query_params
    shown = {text: mistake_shown(opened("mistakes.py", text=text)) for text in (EXAMPLES[0], OTHER)}
    assert shown == {text: most_moving(text) for text in shown}


@pytest.mark.parametrize("name", MISTAKES)
def test_every_mistake_has_a_title_a_picture_and_its_lines_beside_the_right_ones(name):
    app = opened("mistakes.py", mistake=name)
    assert not app.exception
    assert not app.error
    assert mistake_shown(app) == name
    assert app.title[0].value[-1] == "."
    assert len(app.code) == 2
    assert app.code[0].value != app.code[1].value
    assert all(3 <= len(code.value.splitlines()) <= 6 for code in app.code)
    assert WORDS[name].notice in app.markdown[-1].value or any(
        WORDS[name].notice in each.value for each in app.markdown
    )


@pytest.mark.parametrize(("name", "unit"), [("batch", "rows"), ("dropout", "calls")])
def test_where_a_mistake_gives_several_answers_the_title_has_that_which_is_furthest_off(name, unit):
    checkpoint = load_checkpoint("sentiment", device="cpu")
    ids = checkpoint.trace(EXAMPLES[0]).text_stack.ids.tolist()
    effect = MISTAKES[name].effect(subject_of(checkpoint.model, ids))
    assert isinstance(effect.picture, Curves)
    pairs = zip(effect.picture.right, effect.picture.wrong, strict=True)
    _, wrong = max(pairs, key=lambda pair: abs(pair[1] - pair[0]))
    title = opened("mistakes.py", mistake=name).title[0].value.replace("\u00a0", " ")
    turned = ": the verdict turns" if wrong < 0.5 else ""
    assert title.endswith(f" to {100 * wrong:.1f} % in the worst of {len(effect.picture.places)} {unit}{turned}.")


def test_another_mistake_is_chosen_from_the_list_and_goes_into_the_address():
    app = opened("mistakes.py")
    app.selectbox(key="mistake").set_value("norm").run()
    assert app.query_params["mistake"] == "norm"
    assert "Post-norm in place of pre-norm" in app.title[0].value


@pytest.mark.parametrize("checkpoint", ["stories", "translate-en-fr"])
def test_a_mistake_that_does_not_show_in_a_model_offers_one_in_which_it_does(checkpoint):
    fitting = usable(load_checkpoint(checkpoint, device="cpu").config)
    for name in MISTAKES:
        app = opened("mistakes.py", checkpoint=checkpoint, mistake=name)
        assert not app.exception
        assert not app.error
        offers = [each for each in app.button if each.key == "offer"]
        assert bool(offers) == (name not in fitting)
    app = button(opened("mistakes.py", checkpoint="stories", mistake="norm"), "Open sentiment").click().run()
    assert bar(app)["model"] == "sentiment"
    assert "Post-norm" in app.title[0].value


@pytest.mark.parametrize("checkpoint", ["sentiment", "stories", "translate-en-fr"])
@pytest.mark.parametrize("text", ["Fine.", "🎬", "שלום עולם", "<b>x</b> $y$ [a](b) `c`", "a long film " * 170])
def test_any_text_gets_a_whole_page(checkpoint, text):
    app = opened("mistakes.py", checkpoint=checkpoint, text=text[:2000])
    assert not app.exception
    assert not app.error
    assert len(app.code) == 2


def test_an_empty_text_gets_a_sentence_and_the_question():
    app = opened("mistakes.py", text=" ")
    assert one_refusal(app)
    assert app.title[0].value == "What do tutorials get wrong?"


def test_a_long_text_is_said_to_be_cut():
    app = opened("mistakes.py", text="a long film " * 160)
    assert any("reads the first 128 of" in each.value for each in app.caption)


def test_what_is_no_mistake_is_said_once():
    app = opened("mistakes.py", mistake="<b>")
    assert any("no usable value" in each.value for each in app.info)
    with pytest.raises(ValueError, match="wanted"):
        CODEC.parse("mistake", "everything")


def test_the_page_ends_with_a_way_to_learn():
    assert link(opened("mistakes.py"), "Learn, twelve questions from the start")


def test_a_picture_alone_has_no_code_below_it():
    app = opened("mistakes.py", view="picture")
    assert not app.exception
    assert not app.code
    assert not app.selectbox


def test_check_yours_stands_at_the_end_where_the_formula_alone_gives_the_weights():
    app = opened("mistakes.py")
    labels = [each.proto.label for each in app.get("download_button")]
    assert [label for label in labels if not label.startswith("Picture to share")] == [
        "Arrays (NPZ)",
        "Script (Python)",
    ]
    assert "Check yours" in [each.value for each in app.subheader]


@pytest.mark.parametrize("name", MISTAKES)
def test_the_picture_to_share_has_the_two_answers_of_the_title_as_bars(name):
    checkpoint = load_checkpoint("sentiment")
    effect = MISTAKES[name].effect(subject_of(checkpoint.model, checkpoint.tokenizer.encode(OTHER).ids))
    drawn, foot = bars(WORDS[name], effect, checkpoint.config.labels)
    if effect.answers is not None:
        assert [each.length for each in drawn] == list(effect.answers)
        heading = title(WORDS[name], effect, checkpoint.config.labels)
        assert drawn[0].label in heading
        assert effect.moved < UNMOVED or drawn[1].label in heading
        assert foot == f"probability of “{checkpoint.config.labels[effect.label]}”"
    assert [each.name for each in drawn] in ([], ["right", "wrong"])
    assert all(0 <= each.length <= 1 for each in drawn)


@pytest.mark.parametrize("name", ["mask", "view", "reshape"])
def test_one_token_leaves_nothing_to_mix_up(name):
    app = opened("mistakes.py", mistake=name, text="good")
    assert app.title[0].value == SAME_TITLE
    assert SAME in [each.value for each in app.markdown]


def test_the_list_marks_what_the_model_does_not_show():
    for checkpoint in ("sentiment", "stories"):
        options = opened("mistakes.py", checkpoint=checkpoint).selectbox(key="mistake").options
        fitting = usable(load_checkpoint(checkpoint).config)
        assert options == [WORDS[name].name + ("" if name in fitting else NOT_HERE) for name in MISTAKES]
