"""The stops on words as vectors, neighbours and the feed-forward layer: what they ask, and what the picture holds."""

import itertools
import re
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import load_checkpoint
from model.measures.experiments.word_in_contexts import places_of, vectors_of
from model.measures.learn.word_senses import cosines_between
from pages.parts.learn.sense_sentences import SENSES
from pages.parts.learn.stops import PATH, feed_forward, neighbours, words_as_vectors
from tests.folders import KINDS
from tests.pages.test_every_page import opened
from viz.text.learn.stops import neighbours as words
from viz.text.learn.stops.neighbours import MEAN_OF_BANK

OWN = "We laughed all evening, but nobody in our row liked the ending."
HOSTILE = "<b>loved</b> $x$ [a](b) `c` \u202eabc שלום 🎬"
TWENTY = (
    (
        "The old man sat by the river and fished from the bank.",
        "The children ran along the stream and lay on the grassy bank.",
        "He swam across the water and climbed up the bank.",
        "The boat floated down the river and came to the bank.",
        "The swan came out of the water and lay down on the bank.",
        "The old man sat down on the river bank.",
    ),
    (
        "The merchant took his gold and put it in the bank.",
        "She had saved a little money and kept it in the bank.",
        "The thief stole a thousand dollars from the bank.",
        "He earned a hundred pounds and put them in the bank.",
        "The merchant lent him money from his bank.",
        "The robbers broke the lock and robbed the bank.",
    ),
)  # beside the eight that the stop shows


def at(stop: Any, **address: str) -> AppTest:
    """A stop once the first option was guessed."""
    number = PATH.index(stop.STOP) + 1
    return opened("learn.py", stop=str(number), guesses=f"{number}a", **address)


def right(app: AppTest) -> list[str]:
    """The options marked as right, without the mark."""
    return [each.label.removeprefix("✓ ") for each in app.button if each.label.startswith("✓ ")]


def sentence(app: AppTest) -> str:
    return app.main.markdown[0].value


# Words as vectors


def neighbour_of_loved(name: str) -> str:
    """The word of the table that is nearest to "loved" by the cosine, among the tokens of letters that begin a word."""
    checkpoint = load_checkpoint(name, device="cpu")
    table = checkpoint.model.embedding.weight.float()
    pieces, mark = checkpoint.tokenizer.pieces(range(len(table))), " " if name == "stories" else ""
    begins = [number for number, piece in enumerate(pieces) if re.fullmatch(f"{mark}[a-zA-Z]{{2,}}", piece)]
    loved = table[pieces.index(f"{mark}loved")]
    cosines = torch.nn.functional.cosine_similarity(table[begins], loved[None])
    return pieces[begins[int(cosines.topk(2).indices[1])]].removeprefix(mark)


def test_the_neighbours_of_loved_are_told_apart_by_the_table():
    for name in ("sentiment", "stories"):
        nearest = neighbour_of_loved(name)
        app = at(words_as_vectors, checkpoint=name)
        assert f"nearest to “{nearest}”" in app.title[0].value
        assert len(right(app)) == 1
        assert right(app)[0].startswith(nearest)


def test_another_word_is_looked_up_and_the_question_stays():
    first, king = at(words_as_vectors), at(words_as_vectors, knob="king")
    assert first.title[0].value == king.title[0].value
    assert right(first) == right(king)
    assert king.selectbox(key="word_of_table").value == "king"
    assert king.selectbox(key="word_of_table").options[:6] == ["The", "film", "was", "slow", "but", "loved"]
    chosen = first.selectbox(key="word_of_table").select("king").run()
    assert chosen.query_params["knob"] == "king"
    assert at(words_as_vectors, knob="absent").selectbox(key="word_of_table").value == "loved"


@pytest.mark.parametrize("text", ["🎬 !!", "42", "שלום", "Zzyzxq"])
def test_a_text_without_a_word_in_two_tables_says_so(text):
    app = at(words_as_vectors, text=text)
    assert not app.exception
    assert "row of its own" in sentence(app)
    assert any(each.key == "clear_text" for each in app.button)


@pytest.mark.parametrize("stop", [words_as_vectors, neighbours, feed_forward])
@pytest.mark.parametrize("text", ["", OWN, "Loved", HOSTILE, "a long film " * 150])
@pytest.mark.parametrize("name", ["sentiment", "stories", "translate-en-fr"])
def test_the_stops_bear_any_text_on_every_model(stop, text, name):
    app = at(stop, checkpoint=name, **({"text": text} if text else {}))
    assert not app.exception
    assert not app.error
    assert right(app) or any(each.key == "clear_text" for each in app.button)


