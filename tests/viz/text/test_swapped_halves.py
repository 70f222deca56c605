"""A text with its halves, or two of its words, in the other order."""

import pytest

from model import load_checkpoint
from viz.text.swapped_halves import swapped_halves, word_span
from viz.text.swapped_spans import swapped_spans

TWO = ("The film was slow, but I loved it.", "I loved the film, but it was slow.")


@pytest.mark.parametrize(("text", "swapped"), [TWO, TWO[::-1]])
def test_the_name_comes_before_its_pronoun_in_both_orders(text, swapped):
    assert swapped_halves(text) == swapped


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("I wanted to like it, but the plot makes no sense.", "The plot makes no sense, but I wanted to like it."),
        ("Hello. He came, I went!", "Hello. I went, he came!"),
        ("Not slow but good", "Good but not slow"),
        ("A great cast, a big budget, and nothing to say.", "Nothing to say, and a great cast, a big budget."),
        ("IT WAS SLOW, BUT I LOVED IT.", "I LOVED IT, BUT IT WAS SLOW."),
        ("A BORE, but I laughed", "I laughed, but A BORE"),
        ('He said "yes, no", but I left.', 'I left, but he said "yes, no".'),
        ("Paul was late, but Mary was not.", "Mary was not, but Paul was late."),
    ],
)
def test_halves_are_swapped_at_but_or_at_the_middle_comma(text, swapped):
    assert swapped_halves(text) == swapped


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("Great acting, but the plot is thin.", "The plot is thin, but great acting."),
        ("Great Expectations is long, but it is good.", "It is good, but Great Expectations is long."),
        ("Because it rained we left, but she stayed.", "She stayed, but because it rained we left."),
        ("Reading is slow, but I like reading.", "I like reading, but reading is slow."),
        ("Reading was dull, but London was fun.", "London was fun, but Reading was dull."),
        ("I cried, but i liked her.", "I liked her, but I cried."),
        ("Bad BUT true.", "True BUT bad."),
        ("It's slow, but we laughed. It's good.", "We laughed, but it's slow. It's good."),
        ("Rose left, but roses stayed.", "Roses stayed, but Rose left."),
        ("Paul's late, but he came.", "He came, but Paul's late."),
    ],
)
def test_a_first_word_keeps_its_capital_in_the_middle_only_where_it_may_be_a_name(text, swapped):
    assert swapped_halves(text) == swapped


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "but no",
        ", ,",
        "no comma here.",
        "😀, ",
        "a,b",
        "...",
        "but",
        'He said: "yes, no"',
        '"Go. I saw, you hid," he said, and left.',
    ],
)
def test_where_there_is_nothing_to_swap_none_comes_back(text):
    assert swapped_halves(text) is None


def test_two_words_change_places_with_all_their_pieces_and_the_spaces_stay():
    text = "An  unforgettably odd film."
    stack = load_checkpoint("sentiment").trace(text).encoder
    assert stack is not None
    assert stack.spans is not None
    spans = [word_span(stack.spans, stack.words, place) for place in (1, len(stack.ids) - 2)]
    assert swapped_spans(text, *filter(None, spans)) == "An  film odd unforgettably."


def test_the_space_that_belongs_to_a_token_stays_where_it_is():
    stack = load_checkpoint("stories").trace("The red house").decoder
    assert stack is not None
    assert stack.spans is not None
    spans = [word_span(stack.spans, stack.words, place) for place in (0, 2)]
    assert swapped_spans("The red house", *filter(None, spans)) == "house red The"


def test_spans_that_overlap_are_refused_and_what_was_not_typed_has_none():
    with pytest.raises(ValueError, match="overlap"):
        swapped_spans("abcdef", (0, 3), (2, 5))
    assert word_span([(0, 1), None], [0, None], 1) is None
    assert word_span([(0, 1)], None, 5) is None
