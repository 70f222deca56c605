"""A key that is hidden from every head: equal to masks of one's own, and to the laws of what nobody may look at."""

import dataclasses
import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from model import Edits, HeadSite, HiddenKey, Overwrite, load_checkpoint
from model.cache import Cache
from model.decoding.logits_processors import NO_PROCESSORS
from model.decoding.prompt import decoder_of, start_ids
from model.decoding.steps import likeliest, write
from model.measures.numpy_reference import Numbers
from model.trace import AttentionTrace, Trace
from tests import tiny
from tests.model.decoding.test_steps import writer
from tests.model.decoding.test_stitched_trace import wrong
from tests.model.edits.test_edits import LENGTH, TARGET, VARIANTS, changed, close, last_stack, model_of, quantities, run
from tests.model.test_cache import EDITED
from tests.tiny import TEXT

TYPED = "The film was slow, but I loved it."
PAIRS = ("paper", "t5", "uneven")


def hiding(*positions: int, stack: str = "encoder", attention: str = "self", **besides: Any) -> Edits:
    """Edits that hide these keys."""
    return Edits(hidden=frozenset(HiddenKey(stack, position, attention) for position in positions), **besides)


def attentions(trace: Trace, stack: str, attention: str = "self") -> list[AttentionTrace]:
    """One kind of attention of every layer of a stack."""
    return [getattr(block, f"{attention}_attention") for block in getattr(trace, stack).blocks]


def sites(variant: str) -> list[tuple[str, str]]:
    """The kinds of attention that a variant has."""
    pair = [("encoder", "self"), ("decoder", "self"), ("decoder", "cross")]
    return pair if variant in PAIRS else [(last_stack(variant), "self")]


SITES = [(variant, *site) for variant in VARIANTS for site in sites(variant)]


# What it is measured by


def test_the_review_that_is_told_by_one_word():
    checkpoint = load_checkpoint("sentiment", device="cpu")
    position = checkpoint.tokenizer.encode(TYPED).tokens.index("loved")
    assert checkpoint.classify(TYPED)["positive"] > 0.9
    assert 0.4 < checkpoint.classify(TYPED, edits=hiding(position))["positive"] < 0.6, "nothing else speaks for it"


@pytest.mark.parametrize("norm_order", ["pre", "post"])
def test_an_encoder_with_hidden_keys_is_that_of_torch_with_a_key_mask(norm_order):
    model, ids = tiny.transformer(norm_order=norm_order), tiny.ids(3, LENGTH)
    trace = model(ids, edits=hiding(1, 4)).encoder
    theirs = nn.TransformerEncoder(
        tiny.torch_layer(model.encoder.blocks[0], model.config), 2, enable_nested_tensor=False
    )
    theirs.layers[1] = tiny.torch_layer(model.encoder.blocks[1], model.config)
    theirs.norm = None if norm_order == "post" else model.encoder.norm
    key_mask = torch.tensor([[False, True, False, False, True, False]]).expand(3, -1)
    expected = theirs(trace.embedding.total, src_key_padding_mask=key_mask)
    assert torch.allclose(trace.final, expected, rtol=0, atol=1e-5)


def test_a_decoder_with_hidden_keys_is_that_of_torch_with_key_masks():
    model, ids, target = tiny.transformer("encoder-decoder"), tiny.ids(2, LENGTH), tiny.ids(2, TARGET, seed=9)
    hidden = hiding(1, stack="decoder").hidden | hiding(0, 3, stack="decoder", attention="cross").hidden
    trace = model(ids, target_ids=target, edits=Edits(hidden=hidden))
    x, memory = trace.decoder.embedding.total, trace.encoder.final
    causal = ~torch.ones(TARGET, TARGET).bool().tril()
    own, other = torch.zeros(2, TARGET).bool(), torch.zeros(2, LENGTH).bool()
    own[:, 1], other[:, [0, 3]] = True, True
    for block in model.decoder.blocks:
        layer = tiny.torch_layer(block, model.config)
        x = layer(x, memory, tgt_mask=causal, tgt_key_padding_mask=own, memory_key_padding_mask=other)
    assert torch.allclose(trace.decoder.final, x, rtol=0, atol=1e-5)
    assert torch.equal(trace.encoder.final, model.encode(ids).final)


