"""What a translation opens with: the heads that people's alignments speak for, and the word whose link is no habit."""

import json
import math

import numpy as np
import pytest

from model import load_checkpoint
from model.measures.alignment import mean_of_reading, word_weights
from model.measures.cross_attention_links import (
    information,
    largest_of,
    measured_reading,
    most_looked_at,
    most_reordered,
    pointed_reading,
    units,
)
from model.measures.head_statistics import is_punctuation

TEXT, TARGET = "The red house is big.", "La maison rouge est grande."
WANTED = {"La": "The", "maison": "house", "rouge": "red", "est": "is", "grande": "big"}


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint("translate-en-fr", device="cpu")


def figure(what: str, value: object, examples: object = 10) -> dict:
    return {"what": f"alignment error rate, {what}", "value": value, "examples": examples}


def card(*rows: dict) -> dict:
    return {"evaluations": [figure("a, the diagonal", 60.0), *rows]}


def rows_of_text(checkpoint, reading) -> dict[str, str]:
    """Every word of the translation with the source word that the row producing it gives most to, by torch."""
    trace = checkpoint.trace(TEXT, target=TARGET)
    weights = trace.decoder.cross_weights().double()[reading]
    weights = weights if weights.dim() == 2 else weights.mean(dim=tuple(range(weights.dim() - 2)))
    best = weights.argmax(dim=1).tolist()
    names = [token.strip() for token in trace.encoder.tokens]
    return {token.strip(): names[best[place]] for place, token in enumerate(trace.decoder.tokens[1:])}


def test_a_position_without_a_word_is_a_unit_of_its_own():
    assert units([None, 4, 4, 7, None, 4]) == [0, 1, 1, 2, 3, 1]
    assert units([]) == []


def test_the_best_of_the_card_on_this_checkpoint_is_the_one_worked_out_here(checkpoint):
    rates: dict[str, list[tuple[float, int]]] = {}
    for row in checkpoint.card["evaluations"]:
        if row["what"].startswith("alignment error rate, ") and row["what"].endswith("is produced"):
            rates.setdefault(row["what"].split(", ", 2)[2], []).append((row["value"], row["examples"]))
    sets = max(map(len, rates.values()))  # what is the best head of one set, but of no other, was not measured on all
    rates = {what: pairs for what, pairs in rates.items() if len(pairs) == sets}
    means = {what: sum(v * n for v, n in pairs) / sum(n for _, n in pairs) for what, pairs in rates.items()}
    assert min(means, key=means.__getitem__) == "mean of layer 3, while a word is produced"
    assert measured_reading(checkpoint.card, "produced", 3, 8) == (2,)
    assert measured_reading(checkpoint.card, "read", 3, 8) == (0, 0)


@pytest.mark.parametrize("reading", [(2,), "pointed"])
def test_the_heads_that_are_chosen_give_every_word_of_the_first_sentence_its_counterpart(checkpoint, reading):
    if reading == "pointed":
        trace = checkpoint.trace(TEXT, target=TARGET)
        targets, keys = units([*trace.decoder.words[1:], None]), units(trace.encoder.words)
        counted = max(targets) + 1, max(keys) + 1
        reading = pointed_reading(trace.decoder.cross_weights().numpy(), targets, keys, counted, "produced")
    rows = rows_of_text(checkpoint, reading)
    wanted = {word: name for word, name in WANTED.items() if reading == (2,) or word != "La"}
    assert {word: rows[word] for word in wanted} == wanted


def test_the_first_sentence_opens_at_rouge_and_a_sentence_without_it_elsewhere(checkpoint):
    trace = checkpoint.trace(TEXT, target=TARGET)
    targets, keys = units([*trace.decoder.words[1:], None]), units(trace.encoder.words)
    counted = max(targets) + 1, max(keys) + 1
    weights = word_weights(mean_of_reading(trace.decoder.cross_weights().numpy(), (2,)), targets, keys, counted)
    words = [*trace.decoder.tokens[1:], "[END]"]
    chosen = most_reordered(weights, [not is_punctuation(word) and word != "[END]" for word in words], range(5))
    assert chosen == words.index(" rouge")


