"""The sentences on what tokens are worth to an answer."""

from dataclasses import replace

import numpy as np
import pytest

from model.measures.causes.rank_agreement import RankAgreement
from viz.text.causes.token_measures import (
    FEWEST,
    MEASURES,
    OMISSION,
    agreement_line,
    completeness,
    first_of,
    row_names,
    row_said,
    sentence,
    share_label,
    title,
    value_said,
    without_it,
)
from viz.tokens import token_named

NAN = float("nan")


def agreement(tau: float, probability: float, tokens: int = 10) -> RankAgreement:
    return RankAgreement(tau=tau, probability=probability, tokens=tokens)


WELL, PART, CHANCE = agreement(0.7, 0.0004), agreement(0.5, 0.04), agreement(0.1, 0.6)
REVERSE, UNKNOWN, ALIKE = agreement(-0.6, 0.01), agreement(NAN, NAN, 2), agreement(NAN, NAN)


@pytest.mark.parametrize(
    ("attention", "omission", "agreed", "expected"),
    [
        ("“a”", "“a”", WELL, "Attention and effect both put “a” first."),
        ("“a”", "“a”", CHANCE, "Attention and effect both put “a” first, but order the other tokens differently."),
        ("“a”", "“a”", REVERSE, "Attention and effect both put “a” first, but order the other tokens differently."),
        ("“a”", "“a”", UNKNOWN, "Attention and effect both put “a” first."),
        ("“a”", "“b”", WELL, "Attention looks most at “a”, but the answer depends most on “b”."),
        (None, "“b”", WELL, "Attention looks at all tokens alike, but the answer depends most on “b”."),
        (None, None, WELL, "Leaving out any one token hardly changes this answer."),
        (
            "“a”",
            None,
            WELL,
            "Attention looks most at “a”, but leaving out any one token hardly changes this answer.",
        ),
    ],
)
def test_the_title_sets_attention_beside_effect(attention, omission, agreed, expected):
    assert title(attention, omission, agreed) == expected


def test_the_title_says_where_the_answer_would_gain_without_a_token():
    assert title("“a”", "“a”", WELL, against=True) == (
        "Attention and effect both put “a” first, which speaks against the answer."
    )
    assert title("“a”", "“b”", WELL, against=True) == (
        "Attention looks most at “a”, but “b” counts most, against the answer."
    )


def test_the_title_is_of_the_tokens_that_can_be_left_out_where_attention_is_elsewhere():
    assert title("“a”", "“b”", WELL, elsewhere=True) == (
        "Of the tokens that can be left out, attention looks most at “a”, but the answer depends most on “b”."
    )
    assert title(None, "“b”", WELL, elsewhere=True) == title(None, "“b”", WELL)


def test_a_token_stands_out_where_the_others_are_not_as_large():
    places = range(3)
    assert first_of(np.array([0.2, -0.7, 0.1]), places) == 1
    assert first_of(np.array([0.2, 9.0, 0.1]), (0, 2)) == 0
    assert first_of(np.array([0.5, NAN, 0.1]), places) == 0
    assert first_of(np.array([0.5, 0.496, -0.499]), places) is None
    assert first_of(np.array([0.009, 0.001, 0.0]), places, 0.01) is None
    assert first_of(np.array([NAN, NAN, NAN]), places) is None


def test_rows_of_a_word_that_comes_again_are_numbered():
    assert row_names(["a", "b", "a"], [0, 1], 14) == {0: "1 · a", 1: "b"}


def test_a_word_that_comes_again_is_named_with_its_place():
    assert [token_named(["a", "b", "a"], at) for at in range(3)] == ["“a” (token 1)", "“b”", "“a” (token 3)"]


@pytest.mark.parametrize(
    ("agreed", "best", "expected"),
    [
        (WELL, None, "agree well (Kendall's τ = 0.70, p < 0.001)."),
        (
            agreement(0.17, 0.0004, 192),
            None,
            "can be left out, the orders by attention and by the size of the effect agree weakly "
            "(Kendall's τ = 0.17, p < 0.001).",
        ),
        (PART, ("integrated", WELL), "comes nearest to the effect (τ = 0.70)."),
        (PART, ("integrated", CHANCE), "agree in part (Kendall's τ = 0.50, p = 0.04)."),
        (
            CHANCE,
            ("integrated", CHANCE),
            "(Kendall's τ = 0.10, p = 0.6). None of the other measures agrees beyond what chance could bring over 10 "
            "tokens.",
        ),
        (REVERSE, None, "agree in reverse (Kendall's τ = −0.60, p = 0.01)."),
        (CHANCE, None, "agree no more than chance could bring over 10 tokens (Kendall's τ = 0.10, p = 0.6)."),
        (UNKNOWN, None, "The text has too few tokens to compare two orders: 2."),
        (agreement(1.0, 0.08, 4), None, "The text has too few tokens to compare two orders: 4."),
        (ALIKE, None, "compared with that: by it all tokens count the same, so there is no order to compare."),
        (replace(ALIKE, equal=(False, True)), None, "by as much, so there is no order to compare with."),
    ],
)
def test_the_sentence_says_how_far_they_agree(agreed, best, expected):
    said = sentence("Without “a”, it goes", agreed, best)
    assert said.startswith("Without “a”, it goes. ")
    assert (f"Of the {agreed.tokens} tokens that can be left out" in said) == (
        agreed.is_known and agreed.tokens >= FEWEST
    )
    assert said.endswith(expected)


def test_each_measure_has_its_unit():
    assert value_said("attention", 0.274).replace("\u00a0", " ") == "27.4 %"
    assert value_said("integrated", -0.6049) == "−0.605 of the logit"
    assert value_said(OMISSION, 0.701) == "70.1 points lost"
    assert value_said(OMISSION, NAN) == "not measured"
    assert value_said("integrated", NAN) == "not measured yet"
    assert row_said("a", dict.fromkeys(MEASURES, NAN)).startswith("a: attention, rolled out: not measured yet; ")


def test_a_bar_to_share_says_what_is_lost_or_gained_and_the_attention():
    assert share_label(-0.071, 0.274).replace("\u00a0", " ") == "7.1 points gained, 27.4 % of the attention"


def test_what_a_visitor_wrote_stays_text():
    assert token_named(["*"], 0) == "“\\*”"
    assert "\\*" in without_it("label", "*", "“b”", 0.9, 0.2)


def test_a_line_names_the_measure_and_its_degree():
    assert agreement_line("gradient", WELL).replace("\\", "") == (
        "Attention × gradient: well (Kendall's τ = 0.70, p < 0.001)."
    )
    assert agreement_line("gradient", UNKNOWN).endswith("too few tokens to tell.")
    alike = agreement_line("gradient", ALIKE).replace("\\", "")
    assert alike.endswith("all tokens count the same, so there is no order to compare.")


def test_integrated_gradients_stand_beside_what_they_sum_to():
    assert completeness(1.19, 1.2) == (
        "The integrated gradients sum to +1.1900; the logit of the text differs from that of zero vectors by +1.2000. "
        "Exact integrals would give the same; these are sums over steps."
    )
