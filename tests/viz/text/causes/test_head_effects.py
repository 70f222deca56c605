"""The sentences on heads that matter."""

import numpy as np
import pytest

from viz.text.causes.head_effects import (
    bars,
    ceiling_said,
    cell_said,
    curve_said,
    direct,
    mean_said,
    muted_named,
    runner_up_said,
    sentence,
    title,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("kind", "after", "turned", "expected"),
    [
        ("label", 0.732, False, "Without head 4 of layer 1, the verdict “good” goes from 93.9 % to 73.2 %."),
        ("label", 0.4, True, "the verdict “good” goes from 93.9 % to 40.0 %, and another is likelier."),
        ("next", 0.5, False, "the next token “good” goes from 93.9 % to 50.0 %."),
        ("masked", 0.5, False, "the masked word “good” goes from 93.9 % to 50.0 %."),
        ("output", 0.5, True, "goes from 93.9 % to 50.0 %, and at least one of them is no longer the likeliest."),
        ("output", 0.5, False, "the mean probability of the tokens of “good” goes from 93.9 % to 50.0 %."),
        ("stream", 0.25, False, "Without head 4 of layer 1, the last vectors move by 25.0 % of their length."),
        ("label", 0.97, False, "goes from 93.9 % to 97.0 %: it works against the answer."),
        ("label", 0.935, False, "No single head changes this answer by much."),
        ("stream", 0.005, False, "No single head changes this answer by much."),
    ],
)
def test_the_title_says_what_becomes_of_the_answer(kind, after, turned, expected):
    said = title(kind, "good", 0.939, (0, 3), after, turned=turned).replace("\u00a0", " ")
    assert said.endswith(expected)


def test_with_a_mean_in_their_place_heads_are_not_said_to_hide_tokens_from_each_other():
    said = sentence("label", "good", np.array([[-0.2, 0.002]]), 0, zero=False)
    assert said.endswith("Even with every head muted, the answer stays.")


def test_of_several_attentions_the_title_says_which():
    said = title("output", "bon", 0.9, (0, 3), 0.5, turned=False, whose="cross-attention, decoder to encoder")
    assert said.startswith("Without head 4 of layer 1 of the cross-attention, the mean probability")


@pytest.mark.parametrize(
    ("needed", "expected"),
    [
        (None, ""),
        (0, " Even with every head muted, so that no token knows of another, the answer stays."),
        (1, " The head with the largest effect is enough: with all others muted, the answer stays."),
        (
            2,
            " The 2 heads with the largest effect, for the answer or against it, are enough: with all others muted, "
            "the answer stays.",
        ),
        (4, " Muting even the heads with the smallest effect gives another answer."),
    ],
)
def test_the_sentence_compares_with_the_other_heads(needed, expected):
    changes = np.array([[-0.2, 0.002], [0.03, -0.001]])
    said = sentence("label", "good", changes, needed).replace("\u00a0", " ")
    assert said == (
        "Of 4 heads, muted one at a time, 2 heads change it by 1 point or more; the median head changes it by 1.6 "
        f"points.{expected}"
    )


def test_small_changes_are_said_to_be_none():
    said = sentence("label", "good", np.array([[0.002, -0.004]]), None)
    assert said == "Muted alone, none of the 2 heads changes the verdict “good” by more than 0.4 points."
    said = sentence("label", "good", np.array([[0.0002, -0.0004]]), None)
    assert said == "Muted alone, none of the 2 heads changes the verdict “good” by more than 0.1 points."
    said = sentence("stream", "", np.array([[0.02, 0.002]]), None).replace("\u00a0", " ")
    assert "1 head changes the last vectors by 1 % or more; the median head changes them by 1.1 %." in said


def test_a_cell_says_both_probabilities_and_the_change():
    def plain(*arguments, **also):
        return cell_said(*arguments, **also).replace("\u00a0", " ")

    assert plain("label", (0, 3), 0.9392, 0.732, turned=False) == (
        "layer 1, head 4: 93.92 % → 73.20 % without it, −20.7 points"
    )
    assert plain("label", (0, 3), 0.9, 0.4, turned=True).endswith("−50.0 points; another is likelier")
    assert plain("stream", (0, 3), 0.0, 0.25, turned=False).endswith("the last vectors move by 25.00 % of their length")
    assert plain("label", (1, 0), 0.9, NAN, turned=False) == "layer 2, head 1: not measured yet"


