"""The sentences on what tokens are worth to an answer."""

import pytest

from model.measures.causes.rank_agreement import RankAgreement
from viz.text.token_measures import (
    MEASURES,
    OMISSION,
    agreement_line,
    completeness,
    row_said,
    sentence,
    title,
    value_said,
    without_it,
)

NAN = float("nan")


def agreement(tau: float, probability: float, tokens: int = 10) -> RankAgreement:
    return RankAgreement(tau=tau, probability=probability, tokens=tokens)


WELL, PART, CHANCE = agreement(0.7, 0.0004), agreement(0.5, 0.04), agreement(0.1, 0.6)
REVERSE, UNKNOWN = agreement(-0.6, 0.01), agreement(NAN, NAN, 2)


@pytest.mark.parametrize(
    ("same", "agreed", "expected"),
    [
        (True, WELL, "Attention and effect both put “a” first."),
        (True, CHANCE, "Attention and effect both put “a” first, but on the other tokens they differ."),
        (True, REVERSE, "Attention and effect both put “a” first, but on the other tokens they differ."),
        (False, WELL, "Attention looks most at “a”, but the answer depends most on “b”."),
    ],
)
def test_the_title_sets_attention_beside_effect(same, agreed, expected):
    assert title("a", "a" if same else "b", agreed, same=same) == expected


@pytest.mark.parametrize(
    ("agreed", "best", "expected"),
    [
        (WELL, None, "agree well (Kendall's τ = 0.70, p < 0.001)."),
        (PART, ("integrated", WELL), "comes nearest to the effect (τ = 0.70)."),
        (PART, ("integrated", CHANCE), "agree in part (Kendall's τ = 0.50, p = 0.04)."),
        (CHANCE, ("integrated", CHANCE), "(Kendall's τ = 0.10, p = 0.6). None of the other measures does better."),
        (REVERSE, None, "agree in reverse (Kendall's τ = −0.60, p = 0.01)."),
        (UNKNOWN, None, "The text has too few tokens to compare two orders: 2."),
    ],
)
def test_the_sentence_says_how_far_they_agree(agreed, best, expected):
    said = sentence("Without “a”, it goes", agreed, best)
    assert said.startswith("Without “a”, it goes. ")
    assert said.endswith(expected)


def test_each_measure_has_its_unit():
    assert value_said("attention", 0.274).replace("\u00a0", " ") == "27.4 %"
    assert value_said("integrated", -0.6049) == "−0.605 of the logit"
    assert value_said(OMISSION, 0.701) == "+70.1 points"
    assert value_said(OMISSION, NAN) == "not measured"
    assert value_said("integrated", NAN) == "not measured yet"
    assert row_said("a", dict.fromkeys(MEASURES, NAN)).startswith("a: attention, rolled out: not measured yet; ")


def test_what_a_visitor_wrote_stays_text():
    assert "\\*" in title("*", "b", WELL, same=False)
    assert "\\*" in without_it("label", "good", "*", 0.9, 0.2)


def test_a_line_names_the_measure_and_its_degree():
    assert agreement_line("gradient", WELL).replace("\\", "") == (
        "Attention × gradient: well (Kendall's τ = 0.70, p < 0.001)."
    )
    assert agreement_line("gradient", UNKNOWN).endswith("too few tokens to compare.")


def test_integrated_gradients_stand_beside_what_they_sum_to():
    assert completeness(1.19, 1.2) == (
        "The integrated gradients sum to +1.1900; the logit of the text differs from that of zero vectors by +1.2000."
    )
