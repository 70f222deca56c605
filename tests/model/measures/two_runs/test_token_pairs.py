"""Which token stands for which: matched pieces, equal frames, words that moved, pieces cut in other ways."""

from itertools import combinations
from typing import Any

import pytest

from model import load_checkpoint
from model.measures.two_runs.token_pairs import Pairing, by_hand, common_subsequence, paired, piece_pairs, token_pairs
from model.tokenizer import Tokenizer
from tests import tiny

FILM, SWAPPED = "The film was slow, but I loved it.", "I loved the film, but it was slow."


def partners(first: str, second: str) -> list[tuple[str, str]]:
    """By words, of the same sort."""
    one, other = first.split(), second.split()
    return [(one[at], other[to]) for at, to in paired(one, other, [0] * len(one), [0] * len(other))]


def traced(text: str, name: str = "sentiment") -> Any:
    return load_checkpoint(name).trace(text).text_stack


def test_equal_words_are_partners_and_a_word_in_the_same_frame_is_the_partner_of_the_other():
    assert partners("the dog bit a man", "the cat bit a man") == [
        ("the", "the"), ("dog", "cat"), ("bit", "bit"), ("a", "a"), ("man", "man"),
    ]  # fmt: skip


def test_a_word_that_was_put_in_has_no_partner():
    assert partners("the dog bit", "the big dog bit") == [("the", "the"), ("dog", "dog"), ("bit", "bit")]


def test_texts_with_nothing_in_common_are_paired_in_order_sort_by_sort():
    assert partners("hello", "good morning everyone") == [("hello", "good")]
    assert paired("xab", "ycde", [1, 0, 0], [1, 0, 0, 0]) == ((0, 0), (1, 1), (2, 2))
    assert paired("ab", "c", [0, 0], [1]) == ()


def test_a_word_that_each_text_has_once_is_its_own_partner_wherever_it_stands():
    pairs = dict(partners("the waiter was rude and the food was good", "the food was good and the waiter was rude"))
    assert {pairs[word] for word in ("rude", "good", "waiter", "food")} == {"rude", "good", "waiter", "food"}
    assert all(pairs[word] == word for word in ("rude", "good", "waiter", "food"))
    assert dict(partners("a dog and a cat", "a cat and a dog")) == {"a": "a", "dog": "dog", "and": "and", "cat": "cat"}


def test_words_that_only_moved_are_partners():
    first, second = traced(FILM), traced(SWAPPED)
    pairing = token_pairs(first, second)
    assert pairing.alone() == ([], [])
    assert all(first.tokens[at].lower() == second.tokens[to].lower() for at, to in pairing.pairs)


def test_the_subsequence_is_as_long_as_the_longest_of_all_that_are_tried():
    for first, second in (("abcbdab", "bdcaba"), ("xay", "yax"), ("", "ab"), ("aabb", "abab")):
        found = common_subsequence(first, second)
        assert all(first[at] == second[to] for at, to in found)
        assert list(found) == sorted(found)
        assert sorted(to for _, to in found) == [to for _, to in found]
        longest = max(
            size
            for size in range(len(first) + 1)
            for chosen in combinations(first, size)
            if chosen in set(combinations(second, size))
        )
        assert len(found) == longest


def test_an_added_token_is_the_partner_of_an_added_token_alone():
    first, second = traced("A dog.", "translate-en-fr"), traced("The old cats sleep here.", "translate-en-fr")
    pairing = token_pairs(first, second)
    assert (len(first.ids) - 1, len(second.ids) - 1) in pairing.pairs
    assert all(first.special[at] == second.special[to] for at, to in pairing.pairs)


def test_equal_texts_are_paired_place_by_place():
    pairing = token_pairs(traced(FILM), traced(FILM))
    assert pairing.pairs == tuple((place, place) for place in range(len(pairing.first)))
    assert pairing.places() == list(range(len(pairing.first)))


def test_reversed_pairs_lead_back():
    pairing = token_pairs(traced(FILM), traced("The film was very slow."))
    assert pairing.reversed().reversed() == pairing
    assert {(to, at) for at, to in pairing.pairs} == set(pairing.reversed().pairs)


def test_pieces_are_merged_where_the_tokenizers_cut_in_other_ways_and_nowhere_else():
    first = tiny.checkpoint().trace(tiny.TEXT).encoder
    letters = Tokenizer.train_word_pieces(iter([".", "the", "b i t d o g m a n"]), size=30)
    second = type(tiny.checkpoint())("letters", *vars_of(letters)).trace(tiny.TEXT).encoder
    pairing = piece_pairs(first, second, [tiny.TEXT])
    for at, to in pairing.pairs:
        if first.special[pairing.first[at][0]]:
            continue
        spans = [
            [stack.spans[place] for place in unit]
            for stack, unit in ((first, pairing.first[at]), (second, pairing.second[to]))
        ]
        assert (spans[0][0][0], spans[0][-1][1]) == (spans[1][0][0], spans[1][-1][1])
    assert pairing.alone() == ([], [])
    assert sorted(place for unit in pairing.second for place in unit) == list(range(len(second.ids)))


def vars_of(tokenizer: Tokenizer) -> Any:
    """A tiny model with another tokenizer: the rest of a checkpoint."""
    made = tiny.checkpoint()
    return made.model, tokenizer, {}, made.device


@pytest.mark.parametrize("other", ["stories", "translate-en-fr"])
def test_the_words_of_one_text_are_partners_in_two_models(other):
    first, second = traced(FILM), traced(FILM, other)
    pairing = piece_pairs(first, second, [FILM])
    typed = [unit for at, unit in enumerate(pairing.first) if not first.special[unit[0]]]
    assert len([pair for pair in pairing.pairs if pairing.first[pair[0]] in typed]) == len(typed)


def test_columns_hold_every_unit_once_with_partners_together():
    pairing = Pairing(first=((0,), (1,), (2,)), second=((0,), (1,), (2,), (3,)), pairs=((0, 1), (2, 2)))
    assert pairing.columns() == [(None, 0), (0, 1), (1, None), (2, 2), (None, 3)]


def test_pairs_made_by_hand_are_checked():
    first, second = traced("A dog.", "translate-en-fr"), traced("A cat.", "translate-en-fr")
    found, end = token_pairs(first, second), len(first.ids) - 1
    assert by_hand(found, [(2, 1), (1, 2)], first, second).pairs == ((1, 2), (2, 1))
    for pairs in ([], [(1, 1), (1, 2)], [(1, 1), (2, 1)], [(1, 99)], [(end, 1)]):
        with pytest.raises(ValueError, match="pairs"):
            by_hand(found, pairs, first, second)


def test_words_of_several_pieces_have_no_single_place():
    with pytest.raises(ValueError, match="no single place"):
        Pairing(first=((0, 1),), second=((0,),), pairs=((0, 0),)).places()
