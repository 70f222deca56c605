"""The codec of addresses: what is declared once is read, written, carried and put back by one set of rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts.positions.settings import PositionsSettings
from pages.parts.state import fields
from pages.parts.state.codec import Codec, PageState
from pages.parts.state.page_fields import CODEC, FIRST
from pages.parts.state.selection import EXAMPLES, LONGEST_TEXT
from pages.parts.state.session import page_of
from pages.parts.translate.settings import Options

PAGES = sorted(CODEC.pages)
EXAMPLE_OF = {
    "text": "a & b = c + “d”",
    "pair": "another",
    "target": "une autre",
    "checkpoint": "stories",
    "mute": True,
    "muted": frozenset({(0, 1), (2, 3)}),
    "head": 3,
    "edits": "unplace_e",
    "attention": "decoder",
    "layer": 2,
    "off": frozenset({(0, 1), (0, 2), (11, 7)}),
    "query": 4,
    "key": 0,
    "across": "self",
    "up": "entropy",
    "step": "softmax",
    "depth": "numbers",
    "experiment": "norm",
    "setting": "12",
    "written": (3, 999, 0),
    "at": 2,
    "penalty": 1.25,
    "temperature": 0.35,
    "method": "greedy",
    "stack": "decoder",
    "table": "own",
    "dimensions": (9, 1),
    "causal": False,
    "translation.method": "sample",
    "translation.reading": "1.3",
    "translation.moment": "read",
    "translation.length_penalty": 1.5,
    "translation.step": 7,
    "threshold": 0.05,
    "words": True,
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_as_it_opens_has_a_bare_address_and_a_bare_address_opens_it(page):
    assert CODEC.write(CODEC.opening(page), page) == {}
    assert CODEC.read({}) == ({}, [])
    assert CODEC.values(CODEC.resolve({}, page)) == CODEC.opening(page)


@pytest.mark.parametrize("page", PAGES)
@given(st.sets(st.sampled_from(sorted(EXAMPLE_OF))))
def test_what_is_chosen_comes_back_from_the_address_of_every_page(page, names):
    chosen = {name: EXAMPLE_OF[name] for name in names}
    values = CODEC.opening(page) | chosen
    again, unusable = CODEC.read(CODEC.write(values, page))
    assert unusable == []
    assert CODEC.opening(page) | again == values


def test_text_and_checkpoint_stand_in_an_address_unless_that_page_shows_them_anyway():
    for page in PAGES:
        opening = CODEC.opening(page)
        for other in PAGES:
            address = CODEC.write(opening, other)
            for name in ("text", "checkpoint"):
                assert (name in address) == (opening[name] != CODEC.opening(other)[name])


def test_another_text_or_model_puts_back_what_has_no_meaning_in_it_and_nothing_else():
    assert CODEC.reset(EXAMPLE_OF, ["text"]).keys() == EXAMPLE_OF.keys() - {
        "query", "key", "target", "written", "at", "translation.step",
    }  # fmt: skip
    gone = EXAMPLE_OF.keys() - CODEC.reset(EXAMPLE_OF, ["checkpoint"]).keys()
    assert gone == {
        "attention", "layer", "off", "query", "key", "mute", "muted", "head", "target", "written", "at", "stack",
        "translation.step", "translation.reading",
    }  # fmt: skip
    assert CODEC.reset(EXAMPLE_OF, ["experiment"]).keys() == EXAMPLE_OF.keys() - {"setting"}
    assert "query" in CODEC.reset(EXAMPLE_OF, ["text"], but=["query"])


def test_a_name_declared_by_two_pages_is_refused():
    with pytest.raises(ValueError, match="declared twice: causal"):
        Codec({"one": PageState(settings=PositionsSettings), "two": PageState(settings=PositionsSettings)})
    Codec({"one": PageState(settings=Options), "two": PageState(settings=Options, packed="two")})


def test_an_address_of_the_time_when_a_page_noted_that_it_was_opened_shows_what_it_showed():
    chosen, unusable = CODEC.read({"translation": "opened.1~step.2"})
    assert (CODEC.resolve(chosen, "translate").view.attention, unusable) == ("encoder", [])
    assert CODEC.resolve(chosen, "translate").of(Options).step == 2
    assert CODEC.resolve(CODEC.read({"translation": "step.2"})[0], "translate").view.attention == "cross"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("layer", "１"), ("layer", "1_0"), ("layer", "-1"), ("layer", "1" * 7), ("off", "0"), ("off", "0.1.2"),
        ("off", "_".join(f"{layer}.0-999" for layer in range(9))), ("muted", "a.b"), ("mute", "yes"),
        ("threshold", "1.1"), ("threshold", "1e-3"), ("temperature", "nan"), ("dimensions", "4.4"), ("written", "1..2"),
        ("translation", "step.1~step.1"), ("translation", "unknown.1"), ("setting", "x" * (LONGEST_TEXT + 1)),
        ("checkpoint", "../model"), ("edits", "nonsense"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named_and_chooses_nothing(name, text):
    assert CODEC.read({name: text}) == ({}, [name])


@given(st.text())
def test_no_text_in_any_place_of_an_address_raises(text):
    for name in [*CODEC.fields, "translation"]:
        chosen, _ = CODEC.read({name.partition(".")[0]: text})
        CODEC.resolve({key: value for key, value in chosen.items() if key != "checkpoint"}, FIRST)


def test_a_text_that_is_too_long_or_no_text_stands_in_no_address():
    for text in ("x" * (LONGEST_TEXT + 1), "half \ud800 pair"):
        assert CODEC.write(CODEC.opening(FIRST) | {"text": text}, FIRST) == {}


def test_sites_are_written_as_runs():
    sites = frozenset({(0, 2), (0, 3), (0, 4), (1, 3)})
    assert fields.address_text(sites) == "0.2-4_1.3"
    assert fields.sites("0.2-4_1.3") == sites
    assert fields.sites("") == frozenset()


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("http://localhost:8501/", "explore"), ("http://localhost:8501", "explore"), (None, "explore"),
        ("http://host/base/positions", "positions"), ("http://host/positions/", "positions"),
        ("http://host/elsewhere", "explore"),
    ],
)  # fmt: skip
def test_a_url_names_its_page(url, page):
    assert page_of(url) == page


def test_the_examples_begin_with_the_opening_text():
    assert CODEC.opening(FIRST)["text"] == EXAMPLES[0]
