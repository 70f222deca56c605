"""Syntax and coreference: gold data as it is read, hits as plain loops count them, choice apart from report."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from model.errors import InputError
from model.measures.head_scores import coreference, syntax
from model.measures.head_scores.coreference import PronounQuestion, in_halves, last_word, read_questions
from model.measures.head_scores.gold_hits import Hits, added_hits, gold_scores
from model.measures.head_scores.measurement import evenly_spaced
from model.measures.head_scores.syntax import OFFSETS, arc_hits, asked_dependents, named_words, of_words
from model.measures.head_scores.treebank import ROOT, ParsedSentence, read_treebank
from tests import tiny

ROWS = """\
# sent_id = reviews-217359-0001
# text = The dog didn't bite.
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\t_\t5\tnsubj\t_\t_
3-4\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_
3\tdid\tdo\tAUX\tVBD\t_\t5\taux\t_\t_
4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_
4.1\tever\t_\t_\t_\t_\t_\t_\t_\t_
5\tbite\tbite\tVERB\tVB\t_\t0\troot\t_\t_
6\t.\t.\tPUNCT\t.\t_\t5\tpunct\t_\t_

# text = wanna
1\twant\twant\tVERB\tVB\t_\t0\troot\t_\t_
2\tto\tto\tPART\tTO\t_\t1\tmark\t_\t_
"""
DOG = ParsedSentence(
    text="The dog didn't bite.",
    genre="reviews",
    spans=((0, 3), (4, 7), (8, 11), (11, 14), (15, 19), (19, 20)),
    heads=(1, 4, 4, 4, ROOT, 4),
    relations=("det", "nsubj", "aux", "advmod", "root", "punct"),
)
DOCTOR = PronounQuestion(
    text="The old dog saw the man, and it was good.", pronoun=(29, 31), candidates=((0, 11), (16, 23)), answer=0
)


# Treebank


@pytest.mark.parametrize("packed", [False, True])
def test_a_treebank_gives_words_heads_and_relations_without_multiword_tokens(tmp_path, packed):
    path = tmp_path / ("a.conllu.gz" if packed else "a.conllu")
    path.write_bytes(gzip.compress(ROWS.encode()) if packed else ROWS.encode())
    assert list(read_treebank(path)) == [DOG], "the words of the second do not stand in its text"


def test_a_damaged_treebank_is_refused_by_its_line(tmp_path):
    path = tmp_path / "bad.conllu"
    path.write_text("# text = a\n1\ta\t_\n\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.conllu: line 2"):
        list(read_treebank(path))
    path.write_text(ROWS.replace("\t5\tnsubj", "\t55\tnsubj"), encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.conllu: line 10"):
        list(read_treebank(path))


# Syntax


def test_a_head_on_the_next_word_is_right_about_neighbours_alone():
    weights = np.stack([np.roll(np.eye(6), step, axis=1) for step in (1, -1)])[None]
    with_token = np.ones(6, bool)
    hits = arc_hits(named_words(weights, with_token), DOG, asked_dependents(DOG, with_token), seed=0)
    assert set(hits) == {"det", "nsubj", "aux", "advmod"}, "neither the root nor punctuation"
    assert hits["det"].heads[0, 0].tolist() == [1, 0], "to the next word, and to the one before"
    assert hits["det"].heads[1, 0].tolist() == [0, 1], "from the next word, and from the one before"
    assert hits["nsubj"].heads.sum() == 0
    assert dict(zip(OFFSETS, hits["nsubj"].rules.tolist(), strict=True))[3] == 1


def test_a_word_without_a_token_is_neither_asked_about_nor_an_answer():
    with_token = np.array([True, True, False, True, True, True])
    assert asked_dependents(DOG, with_token) == [0, 1, 3]
    weights = np.zeros((1, 1, 6, 6))
    weights[..., 2] = 1
    weights[..., 4] = 0.5
    named = named_words(weights, with_token)
    assert named[0, 0, 0, [0, 1, 3]].tolist() == [4, 4, 4]
    assert named[0, 0, 0, 4] != 4, "a word is not its own head"


def test_hits_of_a_model_equal_plain_loops():
    model = tiny.checkpoint("encoder")
    *_, hits = syntax.syntax_hits(model, [(0, DOG)])
    weights, with_token = of_words(model.trace(DOG.text).encoder, DOG.spans)
    assert with_token.all()
    for layer, head in np.ndindex(2, 4):
        for word, relation in enumerate(DOG.relations[:4]):
            others = [other for other in range(6) if other != word]
            to = max(others, key=lambda other: weights[layer, head, word, other])
            by = max(others, key=lambda other: weights[layer, head, other, word])
            assert hits[relation].heads[:, layer, head].tolist() == [to == DOG.heads[word], by == DOG.heads[word]]


def test_permuted_gold_keeps_how_often_a_word_is_a_head():
    always_verb = np.zeros((1, 1, 6, 6))
    always_verb[..., 4] = 1
    with_token = np.ones(6, bool)
    hits = arc_hits(named_words(always_verb, with_token), DOG, asked_dependents(DOG, with_token), seed=3)
    assert sum(each.heads[0].sum() for each in hits.values()) == sum(each.permuted[0].sum() for each in hits.values())


def test_an_encoder_beside_a_decoder_is_read_without_decoding():
    model = tiny.checkpoint("encoder-decoder")
    alone = syntax.encoder_of(model, tiny.TEXT)
    assert (alone.weights() == model.trace(tiny.TEXT).encoder.weights()).all()


# Coreference


def test_questions_are_read_and_those_without_an_answer_left_out(tmp_path):
    row = {"text": DOCTOR.text, "pronoun": [29, 31], "candidates": [[0, 11, "The old dog"], [16, 23, "the man"]]}
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(row | {"answer": answer}) for answer in (0, None)), encoding="utf-8")
    assert list(read_questions(path)) == [DOCTOR]
    path.write_text(json.dumps(row | {"answer": 2}), encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl: line 1"):
        list(read_questions(path))


def test_the_last_word_of_a_candidate_is_what_is_looked_at():
    spans = [last_word(DOCTOR.text, span) for span in DOCTOR.candidates]
    assert [DOCTOR.text[start:end] for start, end in spans] == ["dog", "man"]


def test_a_head_names_the_candidate_that_gets_most():
    weights = np.array([[[0.3, 0.2], [0.1, 0.2]]])
    hits = coreference.question_hits(weights, replace(DOCTOR, other_answer=1))
    assert hits.heads.tolist() == [[[1, 0]]]
    assert hits.permuted.tolist() == [[[0, 1]]]
    assert dict(zip(coreference.RULES, hits.rules.tolist(), strict=True)) == {
        "nearest candidate": 0,
        "first candidate": 1,
        "last candidate": 0,
    }


def test_what_a_pronoun_gives_is_read_off_the_trace():
    model = tiny.checkpoint("encoder")
    weights = coreference.candidate_weights(model, DOCTOR)
    stack = model.trace(DOCTOR.text).encoder
    tokens = {span: place for place, span in enumerate(stack.spans)}
    pieces = [place for (start, end), place in tokens.items() if (start, end) in ((29, 31), (29, 30), (30, 31))]
    expected = stack.weights().numpy()[:, :, pieces][..., tokens[8, 11]].mean(axis=-1)
    assert weights is not None
    assert weights[..., 0] == pytest.approx(expected, abs=1e-6)


def test_twins_stay_in_one_half_and_the_other_answers_are_those_of_the_half():
    rows = [replace(DOCTOR, pronoun=(29, 31 + number), answer=number % 2) for number in range(48)]
    first, second = in_halves(rows)
    assert [row.pronoun[1] - 31 for row in first] == [*range(12), *range(24, 36)]
    for half in (first, second):
        assert sorted(row.other_answer for row in half) == sorted(row.answer for row in half)


# Choice and report


def hits(questions, heads, permuted=None, rules=(0, 0)) -> Hits:
    made = np.array(heads)[None, None]
    return Hits(
        questions=questions,
        heads=made,
        permuted=made * 0 if permuted is None else np.array(permuted)[None, None],
        rules=np.array(rules),
    )


def test_head_rule_and_null_are_chosen_on_one_half_and_reported_on_the_other():
    chosen_by = {"det": hits(100, [50, 60], [9, 5], (30, 40))}
    reported = {"det": hits(40, [39, 10], [8, 20], (40, 4)), "rare": hits(29, [1, 1])}
    (one,) = gold_scores(chosen_by, reported, ["to"], ["left", "right"])
    assert (one.layer, one.head, one.accuracy) == (0, 1, 0.25)
    assert (one.rule, one.baseline, one.null, one.questions) == ("right", 0.1, 0.2, 40)


def test_counts_of_two_processes_add_up_to_those_of_one():
    one, other = {"a": hits(1, [1, 0])}, {"a": hits(2, [0, 2]), "b": hits(1, [1, 1])}
    both = added_hits(one, other)
    assert (both["a"].questions, both["a"].heads.tolist(), both["b"].questions) == (3, [[[1, 2]]], 1)


@pytest.mark.parametrize(("length", "most", "block"), [(10, 20, 1), (100, 7, 1), (2001, 500, 1), (142, 60, 12)])
def test_a_sample_comes_from_all_over_a_file_in_whole_blocks(length, most, block):
    sample = evenly_spaced(range(length), most, block)
    assert len(sample) == min(length, most)
    assert sample == sorted(set(sample))
    assert length <= most or sample[-1] >= length * (1 - 2 * block / most)
    assert all(number + 1 in sample for number in sample[:-1] if (number + 1) % block)