@pytest.mark.parametrize(("variant", "stack", "attention"), SITES)
def test_every_layer_is_the_fused_kernel_with_an_additive_mask_of_its_own(variant, stack, attention):
    model = model_of(variant)
    plain, edited = run(model), run(model, edits=hiding(0, 2, stack=stack, attention=attention))
    usual = [trace.mask for trace in attentions(plain, stack, attention)]
    for mask, trace in zip(usual, attentions(edited, stack, attention), strict=True):
        added = torch.zeros(mask.shape, dtype=torch.float64).masked_fill(~mask, -math.inf)
        added[:, [0, 2]] = -math.inf
        assert torch.equal(trace.mask, added == 0)
        if model.config.score_cap is None:
            assert close(*(context[:, (added == 0).any(dim=1)] for context in (trace.context, by_kernel(trace, added))))


def by_kernel(trace: AttentionTrace, added: torch.Tensor) -> torch.Tensor:
    """The context of every head by torch's own attention; NaN where a query sees nothing."""
    group = len(trace.query) // len(trace.key)
    key, value = (shared.repeat_interleave(group, dim=0)[None] for shared in (trace.key, trace.value))
    mask = added if trace.bias is None else trace.bias + added
    return F.scaled_dot_product_attention(trace.query[None], key, value, mask, scale=float(trace.scale))[0]


@torch.no_grad()
@pytest.mark.parametrize(("variant", "stack", "attention"), SITES)
def test_numpy_finds_the_same_stream_after_every_layer(variant, stack, attention):
    model, edits = model_of(variant), hiding(1, 3, stack=stack, attention=attention)
    trace, memory = run(model, edits=edits), None
    numbers = Numbers(model, edits)
    for name in ("encoder", "decoder"):
        side, x = getattr(trace, name), None
        if side is not None:
            x = numbers.entering(name, trace)
            for block, layer in zip(side.blocks, numbers.layers(name, x, memory), strict=True):
                assert torch.allclose(block.stream_out, torch.from_numpy(layer.stream_out), rtol=0, atol=2e-6)
                x = layer.stream_out
            memory = numbers.finished(name, x)


# What holds of it


@pytest.mark.parametrize(("variant", "stack", "attention"), SITES)
def test_nobody_looks_at_a_hidden_key_and_the_rest_sums_to_one(variant, stack, attention):
    trace = run(model_of(variant), edits=hiding(0, 2, stack=stack, attention=attention))
    for one in attentions(trace, stack, attention):
        assert not one.mask[:, [0, 2]].any()
        assert (one.scores[..., [0, 2]] == -math.inf).all()
        assert (one.weights[..., [0, 2]] == 0).all()
        seeing = one.mask.any(dim=-1).double()
        assert close(one.weights.sum(dim=-1), seeing.expand(len(one.weights), -1))
        assert (one.context[:, seeing == 0] == 0).all()
    assert all(value.isfinite().all() for name, value in numbers_in(trace) if not name.endswith("scores"))


def numbers_in(trace: Trace) -> list[tuple[str, torch.Tensor]]:
    return [(name, value) for name, value in quantities(trace).items() if isinstance(value, torch.Tensor)]


@pytest.mark.parametrize(("variant", "stack", "attention"), SITES)
def test_where_every_key_is_hidden_an_attention_says_nothing_and_gradients_stay_finite(variant, stack, attention):
    model, edits = model_of(variant), hiding(*range(LENGTH), stack=stack, attention=attention)
    trace = run(model, edits=edits)
    for one in attentions(trace, stack, attention):
        assert (one.weights == 0).all()
        assert (one.context == 0).all()
    (trace.decoder or trace.encoder).final.square().sum().backward()
    assert all(one.grad is None or one.grad.isfinite().all() for one in model.parameters())


@pytest.mark.parametrize(("variant", "stack", "attention"), SITES)
def test_the_other_attentions_keep_their_masks(variant, stack, attention):
    model = model_of(variant)
    plain, edited = run(model), run(model, edits=hiding(2, stack=stack, attention=attention))
    for name, kind in sites(variant):
        if (name, kind) != (stack, attention):
            pairs = zip(attentions(plain, name, kind), attentions(edited, name, kind), strict=True)
            assert all(torch.equal(one.mask, other.mask) for one, other in pairs)


