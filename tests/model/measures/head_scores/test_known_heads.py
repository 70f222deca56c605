"""Heads written by hand have the score of their kind, and nothing else has: no other head, and no null."""

import numpy as np
import pytest
import torch

from model import Checkpoint
from model.measures.head_scores.kind_sums import added
from model.measures.head_scores.repeated_tokens import induction_sums
from model.measures.head_scores.text_set import measured_texts
from model.transformer import Transformer
from tests import tiny
from tests.model.measures.head_scores.hand_built import (
    FIRST_HEAD,
    IDLE_HEAD,
    INDUCTION_HEAD,
    PREVIOUS_HEAD,
    checkpoint,
)

TEXTS = [*tiny.WORDS, "the old cat saw the dog and the dog saw the old cat .", "bad , bad dog ! not a good man ."]


def sums_of(model, texts=TEXTS):
    *_, sums = measured_texts(model, enumerate(texts))
    return sums


def others(scores, *places):
    """The scores of all heads but these."""
    kept = np.ones(scores.shape, bool)
    for place in places:
        kept[place] = False
    return scores[kept]


def test_the_previous_token_head_has_the_score_of_its_kind_and_no_other_head_has():
    kind = sums_of(checkpoint())["decoder"]["previous_token"]
    assert kind.scores[PREVIOUS_HEAD] > 0.99
    assert others(kind.scores, PREVIOUS_HEAD).max() < 0.4
    assert kind.nulls[PREVIOUS_HEAD] < 0.3


def test_the_first_token_head_has_the_score_of_its_kind():
    kind = sums_of(checkpoint())["decoder"]["first_token"]
    assert kind.scores[FIRST_HEAD] > 0.99
    assert others(kind.scores, FIRST_HEAD).max() < 0.4
    assert kind.nulls[FIRST_HEAD] < 0.3


def test_the_induction_head_has_its_score_on_repeated_random_tokens_and_not_on_others():
    kind = induction_sums(checkpoint(), range(4))["decoder"]["induction"]
    assert kind.scores[INDUCTION_HEAD] > 0.9
    assert others(kind.scores, INDUCTION_HEAD).max() < 0.1
    assert kind.nulls.max() < 0.1


def test_the_induction_head_is_found_in_texts_in_which_words_come_again():
    kind = sums_of(checkpoint())["decoder"]["induction_in_texts"]
    assert kind.scores[INDUCTION_HEAD] > 0.5, "where a word comes a third time, it looks at two places"
    assert kind.scores[INDUCTION_HEAD] - kind.nulls[INDUCTION_HEAD] > 0.4
    assert others(kind.scores - kind.nulls, INDUCTION_HEAD).max() < 0.2


def test_a_head_of_an_offset_is_positional_and_one_that_looks_everywhere_is_broad():
    sums = sums_of(checkpoint())["decoder"]
    positional, broad = sums["positional"], sums["broad"]
    assert positional.scores[PREVIOUS_HEAD] > 0.9
    assert positional.nulls[PREVIOUS_HEAD] < 0.4
    assert others(positional.scores - positional.nulls, PREVIOUS_HEAD).max() < 0.3
    assert broad.scores[IDLE_HEAD] == pytest.approx(1)
    assert broad.scores[PREVIOUS_HEAD] < 0.01


def untrained(architecture):
    torch.manual_seed(0)
    model = Transformer(tiny.config(architecture, max_length=24, width=64, positions="none")).eval()
    return Checkpoint("untrained", model, tiny.tokenizer(), {}, torch.device("cpu"))


@pytest.mark.parametrize("architecture", tiny.ARCHITECTURES)
def test_heads_of_random_weights_have_the_scores_of_their_nulls(architecture):
    model, draw = untrained(architecture), np.random.default_rng(0)
    words = [*" ".join(tiny.WORDS).split(), "dog", "the", ","]
    sums = sums_of(model, [" ".join(draw.choice(words, 12)) for _ in range(12)])
    for attention, kinds in added(sums, induction_sums(model, range(4))).items():
        for kind in set(kinds) - {"broad"}:  # weights that are nearly even are broad, whatever they were drawn from
            excess = np.abs(kinds[kind].scores - kinds[kind].nulls)
            assert excess.max() < 0.15, (attention, kind, excess)


def test_the_strongest_example_is_a_weight_of_its_text():
    model = checkpoint()
    best = sums_of(model)["decoder"]["previous_token"].strongest
    text, query, key = best.place[PREVIOUS_HEAD]
    stack = model.trace(TEXTS[text]).decoder
    assert key == query - 1
    assert stack.weights()[(*PREVIOUS_HEAD, query, key)] == pytest.approx(best.weight[PREVIOUS_HEAD])
    assert best.tokens[PREVIOUS_HEAD].tolist() == [stack.tokens[query], stack.tokens[key]]