def test_sets_count_by_their_sentences_and_all_of_the_diagonals_are_needed():
    sets_card = card(
        figure("b, the diagonal", 60.0, 30),
        *(figure(f"{name}, mean of layer 1, while a word is produced", 40.0) for name in ("a", "b")),
        figure("a, mean of layer 2, while a word is produced", 0.0),
        figure("a, mean of all heads, while a word is produced", 10.0, 10),
        figure("b, mean of all heads, while a word is produced", 55.0, 30),
    )
    assert measured_reading(sets_card, "produced", 2, 4) == (0,), "all heads come to 43.75 %, and layer 2 misses a set"
    assert measured_reading(sets_card, "read", 2, 4) is None


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [figure("a, mean of layer 1, while a word is produced", 60.0)],
        [figure("a, mean of layer 9, while a word is produced", 10.0)],
        [figure("a, mean of layer 1, while a word is produced", "low")],
        [figure("a, mean of layer 1, while a word is produced", 10.0, "many")],
        [figure("a, mean of layer 1, while a word is sung", 10.0)],
        [None],
        ["alignment error rate, a, mean of layer 1, while a word is produced"],
    ],
)
def test_a_card_that_says_nothing_usable_chooses_nothing(rows):
    assert measured_reading(card(*rows), "produced", 2, 4) is None
    assert measured_reading({"evaluations": json.dumps(rows)}, "produced", 2, 4) is None
    assert measured_reading({}, "produced", 2, 4) is None


def test_information_is_none_where_all_words_look_alike_and_all_of_it_where_each_has_its_own():
    assert information(np.array([[0.9, 0.1], [0.9, 0.1]])) == pytest.approx(0, abs=1e-12)
    assert information(np.eye(4)) == pytest.approx(2)
    assert information(np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 0.5]])) == pytest.approx(
        0.5 * math.log2(1 / 0.75) + 0.25 * math.log2(0.5 / 0.75) + 0.25 * math.log2(0.5 / 0.25)
    )
    assert information(np.zeros((2, 3))) == 0


def test_the_most_telling_reading_is_not_the_sharpest_one():
    sharp, telling = np.tile([[1.0, 0.0, 0.0]], (3, 1)), 0.8 * np.eye(3) + 0.2 / 3
    weights = np.stack([sharp, telling])[None].astype(np.float32)
    for moment in ("produced", "read"):
        assert pointed_reading(weights, [0, 1, 2], [0, 1, 2], (3, 3), moment) == (0, 1)


def test_while_a_word_is_produced_the_lower_layers_are_left_out():
    before, duller = np.roll(np.eye(3), 1, axis=1), 0.8 * np.eye(3) + 0.2 / 3
    weights = np.stack([before, duller])[:, None].astype(np.float32)
    words = [0, 1, 2], [0, 1, 2], (3, 3)
    assert pointed_reading(weights, *words, "read")[:1] == (0,)
    assert pointed_reading(weights, *words, "produced")[:1] == (1,)


def test_the_word_that_departs_most_from_one_pace_is_chosen_by_hand():
    crossed = np.array([[0.9, 0, 0, 0.1], [0, 0, 0.9, 0.1], [0, 0.8, 0, 0.2], [0, 0, 0, 1.0]])
    everything = [True] * 4
    # Departures: 1 · 0.9 at the second word, 2 · 0.8 at the third, 1 · 1 at the fourth.
    assert most_reordered(crossed, everything, range(4)) == 2
    assert most_reordered(crossed, [True, True, False, False], range(4)) == 1
    assert most_reordered(crossed, [True, True, False, True], range(4)) == 3, "two words on, one in the source"
    assert most_reordered(crossed, everything, [0, 3]) == 0, "links to what is no word do not count"


def test_where_all_keep_the_pace_the_most_of_ones_own_is_chosen_and_without_words_nothing():
    even = np.array([[0.9, 0.1, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]])
    assert most_reordered(even, [True] * 3, range(3)) == 2
    assert most_reordered(np.full((2, 4), 0.25), [False, True], range(4)) == 1
    assert most_reordered(even, [False] * 3, range(3)) is None


def test_the_largest_weight_of_a_reading_is_torchs(checkpoint):
    weights = checkpoint.trace(TEXT, target=TARGET).decoder.cross_weights()
    for reading, part in (((), weights[:, :, 2]), ((2,), weights[2:3, :, 2]), ((1, 4), weights[1:2, 4:5, 2])):
        layer, head, key = largest_of(weights.numpy(), 2, reading)
        assert weights[layer, head, 2, key] == part.max()
        assert (layer, head)[: len(reading)] == reading


def test_a_row_looks_most_at_the_first_of_its_largest_weights_and_at_nothing_without_any():
    assert most_looked_at(np.array([0.1, 0.4, 0.4, 0.1])) == (1, 0.4)
    assert most_looked_at(np.zeros(3)) is None
