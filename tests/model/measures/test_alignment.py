"""Alignments read off cross-attention: a case worked by hand, words from pieces, and the figures computed anew."""

import json
import math

import numpy as np
import pytest

from model import load_checkpoint
from model.errors import InputError
from model.measures.alignment import (
    Counts,
    counts,
    covering_word,
    diagonal,
    mean_of_reading,
    produced_words,
    readings,
    strongest_links,
    word_weights,
)
from model.training import alignment
from model.training.alignment import AlignedPair, figures, found_links, joined_words, read_aligned

ROW = {"src": ["The", "dog", "sleeps", "."], "tgt": ["Le", "chien", "dort", "."]}
LINKS = {"sure": [[0, 0], [1, 1], [3, 3]], "possible": [[2, 2]]}


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint("translate-en-fr", device="cpu")


def pair(source: str, target: str, sure=((0, 0),)) -> AlignedPair:
    both = {"source": tuple(source.split()), "target": tuple(target.split())}
    return AlignedPair(**both, sure=frozenset(sure), possible=frozenset())


def test_the_error_rate_of_a_case_worked_by_hand():
    tally = counts(frozenset({(0, 0), (2, 2), (3, 0)}), frozenset({(0, 0), (1, 1)}), frozenset({(2, 2)}))
    assert tally == Counts(found=3, sure=2, found_sure=1, found_possible=2)
    assert tally.error_rate == pytest.approx(1 - (1 + 2) / (3 + 2))


def test_sure_links_found_and_nothing_else_are_no_error_and_possible_ones_cost_nothing():
    sure, possible = frozenset({(0, 0), (1, 2)}), frozenset({(1, 1)})
    assert counts(sure, sure, possible).error_rate == 0
    assert counts(sure | possible, sure, possible).error_rate == 0
    assert counts(sure, sure, sure | possible) == counts(sure, sure, possible)
    assert counts(frozenset({(3, 3)}), sure, possible).error_rate == 1
    assert math.isnan(Counts().error_rate)


def test_counts_of_sentences_add_up_before_they_are_divided():
    one, other = Counts(found=1, sure=1, found_sure=1, found_possible=1), Counts(found=3, sure=3)
    assert (one + other).error_rate == pytest.approx(1 - 2 / 8)


def test_a_word_gets_the_sum_over_its_pieces_and_gives_the_mean_over_them():
    weights = np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    by_word = word_weights(weights, [0, 1, 1], [0, 0, None], (2, 2))
    assert by_word == pytest.approx(np.array([[0.75, 0.0], [0.45, 0.0]]))


def test_a_position_produces_a_piece_of_the_word_that_the_next_one_reads():
    assert produced_words([None, 0, 0, 1]) == [0, 0, 1, None]


def test_every_word_is_linked_to_its_largest_weight_unless_it_has_none():
    weights = np.array([[0.2, 0.8], [0.5, 0.5], [0.0, 0.0]])
    assert strongest_links(weights) == {(1, 0), (0, 1)}


