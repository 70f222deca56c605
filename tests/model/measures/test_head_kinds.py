"""Kinds of heads: known heads are named, their nulls are not exceeded by what knows nothing, and loops agree."""

import math
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model import Edits, HeadSite, load_checkpoint
from model.measures import head_kinds
from model.measures.head_kinds import (
    KINDS,
    OF_POSITIONS,
    Finding,
    KindScores,
    Sides,
    best_of_heads,
    cards,
    cells_of,
    finding,
    measure,
    sides_of,
)
from model.measures.positions.shuffled_order import shuffle_count, shuffled_ids, shuffled_weights
from tests.first_example import FOUND
from tests.tiny import ARCHITECTURES, TEXT, checkpoint

WORDS = ("the", "film", "was", "slow", ",", "but", "i", "loved", "it", ".")
LOVED, COMMA = WORDS.index("loved"), WORDS.index(",")
COUNT = len(WORDS)


def sides(tokens=WORDS, *, special=None, causal=False, queries=None, **options) -> Sides:
    """One text, or keys that ``queries`` queries of another look at."""
    count = len(tokens) if queries is None else queries
    visible = np.ones((1, count, len(tokens)), bool)
    key_special = np.array(special or [False] * len(tokens), bool)
    facts: dict[str, Any] = {
        "query_special": key_special if queries is None else np.zeros(count, bool),
        "key_special": key_special,
        "key_tokens": tuple(tokens),
        "visible": np.tril(visible) if causal else visible,
        "one_text": queries is None,
    }
    return Sides(**facts | options)


def normal(weights) -> np.ndarray:
    """Rows that sum to 1, or stay 0."""
    sums = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)


def even(visible) -> np.ndarray:
    return normal(visible.astype(np.float64))


def on_key(key, count=COUNT, share=1.0) -> np.ndarray:
    """Every query gives this share to one key, the rest to all alike."""
    weights = np.full((count, count), (1 - share) / count)
    weights[:, key] += share
    return weights


def at(offset, count=COUNT) -> np.ndarray:
    """Every query looks at the key so far from it; where there is none, at all alike."""
    weights = np.eye(count, k=offset)
    weights[weights.sum(axis=1) == 0] = 1 / count
    return weights


def on_word(word, tokens) -> np.ndarray:
    """Every query looks at one word, wherever it stands."""
    return on_key(tokens.index(word), len(tokens))


def layer_of(*heads) -> np.ndarray:
    return np.stack(heads)[None].astype(np.float32)


def orders(tokens=WORDS, count=8) -> list[tuple[str, ...]]:
    places = (shuffled_ids(range(len(tokens)), None, seed) for seed in range(count))
    return [tuple(tokens[place] for place in order) for order in places]


def measured_heads(make, tokens=WORDS, **facts) -> KindScores:
    """What is measured of heads that ``make`` builds from the tokens in any order."""
    shuffles = (layer_of(*make(order)) for order in orders(tokens))
    return measure(layer_of(*make(tokens)), sides(tokens, **facts), shuffles)


def random_weights(layers, heads, visible, seed) -> np.ndarray:
    """Float32 weights of ``visible``'s shape; some rows are 0."""
    generator = np.random.default_rng(seed)
    weights = generator.gamma(0.3, size=(layers, heads, *visible.shape[1:])) * visible[:, None]
    return (normal(weights) * (generator.random((layers, heads, visible.shape[1], 1)) > 0.1)).astype(np.float32)


# Known heads


