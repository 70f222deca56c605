"""The pictures and words of the questions on order and on writing: the numbers that they were given, and no others."""

import numpy as np
import pytest

from model import load_checkpoint
from model.measures.learn.order.changed_words import changed_words, counts_to_guess
from model.measures.learn.order.two_verdicts import TwoVerdicts, same_tokens
from model.measures.learn.order.written_steps import NextToken, PartingStep, WrittenSteps
from viz.charts.learn.position_hands import MOST_HANDS, hands_chart
from viz.charts.learn.position_waves import position_waves
from viz.sentences.sentence_rows import LONGEST, Row, RowGroup, sentence_rows
from viz.sentences.word_links import Side, word_links, written_until
from viz.text.learn.stops import one_word_at_a_time as writing
from viz.text.learn.stops import word_order
from viz.theme import DARK, LIGHT


def rows_of(chart, layer: int) -> list[dict]:
    spec = chart.to_dict()
    data = spec["layer"][layer].get("data", spec.get("data"))
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_hand_of_a_clock_points_where_it_should(theme):
    before, after = np.arange(10.0).reshape(2, 5), np.arange(100.0, 110.0).reshape(2, 5)
    chart = hands_chart(before, after, [6.283, 401.2], ("before", "after"), theme=theme)
    hands = {(row["when"], row["clock"], row["position"]): row["angle"] for row in rows_of(chart, 1)}
    assert len(hands) == 2 * 2 * MOST_HANDS
    for name, angles in (("before", before), ("after", after)):
        assert all(hands[name, *place] == angles[place] for place in np.ndindex(2, MOST_HANDS))
    assert [row["turn"] for row in rows_of(chart, 0)] == ["1 turn in 6.3\npositions", "1 turn in 401\npositions"]


def test_hands_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="wanted as many"):
        hands_chart(np.zeros((2, 3)), np.zeros((2, 3)), [1.0], ("a", "b"))


def test_the_waves_are_four_coordinates_of_the_vectors():
    vectors = np.random.default_rng(0).normal(size=(5, 16))
    rows = rows_of(position_waves(vectors), 0)
    drawn = {(row["line"], row["place"]): row["value"] for row in rows}
    assert {line for line, _ in drawn} == {"coordinate 1", "coordinate 3", "coordinate 5", "coordinate 7"}
    for (line, place), value in drawn.items():
        assert value == pytest.approx(vectors[int(place) - 1, int(line.split()[1]) - 1])


def test_a_marked_word_is_a_part_of_its_own():
    row = Row(label="a\nb", text="Vous êtes mon ami.", marked=(True, True, False, False))
    (group,) = sentence_rows([RowGroup(title="", rows=[row])])["groups"]
    parts = group["rows"][0]["parts"]
    assert [part["text"] for part in parts if part["marked"]] == ["Vous", "êtes"]
    assert "".join(part["text"] for part in parts) == "Vous êtes mon ami."
    assert group["rows"][0]["label"] == "a b"


def test_what_is_to_be_guessed_is_not_sent():
    (group,) = sentence_rows([RowGroup(title="", rows=[Row(label="x" * 900, text=None)])])["groups"]
    assert group["rows"][0]["parts"] == [{"text": "?", "marked": False}]
    assert len(group["rows"][0]["label"]) == LONGEST


def test_marks_that_do_not_fit_the_words_are_refused():
    with pytest.raises(ValueError, match="3 marks came with 2 words"):
        sentence_rows([RowGroup(title="", rows=[Row(label="", text="a b", marked=(True,) * 3)])])


def test_words_not_written_yet_have_neither_letters_nor_links():
    side = Side(words=("un", "deux"), special=(False, False))
    links = word_links(np.array([[0.9, 0.1], [0.2, 0.8]]), side, side, [0, 1], 0)
    first, second = written_until(links, 0, "later")["targets"]
    assert (first["text"], second["text"], second["said"], second["links"]) == ("un", "?", "later", [])
    assert first["links"]
    assert written_until(links, 1, "later") == links


def order_of(text: str, name: str = "sentiment") -> str | None:
    checkpoint = load_checkpoint(name)
    stack = checkpoint.trace(text, target="" if name != "sentiment" else None).text_stack
    return word_order.other_order(text, stack, lambda other: same_tokens(checkpoint.tokenizer, text, other))


@pytest.mark.parametrize(
    ("text", "name", "order"),
    [
        ("The film was slow, but I loved it.", "sentiment", "I loved the film, but it was slow."),
        ("My brother is a doctor.", "sentiment", "My doctor is a brother."),
        ("The dog bit the man.", "translate-en-fr", "The man bit the dog."),
        ("The film was slow, but I loved it.", "translate-en-fr", "The loved was slow, but I film it."),
        ("Fine.", "sentiment", ". Fine"),
        ("🎬", "sentiment", None),
    ],
)
def test_the_other_order_has_the_same_tokens(text, name, order):
    assert (order_of(text, name) or "").replace(" ", "") == (order or "").replace(" ", "")


def test_neighbours_are_words_that_stand_side_by_side():
    text = "The film was slow."
    swapped = word_order.neighbours_swapped(text, load_checkpoint("sentiment").trace(text).text_stack)
    assert swapped == {
        "1 · The ⇄ film": "film The was slow.",
        "2 · film ⇄ was": "The was film slow.",
        "3 · was ⇄ slow": "The film slow was.",
    }