def test_the_diagonal_goes_from_corner_to_corner():
    assert diagonal(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal(4, 2) == {(0, 0), (0, 1), (1, 2), (1, 3)}


def test_a_reading_is_the_mean_of_the_heads_that_it_names():
    weights = np.random.default_rng(0).random((2, 3, 4, 5))
    assert len(readings(2, 3)) == 1 + 2 + 6
    assert mean_of_reading(weights, ()) == pytest.approx(
        sum(weights[layer, head] for layer in (0, 1) for head in range(3)) / 6
    )
    assert mean_of_reading(weights, (1,)) == pytest.approx(sum(weights[1]) / 3)
    assert (mean_of_reading(weights, (1, 2)) == weights[1, 2]).all()


def test_words_are_joined_as_the_model_reads_them_and_keep_their_characters():
    words = ("He", "did", "n’t", "(", "see", ")", "l’", "homme", ".", "No", "!")
    text, spans = joined_words(words)
    assert text == "He did n’t (see) l’homme. No !"
    assert tuple(text[start:end] for start, end in spans) == words


def test_a_piece_is_of_the_word_that_has_most_of_its_characters():
    spans = [(0, 2), (3, 8)]
    assert [covering_word(piece, spans) for piece in ((0, 2), (2, 8), (8, 9), (1, 5))] == [0, 1, None, 1]
    assert covering_word((0, 1), []) is None


def test_the_links_are_those_of_sums_and_means_over_pieces_written_out(checkpoint):
    gold = pair("Nightingales sleep", "Les rossignols dorment")
    trace = checkpoint.trace("Nightingales sleep", target="Les rossignols dorment", logits=False)
    pieces = [position for position, span in enumerate(trace.encoder.spans) if span and span[0] < 12]
    assert len(pieces) > 1
    spans = trace.decoder.spans
    of_word = [position for position, span in enumerate(spans) if span and 3 <= span[0] < 14]
    assert len(of_word) > 1
    for moment, shift in (("read", 0), ("produced", 1)):
        rows = [position - shift for position in of_word]
        weights = trace.decoder.blocks[1].cross_attention.weights[4].double()
        first = sum(float(weights[row, key]) for row in rows for key in pieces) / len(rows)
        rest = [position for position, span in enumerate(trace.encoder.spans) if span and span[0] >= 12]
        second = sum(float(weights[row, key]) for row in rows for key in rest) / len(rows)
        linked = {source for source, target in found_links(checkpoint, gold)[moment, (1, 4)] if target == 1}
        assert linked == {0 if first >= second else 1}


def test_the_best_head_is_chosen_on_every_second_sentence_and_judged_on_the_others(checkpoint):
    pairs = [
        pair("Good morning .", "Bonjour .", {(0, 0), (1, 0), (2, 1)}),
        pair("I see a dog .", "Je vois un chien .", {(number, number) for number in range(5)}),
        pair("He sleeps .", "Il dort .", {(0, 0), (1, 1), (2, 2)}),
        pair("We sing .", "Nous chantons .", {(0, 0), (1, 1), (2, 2)}),
    ]
    rows = {row["what"]: row for row in figures(checkpoint, pairs, "own")}
    links = [found_links(checkpoint, one) for one in pairs]
    place = {}
    for moment in ("produced", "read"):
        errors = {}
        for head in np.ndindex(3, 8):
            both = [counts(links[number][moment, head], pairs[number].sure, frozenset()) for number in (0, 2)]
            errors[head] = (both[0] + both[1]).error_rate
        place[moment] = min(errors, key=errors.__getitem__)
        best = next(row for what, row in rows.items() if "best head" in what and what.endswith(f"is {moment}"))
        layer, head = place[moment]
        assert f"layer {layer + 1} head {head + 1}" in best["what"]
        judged = [counts(links[number][moment, place[moment]], pairs[number].sure, frozenset()) for number in (1, 3)]
        assert best["value"] == round(100 * (judged[0] + judged[1]).error_rate, 2)
        assert best["examples"] == 2
    assert rows["alignment error rate, own, the diagonal"]["value"] == 0
    assert len(rows) == 1 + 2 * (1 + 1 + 3)


def write_gold(folder, *lines: str):
    path = folder / "own_en-fr.dev.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_command_prints_its_figures_and_puts_them_into_a_card(tmp_path, capsys, monkeypatch):
    write_gold(tmp_path, *[json.dumps(ROW | LINKS)] * 2)
    (tmp_path / "card.json").write_text("{}")
    words = ["alignment", "evaluate", "--data", str(tmp_path), "--card", str(tmp_path), "--device", "cpu"]
    monkeypatch.setattr("sys.argv", words)
    alignment.main()
    printed = capsys.readouterr().out
    card = json.loads((tmp_path / "card.json").read_text())
    assert len(card["evaluations"]) == 11
    for row in card["evaluations"]:
        assert f"{row['what']}: {row['value']:.2f} %" in printed
        assert row["command"].startswith("python -m model.training.alignment evaluate --data DIR")


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"src": ["a"], "tgt": ["b"], "sure": [[0]], "possible": []}'])
def test_a_line_that_is_no_aligned_sentence_is_named(tmp_path, line):
    path = write_gold(tmp_path, json.dumps(ROW | LINKS), line)
    with pytest.raises(InputError, match=r"own_en-fr\.dev\.jsonl: line 2 holds no aligned sentence\."):
        list(read_aligned(path))


def test_a_folder_without_gold_and_a_model_without_cross_attention_are_refused(tmp_path):
    with pytest.raises(InputError, match="found no file"):
        alignment.evaluate(alignment.parse(["evaluate", "--data", str(tmp_path)]))
    with pytest.raises(InputError, match="has no cross-attention"):
        alignment.evaluate(alignment.parse(["evaluate", "--data", str(tmp_path), "--checkpoint", "sentiment"]))