def test_known_heads_have_the_score_of_their_kind():
    heads = layer_of(at(-1), at(1), on_key(0), on_key(LOVED), on_key(COMMA), even(np.ones((COUNT, COUNT))))
    facts = sides()
    assert head_kinds.previous_token(heads, facts)[0] == pytest.approx([1, 0.1 / 9, 1 / 9, 1 / 9, 1 / 9, 0.1])
    assert head_kinds.next_token(heads, facts)[0] == pytest.approx([0.1 / 9, 1, 0, 1 / 9, 1 / 9, 0.1])
    assert head_kinds.first_token(heads, facts)[0] == pytest.approx([1 / 9, 0.1 / 9, 1, 0, 0, 0.1])
    assert head_kinds.punctuation(heads, facts)[0, [3, 4, 5]] == pytest.approx([0, 9 / 10, 0.18])
    assert head_kinds.spreads(heads, facts)[0, [2, 3, 4, 5]] == pytest.approx([0, 0, 0, 1])
    scores, keys = head_kinds.points_at(heads, facts)
    assert scores[0, [2, 3, 4, 5]] == pytest.approx([1, 1, 1, 0.1])
    assert keys[0, [2, 3, 4]].tolist() == [0, LOVED, COMMA]


def test_a_head_on_the_same_word_has_its_score_whatever_the_case_and_the_space():
    tokens = ("The", "dog", " the", ",", " cat", ",")
    same = np.eye(6)
    same[0] = np.eye(6)[2]
    same[2] = np.eye(6)[0]
    facts = sides(tokens)
    assert np.argwhere(facts.cells["same_word"]).tolist() == [[0, 2], [2, 0]], "a comma is no word"
    scores = head_kinds.same_word(layer_of(same, np.eye(6), even(np.ones((6, 6)))), facts)
    assert scores[0] == pytest.approx([1, 0, 1 / 6])


def test_an_induction_head_looks_at_what_followed_the_same_token_before():
    facts = sides(("a", "b", "a", "b", "c"), causal=True)
    looking = np.eye(5)
    looking[2], looking[3] = np.eye(5)[1], np.eye(5)[2]
    assert np.argwhere(facts.cells["induction"]).tolist() == [[2, 1], [3, 2]]
    scores = head_kinds.induction(layer_of(looking, np.eye(5), even(np.tril(np.ones((5, 5))))), facts)
    assert scores[0] == pytest.approx([1, 0, (1 / 3 + 1 / 4) / 2])


def test_induction_is_found_where_no_query_sees_what_follows_it_alone():
    tokens = ("a", "b", "c", "a", "b", "c")
    looking = np.eye(6)
    looking[[3, 4, 5]] = np.eye(6)[[1, 2, 3]]
    weights = layer_of(looking)
    for causal in (True, False):
        measured = measure(weights, sides(tokens, causal=causal), [layer_of(np.eye(6))] * 2)
        found = {each.kind for each in head_kinds.findings_above_null(measured)}
        assert ("induction" in found) == causal


def test_special_tokens_are_neither_queries_nor_keys():
    tokens = ("[CLS]", "good", "film", "[SEP]")
    facts = sides(tokens, special=[True, False, False, True])
    sink = on_key(3, 4, share=0.9)
    scores, keys = head_kinds.points_at(layer_of(sink), facts)
    assert (scores.item(), keys.item()) == (pytest.approx(0.025), 1)
    assert facts.queries.tolist() == [False, True, True, False]
    assert not facts.cells["previous_token"][1].any(), "before it stands a special token"
    assert not facts.cells["next_token"][2].any()
    assert np.argwhere(facts.cells["first_token"]).tolist() == [[1, 0], [2, 0]], "the first token may be special"


def test_a_causal_model_is_asked_only_for_what_may_be_seen():
    facts = sides(tuple("abcdef"), causal=True)
    assert facts.queries.tolist() == [False] + [True] * 5, "the first sees itself alone"
    weights = layer_of(even(np.tril(np.ones((6, 6)))), np.eye(6))
    scores, keys = head_kinds.points_at(weights, facts)
    assert scores[0, 0] == pytest.approx(np.mean([1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6]))
    assert keys[0, 0] == 0
    assert scores[0, 1] == pytest.approx(1 / 3), "a key that two of five may see is no candidate, one that three may is"
    assert not head_kinds.next_token(weights, facts).any()
    assert head_kinds.spreads(weights, facts)[0] == pytest.approx([1, 0])