def test_what_a_head_adds_directly_is_said_beside_the_logit():
    said = "It adds −0.42 directly to the answer's logit, which is 3.10"
    then = "What else changes without it comes by way of the rest of its layer and"
    assert direct(-0.416, 3.1) == f"{said}. {then} later layers."
    assert direct(-0.416, 3.1, is_last=True) == f"{said}. {then} the final norm."
    assert direct(-0.416, 3.1, zero=False) == f"{said}, as against zero in its place. {then} later layers."


def test_a_curve_says_what_it_ends_in_and_what_it_leaves_out():
    assert curve_said(32, 33, 0.6).replace("\u00a0", " ") == "With all 32 heads muted, the probability is 60.0 %."
    assert curve_said(48, 41, -0.5, in_nats=True) == (
        "With all 48 heads muted, the log-odds are −0.50. Measured at 41 of 49 numbers of muted heads."
    )


def test_a_probability_near_one_is_said_to_have_a_ceiling():
    assert "no head can raise the probability by more than 3.4 points." in ceiling_said(0.966)


def test_bars_are_of_the_largest_changes():
    drawn = bars("label", np.array([[-0.4, 0.05]]), [(0, 1), (0, 0)])
    assert [bar.name for bar in drawn] == ["layer 1, head 1", "layer 1, head 2"]
    assert [bar.length for bar in drawn] == pytest.approx([1, 0.125])
    assert [bar.label for bar in drawn] == ["−40.0 points", "+5.0 points"]


def test_in_nats_the_words_are_of_log_odds():
    said = title("label", "a", 2.74, (0, 3), 1.01, turned=False, in_nats=True)
    assert said == "Without head 4 of layer 1, the log-odds of the verdict “a” go from 2.74 to 1.01."
    assert title("label", "a", 2.0, (0, 3), 2.05, turned=False, in_nats=True).startswith("No single head")
    assert "1 head changes it by 0.1 nats or more" in sentence(
        "label", "a", np.array([[0.5, 0.05]]), None, in_nats=True
    )
    cell = cell_said("label", (0, 3), 2.74, 1.01, turned=False, in_nats=True)
    assert cell == "layer 1, head 4: log-odds 2.74 → 1.01 without it, −1.73 nats"
    assert bars("label", np.array([[-0.4]]), [(0, 0)], in_nats=True)[0].label == "−0.40 nats"
    runner_up = runner_up_said("a", "b", 0.061, 2.74).replace("\u00a0", " ")
    assert runner_up == "The runner-up of “a” is “b” with 6.1 %; its logit is 2.74 lower."


def test_the_mean_in_a_heads_place_is_said_where_it_does_something_else_than_zero():
    assert (
        mean_said(0.659, 0.642, 0.854)
        .replace("\u00a0", " ")
        .startswith("Muted means zero in its place; with its mean in this text there, the change is −1.7 points")
    )
    assert "−0.07 nats" in mean_said(0.66, 0.59, 1.77, in_nats=True).replace("\u00a0", " ")
    assert mean_said(0.9, 0.74, 0.6) == "", "more than half of it, in the same direction"
    assert mean_said(0.9, 0.76, 0.6)
    small, other_way = (mean_said(0.9, after, 0.6).replace("\u00a0", " ") for after in (0.895, 0.98))
    then = " Another head may come first that way."
    assert small.endswith(f"the change is −0.5 points: much of what it adds is the same for every token.{then}")
    assert other_way.endswith(f"the change is +8.0 points, the other way.{then}")
    assert mean_said(0.9, 0.9, 0.6).endswith(
        f"nothing changes: much of what it adds is the same for every token.{then}"
    )


def test_the_sentence_says_of_which_attention_the_heads_are_and_that_an_answer_comes_back():
    said = sentence("output", "oui", np.full((1, 2), 0.5), 0, whose="cross-attention", back=True).replace("\u00a0", " ")
    assert said.startswith("Of 2 heads of cross-attention, muted one at a time,")
    assert said.endswith("they change the answer; with all of them muted it is back.")
    some = sentence("output", "oui", np.full((1, 2), 0.5), 1, back=True).replace("\u00a0", " ")
    assert some.endswith("they change the answer; with all but 1 of them muted it is back.")
    lone = sentence("output", "oui", np.full((1, 2), 0.5), 1, back=True, lone=True)
    assert lone.endswith("with all but 1 of them muted it is back, at that number alone.")
    alone = sentence("label", "oui", np.full((1, 2), 0.5), 0, alone=True)
    assert alone.endswith("the answer stays, though without one of them alone it is another.")


def test_one_head_is_not_muted_together():
    assert muted_named("head 1 of layer 1", 1) == "Muted: head 1 of layer 1"
    assert muted_named("a, b", 2) == "Muted together: a, b"