# Neighbours


def test_all_eight_banks_are_sorted_after_the_first_layer_and_at_the_end():
    app = at(neighbours)
    assert app.title[0].value == "After layer 1 of 6, for the first time, all 8 are nearest to one of their own sense."
    assert right(app) == ["Layer 1 or 2"]
    assert "“bank” ends nearest to one that means a place for money" in sentence(app), (
        "what comes after bank does not count"
    )


def test_the_counts_of_other_words_are_as_said():
    for word, counts in [("ring", "3, 6, 7, 8, 8, 8, 8"), ("bat", "2, 5, 5, 5, 6, 7, 7")]:
        app = at(neighbours, knob=word)
        assert any(f"“{word}”: {counts} of 8" in each.value for each in app.main.markdown)
        assert app.radio(key="word_with_senses").value == word
        assert "bank" in app.main.caption[0].value, "the question stays"


def test_what_is_lost_again_between_the_first_layer_that_sorts_and_the_last_is_said():
    assert words.between((3, 8, 8, 7, 7, 8), 8) == ", with as few as 7 in between"
    assert words.between((3, 8, 8, 8), 8) == words.between((2, 5, 7, 6), 8) == words.between((3, 8, 7), 8) == ""


def test_a_sentence_with_another_of_the_words_is_placed_and_the_question_stays():
    app = at(neighbours, text="The children stood in a ring.")
    assert "every “bank” for the first time nearest" in app.main.caption[0].value
    assert "In the sentence above, “ring” ends nearest" in sentence(app)
    app = at(neighbours, text=OWN)
    assert "is in the sentence above" in sentence(app)


def test_a_model_that_sorts_nothing_says_so():
    app = at(neighbours, checkpoint="sentiment")
    assert app.title[0].value.startswith("After no layer")
    assert right(app) == ["Never all of them"]
    assert re.search(r"have a cosine of 0\.[0-9]{2}\b", sentence(app))


def test_a_word_beyond_what_the_model_reads_gets_a_sentence():
    app = at(neighbours, text="so long " * 240 + "bank")
    assert not app.exception
    assert "does not read as far as" in app.error[0].value


def test_every_sentence_has_its_word_once_and_each_sense_as_many():
    for word, senses in SENSES.items():
        assert len(senses.sentences[0]) == len(senses.sentences[1]) == 4
        for each in itertools.chain(*senses.sentences):
            words = each.lower().strip(".").split()
            assert words.count(word) == 1
            assert words[-1] == word, "a causal model reads nothing after it"


def test_other_choices_of_the_twenty_are_right_as_often_as_the_page_says():
    checkpoint = load_checkpoint("stories")
    texts = [
        text for of_page, beside in zip(SENSES["bank"].sentences, TWENTY, strict=True) for text in (*of_page, *beside)
    ]
    stacks = [checkpoint.trace(text, logits=False).text_stack for text in texts]
    last = [vectors_of(stack, places_of("bank", text, stack))[-1:] for text, stack in zip(texts, stacks, strict=True)]
    cosines = cosines_between(np.stack(last))[0]
    np.fill_diagonal(cosines, -np.inf)
    fours = list(itertools.combinations(range(10), 4))
    eights = np.array([(*first, *(10 + at for at in second)) for first in fours for second in fours])
    nearest = cosines[eights[:, :, None], eights[:, None, :]].argmax(axis=-1)
    right_ones = ((nearest >= 4) == (np.arange(8) >= 4)).sum(axis=1)
    assert round(float(right_ones.mean()), 2) == MEAN_OF_BANK
    assert 8 in right_ones


# The feed-forward layer


def test_the_count_of_active_units_is_that_of_the_trace():
    checkpoint = load_checkpoint("translate-en-fr")
    stack = checkpoint.trace(feed_forward.STOP.opening.text, target="Oui.").text_stack
    place = stack.names().index(" loved")
    count = int(np.count_nonzero(np.asarray(stack.blocks[0].feed_forward.hidden[place])))
    app = at(feed_forward)
    assert app.title[0].value.startswith(f"{count} of 1,024 units are active for “loved”")
    assert "exactly 0" in sentence(app)