def test_cross_attention_has_no_kinds_that_need_one_text():
    facts = sides(("a", "b", "a", "."), queries=3)
    weights = random_weights(2, 3, facts.visible, seed=0)
    for kind in ("previous_token", "next_token", "same_word"):
        assert not facts.cells[kind].any()
        assert not getattr(head_kinds, kind)(weights, facts).any()
    assert facts.cells["first_token"][:, 0].all(), "query and key 0 are no single position"
    assert facts.cells["punctuation"].sum() == 3


# Against slow loops


def slow_scores(weights, facts) -> dict[str, float]:
    """One head, from the definitions, in plain Python."""
    visible, exact = facts.visible[0], facts.key_tokens
    names = [token.strip().lower() for token in exact]
    queries = [q for q in range(len(weights)) if not facts.query_special[q] and sum(visible[q]) > 1]
    keys = [k for k in range(len(names)) if not facts.key_special[k]]
    marks = {k for k in keys if names[k] in ".,!"}

    def share(counts, among) -> float:
        rows = [[float(weights[q, k]) for k in among if visible[q, k] and counts(q, k)] for q in queries]
        rows = [row for row in rows if row]
        return sum(map(sum, rows)) / len(rows) if rows else 0.0

    def spread(q) -> float:
        return sum(-float(w) * math.log(w) for w in weights[q] if w > 0) / math.log(sum(visible[q]))

    seen = {k: [float(weights[q, k]) for q in queries if visible[q, k]] for k in keys}
    pointed = [sum(row) / len(row) for row in seen.values() if row and 2 * len(row) >= len(queries)]
    return {
        "points_at": max(pointed, default=0.0),
        "previous_token": share(lambda q, k: k == q - 1, keys),
        "next_token": share(lambda q, k: k == q + 1, keys),
        "same_word": share(lambda q, k: k != q and names[k] == names[q] and k not in marks, keys),
        "induction": share(lambda q, k: 0 < k < q and exact[k - 1] == exact[q], keys),
        "punctuation": share(lambda q, k: k != q and k in marks, keys),
        "first_token": share(lambda q, k: k == 0 and q != 0, range(len(names))),
        "spreads": sum(map(spread, queries)) / len(queries) if queries else 0.0,
    }


TOKENS = st.lists(st.sampled_from(["a", " a", "b", "c", ".", ","]), min_size=1, max_size=8)


@given(TOKENS, st.booleans(), st.integers(0, 10_000), st.data())
def test_the_scores_equal_slow_loops(tokens, causal, seed, data):
    flags = st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens))
    facts = sides(tokens, special=data.draw(flags), causal=causal)
    weights = random_weights(2, 3, facts.visible, seed)
    scores = measure(weights, facts, []).scores
    assert set(scores) == set(KINDS)
    for layer, head in np.ndindex(2, 3):
        slow = slow_scores(weights[layer, head], facts)
        assert {kind: scores[kind][layer, head] for kind in KINDS} == pytest.approx(slow, abs=1e-6)


@pytest.mark.parametrize("kind", OF_POSITIONS)
@pytest.mark.parametrize("special", [(False,) * 5, (True, False, False, False, True)])
def test_the_null_of_positions_is_the_mean_over_all_permutations(kind, special):
    facts = sides(tuple("abcde"), special=special, causal=kind != "next_token")
    weights = random_weights(1, 2, facts.visible, seed=3)
    means, deviations = head_kinds.permutation_null(weights, facts, kind)
    rows = np.flatnonzero(facts.cells[kind].any(axis=1))
    for head in range(2):
        variances, total = [], 0.0
        for row in rows:
            keys = [k for k in range(5) if facts.visible[0, row, k] and (kind == "first_token" or not special[k])]
            cell = keys.index(int(facts.cells[kind][row].argmax()))
            there = [order[cell] for order in permutations(weights[0, head, row, keys].astype(float))]
            total += float(np.mean(there))
            variances.append(np.var(there))
        assert means[0, head] == pytest.approx(total / len(rows), abs=1e-6)
        assert deviations[0, head] == pytest.approx(math.sqrt(sum(variances)) / len(rows), abs=1e-6)


