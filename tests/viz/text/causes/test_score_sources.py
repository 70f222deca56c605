"""The sentences on why a head looks where it does."""

import json
from typing import Any

import pytest
import torch

from model.edits import HeadSite
from model.measures.causes.score_sources import ScoreSources
from model.measures.causes.source_chain import SourceStep
from model.measures.causes.stream_parts import Part
from viz.explorer.attention_kinds import Text
from viz.text.causes.score_sources import LEAST, bars, line, part_name, score_line, sums, title, told
from viz.walkthrough.step_charts import part_bars

ONE = {"decoder": Text(stack="decoder", tokens=("The", "cat", "*", "it", "cat"))}
TWO = {"encoder": Text(stack="encoder", tokens=("a", "dog")), "decoder": Text(stack="decoder", tokens=("un", "chien"))}


def step(**changes):
    """Head 2 of layer 3, from "it" at "*", led to head 4 of layer 1 by 62 % of a score of 5."""
    fields: dict[str, Any] = {
        "site": HeadSite("decoder", 2, 1),
        "query": 3,
        "key": 2,
        "score": 5.0,
        "weight": 0.9,
        "side": "key",
    }
    fields |= {"part": Part("self", 0, 3), "value": 3.1, "opposed": -0.5, "read": 0, "read_share": 0.97}
    return SourceStep(**(fields | changes))


def plain(text):
    return text.replace("\u00a0", " ").replace("\\", "")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {},
            "“it” looks at “*” because of what head 4 of layer 1 wrote at “*” (62 % of the score above the mean, "
            "by the key's parts); "
            "97 % of that was read at “The”.",
        ),
        ({"side": "query"}, "“it” looks at “*” because of what head 4 of layer 1 wrote at “it” (62 %"),
        ({"key": 3}, "“it” looks at itself because of what head 4 of layer 1 wrote at “it” (62 %"),
        ({"key": 4}, "“it” looks at “cat” (token 5) because of what head 4 of layer 1 wrote at “cat” (token 5) (62 %"),
        (
            {"value": 1.0},
            "“it” looks at “*”: the largest part on the key's side, 20 % of the score above the mean, is what ",
        ),
        (
            {"value": 6.0, "opposed": -1.2},
            "(120 % of the score above the mean, by the key's parts; other parts, "
            "each counted by itself, add 4.0 % and take 24 %); 97 %",
        ),
        (
            {"opposed": -1.3},
            "(62 % of the score above the mean, by the key's parts; other parts, "
            "each counted by itself, add 64 % and take 26 %); 97 %",
        ),
        (
            {"score": -5.0, "value": -3.1, "opposed": 5.0},
            "wrote at “*”; other parts, each counted by itself, add 138 % and take 100 %",
        ),
        ({"weight": 0.01}, "“it” gives “*” a score 5.00 above the mean because of what head 4"),
        ({"score": -5.0, "value": -3.1}, "“it” gives “*” a score 5.00 below the mean because of what head 4"),
        (
            {"score": -5.0, "value": -3.1},
            "score below the mean, by the key's parts); 97 % of that was read at “The”.",
        ),
        ({"part": Part("token")}, "because of the token “*” itself (62 %"),
        ({"part": Part("position")}, "because of the position of “*” (62 %"),
        ({"part": Part("feed-forward", 1)}, "because of what the feed-forward layer of layer 2 wrote at “*” (62 %"),
        ({"part": Part("self bias", 1)}, "because of the output bias of the attention in layer 2 (62 %"),
        ({"part": Part("norm bias"), "side": "query"}, "the learned biases of the norms on the way to the query (62 %"),
        ({"part": Part("projection bias")}, "because of the learned bias of the key projection (62 %"),
        ({"part": Part("score bias")}, "because of the bias that the score gets for the two positions (62 %"),
        ({"score": LEAST / 2}, "Nothing to explain here: the score is close to the mean of the scores that this query"),
    ],
)
def test_the_title_says_what_the_score_is_because_of(changes, expected):
    said = plain(title([step(**changes)], ONE))
    assert expected in said
    assert said.endswith(".")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "In head 2 of layer 3, “it” looks at “*” because of what head 4 of layer 1 wrote at “*” (62 % of the "
             "score above the mean, by the key's parts); 97 % of that was read at “The”."),
        ({"read_share": 0.3}, "; 30 % of that was read at “The”."),
        ({"read_share": 1.4}, "; 140 % of that was read at “The”, and 40 % taken away by what was read elsewhere."),
        ({"key": 0, "read": 0, "read_share": 1.0}, "at “The” (62 % of the score above the mean, by the key's parts)."),
        ({"part": Part("token"), "read": None, "read_share": None}, "the score above the mean, by the key's parts)."),
    ],
)  # fmt: skip
def test_a_line_says_what_was_read_where(changes, expected):
    assert plain(line(step(**changes), ONE)).endswith(expected)


