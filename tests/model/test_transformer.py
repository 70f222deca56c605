"""Laws of the whole model, and the equality of its blocks and stacks with torch's own."""

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch import nn

from model import Config, Edits, HeadSite, InputError
from model.attention import MaskAndBias, causal_mask, full_mask, restrict, split
from model.linear import product
from model.trace import Trace, map_tensors
from model.transformer import Transformer
from tests import tiny
from tests.tiny import ARCHITECTURES, TEXT, normal

NORM_ORDERS = ("pre", "post")


def every_tensor(record) -> list[torch.Tensor]:
    """All tensors of a trace, in order."""
    tensors: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        tensors.append(tensor)
        return tensor

    map_tensors(record, keep)
    return tensors


def identical(one: Trace, other: Trace) -> bool:
    """Whether two traces hold the same bits."""
    return all(torch.equal(a, b) for a, b in zip(every_tensor(one), every_tensor(other), strict=True))


def run(model, ids: torch.Tensor, **options) -> Any:
    """A pass, with a target where the architecture needs one."""
    if model.config.architecture == "encoder-decoder":
        options = {"target_ids": tiny.ids(*ids.shape[:-1], 4, seed=9)} | options
    return model(ids, **options)


# Equality with torch


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_order", NORM_ORDERS)
def test_an_encoder_block_equals_torch_encoder_layer(norm_order, activation):
    config = tiny.config(norm_order=norm_order, activation=activation)
    ours = tiny.transformer(**vars_of(config)).encoder.blocks[0]
    x, padding_mask = normal(3, 6, 16), tiny.padding_mask(6, 4, 1)
    out = ours(x, MaskAndBias(mask=restrict(full_mask(6, 6), padding_mask))).stream_out
    expected = tiny.torch_layer(ours, config)(x, src_key_padding_mask=~padding_mask)
    assert torch.allclose(out, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_order", NORM_ORDERS)
def test_a_decoder_block_equals_torch_decoder_layer(norm_order, activation):
    config = tiny.config("encoder-decoder", norm_order=norm_order, activation=activation)
    ours = tiny.transformer(**vars_of(config)).decoder.blocks[1]
    x, memory, padding_mask, memory_padding_mask = (
        normal(2, 5, 16),
        normal(2, 7, 16, seed=1),
        tiny.padding_mask(5, 3),
        tiny.padding_mask(7, 2),
    )
    masks = restrict(causal_mask(5), padding_mask), restrict(full_mask(5, 7), memory_padding_mask)
    out = ours(x, MaskAndBias(mask=masks[0]), memory, MaskAndBias(mask=masks[1])).stream_out
    blocked = {"tgt_key_padding_mask": ~padding_mask, "memory_key_padding_mask": ~memory_padding_mask}
    expected = tiny.torch_layer(ours, config)(x, memory, tgt_mask=~causal_mask(5), **blocked)
    assert torch.allclose(out, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("norm_order", NORM_ORDERS)
def test_whole_stacks_equal_torch_encoder_and_decoder(norm_order):
    model = tiny.transformer("encoder-decoder", norm_order=norm_order)
    ids, target, padding_mask = tiny.ids(2, 7), tiny.ids(2, 5, seed=1), tiny.padding_mask(7, 3)
    trace = model(ids, padding_mask=padding_mask, target_ids=target)
    encoder, decoder = torch_stack(model, "encoder"), torch_stack(model, "decoder")
    memory = encoder(trace.encoder.embedding.total, src_key_padding_mask=~padding_mask)
    blocked = {"tgt_mask": ~causal_mask(5), "memory_key_padding_mask": ~padding_mask}
    final = decoder(trace.decoder.embedding.total, memory, **blocked)
    assert torch.allclose(trace.encoder.final, memory, rtol=0, atol=1e-5)
    assert torch.allclose(trace.decoder.final, final, rtol=0, atol=1e-5)
    assert torch.allclose(trace.logits, final @ model.embedding.weight.T, rtol=0, atol=1e-4)


def torch_stack(model: Transformer, name: str) -> nn.Module:
    """Torch's own stack with the weights of one of ours."""
    stack = getattr(model, name)
    layers = [tiny.torch_layer(block, model.config) for block in stack.blocks]
    pre = model.config.norm_order == "pre"
    if name == "encoder":
        theirs: Any = nn.TransformerEncoder(layers[0], len(layers), enable_nested_tensor=False)
    else:
        theirs = nn.TransformerDecoder(layers[0], len(layers))
    theirs.layers = nn.ModuleList(layers)
    theirs.norm = stack.norm if pre else None
    return theirs


def vars_of(config: Config) -> dict[str, Any]:
    return {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}


# Sizes


def count(config: Config) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Transformer(config).parameters())


def test_the_base_model_of_the_paper_has_63_million_parameters():
    attention = 4 * (512 * 512 + 512)  # query, key, value and output projection, each with a bias
    feed_forward = (512 * 2048 + 2048) + (2048 * 512 + 512)
    norm = 512 + 512
    encoder = 6 * (attention + feed_forward + 2 * norm)
    decoder = 6 * (2 * attention + feed_forward + 3 * norm)
    table = 37_000 * 512  # source, target and output projection share it
    assert table + encoder + decoder == 63_082_496
    assert count(Config.paper_base()) == 63_082_496


def test_the_base_config_is_that_of_the_paper():
    config = Config.paper_base()
    assert (config.width, config.layers, config.heads, config.hidden, config.dropout) == (512, 6, 8, 2048, 0.1)
    assert (config.norm_order, config.activation, config.positions) == ("post", "relu", "sinusoidal")


def test_a_tied_output_projection_is_the_token_table_itself():
    tied, untied = tiny.transformer("decoder"), tiny.transformer("decoder", tie_embeddings=False)
    trace = tied(tiny.ids(5))
    assert torch.allclose(trace.logits, trace.decoder.final @ tied.embedding.weight.T, atol=1e-5)
    trace = untied(tiny.ids(5))
    assert torch.allclose(trace.logits, trace.decoder.final @ untied.projection.weight.T, atol=1e-5)


def test_an_untied_target_has_a_table_of_its_own():
    model = tiny.transformer("encoder-decoder", tie_embeddings=False, share_embeddings=False)
    trace = model(tiny.ids(3), target_ids=tiny.ids(3))
    assert torch.equal(trace.encoder.embedding.token, 4 * model.embedding(tiny.ids(3)))
    assert torch.equal(trace.decoder.embedding.token, 4 * model.target_embedding(tiny.ids(3)))


# Laws


@pytest.mark.parametrize("architecture", ["decoder", "encoder-decoder"])
def test_no_attention_goes_to_the_future(architecture):
    weights = run(tiny.transformer(architecture), tiny.ids(6)).decoder.weights()
    assert (weights.triu(1) == 0).all()
    assert (weights.diagonal(dim1=-2, dim2=-1) > 0).all()


@pytest.mark.parametrize("architecture", ["decoder", "encoder-decoder"])
@pytest.mark.parametrize("norm_order", NORM_ORDERS)
def test_a_later_token_never_changes_an_earlier_logit(architecture, norm_order):
    model, ids = tiny.transformer(architecture, norm_order=norm_order), tiny.ids(7)
    changed = torch.cat([ids[:4], (ids[4:] + 1) % 80])
    source = {} if architecture == "decoder" else {"ids": tiny.ids(5, seed=3)}
    name = "target_ids" if source else "ids"
    before, after = (model(**source, **{name: numbers}).logits for numbers in (ids, changed))
    assert torch.allclose(before[:4], after[:4], rtol=0, atol=1e-6)
    assert not torch.allclose(before[4:], after[4:])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_batch_is_its_sentences_and_padding_changes_nothing(architecture, positions):
    labels = ("no", "yes") if architecture == "encoder" else ()
    model = tiny.transformer(architecture, positions=positions, labels=labels)
    ids, target, lengths, target_lengths = tiny.ids(3, 7), tiny.ids(3, 5, seed=1), (7, 4, 1), (2, 5, 3)
    both = architecture == "encoder-decoder"
    targets = {"target_ids": target, "target_padding_mask": tiny.padding_mask(*target_lengths)} if both else {}
    batch = model(ids, padding_mask=tiny.padding_mask(*lengths), **targets)
    for row, (length, target_length) in enumerate(zip(lengths, target_lengths, strict=True)):
        alone = model(ids[row, :length], target_ids=target[row, :target_length] if both else None)
        assert_same_sentence(batch, alone, row)


def assert_same_sentence(batch: Trace, alone: Trace, row: int) -> None:
    for ours, single in ((batch.encoder, alone.encoder), (batch.decoder, alone.decoder)):
        if ours is not None and single is not None:
            length = single.final.shape[-2]
            assert torch.allclose(ours.final[row, :length], single.final, rtol=0, atol=1e-5)
            weights = ours.weights()[:, row, :, :length]
            assert torch.allclose(weights[..., :length], single.weights(), rtol=0, atol=1e-5)
            assert (weights[..., length:] == 0).all()
    assert batch.logits is not None
    assert alone.logits is not None
    logits = batch.logits[row] if batch.pooled is not None else batch.logits[row, : alone.logits.shape[-2]]
    assert torch.allclose(logits, alone.logits, rtol=0, atol=1e-5)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_padding_in_the_source_never_reaches_the_numbers_whatever_it_holds(architecture):
    model, padding_mask = tiny.transformer(architecture), tiny.padding_mask(7, 4)
    ids = tiny.ids(2, 7)
    other = torch.where(padding_mask, ids, (ids + 5) % 80)
    before, after = run(model, ids, padding_mask=padding_mask), run(model, other, padding_mask=padding_mask)
    final = [(trace.encoder or trace.decoder).final[padding_mask] for trace in (before, after)]
    assert torch.equal(*final)


def test_a_sentence_of_padding_alone_gives_zeros_and_nothing_that_is_no_number():
    model = tiny.transformer(labels=("no", "yes"))
    trace = model(tiny.ids(2, 4), padding_mask=torch.tensor([[True] * 4, [False] * 4]))
    assert (trace.encoder.weights()[:, 1] == 0).all()
    assert (trace.pooled[1] == 0).all()
    assert all(tensor.isfinite().all() for tensor in (trace.logits, trace.encoder.final))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_pre_norm_stream_in_plus_attention_plus_feed_forward_is_stream_out(architecture):
    trace = run(tiny.transformer(architecture, norm_order="pre"), tiny.ids(6))
    for block in (trace.decoder or trace.encoder).blocks:
        cross = block.cross_attention.output if block.cross_attention is not None else 0
        total = block.stream_in + block.self_attention.output + cross + block.feed_forward.output
        assert torch.allclose(block.stream_out, total, rtol=0, atol=1e-5)


@pytest.mark.parametrize("norm_order", NORM_ORDERS)
def test_one_block_hands_its_stream_to_the_next(norm_order):
    stack = tiny.transformer(norm_order=norm_order)(tiny.ids(6)).encoder
    assert torch.equal(stack.blocks[0].stream_in, stack.embedding.total)
    assert torch.equal(stack.blocks[1].stream_in, stack.blocks[0].stream_out)
    normed = not torch.equal(stack.final, stack.blocks[-1].stream_out)
    assert normed == (norm_order != "post")


def test_the_attention_of_pre_norm_reads_the_normed_stream_and_that_of_post_norm_the_stream():
    for norm_order in NORM_ORDERS:
        model = tiny.transformer(norm_order=norm_order)
        block = model(tiny.ids(6)).encoder.blocks[1]
        normed = model.encoder.blocks[1].self_residual.norm(block.stream_in)
        assert torch.equal(block.self_attention.input, block.stream_in if norm_order == "post" else normed)


def test_without_mask_and_positions_shuffled_input_gives_shuffled_output():
    ids, order = tiny.ids(6), torch.tensor([3, 0, 5, 1, 4, 2])
    for positions, follows in (("none", True), ("sinusoidal", False)):
        model = tiny.transformer(positions=positions)
        straight, shuffled = model(ids).encoder.final, model(ids[order]).encoder.final
        assert torch.allclose(shuffled, straight[order], rtol=0, atol=1e-5) == follows


def test_token_vectors_are_multiplied_by_the_root_of_the_width_where_the_config_says_so():
    for scale, factor in ((True, math.sqrt(16)), (False, 1.0)):
        model = tiny.transformer(scale_embeddings=scale)
        embedding = model(tiny.ids(6)).encoder.embedding
        assert torch.equal(embedding.token, model.embedding(tiny.ids(6)) * factor)
        assert torch.equal(embedding.total, embedding.token + embedding.position)


def test_the_decoder_looks_at_the_final_state_of_the_encoder():
    model = tiny.transformer("encoder-decoder", norm_order="pre")
    trace = run(model, tiny.ids(6))
    cross, attention = trace.decoder.blocks[1].cross_attention, model.decoder.blocks[1].cross_attention
    assert torch.equal(cross.key, split(attention.key(trace.encoder.final), 4))
    assert cross.weights.shape == (4, 4, 6)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_same_input_twice_and_edits_that_change_nothing_are_bit_identical(architecture):
    model = tiny.transformer(architecture)
    first, second, edited = (run(model, tiny.ids(6), edits=edits) for edits in (Edits(), Edits(), Edits()))
    assert identical(first, second)
    assert identical(run(model, tiny.ids(6)), edited)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_training_and_tracing_run_the_same_code(architecture):
    model = tiny.transformer(architecture, labels=("no", "yes") if architecture == "encoder" else ())
    tracing = run(model.eval(), tiny.ids(6))
    assert identical(run(model.train(), tiny.ids(6)), tracing)


@pytest.mark.parametrize("name", ["dropout", "attention_dropout"])
def test_dropout_acts_in_training_alone(name):
    changes: dict[str, Any] = {name: 0.5}
    model, plain = tiny.transformer(**changes), tiny.transformer()
    trained, traced = model.train()(tiny.ids(6)).encoder, model.eval()(tiny.ids(6)).encoder
    assert torch.equal(traced.final, plain(tiny.ids(6)).encoder.final)
    assert not torch.allclose(trained.final, traced.final)
    assert torch.allclose(trained.weights().sum(dim=-1), torch.ones(()), atol=1e-5)


def test_dropout_acts_on_the_embeddings_and_on_every_update_before_the_sum():
    model = tiny.transformer("encoder-decoder", dropout=0.5, norm_order="pre").train()
    for stack in (run(model, tiny.ids(6)).encoder, run(model, tiny.ids(6)).decoder):
        dropped = stack.blocks[0].stream_in
        kept = dropped != 0
        assert 0.2 < kept.float().mean() < 0.8
        assert torch.allclose(dropped[kept], 2 * stack.embedding.total[kept])
        block = stack.blocks[-1]
        full = block.stream_in + block.self_attention.output + block.feed_forward.output
        assert not torch.allclose(block.stream_out, full)


def test_gradients_reach_every_parameter():
    for architecture in ARCHITECTURES:
        labels = ("no", "yes") if architecture == "encoder" else ()
        model = tiny.transformer(architecture, labels=labels, positions="learned", tie_embeddings=False)
        run(model, tiny.ids(6)).logits.square().sum().backward()
        assert [name for name, parameter in model.named_parameters() if parameter.grad is None] == []


# Edits


@pytest.mark.parametrize(
    ("architecture", "stack", "attention"),
    [("encoder", "encoder", "self"), ("encoder-decoder", "decoder", "self"), ("encoder-decoder", "decoder", "cross")],
)
def test_muting_a_head_zeroes_its_context_and_changes_nothing_before_it(architecture, stack, attention):
    model, site = tiny.transformer(architecture), HeadSite(stack, 1, 2, attention)
    plain, muted = (run(model, tiny.ids(6), edits=Edits(muted=sites)) for sites in (frozenset(), frozenset({site})))
    before, after = (getattr(trace, stack).blocks for trace in (plain, muted))
    assert all(torch.equal(a, b) for a, b in zip(every_tensor(before[0]), every_tensor(after[0]), strict=True))
    was, now = (getattr(blocks[1], f"{attention}_attention") for blocks in (before, after))
    assert torch.equal(now.weights, was.weights)
    assert (now.context[2] == 0).all()
    assert torch.equal(now.context[[0, 1, 3]], was.context[[0, 1, 3]])
    assert not torch.allclose(now.output, was.output)


def test_muting_takes_away_exactly_what_the_head_added():
    checkpoint, site = tiny.checkpoint(norm_order="pre"), HeadSite("encoder", 0, 1)
    plain, muted = (
        checkpoint.trace(TEXT, edits=Edits(muted=sites)).encoder.blocks[0].self_attention
        for sites in (frozenset(), frozenset({site}))
    )
    columns = checkpoint.model.encoder.blocks[0].self_attention.output.weight[:, 4:8]
    assert torch.allclose(plain.output - muted.output, plain.context[1] @ columns.T, atol=1e-5)


@pytest.mark.parametrize(
    "site",
    [
        HeadSite("encoder", 2, 0),
        HeadSite("encoder", 0, 4),
        HeadSite("encoder", -1, 0),
        HeadSite("encoder", 0, 0, "cross"),
        HeadSite("decoder", 0, 0),
        HeadSite("nowhere", 0, 0),
    ],
)
def test_an_edit_of_a_head_that_is_not_there_is_refused(site):
    with pytest.raises(InputError, match=rf"no {site.attention} head {site.head} in {site.stack} layer {site.layer}"):
        tiny.checkpoint().trace(TEXT, edits=Edits(muted=frozenset({site})))


# The trace


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_every_number_of_a_trace_is_float32_on_the_cpu(architecture, dtype):
    checkpoint = tiny.checkpoint(architecture)
    trace = dataclasses.replace(checkpoint, model=tiny.stored_in(checkpoint.model, dtype)).trace(TEXT)
    assert {str(tensor.dtype) for tensor in every_tensor(trace)} == {"torch.float32", "torch.bool", "torch.int64"}
    assert all(tensor.device.type == "cpu" and not tensor.requires_grad for tensor in every_tensor(trace))


def test_an_attention_has_the_shapes_that_it_promises():
    length = len(tiny.tokenizer().encode(TEXT).ids)
    attention = tiny.checkpoint().trace(TEXT).encoder.blocks[0].self_attention
    assert attention.input.shape == attention.output.shape == (length, 16)
    assert attention.query.shape == attention.key.shape == attention.value.shape == (4, length, 4)
    assert attention.products.shape == attention.scores.shape == attention.weights.shape == (4, length, length)
    assert attention.context.shape == (4, length, 4)
    assert attention.mask.shape == (length, length)
    assert (attention.mask.dtype, attention.scale, attention.bias) == (torch.bool, 0.5, None)


def test_a_stack_has_the_shapes_that_it_promises():
    trace = tiny.checkpoint("encoder-decoder").trace_ids([5, 9, 2], target_ids=[1, 7])
    encoder, decoder = trace.encoder, trace.decoder
    assert encoder.ids.tolist() == [5, 9, 2]
    assert encoder.embedding.token.shape == encoder.embedding.position.shape == encoder.final.shape == (3, 16)
    assert encoder.weights().shape == (2, 4, 3, 3)
    assert decoder.weights().shape == (2, 4, 2, 2)
    assert decoder.cross_weights().shape == (2, 4, 2, 3)
    assert decoder.blocks[0].feed_forward.hidden.shape == (2, 24)
    assert trace.logits.shape == (2, 80)
    assert trace.pooled is None


def test_a_stack_without_cross_attention_says_so():
    with pytest.raises(ValueError, match="no cross-attention"):
        tiny.checkpoint().trace(TEXT).encoder.cross_weights()


def test_what_an_architecture_does_not_have_is_none():
    encoder, decoder = (tiny.checkpoint(architecture).trace(TEXT) for architecture in ("encoder", "decoder"))
    assert (encoder.decoder, encoder.logits, encoder.pooled) == (None, None, None)
    assert (decoder.encoder, decoder.pooled) == (None, None)
    assert decoder.logits.shape == (len(decoder.decoder.ids), 80)


def test_logits_are_left_out_where_nobody_asks_for_them():
    for architecture in ARCHITECTURES:
        checkpoint = tiny.checkpoint(architecture, labels=("no", "yes") if architecture == "encoder" else ())
        assert checkpoint.trace(TEXT).logits is not None
        assert checkpoint.trace(TEXT, logits=False).logits is None


def test_the_probabilities_of_the_labels_are_the_softmax_of_the_logits():
    checkpoint = tiny.checkpoint(labels=("no", "maybe", "yes"))
    shares, logits = checkpoint.classify(TEXT), checkpoint.trace(TEXT).logits
    assert list(shares) == ["no", "maybe", "yes"]
    assert sum(shares.values()) == pytest.approx(1)
    assert list(shares.values()) == pytest.approx(logits.softmax(dim=-1).tolist())


def test_the_pooled_vector_is_the_mean_of_what_the_last_norm_gives():
    trace = tiny.checkpoint(labels=("no", "yes"), norm_order="pre").trace(TEXT)
    assert torch.allclose(trace.pooled, trace.encoder.final.mean(dim=0), atol=1e-6)


if torch.cuda.is_available():

    @pytest.mark.parametrize("architecture", ARCHITECTURES)
    def test_a_trace_on_cuda_agrees_with_one_on_the_cpu(architecture):
        on_cpu = tiny.checkpoint(architecture)
        expected = on_cpu.trace_ids([5, 9, 2], target_ids=[1, 7] if architecture == "encoder-decoder" else None)
        on_cuda = dataclasses.replace(on_cpu, model=on_cpu.model.cuda(), device=torch.device("cuda"))
        cuda_trace = on_cuda.trace_ids([5, 9, 2], target_ids=[1, 7] if architecture == "encoder-decoder" else None)
        for ours, reference in zip(every_tensor(cuda_trace), every_tensor(expected), strict=True):
            assert ours.device.type == "cpu"
            assert torch.allclose(ours.float(), reference.float(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(1,), (3, 1), (1, 4), (2, 2), (5,), (2, 3), (0,)])
@pytest.mark.parametrize(("outer", "inner"), [(7, 5), (5, 7), (11, 1)])
def test_the_product_of_few_rows_is_that_of_many(shape, outer, inner):
    x, weight, bias = tiny.normal(*shape, inner), tiny.normal(outer, inner, seed=1), tiny.normal(outer, seed=2)
    for matrix in (weight, weight.T.contiguous().T):
        assert torch.allclose(product(x, matrix, bias), x @ weight.T + bias, atol=1e-5)
        assert torch.allclose(product(x, matrix, None), x @ weight.T, atol=1e-5)
        assert product(x, matrix, bias).shape == (*shape, outer)