@pytest.mark.parametrize("count", [2, 3, 10, 100])
def test_the_spread_of_random_weights_is_that_of_many_draws(count):
    drawn = np.random.default_rng(0).dirichlet(np.ones(count), size=4000)
    mean = -(drawn * np.log(drawn)).sum(axis=1).mean() / math.log(count)
    facts = sides([f"w{number}" for number in range(count)])
    assert head_kinds.random_spread(facts).item() == pytest.approx(mean, abs=0.01)


# Laws


@given(st.integers(0, 10_000), st.booleans())
def test_permuting_heads_permutes_scores_and_nulls(seed, causal):
    facts = sides(causal=causal)
    weights, *shuffles = (random_weights(2, 4, facts.visible, seed + step) for step in range(3))
    order = np.random.default_rng(seed).permutation(4)
    plain = measure(weights, facts, shuffles)
    permuted = measure(weights[:, order], facts, [shuffle[:, order] for shuffle in shuffles])
    for field in ("scores", "nulls", "errors", "leads"):
        for kind in KINDS:
            assert np.allclose(getattr(plain, field)[kind][:, order], getattr(permuted, field)[kind])
    assert np.array_equal(plain.keys[:, order], permuted.keys)


@given(TOKENS, st.booleans(), st.data())
def test_even_attention_never_exceeds_a_null(tokens, causal, data):
    flags = st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens))
    facts = sides(tokens, special=data.draw(flags), causal=causal)
    weights = np.broadcast_to(even(facts.visible[0]), (2, 3, len(tokens), len(tokens))).astype(np.float32)
    measured = measure(weights, facts, [weights] * 3)
    assert all((measured.scores[kind] <= measured.nulls[kind] + 1e-6).all() for kind in KINDS)
    assert finding(measured) is None
    assert cards(measured, None) == ()


@given(st.integers(0, 10_000), st.booleans())
def test_all_numbers_are_between_0_and_1(seed, causal):
    facts = sides(causal=causal)
    weights, *shuffles = (random_weights(2, 3, facts.visible, seed + step) for step in range(4))
    measured = measure(weights, facts, shuffles)
    for numbers in (measured.scores, measured.nulls, measured.leads):
        assert set(numbers) == set(KINDS)
        assert all(
            values.shape == (2, 3) and (values >= 0).all() and (values <= 1 + 1e-6).all() for values in numbers.values()
        )


def test_without_shuffles_no_word_is_pointed_at():
    measured = measure(layer_of(on_key(LOVED), at(-1)), sides(), [])
    best = finding(measured)
    assert best is not None
    assert best.kind == "previous_token"
    assert not [each for each in cards(measured, None) if each.kind not in OF_POSITIONS]


# Words and places


def test_a_head_that_follows_a_word_exceeds_its_null_and_one_that_keeps_a_place_does_not():
    measured = measured_heads(lambda tokens: (on_key(LOVED), on_word("loved", tokens)))
    assert measured.scores["points_at"][0] == pytest.approx([1, 1])
    assert measured.nulls["points_at"][0] == pytest.approx([1, 0])
    expected = Finding(kind="points_at", layer=0, head=1, key=LOVED, query=None, score=1.0, null=0.0, leads=1.0)
    assert finding(measured) == expected


def test_a_head_on_neighbours_keeps_to_them_in_any_order():
    measured = measured_heads(lambda tokens: (even(np.ones((COUNT, COUNT))), at(-1), at(1)))
    assert measured.nulls["previous_token"][0] == pytest.approx([0.1, 0.1, 0.1])
    best = finding(measured)
    assert best is not None
    assert (best.kind, best.head, best.key, best.leads) == ("previous_token", 1, None, 1)
    assert [(each.kind, each.head) for each in cards(measured, best)] == [("next_token", 2)]


def test_what_only_this_order_brings_about_is_no_head_of_positions():
    """Every query looks at its previous token, but in the shuffled texts at all alike."""
    measured = measure(layer_of(at(-1)), sides(), [layer_of(even(np.ones((COUNT, COUNT))))] * 8)
    assert [each.kind for each in head_kinds.findings_above_null(measured) if each.kind in OF_POSITIONS] == []


