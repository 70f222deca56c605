"""A model's own text where a sentence has room for a part of it alone."""

from hypothesis import given
from hypothesis import strategies as st

from viz.text.weight_sentences import LONGEST_OUTPUT, change, quoted, shortened, text_line, where_they_differ

TEXTS = st.lists(st.text("ab", min_size=1, max_size=9), min_size=1, max_size=40).map(" ".join)
LOOP = "bit m l " + "w " * 60


def test_a_long_text_ends_between_two_words():
    assert shortened("La maison rouge est grande.") == "La maison rouge est grande."
    assert shortened(LOOP) == f"bit m l{' w' * 36} …"
    assert shortened("x" * 200) == f"{'x' * LONGEST_OUTPUT} …"


def test_a_change_that_one_decimal_would_hide_has_two():
    before = {"positive": 0.99671, "negative": 0.00329}
    assert change(before, {"positive": 0.9973, "negative": 0.0027}) == "positive 99.67\u00a0% → 99.73\u00a0%"
    assert change(before, {"positive": 0.5, "negative": 0.5}) == "positive 99.7\u00a0% → 50.0\u00a0%"
    assert change(before, {"positive": 0.25, "negative": 0.75}).endswith("→ 25.0\u00a0%, now negative 75.0\u00a0%")


def test_of_two_texts_that_fit_both_are_whole():
    assert where_they_differ("La maison est grande.", "La maison.") == ("La maison est grande.", "La maison.")


def test_two_long_texts_begin_a_few_words_before_they_part():
    old, new = where_they_differ(f"{LOOP}and here it ends", f"{LOOP}and there it ends")
    assert (old, new) == (f"…{' w' * 8} and here it ends", f"…{' w' * 8} and there it ends")


@given(TEXTS, TEXTS, TEXTS)
def test_what_tells_two_texts_apart_is_in_sight_and_the_line_bounded(start, old, new):
    first, second = where_they_differ(f"{start} {old}", f"{start} {new}")
    assert max(map(len, (first, second))) <= LONGEST_OUTPUT + len("…  …")
    assert (first == second) == (old == new)


def test_an_output_of_special_tokens_alone_is_not_cited_as_words():
    assert (text_line(" La\n maison "), quoted("La maison")) == ("La maison", "“La maison”")
    assert (text_line(" \n"), quoted("")) == ("(no words, only special tokens)", "no words, only special tokens")