@pytest.mark.parametrize("variant", VARIANTS)
def test_hiding_a_key_that_nobody_could_see_or_that_is_not_there_changes_no_bit(variant):
    model, stack = model_of(variant), sites(variant)[0][0]
    ids, padding_mask = tiny.ids(2, LENGTH).clamp(min=1), (torch.arange(LENGTH) < 4).expand(2, -1)
    plain = run(model, ids, padding_mask=padding_mask)
    assert changed(plain, run(model, ids, hiding(4, 5, stack=stack), padding_mask=padding_mask)) == []
    assert changed(plain, run(model, ids, hiding(LENGTH, 99, stack=stack), padding_mask=padding_mask)) == []
    assert changed(plain, run(model, ids, hiding(0, stack=stack), padding_mask=padding_mask)) != []


def test_a_hidden_last_token_of_a_decoder_changes_its_own_row_alone():
    model, last = model_of("llama"), LENGTH - 1
    plain, edited = run(model).decoder, run(model, edits=hiding(last, stack="decoder")).decoder
    assert torch.equal(plain.final[:last], edited.final[:last])
    assert not close(plain.final[last], edited.final[last])


@given(positions=st.frozensets(st.integers(0, LENGTH + 1)), masks=st.integers(0, 3), seed=st.integers(0, 20))
def test_the_mask_is_what_the_other_edits_allow_but_for_the_hidden_keys(positions, masks, seed):
    unmasked, causal = (frozenset(["decoder"] if masks & bit else []) for bit in (1, 2))
    model, ids, besides = model_of("gpt"), tiny.ids(LENGTH, seed=seed), Edits(unmasked=unmasked, causal=causal)
    hidden = dataclasses.replace(besides, hidden=hiding(*positions, stack="decoder").hidden)
    plain, edited = (run(model, ids, edits).decoder.blocks for edits in (besides, hidden))
    for one, other in zip(plain, edited, strict=True):
        expected = one.self_attention.mask.clone()
        expected[:, [position for position in positions if position < LENGTH]] = False
        assert torch.equal(other.self_attention.mask, expected)
        sums = other.self_attention.weights.sum(dim=-1)
        assert close(sums, expected.any(dim=-1).double().expand_as(sums))


def test_a_uniform_head_is_even_over_the_keys_that_are_left():
    heads = frozenset([HeadSite("encoder", 0, 1)])
    weights = run(model_of("pre"), edits=hiding(2, 3, uniform=heads)).encoder.blocks[0].self_attention.weights
    assert close(weights[1], torch.tensor([0.25, 0.25, 0, 0, 0.25, 0.25]).double().expand(LENGTH, -1))
    assert (weights[0, :, [2, 3]] == 0).all()


def test_overwritten_weights_act_after_keys_are_hidden():
    site = HeadSite("encoder", 0, 1)
    cells = frozenset([Overwrite(site, 1, 0, 0.5), Overwrite(site, 1, 2, 0.0, renormalise=True)])
    model = model_of("pre")
    alone, both = (run(model, edits=hiding(2, overwritten=one)) for one in (frozenset(), cells))
    row = alone.encoder.blocks[0].self_attention.weights[1, 1].clone()
    row[0] = 0.5
    assert close(both.encoder.blocks[0].self_attention.weights[1, 1], row / row.sum())


def test_one_head_without_a_key_by_overwriting_is_that_head_with_the_key_hidden():
    model = model_of("pre")
    cells = [
        Overwrite(HeadSite("encoder", layer, head), query, 3, 0.0, renormalise=True)
        for layer in range(2)
        for head in range(4)
        for query in range(LENGTH)
    ]
    zeroed, hidden = (run(model, edits=one) for one in (Edits(overwritten=frozenset(cells)), hiding(3)))
    assert close(zeroed.encoder.final, hidden.encoder.final)