def test_a_word_that_most_attention_goes_to_comes_before_a_stronger_head_of_positions():
    measured = measured_heads(lambda tokens: (at(-1), 0.5 * on_word("loved", tokens) + 0.05))
    best = finding(measured)
    assert best is not None
    assert (best.kind, best.head, best.key) == ("points_at", 1, LOVED)
    assert [each.kind for each in cards(measured, best)] == ["previous_token"]


def test_a_word_that_little_attention_goes_to_does_not():
    measured = measured_heads(lambda tokens: (at(-1), 0.2 * on_word("loved", tokens) + 0.08))
    best = finding(measured)
    assert best is not None
    assert best.kind == "previous_token"
    assert [(each.kind, each.key) for each in cards(measured, best)] == [("points_at", LOVED)]


def test_punctuation_is_pointed_at_only_where_all_do():
    both = measured_heads(lambda tokens: (on_word(",", tokens), 0.4 * on_word("slow", tokens) + 0.06))
    best = finding(both)
    assert best is not None
    assert (best.kind, WORDS[best.key or 0], best.head) == ("points_at", "slow", 1)
    assert [(each.kind, each.head) for each in cards(both, best)] == [("punctuation", 0)]
    alone = finding(measured_heads(lambda tokens: (on_word(",", tokens), even(np.ones((COUNT, COUNT))))))
    assert alone is not None
    assert (alone.kind, WORDS[alone.key or 0]) == ("points_at", ",")


def test_a_line_s_end_is_no_word():
    tokens = ("one", "\n", "two", "three", "four")
    best = finding(measured_heads(lambda order: (on_word("\n", order), 0.5 * on_word("two", order) + 0.1), tokens))
    assert best is not None
    assert tokens[best.key or 0] == "two"


def test_a_sink_is_the_finding_only_where_nothing_else_exceeds_its_null():
    sink = np.tril(on_key(0, share=0.9))
    sink[:, 0] += 1 - sink.sum(axis=1)
    before = np.tril(0.4 * np.eye(COUNT, k=-1) + 0.6 * even(np.tril(np.ones((COUNT, COUNT)))))
    both = measured_heads(lambda tokens: (sink, normal(before)), causal=True)
    best = finding(both)
    assert best is not None
    assert (best.kind, best.head) == ("previous_token", 1)
    assert [(each.kind, each.key) for each in cards(both, best)] == [("first_token", 0)]
    alone = finding(measured_heads(lambda tokens: (sink,), causal=True))
    assert alone is not None
    assert (alone.kind, alone.key) == ("first_token", 0)


def test_a_head_that_mostly_keeps_to_the_first_place_is_a_sink_even_where_this_first_word_gets_more():
    def heads(tokens):
        return (on_key(0, share=0.9 if tokens[0] == "the" else 0.5),)

    best = finding(measured_heads(heads))
    assert best is not None
    assert best.kind == "first_token"


def test_of_equal_heads_the_first_is_found():
    measured = measured_heads(
        lambda tokens: (on_word("slow", tokens), on_word("loved", tokens), on_word("slow", tokens))
    )
    best = finding(measured)
    assert best is not None
    assert (best.head, WORDS[best.key or 0]) == (0, "slow")


def test_cards_are_of_other_kinds_and_other_heads_the_largest_excess_first():
    def heads(tokens):
        comma = 0.9 * on_word(",", tokens) + 0.01
        return (on_word("loved", tokens), at(-1), at(1), 0.5 * at(-1) + 0.05, comma, on_key(0))

    measured = measured_heads(heads)
    best = finding(measured)
    offered = cards(measured, best)
    assert [(each.kind, each.head) for each in offered] == [
        ("previous_token", 1),
        ("next_token", 2),
        ("first_token", 5),
        ("punctuation", 4),
    ]
    excesses = [each.excess for each in offered]
    assert excesses == sorted(excesses, reverse=True)
    assert cards(measured, best, most=2) == offered[:2]


