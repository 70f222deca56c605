"""The effects of heads, measured in batches, against one pass of the checkpoint after the other."""

import numpy as np
import pytest

from model import Edits, load_checkpoint
from model.edits import HeadSite
from model.measures.learn.heads import head_effects as measure
from model.measures.learn.heads.head_effects import head_effects, outcomes_under, shares_of_heads
from model.measures.outcome import outcome_of
from tests import tiny

TEXT = "The film was slow, but I loved it."


@pytest.fixture(scope="module")
def sentiment():
    return load_checkpoint("sentiment", device="cpu")


def positive(checkpoint, sites) -> float:
    return checkpoint.classify(TEXT, edits=Edits(muted=frozenset(sites)))["positive"]


def test_each_head_muted_alone_is_one_pass_with_that_edit(sentiment):
    effects = head_effects(sentiment, sentiment.trace(TEXT))
    sites = [HeadSite("encoder", layer, head) for layer in range(4) for head in range(8)]
    assert list(effects.sites) == sites
    expected = [positive(sentiment, [site]) for site in sites]
    np.testing.assert_allclose(effects.alone, expected, atol=1e-5)
    np.testing.assert_allclose(effects.by_layer.ravel(), np.abs(np.array(expected) - effects.plain), atol=1e-5)
    assert effects.plain == pytest.approx(positive(sentiment, []), abs=1e-6)
    assert effects.most == int(np.abs(np.array(expected) - effects.plain).argmax())


def test_heads_are_muted_one_after_the_other_from_the_least_important_on(sentiment):
    effects = head_effects(sentiment, sentiment.trace(TEXT))
    order = sorted(range(32), key=lambda place: abs(effects.alone[place] - effects.plain))
    assert effects.order.tolist() == order
    for count in (0, 1, 7, 29, 31, 32):
        share = positive(sentiment, [effects.sites[place] for place in order[:count]])
        assert effects.muted[count] == pytest.approx(share, abs=1e-5)
        assert bool(effects.stays[count]) == (share > 0.5)
    assert effects.spare == max(count for count in range(33) if effects.stays[: count + 1].all())
    assert effects.spare_within_points == max(
        count for count in range(33) if np.all(np.abs(effects.muted[: count + 1] - effects.plain) <= 0.05)
    )


def test_an_answer_that_comes_back_later_does_not_count(sentiment):
    effects = head_effects(sentiment, sentiment.trace("I loved the film, but it was slow."))
    assert effects.stays[-1]
    assert not effects.stays[effects.spare + 1]
    assert effects.stays[: effects.spare + 1].all()


def test_the_next_token_of_a_decoder_is_followed_as_well():
    checkpoint = tiny.checkpoint("decoder")
    trace = checkpoint.trace(tiny.TEXT)
    effects = head_effects(checkpoint, trace)
    answer = int(trace.logits[-1].argmax())
    for place, site in enumerate(effects.sites):
        logits = checkpoint.trace(tiny.TEXT, edits=Edits(muted=frozenset({site}))).logits[-1]
        assert effects.alone[place] == pytest.approx(float(logits.double().softmax(-1)[answer]), abs=1e-5)
    first, second = trace.logits[-1].double().softmax(-1).sort(descending=True).values[:2].tolist()
    assert effects.lead == pytest.approx(first - second)
    assert effects.clear == (first - second >= 0.02)


def test_batches_of_any_size_give_the_same(monkeypatch):
    checkpoint = tiny.checkpoint("encoder", labels=("no", "yes"))
    whole = head_effects(checkpoint, checkpoint.trace(tiny.TEXT))
    monkeypatch.setattr(measure, "NUMBERS", 1)
    one_by_one = head_effects(checkpoint, checkpoint.trace(tiny.TEXT))
    np.testing.assert_allclose(whole.alone, one_by_one.alone, atol=1e-6)
    np.testing.assert_allclose(whole.muted, one_by_one.muted, atol=1e-6)


def test_a_pair_of_texts_keeps_its_segments():
    checkpoint = tiny.checkpoint("encoder", labels=("no", "yes"), segments=2)
    trace = checkpoint.trace("the dog", pair="a cat")
    again = checkpoint.trace_again(trace)
    outcome = outcome_of(checkpoint, trace)
    shares, stays = outcomes_under(checkpoint, trace, outcome, [Edits()])
    assert shares[0] == pytest.approx(float(again.logits.double().softmax(-1).max()), abs=1e-6)
    assert stays.all()


def test_the_first_change_of_the_answer_ends_the_count():
    assert measure.first_false(np.array([True, True, False, True])) == 2
    assert measure.first_false(np.array([True, True])) == 2


def test_a_model_without_one_answer_is_refused():
    checkpoint = tiny.checkpoint("encoder-decoder")
    with pytest.raises(ValueError, match="one answer"):
        head_effects(checkpoint, checkpoint.trace_ids([5, 9], [2, 7]))
    with pytest.raises(ValueError, match="one answer"):
        head_effects(tiny.checkpoint("encoder"), tiny.checkpoint("encoder").trace(tiny.TEXT))


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 8, 12, 32, 144])
def test_every_number_of_heads_lies_in_exactly_one_guess(heads):
    guesses = shares_of_heads(heads)
    assert [count for guess in guesses for count in guess] == list(range(heads + 1))
    assert 2 <= len(guesses) <= 6