def test_in_a_model_of_two_stacks_every_part_has_its_own():
    cross = step(site=HeadSite("decoder", 2, 1, "cross"), query=1, key=1, read=0)
    said = plain(line(cross, TWO))
    assert said.startswith(
        "In cross-attention head 2 of layer 3 of the decoder, “chien” looks at “dog” because of what "
    )
    assert "what head 4 of layer 1 of the encoder wrote at “dog”" in said
    assert said.endswith("read at “a”.")
    other = plain(line(step(query=1, key=0, side="query", part=Part("cross", 0, 3), read=1), TWO))
    assert "because of what cross-attention head 4 of layer 1 of the decoder wrote at “chien”" in other
    assert other.endswith("was read at “dog”.")


def test_of_every_step_something_is_told_but_where_there_is_nothing_to_explain():
    last = step(site=HeadSite("decoder", 0, 3), query=2, key=0, part=Part("position"), read=None, read_share=None)
    assert told([step(), last]) == [step(), last]
    assert told([step(), step(score=LEAST / 2)]) == [step()]
    assert told([step(score=LEAST / 2), last]) == told([]) == []
    assert "exactly the mean" in title([], ONE)


def test_the_sum_of_the_parts_stands_beside_the_score_of_the_pass():
    cells = torch.tensor([[1.5, -0.25]], dtype=torch.float64)
    parts: dict[str, Any] = {
        "query_parts": (Part("token"),),
        "key_parts": (Part("token"), Part("position")),
        "score_bias": None,
    }
    split = ScoreSources(site=HeadSite("decoder", 0, 0), query=1, key=0, relative=True, cells=cells, **parts)
    assert sums(split, -1.25, capped=False) == "The parts of each side add up to 1.25; the model computed −1.25."
    assert (
        sums(split, 1.25, capped=True)
        == "The parts of each side add up to 1.25; the model computed 1.25 before its cap."
    )


def test_the_score_is_the_mean_and_what_the_bars_split():
    said = "The score is {}; the mean of the scores that this query gives is {}. The bars split the {} it twice, "
    said += "by what made the query and by what made the key: two accounts of one number."
    assert score_line(3.5, 1.25) == said.format("3.5000", "2.2500", "1.2500 above")
    assert score_line(-1.0, -0.5) == said.format("−1.0000", "−0.5000", "0.5000 below")


def test_bars_are_the_largest_parts_and_the_sum_of_all_others():
    parts = {Part("token"): 0.5, Part("self", 0, 3): -4.0, Part("feed-forward", 1): 2.0, Part("cross bias", 0): 0.25}
    assert bars(parts, most=2) == {"layer 1, head 4": -4.0, "layer 2, feed-forward": 2.0, "all others (2)": 0.75}
    assert list(bars(parts, most=3)) == [
        "layer 1, head 4", "layer 2, feed-forward", "token", "layer 1, cross-attention output bias",
    ], "a single other has its own bar"  # fmt: skip
    assert part_name(Part("cross", 1, 0)) == "layer 2, cross-attention head 1"
    assert [part_name(Part(kind)) for kind in ("norm bias", "projection bias", "score bias")] == [
        "biases of norms",
        "projection bias",
        "bias of the positions",
    ]


def test_the_numbers_of_the_parts_stand_in_their_bars():
    parts = {Part("token"): 0.5, Part("self", 0, 3): -4.0, Part("feed-forward", 1): 2.0, Part("position"): 0.25}
    drawn = json.loads(part_bars(bars(parts, most=2), "part of the score above the mean").to_json())
    rows = drawn["data"]["values"]
    assert [(row["name"], row["value"], row["said"]) for row in rows] == [
        ("layer 1, head 4", -4.0, "−4.0000"),
        ("layer 2, feed-forward", 2.0, "+2.0000"),
        ("all others (2)", 0.75, "+0.7500"),
        ("sum", -1.25, "−1.2500"),
    ]
    assert drawn["layer"][0]["encoding"]["x"]["title"] == "part of the score above the mean"
