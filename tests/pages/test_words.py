"""The page Words: every term leads to a place that opens, the filter narrows, the address marks a term."""

from typing import Any
from urllib.parse import parse_qsl

import pytest

from model import load_checkpoint
from tests.pages.test_every_page import bar, follow, opened
from viz.text.glossary import TERMS, matching_terms
from viz.tokens import markdown_text

PAGE = "words.py"
OWN = "Not bad at all!"


def links(app: Any) -> list[Any]:
    return [element.proto for element in app.main.get("page_link")]


def names(app: Any) -> list[str]:
    """The headings of the terms in sight."""
    return [each.value for each in app.subheader]


def whole(app: Any) -> Any:
    assert not app.exception
    assert not app.error
    return app


def test_every_term_has_its_heading_its_sentence_and_a_link():
    app = whole(opened(PAGE))
    assert len(names(app)) == len(TERMS)
    texts = "\n".join(text.value for text in app.markdown)
    assert all(markdown_text(term.sentence) in texts for term in TERMS.values())
    assert [link.label for link in links(app)[:-1]] == [term.place.label for term in TERMS.values()]
    assert app.title[0].value.startswith(f"{len(TERMS)} words")


@pytest.mark.parametrize("key", TERMS)
def test_every_place_opens_with_the_visitor_s_text_and_no_complaint(key):
    page_link = links(opened(PAGE, text=OWN, term=key))[0]
    address = dict(parse_qsl(page_link.query_string))
    assert page_link.label == TERMS[key].place.label
    app = whole(opened(f"{page_link.page.rpartition('/')[2].removesuffix('.py') or 'explore'}.py", **address))
    assert app.info == [] or not any("no usable value" in info.value for info in app.info)
    if TERMS[key].place.page != "checkpoints":
        assert bar(app)["text"] == TERMS[key].place.changes.get("text", OWN)


@pytest.mark.parametrize("chosen", ["stories", "translate-en-fr", "sentiment"])
@pytest.mark.parametrize("key", ["encoder", "decoder", "temperature"])
def test_a_place_opens_with_a_model_that_shows_it_whatever_was_chosen(key, chosen):
    app = follow(opened(PAGE, checkpoint=chosen), TERMS[key].place.label)
    architecture = load_checkpoint(bar(whole(app))["model"]).config.architecture
    assert architecture in TERMS[key].place.needs


def test_the_address_marks_a_term_above_all_others():
    app = whole(opened(PAGE, term="softmax"))
    assert names(app)[0].startswith("softmax")
    assert len(names(app)) == len(TERMS) + 1
    assert app.query_params["term"] == ["softmax"] or app.query_params["term"] == "softmax"
    app = whole(opened(PAGE, term="<b>"))
    assert [info.value for info in app.info] == ["The address gives no usable value for term; the default is shown."]


@pytest.mark.parametrize("words", ["<b>x</b>", "$x$", "[a](//example.org)", "\u202e\u200b😀", "*" * 60, "x" * 1000])
def test_hostile_words_in_the_filter_are_looked_for_and_never_shown(words):
    app = opened(PAGE)
    app.text_input(key="filter").set_value(words).run()
    assert names(whole(app)) == []
    assert app.title[0].value == "0 of 41 words have what the filter asks for."
    assert any(text.value.startswith("No word here contains that") for text in app.markdown)
    assert not any("example.org" in text.value or "<b>" in text.value for text in app.markdown)


def test_the_filter_narrows_index_and_terms():
    app = opened(PAGE)
    app.text_input(key="filter").set_value("hidden size").run()
    assert names(whole(app)) == ["d\\_model"]
    assert app.title[0].value == "1 of 41 words has what the filter asks for."
    (index,) = [text.value for text in app.markdown if text.value.startswith("| About")]
    assert index.count("](#") == 1


@pytest.mark.parametrize(
    ("typed", "term"),
    [("multi-head", "attention"), ("√d_k", "scale"), ("tokenizer", "tokenizer"), ("W_O", "output projection")],
)
def test_a_word_is_found_by_other_names_and_as_its_symbol_is_typed(typed, term):
    assert term in [each.name for terms in matching_terms(typed).values() for each in terms]


def test_a_word_that_another_page_explains_leads_to_its_term():
    for page, step in (("explore.py", {}), ("inside.py", {"step": "embedding"})):
        app = whole(opened(page, text=OWN, **step))
        (text,) = [text.value for text in app.markdown if text.value.startswith("**How to read this**")]
        assert "[**query**](words?text=Not+bad+at+all%21&term=query)" in text
        assert "{" not in text


def test_alone_the_picture_is_the_index():
    app = whole(opened(PAGE, view="picture"))
    assert list(app.text_input) == list(links(app)) == names(app) == []
    assert any(text.value.startswith("| About") for text in app.markdown)


def test_the_page_ends_with_the_way_to_learn():
    app = follow(opened(PAGE), "Learn: twelve questions that show these things happen")
    whole(app)
