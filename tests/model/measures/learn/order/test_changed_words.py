"""Words that changed, against the definition of a longest common subsequence tried out in full."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.measures.learn.order.changed_words import (
    changed_words,
    counts_to_guess,
    longest_common,
    lost_words,
    other_number,
    others_changed,
)

LETTERS = st.lists(st.sampled_from("abc"), max_size=6)
KNOWN = {"friend", "friends", "house", "houses", "dog", "dogs", "cats", "cat"}


def subsequences(word: list[str]) -> set[tuple[str, ...]]:
    return {tuple(chosen) for size in range(len(word) + 1) for chosen in combinations(word, size)}


@given(LETTERS, LETTERS)
def test_no_common_subsequence_is_longer(first, second):
    pairs = longest_common(first, second)
    assert len(pairs) == max(map(len, subsequences(first) & subsequences(second)))
    assert all(first[one] == second[other] for one, other in pairs)
    assert all(one < later and other < last for (one, other), (later, last) in pairwise(pairs))


@pytest.mark.parametrize(
    ("first", "second", "count", "new"),
    [
        ("Tu es mon ami.", "Vous êtes mes amis.", 4, [True] * 4),
        ("Tu es mon ami.", "Vous êtes mon ami.", 2, [True, True, False, False]),
        ("Mon frère est médecin.", "Mes frères sont un médecin.", 4, [True, True, True, True, False]),
        ("Je vois.", "je vois !", 0, [False, False]),
        ("Le chien a mordu l'homme.", "Le chien a l'homme", 1, [False] * 4),
        ("", "Oui.", 1, [True]),
    ],
)
def test_words_change_without_their_punctuation_and_case(first, second, count, new):
    changed = changed_words(first, second)
    assert (changed.count, list(changed.new)) == (count, new)


def test_each_side_marks_what_the_other_lacks():
    changed = changed_words("a b c", "a c d e")
    assert (changed.gone, changed.new) == ((False, True, False), (False, False, True, True))


@pytest.mark.parametrize(
    ("words", "ranges"),
    [
        (0, [[0], [1], [2]]),
        (1, [[0], [1], [2]]),
        (4, [[0], [1], [2]]),
        (6, [[0], [1], [2], [3]]),
        (9, [[0], [1], [2], [3, 4]]),
    ],
)
def test_every_count_can_be_guessed_once(words, ranges):
    counts = counts_to_guess(words)
    assert [list(each) for each in counts[:-1]] == ranges
    assert all(sum(number in each for each in counts) == 1 for number in range(60))
    assert 3 <= len(counts) <= 6


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("You are my friend.", "You are my friends."),
        ("I see the cats!", "I see the cat!"),
        ("The red house is his.", "The red houses is his."),
        ("The dog is mine (house)", "The dog is mine (houses)"),
        ("Your ship.", None),
        ("🎬", None),
        ("", None),
        ("שלום", None),
    ],
)
def test_the_last_word_that_is_known_both_ways_gets_an_s_or_loses_it(text, after):
    change = other_number(text, KNOWN.__contains__)
    assert (change and change.text) == after
    assert change is None or change.added == (len(change.text) > len(text))


@pytest.mark.parametrize("word", ["its", "this", "grass", "is", "you"])
def test_an_s_that_is_no_ending_stays(word):
    assert other_number(f"{word}", lambda _: True) is None


def test_the_word_that_was_given_is_not_counted():
    changed = changed_words("Tu es mon ami.", "Vous êtes mon ami.")
    assert others_changed(changed, "Vous") == 1
    assert others_changed(changed, "Vous êtes mon") == 2
    assert others_changed(changed, "") == 2


@pytest.mark.parametrize(
    ("first", "second", "lost", "new"),
    [
        ("Le chien a mordu", "a le chien", (0, 0, 0, 1), (0, 0, 0)),
        ("Mon ami", "ami ami est mon", (0, 0), (0, 1, 1, 0)),
        ("le le", "Le", (0, 1), (0,)),
    ],
)
def test_words_are_lost_whatever_their_order(first, second, lost, new):
    assert lost_words(first, second) == (tuple(map(bool, lost)), tuple(map(bool, new)))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("The dog sees a cat near my friend.", "friends"),
        ("My friend is a doctor near the dog.", "dogs"),
        ("The dog saw a cat.", "dogs"),
        ("My friend is a doctor.", "doctors"),
    ],
)
def test_a_word_beside_which_nothing_has_to_agree_comes_first(text, after):
    change = other_number(text, {"dog", "dogs", "cat", "cats", "friend", "friends", "doctor", "doctors"}.__contains__)
    assert change is not None
    assert change.after == after
