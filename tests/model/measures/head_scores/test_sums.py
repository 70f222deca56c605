"""Sums over texts: equal to plain loops, and the same in whatever order and grouping texts come."""

import math

import numpy as np
import pytest

from model.measures.head_kinds import induction_cells, share
from model.measures.head_scores import cell_kinds
from model.measures.head_scores.kind_sums import KindSums, added, kind_sums, sums_of_text
from model.measures.weights_alone import random_orders
from tests.model.measures.test_head_kinds import random_weights, sides

TOKENS = ("[CLS]", "the", "dog", "saw", "the", "cat", ".", "the", "dog", "[SEP]")
SPECIAL = [True, *[False] * 8, True]


def test_cells_of_induction_follow_an_earlier_occurrence_of_the_query():
    cells = induction_cells(sides(TOKENS, special=SPECIAL))
    assert np.argwhere(cells).tolist() == [[4, 2], [7, 2], [7, 5], [8, 3]]
    assert np.argwhere(induction_cells(sides(("a", "a", "a")))).tolist() == [[2, 1]], "never itself"


def test_between_two_texts_there_is_no_induction():
    assert not induction_cells(sides(("a", "b", "a"), queries=3)).any()


def test_delimiters_are_added_tokens_but_the_first():
    cells = cell_kinds.delimiter_cells(sides(TOKENS, special=SPECIAL))
    assert np.argwhere(cells).tolist() == [[query, 9] for query in range(1, 9)]


@pytest.mark.parametrize("causal", [False, True])
def test_the_null_of_cells_is_the_mean_over_permuted_rows(causal):
    facts = sides(TOKENS, special=SPECIAL, causal=causal)
    weights, draw = random_weights(1, 2, facts.visible, seed=1), np.random.default_rng(0)
    seen = facts.visible[0] & ~facts.key_special
    for cells in (cell_kinds.own_cells(facts), induction_cells(facts)):
        orders = (random_orders(seen, draw) for _ in range(500))
        permuted = [share(np.take_along_axis(weights, order[None, None], -1), cells) for order in orders]
        assert cell_kinds.share_by_chance(weights, cells, seen) == pytest.approx(np.mean(permuted, axis=0), abs=0.04)


def slow_explained(weights, cells) -> float:
    """Variance between offsets over variance of all, in plain Python."""
    groups: dict[int, list[float]] = {}
    for query, key in np.argwhere(cells).tolist():
        groups.setdefault(key - query, []).append(float(weights[query, key]))
    values = [value for group in groups.values() for value in group]
    mean = sum(values) / len(values)
    between = sum(len(group) * (sum(group) / len(group) - mean) ** 2 for group in groups.values())
    return between / sum((value - mean) ** 2 for value in values)


@pytest.mark.parametrize("causal", [False, True])
def test_what_offsets_explain_equals_a_slow_loop(causal):
    facts = sides(TOKENS, special=SPECIAL, causal=causal)
    weights = random_weights(1, 3, facts.visible, seed=2)[0]
    fast = cell_kinds.explained_by_offset(weights, facts.counted)
    assert fast == pytest.approx([slow_explained(head, facts.counted) for head in weights])


def test_a_function_of_the_offset_is_explained_fully_and_even_weights_are_nothing_to_explain():
    offsets = np.arange(6)[None, :] - np.arange(6)[:, None]
    weights = np.stack([1.0 / (1 + np.abs(offsets)), np.full((6, 6), 1 / 6)])
    assert cell_kinds.explained_by_offset(weights, np.ones((6, 6), bool)) == pytest.approx([1, 0])


def one(queries, score, null=0.1) -> KindSums:
    return sums_of_text(np.full((1, 1), score), np.full((1, 1), null), queries)


def test_a_score_is_the_mean_over_queries_and_its_error_is_that_of_a_ratio():
    both = one(1, 0.5) + one(3, 0.9)
    assert both.scores.item() == pytest.approx((0.5 + 3 * 0.9) / 4)
    assert both.nulls.item() == pytest.approx(0.1)
    mean = both.scores.item() - 0.1
    squares = (0.4 - mean) ** 2 + (3 * 0.8 - 3 * mean) ** 2
    assert both.errors is not None
    assert both.errors.item() == pytest.approx(math.sqrt(squares * 2 / 1) / 4)
    assert one(5, 0.5).errors is None, "one text has no error"


def test_texts_of_equal_length_have_the_usual_standard_error():
    scores = [0.2, 0.5, 0.4, 0.9]
    first, *rest = (one(4, score) for score in scores)
    total = sum(rest, first)
    assert total.errors is not None
    assert total.errors.item() == pytest.approx(np.std(scores, ddof=1) / 2)


def test_sums_do_not_depend_on_how_texts_are_grouped():
    facts = sides(TOKENS, special=SPECIAL)
    texts = []
    for number in range(4):
        weights, *shuffles = (random_weights(2, 3, facts.visible, 10 * number + step) for step in range(3))
        texts.append({"encoder": kind_sums(weights, facts, shuffles, number, TOKENS)})
    in_order = added(added(added(texts[0], texts[1]), texts[2]), texts[3])
    in_pairs = added(added(texts[3], texts[1]), added(texts[0], texts[2]))
    for kind, sums in in_order["encoder"].items():
        other = in_pairs["encoder"][kind]
        assert (sums.queries, sums.texts) == (other.queries, other.texts)
        for name in ("scores", "nulls", "errors"):
            assert getattr(sums, name) == pytest.approx(getattr(other, name))
        if sums.strongest is not None and other.strongest is not None:
            assert (sums.strongest.place == other.strongest.place).all()


def test_a_text_without_a_kind_adds_nothing_to_it():
    facts = sides(("a", "b", "c"))
    sums = kind_sums(random_weights(1, 2, facts.visible, 0), facts, [], 0, facts.key_tokens)
    assert set(sums) == {"previous_token", "next_token", "first_token", "same_token", "broad", "positional"}
    assert added({}, {"encoder": sums})["encoder"].keys() == sums.keys()


def test_a_head_that_looks_for_a_word_has_no_more_than_its_null_without_another_order():
    facts = sides(("a", "b", "a", "."))
    sums = kind_sums(random_weights(1, 2, facts.visible, 0), facts, [], 0, facts.key_tokens)
    assert sums["duplicate"].scores == pytest.approx(sums["duplicate"].nulls)
