"""The words of the field: what each must have, and which are found."""

import re

import pytest

from pages.parts.state.page_fields import CODEC
from viz.text.glossary import GLOSSARY, TERMS, explanation, heading, index_rows, matching_terms


def test_every_term_has_one_sentence_and_a_place_that_an_address_can_name():
    assert len(TERMS) == sum(len(terms) for terms in GLOSSARY.values()) >= 30
    for term in TERMS.values():
        assert term.sentence.endswith(".")
        assert not re.search(r"\. [A-Z]", term.sentence), "one sentence"
        assert term.place.page in CODEC.pages
        assert term.place.changes.keys() <= CODEC.defaults.keys()
        assert CODEC.read(CODEC.write({**CODEC.defaults, **term.place.changes}, term.place.page))[1] == []


def test_no_term_is_explained_by_itself_alone():
    for term in TERMS.values():
        assert not term.sentence.casefold().startswith(f"a {term.name}")
        assert re.fullmatch(r"[a-z-]+", term.key), "it stands in addresses"


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("hidden size", {"d-model"}),
        ("LAYERNORM", {"norm"}),
        ("zero-ablation", {"mute"}),
        ("likeliest step", {"greedy-decoding"}),
        ("no such word", set()),
        ("[a-z]*", set()),
        ("", set(TERMS)),
        ("   ", set(TERMS)),
    ],
)
def test_a_filter_looks_into_names_other_names_and_sentences(words, keys):
    assert {term.key for terms in matching_terms(words).values() for term in terms} == keys


def test_the_index_leads_to_every_term():
    rows = "\n".join(index_rows(GLOSSARY))
    assert re.findall(r"\]\(#([a-z-]+)\)", rows) == list(TERMS)
    assert all(heading(term) and explanation(term) for term in TERMS.values())