@pytest.mark.parametrize(
    ("second", "name"), [(0.9, "less than 0.1 points"), (0.896, "0.4 points"), (0.1406, "75.9 points")]
)
def test_a_difference_is_told_as_finely_as_it_is_large(second, name):
    assert word_order.apart_name(TwoVerdicts(answer="a", first=0.9, second=second, same_answer=True)) == name


@pytest.mark.parametrize(("second", "said"), [(0.484, "It hardly notices"), (0.3, "It notices")])
def test_another_answer_by_a_hair_is_no_notice(second, said):
    plain = TwoVerdicts(answer="positive", first=0.501, second=second, same_answer=False)
    form = word_order.order_answer(plain, 0)
    assert form.startswith(said)
    assert "nother answer wins" in form


@pytest.mark.parametrize(("second", "option"), [(0.9, 3), (0.905, 2), (0.95, 1), (0.2, 0)])
def test_the_options_say_how_far_apart_the_verdicts_are(second, option):
    bare = TwoVerdicts(answer="positive", first=0.9, second=second, same_answer=True)
    assert word_order.bare_option(bare) == option
    names = word_order.words(bare, bare, "x", width=8)
    assert names["bare_first"] in word_order.BARE_ANSWERS[option].format(**names)


def test_only_what_is_equal_is_explained_by_sums():
    equal, apart = (TwoVerdicts(answer="a", first=0.9, second=s, same_answer=True) for s in (0.9, 0.7))
    assert word_order.bare_sentence(equal, same_tokens=True) == word_order.BARE_EQUAL
    assert word_order.bare_sentence(apart, same_tokens=True) == word_order.BARE_MASK
    assert word_order.bare_sentence(apart, same_tokens=False) == word_order.BARE_OTHER_TOKENS


def test_only_positions_beyond_the_longest_text_are_called_so():
    assert "not trained" not in word_order.shifted_sentence(502, 10, 512)
    assert "not trained" in word_order.shifted_sentence(503, 10, 512)
    assert "1,000 to 1,009" in word_order.shifted_sentence(1000, 10, 512)


@pytest.mark.parametrize("lost", [(), (False,), (True, False), (True, True), (True,) * 9])
def test_every_number_of_lost_words_has_its_answer(lost):
    names = word_order.french_words("m", ("t", "u"), ("a", "b"), ("c", "d"), lost)
    answer = word_order.FRENCH_ANSWERS[min(sum(lost), 2)].format(**names)
    assert "“c”" in answer
    assert answer.startswith("None" if not any(lost) else str(sum(lost)))
    assert word_order.french_option(sum(lost)) == min(sum(lost), 3)
    assert all(len(option) <= 30 for option in (*word_order.FRENCH_OPTIONS, *word_order.ORDER_OPTIONS))


def test_the_other_order_is_said_to_get_the_same_only_where_it_does():
    assert "the same sentence" in word_order.french_sentence(("c", "c"), 1)
    assert "the same sentence" not in word_order.french_sentence(("c", "d"), 1)
    assert word_order.FRENCH_LOST not in word_order.french_sentence(("c", "c"), 0)


def test_lost_words_are_marked_in_the_first_order_alone():
    groups = word_order.french_groups(
        ("t", "u"), {"with": ("a b", "c d"), "without": ("a", "a")}, {"with": (False, True)}
    )
    assert [[row.marked for row in group.rows] for group in groups] == [[(False, True), ()], [(), ()]]


def test_ranges_are_named_so_that_none_is_missing():
    assert [writing.range_name(each) for each in counts_to_guess(9)] == [
        "None",
        "1 word",
        "2 words",
        "3 or 4 words",
        "5 words or more",
    ]


@pytest.mark.parametrize(("count", "answer"), [(0, "No French word"), (1, "1 of 4"), (2, "2 of 4"), (4, "4 of 4")])
def test_the_title_counts_the_words(count, answer):
    sentence = writing.counted_answer(writing.LETTER_ANSWERS, count).format(count=count, all=4, other_french="x")
    assert sentence.startswith(answer)


def test_a_parting_is_told_with_its_four_probabilities():
    sentence = writing.parted(PartingStep(0, ("Tu", "<b>"), (0.458, 0.402), (0.425, 0.46)))
    assert all(f"{number}\u00a0%" in sentence for number in ("45.8", "40.2", "42.5", "46.0"))
    assert r"\<b\>" in sentence
    assert writing.parted(None) == writing.NOT_PARTED


def test_the_rows_mark_nothing_before_the_guess():
    changed = changed_words("Tu es.", "Vous êtes.")
    for seen in (False, True):
        groups = writing.letter_rows(("a", "b"), changed, ("Tu es.", "Vous êtes."), seen=seen)
        assert [any(row.marked) for group in groups for row in group.rows] == [seen, seen]
        assert groups[1].rows[0].text == ("Vous êtes." if seen else None)


def test_a_step_is_named_by_both_candidates():
    step = tuple(NextToken(token_id=n, token=t, probability=p) for n, t, p in ((4, " Tu", 0.5), (5, " Vous", 0.402)))
    written = WrittenSteps(text="", ids=(4,), forced=0, steps=(step,), end_id=2)
    assert writing.step_name(written, 0) == "1 · Tu → Vous (40.2\u00a0%)"
    assert writing.candidate_names(step) == ["1 · Tu", "2 · Vous"]