def test_another_layer_is_asked_about_anew_with_its_own_count():
    checkpoint = load_checkpoint("translate-en-fr")
    stack = checkpoint.trace(feed_forward.STOP.opening.text, target="Oui.").text_stack
    place = stack.names().index(" loved")
    app = at(feed_forward)
    app.selectbox(key="layer_of_units").select_index(2).run()
    assert app.query_params["knob"] == "-2"
    assert "guesses" not in app.query_params
    assert "layer 3" in app.title[0].value
    count = int(np.count_nonzero(np.asarray(stack.blocks[2].feed_forward.hidden[place])))
    after = at(feed_forward, knob="-2")
    assert after.title[0].value.startswith(f"{count} of 1,024 units are active for “loved”")


@pytest.mark.parametrize("text", [feed_forward.STOP.opening.text, "My brother is a doctor.", "You are my friend."])
def test_more_than_a_few_words_make_a_unit_active(text):
    app = opened("learn.py", stop="9", round="2", guesses="9.2a", text=text)
    assert not app.exception
    assert right(app) in (["21 to 100"], ["101 to 400"])
    assert "not so" in sentence(app)


def test_gelu_leaves_something_of_the_others():
    app = at(feed_forward, checkpoint="sentiment")
    encoder: Any = load_checkpoint("sentiment").trace(feed_forward.STOP.opening.text).encoder
    count = int((encoder.blocks[0].feed_forward.hidden[encoder.tokens.index("loved")] > 0).sum())
    assert f"{count} of 512" in app.title[0].value
    assert "would change by" in sentence(app)


def test_another_token_is_counted_on_its_own():
    stack = load_checkpoint("translate-en-fr").trace(feed_forward.STOP.opening.text, target="Oui.").text_stack
    app = at(feed_forward)
    app.selectbox(key="token_of_units").select_index(2).run()
    assert app.query_params["knob"] == "2"
    count = int(np.count_nonzero(np.asarray(stack.blocks[0].feed_forward.hidden[2])))
    assert any(each.value.startswith(f"{count} of 1,024 units are active for “was”") for each in app.main.markdown)
    assert "“loved”" in app.title[0].value, "the question stays"


def test_another_unit_can_be_chosen_where_one_is_asked_about():
    app = opened("learn.py", stop="9", round="2", guesses="9.2a")
    app.selectbox(key="token_of_units").select_index(2).run()
    app.selectbox(key="unit_of_token").select_index(3).run()
    place, unit = app.query_params["knob"].split(".")
    assert place == "2"
    assert any(f"Unit {int(unit) + 1:,} has" in each.value for each in app.main.markdown)
    assert "as “loved” does?" in app.caption[0].value, "the question stays"


def test_the_count_of_units_tells_nothing_of_the_words_that_are_asked_about_next():
    app = at(feed_forward)
    told = " ".join(each.value for each in (*app.main.markdown, *app.caption))
    next_answer = opened("learn.py", stop="9", round="2", guesses="9.2a").title[0].value
    share = next_answer.split(", ")[1].removesuffix(" make it active.")
    assert share.endswith("%")
    assert share not in told
    assert not [each for each in app.selectbox if each.key == "unit_of_token"]


def test_the_layer_that_was_chosen_stays_in_the_next_round_and_on_the_way_back():
    app = at(feed_forward, knob="3-2")
    app.button(key="next_round").click().run()
    assert "of layer 3" in app.title[0].value
    assert app.query_params["knob"] == "-2"
    app.button(key="previous_round").click().run()
    assert "round" not in app.query_params
    assert app.selectbox(key="layer_of_units").value == 2


@pytest.mark.parametrize("knob", ["99", "0.99999", "king", "2.", ".5", "1.2.3"])
@pytest.mark.parametrize("stop", [words_as_vectors, neighbours, feed_forward])
def test_a_knob_that_names_nothing_is_passed_over(stop, knob):
    app = at(stop, knob=knob)
    assert not app.exception
    assert app.title


# Checkpoints from elsewhere


@pytest.mark.parametrize("stop", [words_as_vectors, neighbours, feed_forward])
@pytest.mark.parametrize("name", KINDS)
def test_a_stop_opens_on_every_family(stop, name, app_folders):
    app = at(stop, checkpoint=name, text="the dog bit the man .")
    assert not app.exception
    assert not app.error
    assert right(app) or any(each.key == "clear_text" for each in app.button)
