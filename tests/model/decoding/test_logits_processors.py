"""Sampling: what temperature, top-k, top-p and the penalty do to the probabilities, and draws by them."""

import math
from collections import Counter
from typing import Any

import pytest
import torch
import transformers

from model import InputError
from model.decoding.logits_processors import LogitsProcessors
from model.decoding.steps import sampler
from tests import tiny
from tests.model.decoding.test_steps import DECODERS, writer
from tests.tiny import TEXT

OPTIONS: list[dict[str, Any]] = [
    {"temperature": 0.3},
    {"temperature": 40.0},
    {"top_k": 1},
    {"top_k": 7},
    {"top_k": 500},
    {"top_p": 0.05},
    {"top_p": 0.9},
    {"repetition_penalty": 1.8},
    {"repetition_penalty": 0.6},
    {"repetition_penalty": 1.3, "temperature": 0.7, "top_k": 20, "top_p": 0.8},
]


def reference(options: dict[str, Any]) -> Any:
    """The library's processors, in the order in which its ``generate`` has them."""
    kinds = {
        "repetition_penalty": transformers.RepetitionPenaltyLogitsProcessor,
        "temperature": transformers.TemperatureLogitsWarper,
        "top_k": transformers.TopKLogitsWarper,
        "top_p": transformers.TopPLogitsWarper,
    }
    return transformers.LogitsProcessorList(kind(options[name]) for name, kind in kinds.items() if name in options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_those_of_the_processors_of_the_reference(options, seed):
    logits, ids = 4 * tiny.normal(80, seed=seed), [3, 3, 17, 42]
    expected = reference(options)(torch.tensor([ids]), logits[None].clone())[0].softmax(dim=-1)
    shares = LogitsProcessors(**options).applied(logits, ids).softmax(dim=-1)
    assert torch.equal(shares > 0, expected > 0)
    assert torch.allclose(shares, expected, atol=1e-6)


def test_one_case_by_hand():
    logits = torch.tensor([0.5, 0.25, 0.125, 0.125]).log()
    adjusted = LogitsProcessors(
        temperature=0.5, top_k=3, top_p=0.9
    )  # squares: 16 4 1 1, none cut by the tie, 0.95 by top-p
    stages = {name: one.softmax(dim=-1).tolist() for name, one in adjusted.stages(logits, [])}
    assert list(stages) == ["model", "repetition_penalty", "temperature", "top_k", "top_p"]
    assert stages["model"] == stages["repetition_penalty"] == pytest.approx([0.5, 0.25, 0.125, 0.125])
    assert stages["temperature"] == stages["top_k"] == pytest.approx([16 / 22, 4 / 22, 1 / 22, 1 / 22])
    assert stages["top_p"] == pytest.approx([0.8, 0.2, 0, 0])


@pytest.mark.parametrize("options", [{"temperature": 0}, {"top_p": 0}, {"top_k": 1}, {"temperature": 1e-45}])
@pytest.mark.parametrize("architecture", DECODERS)
def test_settings_that_leave_one_token_are_greedy(architecture, options):
    checkpoint = writer(architecture)
    assert checkpoint.generate(TEXT, 8, "sample", **options).token_ids == checkpoint.generate(TEXT, 8).token_ids


@pytest.mark.parametrize("options", [{"top_k": 0}, {"top_k": None}, {"top_p": 1.0}, {"temperature": 1.0}])
def test_settings_without_effect_leave_the_logits(options):
    logits = tiny.normal(50)
    assert torch.equal(LogitsProcessors(**options).applied(logits, [1]), logits)


def test_extreme_logits_stay_probabilities():
    logits = torch.tensor([3e38, -3e38, 0.0, -math.inf])
    for options in ({"temperature": 1e-38}, {"temperature": 1e38}, {"top_p": 0.5}, {"repetition_penalty": 1e9}):
        given: Any = options
        assert LogitsProcessors(**given).applied(logits, [2]).softmax(dim=-1).sum() == pytest.approx(1)


@pytest.mark.parametrize("options", [{}, {"temperature": 0.5, "top_k": 6, "top_p": 0.95}], ids=str)
def test_tokens_are_drawn_as_often_as_they_are_probable(options):
    logits, draws = 1.5 * tiny.normal(12, seed=2), 4000
    adjusted, take = LogitsProcessors(**options).applied(logits, []), sampler(7)
    counts = Counter(take(adjusted) for _ in range(draws))
    expected = {token: draws * share for token, share in enumerate(adjusted.softmax(dim=-1).tolist()) if share > 0}
    assert counts.keys() <= expected.keys()
    statistic = sum((counts[token] - many) ** 2 / many for token, many in expected.items())
    # 99.9 % of χ² with so many degrees of freedom, by Wilson and Hilferty 1931
    freedom = len(expected) - 1
    assert statistic < freedom * (1 - 2 / (9 * freedom) + 3.09 * math.sqrt(2 / (9 * freedom))) ** 3


def test_the_first_tokens_of_many_seeds_follow_the_distribution_of_the_step():
    checkpoint, draws = writer("encoder-decoder"), 300
    steps = [
        checkpoint.generate(TEXT, 1, "sample", seed=seed, temperature=2.0, top_k=3).steps[0] for seed in range(draws)
    ]
    after = steps[0].after
    assert int((after > 0).sum()) == 3
    counts = Counter(step.token_id for step in steps)
    statistic = sum(
        (counts[token] - draws * float(after[token])) ** 2 / (draws * float(after[token]))
        for token in after.nonzero().flatten().tolist()
    )
    assert statistic < 13.8  # 99.9 % of χ² with two degrees of freedom


def test_a_seed_repeats_and_another_one_says_something_else():
    checkpoint = writer("decoder")
    texts = [checkpoint.generate(TEXT, 8, "sample", seed=seed, temperature=3.0).token_ids for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    before = torch.random.get_rng_state()
    checkpoint.generate(TEXT, 2, "sample")
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("architecture", DECODERS)
def test_a_step_has_the_probabilities_before_and_after(architecture):
    checkpoint, options = (
        writer(architecture),
        {"temperature": 0.6, "top_k": 9, "top_p": 0.9, "repetition_penalty": 1.4},
    )
    generation = checkpoint.generate(TEXT, 6, "sample", seed=3, **options)
    read = generation.trace.decoder.ids.tolist()
    for step in generation.steps:
        assert list(step.read) == read[: len(step.read)]
        expected = reference(options)(torch.tensor([step.read]), step.logits[None].clone())[0].softmax(dim=-1)
        assert torch.allclose(step.after, expected, atol=1e-6)
        assert torch.equal(step.stages["model"], step.before)
        assert torch.equal(step.stages["top_p"], step.after)
        assert step.probability == pytest.approx(float(step.logits.softmax(dim=-1)[step.token_id]))
        assert step.after[step.token_id] > 0
        shares = [share for _, share in step.alternatives(5)]
        assert shares == sorted(step.before.tolist(), reverse=True)[:5]


def test_a_penalty_counts_what_the_decoder_has_read():
    checkpoint = writer("decoder", seed=1)
    free = checkpoint.generate(TEXT, 20)
    strict = checkpoint.generate(TEXT, 20, repetition_penalty=1000.0)
    assert len(set(free.token_ids)) < len(free.token_ids)
    assert len(set(strict.token_ids)) == len(strict.token_ids)
    assert not set(strict.token_ids) & set(tiny.tokenizer().encode(TEXT).ids)


@pytest.mark.parametrize(("options", "complaint"), [
    ({"temperature": -1}, "temperature: found -1, expected a number from 0"),
    ({"temperature": math.nan}, "temperature: found nan, expected a number from 0"),
    ({"temperature": True}, "temperature: found True, expected a number from 0"),
    ({"top_k": -1}, "top_k: found -1, expected a whole number from 0, or None"),
    ({"top_k": 2.0}, "top_k: found 2.0, expected a whole number from 0, or None"),
    ({"top_p": 1.1}, "top_p: found 1.1, expected a number from 0 to 1"),
    ({"top_p": "a"}, "top_p: found 'a', expected a number from 0 to 1"),
    ({"repetition_penalty": 0}, "repetition_penalty: found 0, expected a number above 0"),
    ({"seed": -1}, "seed: found -1, expected a whole number from 0"),
    ({"width": 0, "method": "beam"}, "width: found 0, expected a whole number from 1 to 64"),
    ({"width": 65, "method": "beam"}, "width: found 65, expected a whole number from 1 to 64"),
    ({"length_penalty": -0.1, "method": "beam"}, "length_penalty: found -0.1, expected a number from 0"),
    ({"top_k": 5, "method": "beam"}, "method: found 'beam', expected greedy or sample where the probabilities are"),
    ({"method": "best"}, "method: found 'best', expected one of greedy, beam, sample"),
    ({"written": [80]}, r"written\[0\]: found 80, expected 0 to 79"),
    ({"written": [5] * 30}, "written: found 36, expected at most 32"),
])  # fmt: skip
def test_an_option_that_makes_no_sense_is_refused_before_anything_is_computed(options, complaint):
    for method in ("generate", "stream"):
        with pytest.raises(InputError, match=rf"^{complaint}"):
            getattr(writer("decoder"), method)(TEXT, **options)