def test_every_notable_head_has_what_it_does_best_and_the_finding_is_the_best_of_its_head():
    measured = measured_heads(lambda tokens: (on_word("slow", tokens), at(-1), 0.5 * at(1) + 0.05))
    best = best_of_heads(measured)
    first = finding(measured)
    assert first is not None
    assert best[first.layer, first.head] == first
    assert best[0, 1].kind == "previous_token"
    assert best.keys() >= {(each.layer, each.head) for each in cards(measured, first)}


@pytest.mark.parametrize("name", ["sentiment", "stories"])
def test_a_score_is_the_mean_of_its_cells_over_the_queries_that_have_any(name):
    bundled = load_checkpoint(name)
    trace = bundled.trace("The film was slow, but I loved the film.")
    kind = "encoder" if trace.encoder is not None else "decoder"
    weights = getattr(trace, kind).weights().numpy()
    measured = measure(weights, sides_of(trace, kind), shuffled_weights(bundled, trace, kind))
    for (layer, head), best in best_of_heads(measured).items():
        marked = cells_of(measured.sides, best)
        if best.kind == "spreads":
            assert not marked.any()
            continue
        rows = marked.any(axis=1)
        assert (weights[layer, head] * marked).sum(axis=1)[rows].mean() == pytest.approx(best.score, abs=1e-6)


def test_texts_without_a_choice_have_no_finding():
    for tokens, special, causal in [
        (("one",), None, False),
        (("one",), None, True),
        (("[CLS]", "[SEP]"), [True] * 2, False),
    ]:
        facts = sides(tokens, special=special, causal=causal)
        weights = random_weights(2, 2, facts.visible, seed=0)
        measured = measure(weights, facts, [weights])
        assert finding(measured) is None
        assert cards(measured, None) == ()
        assert not any(values.any() for values in measured.scores.values())


def test_a_single_query_is_named():
    measured = measure(layer_of(np.array([[1, 0], [1, 0]])), sides(("a", "b"), causal=True), [layer_of(np.eye(2))] * 2)
    best = finding(measured)
    assert best is not None
    assert (best.kind, best.key, best.query) == ("points_at", 0, 1)


def test_a_key_without_half_of_the_queries_leads_is_told():
    half = np.concatenate([on_key(LOVED)[:4], on_key(3)[4:]])
    measured = measure(layer_of(half), sides(), [layer_of(even(np.ones((COUNT, COUNT))))] * 2)
    assert (measured.keys.item(), measured.leads["points_at"].item()) == (3, pytest.approx(0.6))


def test_a_sharp_head_does_not_spread_widely_because_a_shuffled_text_makes_it_sharper():
    half = normal(np.eye(COUNT) + np.eye(COUNT, k=1) + np.eye(COUNT, k=-1))
    measured = measure(layer_of(half), sides(), [layer_of(np.eye(COUNT))] * 8)
    assert measured.scores["spreads"].item() > 0.4
    assert measured.shuffled["spreads"].item() == 0
    assert "spreads" not in [each.kind for each in head_kinds.findings_above_null(measured)]


def test_a_head_that_spreads_more_than_random_weights_and_shuffled_texts_is_told():
    wide = even(np.ones((COUNT, COUNT)))
    measured = measure(layer_of(wide, wide), sides(), [layer_of(np.eye(COUNT), wide)] * 8)
    assert [each.head for each in head_kinds.findings_above_null(measured) if each.kind == "spreads"] == [0]


def test_a_card_that_points_at_punctuation_is_called_punctuation():
    measured = measured_heads(lambda tokens: (at(-1), on_word(",", tokens)))
    best = finding(measured)
    assert best is not None
    assert best.kind == "previous_token"
    assert [(each.kind, each.head) for each in cards(measured, best)] == [("punctuation", 1)]


def test_the_head_of_the_finding_is_no_card():
    measured = measured_heads(lambda tokens: (0.5 * at(-1) + 0.5 * on_word(",", tokens),))
    kinds = {each.kind for each in head_kinds.findings_above_null(measured)}
    assert {"previous_token", "punctuation"} <= kinds
    assert cards(measured, finding(measured)) == ()