# In a batch


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_of_a_batch_that_hide_different_keys_are_their_sentences(variant):
    model, stacks = model_of(variant), sites(variant)
    many = [hiding(row, stack=stack, attention=kind) for row in range(3) for stack, kind in stacks]
    many = [Edits(), *many, Edits(hidden=frozenset().union(*(edits.hidden for edits in many)))]
    ids, target = tiny.ids(len(many), LENGTH).clamp(min=1), tiny.ids(len(many), TARGET, seed=9)
    both = model.config.architecture == "encoder-decoder"
    batch = run(model, ids, many)
    for row, edits in enumerate(many):
        alone = run(model, ids[row], edits, **({"target_ids": target[row]} if both else {}))
        for stack, kind in stacks:
            for one, other in zip(attentions(batch, stack, kind), attentions(alone, stack, kind), strict=True):
                assert close(one.weights[row], other.weights)
                assert torch.equal(one.mask[row].expand_as(one.weights[row]), other.mask.expand_as(other.weights))
        assert close((batch.decoder or batch.encoder).final[row], (alone.decoder or alone.encoder).final)


# From a cache


IN_PAIRS = (hiding(0), hiding(2, 4, stack="decoder"), hiding(1, 3, stack="decoder", attention="cross"))
PRODUCED = {
    "decoder": hiding(2, 8, 10, stack="decoder"),
    "encoder-decoder": Edits(hidden=frozenset().union(*(edits.hidden for edits in IN_PAIRS))),
}


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "relative", "alibi"])
@pytest.mark.parametrize("architecture", PRODUCED)
def test_decoding_from_a_cache_is_decoding_in_whole_passes(architecture, positions):
    checkpoint, edits = writer(architecture, positions=positions), PRODUCED[architecture]
    ids = (5, 9, 11, 4)
    start, decoder = start_ids(checkpoint.config, ids), decoder_of(checkpoint.model, ids, edits, name="tiny")
    plain = dataclasses.replace(decoder, cached=False)
    steps, expected = (list(write(one, start, 14, likeliest, NO_PROCESSORS)) for one in (decoder, plain))
    assert decoder.read(torch.tensor(start))[1] is not None
    assert [one.token_id for one in steps] == [one.token_id for one in expected]
    assert all(torch.allclose(one.logits, other.logits, atol=1e-5) for one, other in zip(steps, expected, strict=True))
    without = decoder_of(checkpoint.model, ids, Edits(), name="tiny")
    others = list(write(without, start, 14, likeliest, NO_PROCESSORS))
    assert any(not torch.allclose(one.logits, other.logits) for one, other in zip(steps, others, strict=False))


def test_rows_that_go_on_from_a_cache_keep_their_own_hidden_keys():
    model, ids, memory = model_of("t5"), tiny.ids(3, 7), tiny.normal(3, 5, 16).double()
    cross = hiding(2, stack="decoder", attention="cross")
    many = [hiding(1, stack="decoder"), Edits(), Edits(hidden=cross.hidden | hiding(5, stack="decoder").hidden)]
    whole = model.decode(ids, memory=memory, edits=many)
    past = Cache.of(model.decode(ids[:, :4], memory=memory, edits=many))
    rest = model.decode(ids[:, 4:], edits=many, past=past)
    assert close(rest.final, whole.final[:, 4:])
    for row, edits in enumerate(many):
        assert close(whole.final[row], model.decode(ids[row], memory=memory[row], edits=edits).final)


@pytest.mark.parametrize("method", ["greedy", "sample", "beam"])
@pytest.mark.parametrize("architecture", PRODUCED)
def test_the_trace_of_what_is_generated_has_the_masks_of_a_whole_pass(architecture, method):
    checkpoint = writer(architecture, positions="rotary")
    edits = PRODUCED[architecture]
    generation = checkpoint.generate(TEXT, 8, method, edits)
    assert wrong(checkpoint, generation, edits=edits) == []
    for block in generation.trace.decoder.blocks:
        assert (block.self_attention.weights[..., 2] == 0).all()
        assert block.cross_attention is None or (block.cross_attention.weights[..., [1, 3]] == 0).all()


def test_a_key_that_is_yet_to_be_produced_is_hidden_once_it_is_there():
    checkpoint = writer("decoder")
    count = len(checkpoint.tokenizer.encode(TEXT).ids)
    generation = checkpoint.generate(TEXT, 5, edits=hiding(count + 1, stack="decoder"))
    assert generation.token_ids[:2] == checkpoint.generate(TEXT, 5).token_ids[:2]
    assert (generation.trace.decoder.weights()[..., count + 1] == 0).all()
    assert EDITED["hidden"].hidden == hiding(0, stack="decoder").hidden  # a first row that sees nothing is tested there