def test_a_score_within_the_error_of_its_null_does_not_exceed_it():
    heads = [layer_of(on_key(LOVED, share=share)) for share in (0.0, 0.4)]
    measured = measure(layer_of(on_key(LOVED, share=0.4)), sides(), heads * 4)
    assert measured.scores["points_at"] - measured.nulls["points_at"] == pytest.approx(np.array([[0.18]]))
    assert measured.errors["points_at"] == pytest.approx(np.array([[0.18 / math.sqrt(7)]]))
    assert "points_at" not in [each.kind for each in head_kinds.findings_above_null(measured)]


def test_special_queries_lead_nowhere():
    facts = sides(("[CLS]", "a", "b"), special=[True, False, False])
    measured = measure(layer_of(on_key(1, 3)), facts, [])
    assert measured.leads["points_at"].item() == 1


def test_a_key_may_be_seen_where_any_head_may_see_it():
    stack: Any = checkpoint("decoder").trace(TEXT).decoder
    attention = stack.blocks[0].self_attention
    mask = attention.mask
    heads = torch.stack([torch.zeros_like(mask), mask, mask, mask])
    block = replace(stack.blocks[0], self_attention=replace(attention, mask=heads))
    seen = head_kinds.visible_of(replace(stack, blocks=(block,)))
    assert np.array_equal(seen[0], mask)


def test_weights_that_do_not_fit_are_refused():
    weights = layer_of(at(-1))
    with pytest.raises(ValueError, match=r"shape \(1, 1, 10, 10\), wanted \(1, 1, 2, 2\)"):
        measure(weights, sides(("a", "b")), [])
    with pytest.raises(ValueError, match=r"shape \(1, 2, 10, 10\), wanted \(1, 1, 10, 10\)"):
        measure(weights, sides(), iter([layer_of(at(-1), at(1))]))  # not looked into by the checker of shapes


# Shuffles


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(0, 1000), st.data())
def test_a_shuffle_moves_every_token_but_the_special_ones(ids, seed, data):
    special = data.draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids)))
    order = shuffled_ids(range(len(ids)), special, seed)
    assert sorted(order) == list(range(len(ids)))
    movable = [place for place, kept in enumerate(special) if not kept]
    stayed = {place for place, token in enumerate(order) if place == token}
    assert stayed == set(range(len(ids))) - (set(movable) if len(movable) > 1 else set())
    assert shuffled_ids(ids, special, seed) == tuple(ids[place] for place in order)


def test_shuffles_differ_by_seed_and_are_the_same_for_the_same():
    ids = range(12)
    assert len({shuffled_ids(ids, None, seed) for seed in range(8)}) == 8
    assert shuffled_ids(ids, None, 3) == shuffled_ids(ids, None, 3)
    assert [shuffle_count(length) for length in (1, 128, 256, 512)] == [8, 8, 4, 2]


@pytest.mark.parametrize(
    ("architecture", "attention"),
    [
        ("encoder", "encoder"),
        ("decoder", "decoder"),
        *(("encoder-decoder", name) for name in ("encoder", "decoder", "cross")),
    ],
)
@pytest.mark.parametrize(
    "edits", [Edits(), Edits(muted=frozenset({HeadSite("encoder", 0, 1), HeadSite("decoder", 0, 1)}))]
)
def test_the_weights_of_shuffles_are_those_of_a_trace_of_the_shuffled_ids(architecture, attention, edits):
    if edits != Edits():
        edits = Edits(muted=frozenset(site for site in edits.muted if site.stack in architecture))
    tiny: Any = checkpoint(architecture)
    trace = tiny.trace(TEXT, edits=edits)
    given = {name: stack.ids.tolist() for name in ("encoder", "decoder") if (stack := getattr(trace, name)) is not None}
    shuffled = "decoder" if attention == "decoder" else "encoder"
    for seed, weights in enumerate(shuffled_weights(tiny, trace, attention, edits, count=3)):
        ids = given | {shuffled: shuffled_ids(given[shuffled], getattr(trace, shuffled).special, seed)}
        again = tiny.trace_ids(*(ids[name] for name in given), edits=edits)
        stack = getattr(again, "encoder" if attention == "encoder" else "decoder")
        assert np.allclose(weights, stack.cross_weights() if attention == "cross" else stack.weights(), atol=1e-5)


def test_a_long_text_is_computed_as_a_short_one():
    tiny: Any = checkpoint("decoder", max_length=300)
    trace = tiny.trace_ids([place % 70 for place in range(300)])
    one, two = shuffled_weights(tiny, trace, "decoder", count=2)
    ids = trace.decoder.ids.tolist()
    assert np.allclose(two, tiny.trace_ids(shuffled_ids(ids, None, 1)).decoder.weights(), atol=1e-5)
    assert not np.allclose(one, two)


def test_equal_tokens_have_no_other_order():
    tiny: Any = checkpoint("decoder")
    assert list(shuffled_weights(tiny, tiny.trace_ids([5, 5, 5]), "decoder")) == []


# Real traces


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_sides_of_a_trace_are_those_of_its_attentions(architecture):
    trace = checkpoint(architecture).trace(TEXT)
    for attention in {"encoder-decoder": ("encoder", "decoder", "cross")}.get(architecture, (architecture,)):
        facts = sides_of(trace, attention)
        stack = trace.encoder if attention == "encoder" else trace.decoder
        block = stack.blocks[0]
        mask = (block.cross_attention if attention == "cross" else block.self_attention).mask
        assert np.array_equal(facts.visible[0], mask)
        assert facts.one_text == (attention != "cross")
        assert facts.key_tokens == (trace.encoder if attention != "decoder" and trace.encoder else stack).tokens


def test_layers_with_a_window_see_less():
    tiny: Any = checkpoint("decoder", window=2, windowed_layers=(1,))
    facts = sides_of(tiny.trace(TEXT), "decoder")
    seen = facts.visible.sum(axis=-1)
    assert (seen[0, -1], seen[1, -1]) == (len(facts.key_tokens), 2)
    weights = np.stack([even(layer)[None] for layer in facts.visible]).astype(np.float32)
    null, _ = head_kinds.permutation_null(weights, facts, "previous_token")
    assert null[1, 0] == pytest.approx(0.5)
    assert head_kinds.previous_token(weights, facts) == pytest.approx(null, abs=1e-6)


def found_in(name, text, attention) -> tuple[Finding | None, tuple[str, ...]]:
    bundled = load_checkpoint(name, device="cpu")
    trace = bundled.trace(text)
    stack: Any = trace.encoder if attention == "encoder" else trace.decoder
    weights = np.asarray(stack.cross_weights() if attention == "cross" else stack.weights())
    facts = sides_of(trace, attention)
    return finding(measure(weights, facts, shuffled_weights(bundled, trace, attention))), facts.key_tokens


@pytest.mark.parametrize(("text", "word"), [("The film was slow, but I loved it.", "loved"), ("I hated it.", "hated")])
def test_the_sentiment_model_looks_at_the_word_that_decides(text, word):
    best, tokens = found_in("sentiment", text, "encoder")
    assert best is not None
    assert (best.kind, tokens[best.key or 0], best.leads) == ("points_at", word, 1)
    assert (best.layer, best.head) == FOUND or word != "loved"
    assert best.score > 0.9
    assert best.null < 0.1


@pytest.mark.parametrize(
    ("name", "text", "attention"),
    [
        ("stories", "Once upon a time there was a little dragon who lived in a cave.", "decoder"),
        *(("translate-en-fr", "The red house is big.", attention) for attention in ("encoder", "decoder", "cross")),
    ],
)
def test_every_bundled_model_has_a_finding_about_a_word(name, text, attention):
    best, tokens = found_in(name, text, attention)
    assert best is not None
    assert best.kind == "points_at"
    assert tokens[best.key or 0].strip().isalpha()
    assert replace(best, score=0.0).excess == -best.null
