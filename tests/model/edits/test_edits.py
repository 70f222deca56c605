"""What every edit changes, that it changes nothing before it, and that its value survives addresses and scripts."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import model as package
from model import Edits, HeadSite, HiddenKey, InputError, NormSite, Overwrite, Shift, Shuffle, SublayerSite
from model.edits.checks import SIDES
from model.edits.lowering import StackPass, edited_ids
from model.positions import sinusoids
from model.trace import AttentionTrace, StackTrace, Trace
from tests import tiny
from tests.tiny import TEXT

LENGTH, TARGET, TOLERANCE = 6, 4, 1e-12

# Every part that an edit could meet: orders of norms, position schemes, shared keys, windows, caps, sizes that differ.
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {"architecture": "encoder-decoder"},
    "pre": {"norm_order": "pre", "positions": "learned", "labels": ("no", "yes")},
    "bert": {"positions": "counted", "segments": 2, "embedding_norm": True, "position_offset": 2, "word_head": True},
    "gpt": {"architecture": "decoder", "norm_order": "pre", "positions": "learned", "windowed_layers": (1,)},
    "llama": {"architecture": "decoder", "norm_order": "pre", "positions": "rotary", "norm": "rms", "kv_heads": 2},
    "neox": {"architecture": "decoder", "norm_order": "parallel", "positions": "rotary", "rotary_width": 2},
    "gemma": {"architecture": "decoder", "norm_order": "both", "positions": "rotary", "windowed_layers": (0,)},
    "t5": {"architecture": "encoder-decoder", "norm_order": "pre", "positions": "relative", "score_scale": 1.0},
    "uneven": {"architecture": "encoder-decoder", "decoder_heads": 2, "decoder_layers": 3, "norm_order": "pre"},
    "alibi": {"architecture": "decoder", "norm_order": "pre", "positions": "alibi"},
}  # fmt: skip
VARIANTS["gpt"] |= {"window": 2, "score_scale_by_layer": True}
VARIANTS["gemma"] |= {"window": 3, "score_cap": 3.0, "query_key_norm": True, "norm": "rms", "rotary_window_base": 70.0}
ADDITIVE, ROTATING = ("sinusoidal", "sinusoidal-halves", "learned", "counted"), ("rotary",)
BIASING = ("relative", "alibi")


def model_of(name: str, **changes: Any) -> Any:
    """A variant, in float64."""
    fields = VARIANTS[name] | changes
    return tiny.transformer(fields.pop("architecture", "encoder"), **fields).double()


def position_ids(edits: Edits, length: int) -> torch.Tensor:
    """Where an encoder's tokens stand under these edits."""
    read = StackPass(stack="encoder", heads=1, scales=(1.0,), length=length, like=torch.zeros(()))
    return edited_ids(edits, read, None)


def run(model: Any, ids: torch.Tensor | None = None, edits: Any = None, **options: Any) -> Any:
    """A pass over a sentence, or over a batch, with a target where there is a second stack."""
    ids = tiny.ids(LENGTH) if ids is None else ids
    if model.config.architecture == "encoder-decoder":
        options = {"target_ids": tiny.ids(*ids.shape[:-1], TARGET, seed=9)} | options
    return model(ids, **options | ({} if edits is None else {"edits": edits}))


def quantities(trace: Trace) -> dict[str, Any]:
    """Everything in a trace under a name, in the order in which it is computed."""
    by_name: dict[str, Any] = {}
    for name in ("encoder", "decoder"):
        stack = getattr(trace, name)
        by_name |= {f"{name}.{key}": value for key, value in of_stack(stack)} if stack is not None else {}
    return by_name | {"pooled": trace.pooled, "logits": trace.logits}


def of_stack(stack: StackTrace) -> Iterator[tuple[str, Any]]:
    yield from ((name, getattr(stack.embedding, name)) for name in ("token", "segment", "position", "total"))
    steps = ("input", "query", "key", "value", "products", "scale", "bias", "mask", "scores", "weights", "context")
    for layer, block in enumerate(stack.blocks):
        yield f"{layer}.in", block.stream_in
        for kind, attention in (("self", block.self_attention), ("cross", block.cross_attention)):
            if attention is not None:
                yield from ((f"{layer}.{kind}.{name}", getattr(attention, name)) for name in (*steps, "output"))
        inner = block.feed_forward
        yield from ((f"{layer}.feed-forward.{name}", getattr(inner, name)) for name in ("input", "hidden", "output"))
        yield f"{layer}.out", block.stream_out
    yield "final", stack.final


def same(one: Any, other: Any) -> bool:
    """Whether two quantities are the same to the last bit."""
    both = isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
    return torch.equal(one, other) if both else bool(one == other) and isinstance(one, type(other))


def changed(plain: Trace, edited: Trace) -> list[str]:
    """The names of what differs, in order."""
    before, after = quantities(plain), quantities(edited)
    assert list(before) == list(after)
    return [name for name in before if not same(before[name], after[name])]


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE)


def stack_of(trace: Any) -> Any:
    """The stack that an answer is read from."""
    return trace.decoder or trace.encoder


def edits_for(name: str) -> dict[str, tuple[Edits, str]]:
    """One edit of every kind that a variant can take, each with the first quantity that it changes."""
    config = model_of(name).config
    both, stack = config.architecture == "encoder-decoder", config.architecture.split("-")[-1]
    kinds = ("self", "cross") if both else ("self",)
    by_kind: dict[str, tuple[Edits, str]] = {}
    for kind in kinds:
        site, whole = HeadSite(stack, 1, 1, kind), SublayerSite(stack, 1, kind)
        cell = Overwrite(site, 3, 2, 0.875)
        by_kind |= {
            f"mute {kind}": (Edits(muted=frozenset([site])), f"{stack}.1.{kind}.context"),
            f"mute layer {kind}": (Edits(muted_layers=frozenset([whole])), f"{stack}.1.{kind}.context"),
            f"average {kind}": (Edits(averaged=frozenset([site])), f"{stack}.1.{kind}.context"),
            f"uniform {kind}": (Edits(uniform=frozenset([site])), f"{stack}.1.{kind}.weights"),
            f"weight {kind}": (Edits(overwritten=frozenset([cell])), f"{stack}.1.{kind}.weights"),
            f"hide {kind}": (Edits(hidden=frozenset([HiddenKey(stack, 2, kind)])), f"{stack}.0.{kind}.mask"),
        }
    first = "encoder" if both else stack
    by_kind["scale"] = (Edits(scale=0.75), f"{first}.0.self.scale")
    by_kind["temperature"] = (Edits(temperature=2.0), f"{first}.0.self.scale")
    if stack == "decoder":
        by_kind["unmask"] = (Edits(unmasked=frozenset(["decoder"])), "decoder.0.self.mask")
    if first == "encoder":
        by_kind["causal"] = (Edits(causal=frozenset(["encoder"])), "encoder.0.self.mask")
    return by_kind | position_edits(config.positions, stack) | sublayer_edits(config, stack, kinds)


def position_edits(scheme: str, stack: str) -> dict[str, tuple[Edits, str]]:
    """Those of the positions; biases of distances do not notice a shift."""
    where = "position" if scheme in ADDITIVE else "0.self.query" if scheme in ROTATING else "0.self.bias"
    by_kind = {
        "unplace": (Edits(unpositioned=frozenset([stack])), f"{stack}.{where}"),
        "shuffle": (Edits(shuffled=frozenset([Shuffle(stack, 3)])), f"{stack}.{where}"),
    }
    if scheme not in BIASING:
        by_kind["shift"] = (Edits(shifted=frozenset([Shift(stack, 2)])), f"{stack}.{where}")
    return by_kind


def sublayer_edits(config: Any, stack: str, kinds: tuple[str, ...]) -> dict[str, tuple[Edits, str]]:
    """Those of residual connections and norms."""
    by_kind, own = {}, {"embedding": config.embedding_norm, "final": config.norm_order != "post"}
    after = {"self": "1.cross.input" if "cross" in kinds else "1.feed-forward.input", "cross": "1.feed-forward.input"}
    sublayers, order = (*kinds, "feed-forward"), config.norm_order
    for kind in sublayers:
        what = after.get(kind, "1.out") if order != "parallel" else "1.out"
        if order != "parallel" or kind == "self":
            residual = Edits(without_residual=frozenset([SublayerSite(stack, 1, kind)]))
            by_kind[f"residual {kind}"] = (residual, f"{stack}.{what}")
        for side in SIDES[order]:
            norm = Edits(without_norm=frozenset([NormSite(stack, 1, kind, side)]))
            by_kind[f"norm {side} {kind}"] = (norm, f"{stack}.{f'1.{kind}.input' if side == 'before' else what}")
    for name in (name for name, there in own.items() if there):
        norm = Edits(without_norm=frozenset([NormSite(stack, None, name)]))
        by_kind[f"norm {name}"] = (norm, f"{stack}.{'total' if name == 'embedding' else 'final'}")
    return by_kind


CASES = [(variant, kind) for variant in VARIANTS for kind in edits_for(variant)]


# What holds of every edit


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_edits_give_the_same_bits_alone_in_a_batch_and_by_row(variant):
    model, batch = model_of(variant), tiny.ids(3, LENGTH)
    assert changed(run(model), run(model, edits=Edits())) == []
    assert changed(run(model, batch), run(model, batch, edits=[Edits()] * 3)) == []


@pytest.mark.parametrize(("variant", "kind"), CASES)
def test_an_edit_changes_what_it_says_and_nothing_before_it(variant, kind):
    model, (edits, first) = model_of(variant), edits_for(variant)[kind]
    differing = changed(run(model), run(model, edits=edits))
    assert differing[0] == first
    assert differing[-1] == "logits" or model.config.architecture == "encoder"


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_with_edits_by_row_is_its_sentences_each_with_its_own(variant):
    model, many = model_of(variant), [edits for edits, _ in edits_for(variant).values()]
    batch = tiny.ids(len(many), LENGTH)
    batch_quantities = quantities(run(model, batch, edits=many))
    for row, edits in enumerate(many):
        alone = run(model, batch[row], edits, **target_of(model, tiny.ids(len(many), TARGET, seed=9)[row]))
        for name, expected in quantities(alone).items():
            assert agrees(name, batch_quantities[name], expected, row), (edits, name)


def target_of(model: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"target_ids": ids} if model.config.architecture == "encoder-decoder" else {}


def agrees(name: str, batch: Any, alone: Any, row: int) -> bool:
    """Whether a row of a batch's quantity is that of the sentence alone; a mask or bias may be one for all rows."""
    if not isinstance(batch, torch.Tensor):
        return bool(batch == alone)
    mine = batch if name.endswith(("mask", "bias")) and batch.ndim < 4 else batch[row]
    if not isinstance(alone, torch.Tensor):
        return float(mine) == pytest.approx(alone, abs=TOLERANCE)
    return close(*torch.broadcast_tensors(mine.double(), alone.double()))


@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_changes_no_edited_sentence(variant):
    model, many = model_of(variant), [edits for edits, _ in edits_for(variant).values()]
    ids, target, short = tiny.ids(len(many), LENGTH), tiny.ids(len(many), TARGET + 2, seed=9), LENGTH - 2
    ids = ids.clamp(min=1)  # 0 is padding, where that is counted
    padding = {"padding_mask": tiny.padding_mask(*[short] * (len(many) - 1), LENGTH)}
    if model.config.architecture == "encoder-decoder":
        padding |= {
            "target_ids": target,
            "target_padding_mask": tiny.padding_mask(*[TARGET] * (len(many) - 1), TARGET + 2),
        }
    batch = stack_of(run(model, ids, many, **padding))
    for row, edits in enumerate(many[:-1]):
        alone = stack_of(run(model, ids[row, :short], edits, **target_of(model, target[row, :TARGET])))
        assert close(batch.final[row, : len(alone.final)], alone.final), edits


def test_padding_changes_no_sentence_of_a_batch_with_the_same_edits():
    model, ids, lengths = model_of("pre"), tiny.ids(3, LENGTH), (LENGTH, 3, 5)
    head = frozenset([HeadSite("encoder", 0, 1)])
    edits = Edits(shuffled=frozenset([Shuffle("encoder", 3)]), averaged=head, uniform=head)
    batch = run(model, ids, edits, padding_mask=tiny.padding_mask(*lengths))
    for row, length in enumerate(lengths):
        assert close(batch.encoder.final[row, :length], run(model, ids[row, :length], edits).encoder.final)


def test_edits_by_row_must_be_as_many_as_the_sentences_of_one_batch_axis():
    model = model_of("pre")
    for ids, count in ((tiny.ids(3, 5), 2), (tiny.ids(5), 5), (tiny.ids(2, 2, 5), 2)):
        with pytest.raises(ValueError, match=f"edits: found {count}, expected one for each row"):
            model(ids, edits=[Edits()] * count)


def test_edits_act_together():
    model, head = model_of("gpt"), [HeadSite("decoder", 0, number) for number in range(4)]
    edits = Edits(
        scale=1.0,
        temperature=4.0,
        unmasked=frozenset(["decoder"]),
        shifted=frozenset([Shift("decoder", 3)]),
        uniform=frozenset(head[:2]),
        overwritten=frozenset([Overwrite(head[0], 1, 2, 1.0)]),
        averaged=frozenset(head[1:3]),
        muted=frozenset([head[2]]),
        without_norm=frozenset([NormSite("decoder", 0, "self", "before")]),
        without_residual=frozenset([SublayerSite("decoder", 0, "self")]),
    )
    block = run(model, edits=edits).decoder.blocks[0]
    attention, table = block.self_attention, model.decoder.positions.table.weight
    assert close(block.stream_in, run(model, edits=edits).decoder.embedding.token + table[3 : 3 + LENGTH])
    assert torch.equal(attention.input, block.stream_in)
    assert close(attention.scores, attention.products / 4)
    even = torch.full((LENGTH, LENGTH), 1 / LENGTH, dtype=torch.float64)
    assert close(attention.weights[1], even)
    even[1, 2] = 1
    assert close(attention.weights[0], even)
    assert close(attention.context[1], attention.value[1].mean(dim=0).expand(LENGTH, 4))
    assert (attention.context[2] == 0).all()
    assert close(block.stream_out, attention.output + block.feed_forward.output)


# The scale and the masks


def weights_of(attention: AttentionTrace, cap: float | None, factor: float) -> torch.Tensor:
    """Attention weights from the products, one at a time, in plain Python."""
    weights = torch.zeros_like(attention.products)
    bias = torch.zeros_like(weights) if attention.bias is None else attention.bias
    mask = attention.mask.expand_as(weights)
    for head, query in torch.cartesian_prod(torch.arange(weights.shape[0]), torch.arange(weights.shape[1])).tolist():
        at = head, query
        scores = [p * factor + b for p, b in zip(attention.products[at].tolist(), bias[at].tolist(), strict=True)]
        scores = [cap * math.tanh(score / cap) for score in scores] if cap else scores
        powers = [math.exp(score) * seen for score, seen in zip(scores, mask[at].tolist(), strict=True)]
        weights[at] = torch.tensor([power / sum(powers) for power in powers], dtype=torch.float64)
    return weights


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_scale_is_the_number_given_divided_by_the_temperature(variant):
    model = model_of(variant)
    for edits, own, factor in (
        (Edits(scale=1.0), False, 1.0),
        (Edits(temperature=2.5), True, 1 / 2.5),
        (Edits(scale=3.0, temperature=2.0), False, 1.5),
    ):
        for layer, block in enumerate(stack_of(run(model, edits=edits)).blocks):
            for attention in filter(None, (block.self_attention, block.cross_attention)):
                usual = model.config.score_scale or 1 / math.sqrt(attention.query.shape[-1])
                usual /= layer + 1 if model.config.score_scale_by_layer else 1
                expected = factor * (usual if own else 1)
                assert attention.scale == pytest.approx(expected)
                assert close(attention.weights, weights_of(attention, model.config.score_cap, expected))


def test_a_high_temperature_makes_attention_even_and_a_low_one_makes_it_choose():
    model = model_of("pre")
    hot, cold = (run(model, edits=Edits(temperature=factor)).encoder.weights()[0] for factor in (1e6, 1e-6))
    assert torch.allclose(hot, torch.full_like(hot, 1 / LENGTH), atol=1e-5)
    assert torch.allclose(cold.max(dim=-1).values, torch.ones(4, LENGTH).double())


def twin(model: Any, old: str, new: str, **changes: Any) -> Any:
    """The same weights in the other stack, or with other parts."""
    fields = {name: value for name, value in vars(model.config).items() if name != "architecture"}
    other = tiny.transformer(new, **fields | changes).double()
    state = {name.replace(f"{old}.", f"{new}.", 1): tensor for name, tensor in model.state_dict().items()}
    other.load_state_dict({name: tensor for name, tensor in state.items() if name in other.state_dict()})
    return other


@pytest.mark.parametrize("variant", ["gpt", "llama", "neox", "gemma"])
def test_a_decoder_without_its_mask_is_the_encoder_of_the_same_weights(variant):
    model = model_of(variant)
    encoder = twin(model, "decoder", "encoder", windowed_layers=())
    if model.config.windowed_layers and model.config.rotary_window_base:
        encoder.encoder.windowed, encoder.encoder.window = model.decoder.windowed, 10**6  # turns as in a window
    edited = run(model, edits=Edits(unmasked=frozenset(["decoder"]))).decoder
    assert close(edited.final, run(encoder).encoder.final)
    assert (edited.weights() > 0).all()


@pytest.mark.parametrize("variant", ["pre", "bert"])
def test_an_encoder_with_a_causal_mask_is_the_decoder_of_the_same_weights(variant):
    model = model_of(variant, segments=0, labels=(), word_head=False)
    edited = run(model, edits=Edits(causal=frozenset(["encoder"]))).encoder
    assert close(edited.final, run(twin(model, "encoder", "decoder")).decoder.final)
    assert (edited.weights().triu(1) == 0).all()


def test_a_causal_mask_in_the_place_of_a_window_lets_all_earlier_tokens_be_seen():
    edits = Edits(unmasked=frozenset(["decoder"]), causal=frozenset(["decoder"]))
    for block in run(model_of("gpt"), edits=edits).decoder.blocks:
        assert torch.equal(block.self_attention.mask, torch.ones(LENGTH, LENGTH).bool().tril())


def test_the_masks_of_one_stack_leave_the_other_and_the_cross_attention_alone():
    model = model_of("paper")
    plain, edited = run(model), run(model, edits=Edits(causal=frozenset(["encoder"]), unmasked=frozenset(["decoder"])))
    assert torch.equal(edited.encoder.blocks[0].self_attention.mask, torch.ones(LENGTH, LENGTH).bool().tril())
    assert edited.decoder.blocks[0].self_attention.mask.all()
    assert torch.equal(edited.decoder.blocks[0].cross_attention.mask, plain.decoder.blocks[0].cross_attention.mask)
    one = run(model, edits=Edits(unmasked=frozenset(["decoder"])))
    assert all(name.startswith(("decoder", "logits")) for name in changed(plain, one))


# Positions


SCHEMES = (*ADDITIVE, *ROTATING, *BIASING)
ORDER = torch.tensor([3, 0, 5, 1, 4, 2])
NO_POSITIONS = Edits(unpositioned=frozenset(["encoder"]))


def schemed(scheme: str, **changes: Any) -> Any:
    """A pre-norm model with these positions, and ids none of which is padding."""
    return model_of("pre", positions=scheme, **changes), tiny.ids(LENGTH).clamp(min=1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_without_positions_an_encoder_cannot_tell_one_order_from_another(scheme):
    model, ids = schemed(scheme)
    straight, mixed = (run(model, numbers, NO_POSITIONS) for numbers in (ids, ids[ORDER]))
    assert close(mixed.encoder.final, straight.encoder.final[ORDER])
    assert close(mixed.logits, straight.logits)
    assert not torch.allclose(run(model, ids).logits, run(model, ids[ORDER]).logits)
    masked = dataclasses.replace(NO_POSITIONS, causal=frozenset(["encoder"]))
    straight, mixed = (run(model, numbers, masked) for numbers in (ids, ids[ORDER]))
    assert not torch.allclose(mixed.encoder.final, straight.encoder.final[ORDER])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_without_positions_a_model_is_that_of_the_same_weights_with_none(scheme):
    model, ids = schemed(scheme)
    expected = run(twin(model, "encoder", "encoder", positions="none"), ids)
    edited = run(model, ids, NO_POSITIONS)
    assert close(edited.encoder.final, expected.encoder.final)
    assert scheme not in ADDITIVE or (edited.encoder.embedding.position == 0).all()
    assert scheme not in BIASING or (edited.encoder.blocks[0].self_attention.bias == 0).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_shuffled_positions_are_those_of_the_sentence_in_that_order(scheme):
    model, ids = schemed(scheme)
    edits = Edits(shuffled=frozenset([Shuffle("encoder", 3)]))
    stands = position_ids(edits, LENGTH)
    assert sorted(stands.tolist()) == list(range(LENGTH))
    assert stands.tolist() != list(range(LENGTH))
    mixed = torch.empty_like(ids)
    mixed[stands] = ids
    assert close(run(model, ids, edits).encoder.final, run(model, mixed).encoder.final[stands])


def test_a_seed_always_gives_one_order_and_another_seed_another():
    def order(seed: int) -> list[int]:
        return position_ids(Edits(shuffled=frozenset([Shuffle("encoder", seed)])), 9).tolist()

    assert order(1) == order(1) == [1, 8, 6, 2, 4, 3, 5, 7, 0]
    assert order(1) != order(2)


def test_shifted_positions_are_later_ones():
    edits = Edits(shifted=frozenset([Shift("encoder", 5)]))
    model, ids = schemed("sinusoidal")
    assert torch.equal(run(model, ids, edits).encoder.embedding.position, sinusoids(LENGTH, 16, 5))
    halves = run(schemed("sinusoidal-halves")[0], ids, edits).encoder.embedding.position
    assert torch.equal(torch.stack([halves[:, :8], halves[:, 8:]], dim=-1).flatten(1), sinusoids(LENGTH, 16, 5))
    earlier = run(model, ids, Edits(shifted=frozenset([Shift("encoder", -3)]))).encoder.embedding.position
    assert torch.equal(earlier[3:], sinusoids(LENGTH - 3, 16))
    for scheme, offset in (("learned", 2), ("counted", 3)):
        model, ids = schemed(scheme, position_offset=offset)
        table = model.encoder.positions.table.weight[offset + 5 : offset + 5 + LENGTH]
        assert torch.equal(run(model, ids, edits).encoder.embedding.position, table)


@pytest.mark.parametrize("scheme", [*ROTATING, *BIASING])
def test_what_knows_distances_alone_does_not_notice_a_shift(scheme):
    model, ids = schemed(scheme)
    plain, edited = run(model, ids), run(model, ids, Edits(shifted=frozenset([Shift("encoder", 5)])))
    assert torch.allclose(plain.encoder.weights(), edited.encoder.weights(), atol=1e-6)
    assert torch.equal(plain.encoder.blocks[0].self_attention.query, edited.encoder.blocks[0].self_attention.query) == (
        scheme in BIASING
    )


def test_a_shift_turns_queries_and_keys_further():
    model, ids = schemed("rotary")
    plain, edited = run(model, ids), run(model, ids, Edits(shifted=frozenset([Shift("encoder", 5)])))
    frequency = torch.tensor([1.0, 1 / 100]).double()  # 10000^(-2i/4)
    for name in ("query", "key"):
        was, now = (getattr(trace.encoder.blocks[0].self_attention, name) for trace in (plain, edited))
        turned = torch.complex(was[..., :2], was[..., 2:]) * torch.polar(torch.ones(2).double(), 5 * frequency)
        assert torch.allclose(torch.cat([turned.real, turned.imag], dim=-1), now, atol=1e-6)  # angles are float32


def test_the_positions_of_one_stack_leave_the_other_alone():
    model = model_of("paper")
    edited = run(model, edits=Edits(unpositioned=frozenset(["decoder"])))
    assert all(name.startswith(("decoder", "logits")) for name in changed(run(model), edited))


def test_learned_positions_that_are_not_there_are_refused():
    model, ids = schemed("learned")
    for by in (-1, 27):
        with pytest.raises(ValueError, match="positions asked for"):
            run(model, ids, Edits(shifted=frozenset([Shift("encoder", by)])))


# Weights and contexts


def attentions(name: str, edits: Edits, kind: str = "self") -> tuple[Any, AttentionTrace, AttentionTrace]:
    """One attention's module, and its traces without and with the edits."""
    model = model_of(name)
    plain, edited = (getattr(stack_of(run(model, edits=one)).blocks[1], f"{kind}_attention") for one in (None, edits))
    return getattr((model.decoder or model.encoder).blocks[1], f"{kind}_attention"), plain, edited


def last_stack(name: str) -> str:
    return VARIANTS[name].get("architecture", "encoder").split("-")[-1]


def values_of(attention: AttentionTrace, head: int) -> torch.Tensor:
    """The values that a query head reads."""
    return attention.value[head // (attention.weights.shape[0] // attention.value.shape[0])]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_uniform_head_says_the_mean_of_the_values_that_its_queries_may_see(variant):
    _, plain, edited = attentions(variant, Edits(uniform=frozenset([HeadSite(last_stack(variant), 1, 1)])))
    values = values_of(edited, 1)
    for query in range(edited.weights.shape[-2]):
        seen = edited.mask[query] if edited.mask.ndim == 2 else edited.mask[1, query]
        assert close(edited.context[1, query], values[seen].mean(dim=0))
    others = [head for head in range(len(plain.weights)) if head != 1]
    assert torch.equal(plain.weights[others], edited.weights[others])
    assert torch.equal(plain.scores, edited.scores)


def test_a_uniform_head_that_sees_nothing_still_says_nothing():
    edits = Edits(uniform=frozenset([HeadSite("encoder", 0, 0)]))
    trace = run(model_of("pre"), tiny.ids(2, 4), edits, padding_mask=torch.tensor([[True] * 4, [False] * 4]))
    assert (trace.encoder.blocks[0].self_attention.weights[1] == 0).all()
    assert close(trace.encoder.blocks[0].self_attention.weights[0, 0], torch.full((4, 4), 0.25).double())


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_overwritten_weight_moves_the_context_by_its_difference_times_the_value(variant):
    cell = Overwrite(HeadSite(last_stack(variant), 1, 1), 3, 2, 0.875)
    _, plain, edited = attentions(variant, Edits(overwritten=frozenset([cell])))
    moved = edited.weights - plain.weights
    assert edited.weights[1, 3, 2] == 0.875
    assert moved.count_nonzero() == 1
    assert close(edited.context[1, 3], plain.context[1, 3] + moved[1, 3, 2] * values_of(plain, 1)[2])
    assert torch.equal(edited.context[0], plain.context[0])


def test_a_renormalised_row_sums_to_one_and_keeps_the_proportions_of_the_rest():
    site = HeadSite("encoder", 1, 1)
    cells = [Overwrite(site, 3, 2, 0.5, renormalise=True), Overwrite(site, 3, 0, 0.25), Overwrite(site, 1, 0, 0.25)]
    _, plain, edited = attentions("pre", Edits(overwritten=frozenset(cells)))
    row, rest = plain.weights[1, 3].clone(), [1, 3, 4, 5]
    row[2], row[0] = 0.5, 0.25
    assert close(edited.weights[1, 3], row / row.sum())
    assert edited.weights[1, 1, 0] == 0.25
    was, now = plain.weights[1, 3, rest], edited.weights[1, 3, rest]
    assert close(was / was.sum(), now / now.sum())


def test_a_weight_taken_away_and_renormalised_is_a_masked_key():
    model, site = model_of("pre"), HeadSite("encoder", 0, 2)
    edits = Edits(overwritten=frozenset(Overwrite(site, query, 5, 0.0, renormalise=True) for query in range(LENGTH)))
    plain, edited = (run(model, edits=one).encoder.blocks[0].self_attention for one in (None, edits))
    assert close(edited.weights[2, :, :5], plain.scores[2, :, :5].softmax(dim=-1))


def test_a_row_of_nothing_but_zeros_stays_one_and_a_weight_may_lie_where_the_mask_forbids():
    site = HeadSite("decoder", 1, 0)
    cells = [Overwrite(site, 0, 0, 0.0, renormalise=True), Overwrite(site, 1, 5, 0.5)]
    _, plain, edited = attentions("llama", Edits(overwritten=frozenset(cells)))
    assert (edited.weights[0, 0] == 0).all()
    assert close(edited.context[0, 1], plain.context[0, 1] + 0.5 * values_of(plain, 0)[5])


def test_gradients_pass_through_every_edit():
    model = model_of("pre")
    site = HeadSite("encoder", 0, 1)
    cells = frozenset([Overwrite(site, 3, 2, 0.5, renormalise=True)])
    for edits in [Edits(overwritten=cells), *(edits for edits, _ in edits_for("pre").values())]:
        model.zero_grad()
        run(model, edits=edits).logits.square().sum().backward()
        assert model.embedding.weight.grad.isfinite().all()
        assert model.embedding.weight.grad.abs().max() > 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_averaged_head_says_the_same_everywhere(variant):
    _, plain, edited = attentions(variant, Edits(averaged=frozenset([HeadSite(last_stack(variant), 1, 1)])))
    mean = torch.stack(list(plain.context[1])).sum(dim=0) / plain.context.shape[-2]
    assert close(edited.context[1], mean.expand_as(edited.context[1]))
    assert torch.equal(edited.context[0], plain.context[0])
    assert torch.equal(edited.weights, plain.weights)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_muted_head_takes_its_columns_of_the_projection_out(variant):
    module, plain, edited = attentions(variant, Edits(muted=frozenset([HeadSite(last_stack(variant), 1, 1)])))
    width = plain.context.shape[-1]
    columns = module.output.weight[:, width : 2 * width]
    assert (edited.context[1] == 0).all()
    assert torch.equal(edited.context[0], plain.context[0])
    assert close(plain.output - edited.output, plain.context[1] @ columns.T)


@pytest.mark.parametrize(
    ("variant", "kind"), [(name, "self") for name in VARIANTS] + [("paper", "cross"), ("t5", "cross")]
)
def test_a_muted_attention_has_no_context_and_adds_the_bias_of_its_projection(variant, kind):
    whole = frozenset([SublayerSite(last_stack(variant), 1, kind)])
    module, plain, edited = attentions(variant, Edits(muted_layers=whole), kind)
    assert (edited.context == 0).all()
    assert torch.equal(edited.weights, plain.weights)
    assert close(edited.output, module.output.bias.expand_as(edited.output))


# Residual connections and norms


def block_of(name: str, edits: Edits, **changes: Any) -> tuple[Any, Any]:
    """A layer of a model and its trace with the edits."""
    model = model_of(name, **changes)
    return (model.decoder or model.encoder).blocks[1], stack_of(run(model, edits=edits)).blocks[1]


def skipping(name: str, *kinds: str) -> Edits:
    return Edits(without_residual=frozenset(SublayerSite(last_stack(name), 1, kind) for kind in kinds))


def bare(name: str, *norms: tuple[str, str]) -> Edits:
    return Edits(without_norm=frozenset(NormSite(last_stack(name), 1, *norm) for norm in norms))


def test_without_its_residual_connection_an_update_replaces_the_stream():
    _, block = block_of("pre", skipping("pre", "feed-forward"))
    assert torch.equal(block.stream_out, block.feed_forward.output)
    _, block = block_of("pre", skipping("pre", "self"))
    assert close(block.stream_out, block.self_attention.output + block.feed_forward.output)
    module, block = block_of("paper", skipping("paper", "cross"))
    assert close(block.feed_forward.input, module.cross_residual.norm(block.cross_attention.output))
    module, block = block_of("gemma", skipping("gemma", "self"))
    after = module.self_residual.norm_after(block.self_attention.output)
    assert close(block.feed_forward.input, module.feed_forward_residual.norm(after))
    _, block = block_of("neox", skipping("neox", "self"))
    assert close(block.stream_out, block.self_attention.output + block.feed_forward.output)


def test_a_stack_without_any_residual_connection_is_sublayer_after_sublayer():
    model = model_of("pre")
    sites = frozenset(SublayerSite("encoder", layer, kind) for layer in range(2) for kind in ("self", "feed-forward"))
    trace, x = run(model, edits=Edits(without_residual=sites)).encoder, None
    for module, block in zip(model.encoder.blocks, trace.blocks, strict=True):
        assert x is None or torch.equal(block.stream_in, x)
        read = module.feed_forward_residual.norm(block.self_attention.output)
        x = module.feed_forward(read).output
        assert close(block.stream_out, x)


def test_a_norm_left_out_lets_the_stream_through():
    _, block = block_of("pre", bare("pre", ("self", "before")))
    assert torch.equal(block.self_attention.input, block.stream_in)
    _, block = block_of("pre", bare("pre", ("feed-forward", "before")))
    assert torch.equal(block.feed_forward.input, block.stream_in + block.self_attention.output)
    _, block = block_of("neox", bare("neox", ("feed-forward", "before")))
    assert torch.equal(block.feed_forward.input, block.stream_in)
    assert not torch.equal(block.self_attention.input, block.stream_in)
    _, block = block_of("paper", bare("paper", ("self", "after")))
    stream = block.stream_in + block.self_attention.output
    assert torch.equal(block.cross_attention.input, stream)
    _, block = block_of("gemma", bare("gemma", ("self", "after"), ("feed-forward", "after")))
    total = block.stream_in + block.self_attention.output + block.feed_forward.output
    assert close(block.stream_out, total)


def test_the_norms_of_a_stack_itself_can_be_left_out():
    final = Edits(without_norm=frozenset([NormSite("encoder", None, "final")]))
    stack = run(model_of("pre"), edits=final).encoder
    assert torch.equal(stack.final, stack.blocks[-1].stream_out)
    embedding = Edits(without_norm=frozenset([NormSite("encoder", None, "embedding")]))
    embedding_trace = run(model_of("bert"), edits=embedding).encoder.embedding
    assert torch.equal(
        embedding_trace.total, embedding_trace.token + embedding_trace.segment + embedding_trace.position
    )


# A checkpoint's edits


def test_weights_of_tokens_that_are_yet_to_come_wait_for_them():
    checkpoint = tiny.checkpoint("decoder", norm_order="pre")
    ids = list(checkpoint.tokenizer.encode(TEXT).ids)
    cell = Overwrite(HeadSite("decoder", 0, 0), len(ids) + 1, 0, 1.0)
    generation = checkpoint.generate(TEXT, max_tokens=4, edits=Edits(overwritten=frozenset([cell])))
    weights = generation.trace.decoder.blocks[0].self_attention.weights
    assert weights[0, len(ids) + 1, 0] == 1
    assert generation.token_ids[:2] == checkpoint.generate(TEXT, max_tokens=4).token_ids[:2]


def test_shifted_learned_positions_leave_less_room_for_what_is_generated():
    checkpoint = tiny.checkpoint("decoder", positions="learned")
    length = len(checkpoint.tokenizer.encode(TEXT).ids)
    for by, count in ((0, 32), (20, 12)):
        edits = Edits(shifted=frozenset([Shift("decoder", by)]))
        assert len(checkpoint.generate(TEXT, max_tokens=40, edits=edits).trace.decoder.ids) == max(count, length)


@pytest.mark.parametrize(
    ("variant", "edits", "complaint"),
    [
        ("pre", Edits(averaged=frozenset([HeadSite("encoder", 2, 0)])), "has no self head 0 in encoder layer 2"),
        ("pre", Edits(uniform=frozenset([HeadSite("encoder", 0, 4)])), "has no self head 4 in encoder layer 0"),
        ("uneven", Edits(muted=frozenset([HeadSite("decoder", 1, 2)])), "has no self head 2 in decoder layer 1"),
        ("uneven", Edits(muted=frozenset([HeadSite("encoder", 2, 0)])), "has no self head 0 in encoder layer 2"),
        ("pre", Edits(muted_layers=frozenset([SublayerSite("encoder", 0, "cross")])), "has no cross attention in"),
        ("pre", Edits(muted_layers=frozenset([SublayerSite("encoder", 0, "feed-forward")])), "feed-forward attention"),
        ("pre", Edits(without_residual=frozenset([SublayerSite("encoder", 2, "self")])), "connection around self in"),
        ("neox", Edits(without_residual=frozenset([SublayerSite("decoder", 0, "feed-forward")])), "around feed-forw"),
        ("pre", Edits(without_norm=frozenset([NormSite("encoder", 0, "self", "after")])), "no norm after self in enc"),
        ("paper", Edits(without_norm=frozenset([NormSite("encoder", 0, "self", "before")])), "no norm before self in"),
        ("paper", Edits(without_norm=frozenset([NormSite("decoder", None, "final")])), "no norm final in decoder."),
        ("pre", Edits(without_norm=frozenset([NormSite("encoder", None, "embedding")])), "no norm embedding in encod"),
        ("pre", Edits(unmasked=frozenset(["encoder"])), "has no mask in its encoder that could be removed"),
        ("pre", Edits(causal=frozenset(["decoder"])), "has no decoder"),
        ("llama", Edits(unpositioned=frozenset(["encoder"])), "has no encoder"),
        ("pre", Edits(shifted=frozenset([Shift("encoder", -1)])), "has no position -1: it learned those from 0 to 31"),
        ("pre", Edits(shifted=frozenset([Shift("encoder", 27)])), "has no position 32: it learned those from 0 to 31"),
        ("pre", Edits(overwritten=frozenset([Overwrite(HeadSite("encoder", 0, 0), 6, 0, 1.0)])), "has no query 6 here"),
        (
            "pre",
            Edits(overwritten=frozenset([Overwrite(HeadSite("encoder", 0, 0), 0, 6, 1.0)])),
            "has no key 6 here: the",
        ),
        (
            "paper",
            Edits(overwritten=frozenset([Overwrite(HeadSite("decoder", 0, 0, "cross"), 4, 5, 1.0)])),
            "no query 4",
        ),
        ("paper", Edits(overwritten=frozenset([Overwrite(HeadSite("decoder", 0, 0, "cross"), 3, 6, 1.0)])), "no key 6"),
        ("pre", Edits(hidden=frozenset([HiddenKey("decoder", 0)])), "has no decoder."),
        ("pre", Edits(hidden=frozenset([HiddenKey("nowhere", 0)])), "has no nowhere."),
        ("gpt", Edits(hidden=frozenset([HiddenKey("decoder", 0, "cross")])), "no cross attention in its decoder."),
        ("paper", Edits(hidden=frozenset([HiddenKey("encoder", 0, "cross")])), "no cross attention in its encoder."),
        ("paper", Edits(hidden=frozenset([HiddenKey("encoder", 0, "feed-forward")])), "no feed-forward attention in"),
        ("pre", Edits(hidden=frozenset([HiddenKey("encoder", 6)])), "has no key 6 here: the encoder has positions 0"),
        (
            "paper",
            Edits(hidden=frozenset([HiddenKey("decoder", 4)])),
            "no key 4 here: the decoder has positions 0 to 3",
        ),
        (
            "paper",
            Edits(hidden=frozenset([HiddenKey("decoder", 6, "cross")])),
            "no key 6 here: the encoder has positio",
        ),
    ],
)
def test_an_edit_of_what_a_model_does_not_have_is_refused_in_one_sentence(variant, edits, complaint):
    fields = dict(VARIANTS[variant])
    checkpoint = tiny.checkpoint(fields.pop("architecture", "encoder"), **fields)
    target = [1, 2, 3, 4] if checkpoint.config.architecture == "encoder-decoder" else None
    with pytest.raises(InputError) as raised:
        checkpoint.trace_ids([5] * LENGTH, target, edits=edits)
    message = str(raised.value)
    assert complaint in message
    assert message.startswith("edits: tiny has no ")
    assert message.count(".") == 1
    assert message.endswith(".")


def test_positions_of_a_model_without_any_are_refused():
    checkpoint = tiny.checkpoint(positions="none")
    for edits in (NO_POSITIONS, Edits(shuffled=frozenset([Shuffle("encoder", 1)]))):
        with pytest.raises(InputError, match=r"^edits: tiny has no positions in its encoder\.$"):
            checkpoint.trace(TEXT, edits=edits)


@pytest.mark.parametrize(("variant", "kind"), CASES)
def test_an_edit_of_what_a_model_has_is_not_refused(variant, kind):
    fields = dict(VARIANTS[variant])
    checkpoint = tiny.checkpoint(fields.pop("architecture", "encoder"), **fields)
    target = [1, 2, 3, 4] if checkpoint.config.architecture == "encoder-decoder" else None
    assert checkpoint.trace_ids([5] * LENGTH, target, edits=edits_for(variant)[kind][0]) is not None


# The value


STACKS, INDICES = st.sampled_from(["encoder", "decoder"]), st.integers(0, 99)
HEADS = st.builds(HeadSite, STACKS, INDICES, INDICES) | st.builds(
    HeadSite, st.just("decoder"), INDICES, INDICES, st.just("cross")
)
SUBLAYERS = st.builds(SublayerSite, STACKS, INDICES, st.sampled_from(["self", "cross", "feed-forward"]))
WHOLES = st.builds(SublayerSite, STACKS, INDICES, st.just("self")) | st.builds(
    SublayerSite, st.just("decoder"), INDICES, st.just("cross")
)
NORMS = st.builds(
    NormSite, STACKS, INDICES, st.sampled_from(["self", "cross", "feed-forward"]), st.sampled_from(["before", "after"])
) | st.builds(NormSite, STACKS, st.none(), st.sampled_from(["embedding", "final"]))
WEIGHTS = st.builds(Overwrite, HEADS, INDICES, INDICES, st.floats(0, 1), st.booleans())
FACTORS = st.floats(1e-6, 1e6)
HIDDEN = st.builds(HiddenKey, STACKS, INDICES) | st.builds(HiddenKey, st.just("decoder"), INDICES, st.just("cross"))


@st.composite
def any_edits(draw: Any) -> Edits:
    """Edits of every kind, some of them without any."""
    cells = {(cell.site, cell.query, cell.key): cell for cell in draw(st.lists(WEIGHTS, max_size=3))}
    looked_at = {(site.stack, key, site.attention) for (site, _, key), cell in cells.items() if cell.value}
    hidden = draw(st.frozensets(HIDDEN, max_size=3))
    unpositioned = draw(st.frozensets(STACKS))
    placed = sorted({"encoder", "decoder"} - unpositioned)
    shuffled = [Shuffle(stack, draw(st.integers(0, 999_999_999))) for stack in placed if draw(st.booleans())]
    shifted = [Shift(stack, draw(st.integers(-1_000_000, 1_000_000))) for stack in placed if draw(st.booleans())]
    return Edits(
        unpositioned=unpositioned,
        shuffled=frozenset(shuffled),
        shifted=frozenset(shifted),
        unmasked=draw(st.frozensets(STACKS)),
        causal=draw(st.frozensets(STACKS)),
        hidden=frozenset(key for key in hidden if (key.stack, key.position, key.attention) not in looked_at),
        scale=draw(st.none() | FACTORS),
        temperature=draw(st.just(1.0) | FACTORS),
        uniform=draw(st.frozensets(HEADS, max_size=3)),
        overwritten=frozenset(cells.values()),
        averaged=draw(st.frozensets(HEADS, max_size=3)),
        muted=draw(st.frozensets(HEADS, max_size=3)),
        muted_layers=draw(st.frozensets(WHOLES, max_size=3)),
        without_residual=draw(st.frozensets(SUBLAYERS, max_size=3)),
        without_norm=draw(st.frozensets(NORMS, max_size=3)),
    )


@given(edits=any_edits())
def test_a_text_of_plain_characters_gives_the_edits_back(edits):
    text = edits.to_text()
    assert all(character.isascii() and (character.isalnum() or character in "-._~") for character in text)
    assert Edits.from_text(text) == edits
    assert hash(Edits.from_text(text)) == hash(edits)


@given(edits=any_edits())
def test_the_repr_is_python_that_gives_the_edits_back(edits):
    names = {name: getattr(package, name) for name in edits.class_names()}
    assert eval(repr(edits), names) == edits


def test_the_text_and_the_repr_can_be_read():
    edits = Edits(
        temperature=2.5,
        muted=frozenset([HeadSite("encoder", 0, 3), HeadSite("decoder", 1, 2, "cross")]),
        overwritten=frozenset([Overwrite(HeadSite("decoder", 0, 1), 4, 2, 0.5, renormalise=True)]),
        without_norm=frozenset([NormSite("encoder", None, "final"), NormSite("encoder", 0, "self", "before")]),
    )
    hidden = Edits(hidden=frozenset([HiddenKey("encoder", 9), HiddenKey("decoder", 12, "cross")]), scale=1.0)
    assert hidden.to_text() == "hide_c12_e9~scale_1"
    assert repr(Edits(hidden=frozenset([HiddenKey("encoder", 9)]))) == (
        "Edits(hidden=frozenset([HiddenKey(stack='encoder', position=9, attention='self')]))"
    )
    assert edits.to_text() == ("temperature_2.5~weight_d0.1.4.2-0.5n~mute_c1.2_e0.3~nonorm_e.final_e0.self.before")
    assert repr(Edits(muted=frozenset([HeadSite("encoder", 0, 3)]), scale=1.0)) == (
        "Edits(scale=1.0, muted=frozenset([HeadSite(stack='encoder', layer=0, head=3, attention='self')]))"
    )
    heads = [HeadSite("encoder", 0, head) for head in range(9)]
    assert repr(Edits(muted=frozenset(heads))) == f"Edits(muted=frozenset([{', '.join(map(repr, heads))}]))"
    assert (Edits().to_text(), repr(Edits()), Edits.from_text("")) == ("", "Edits()", Edits())


@pytest.mark.parametrize(
    "text",
    [
        "mute", "mute_", "mute_e0", "mute_e0.3.1", "mute_x0.3", "mute_e00.3", "mute_e0.3_e0.3", "mute_e1.0_e0.3",
        "mute_e0.3~mute_e1.3", "mute_e0.3~temperature_2", "Mute_e0.3", "silence_e0.3", "mute_e-1.3", "mute_e0.3~",
        "~", " ", "mute_e0.3 ", "mute_e٣.3", "mutelayer_e0.3", "temperature_1", "temperature_2.0", "temperature_0",
        "temperature_-2", "temperature_nan", "temperature_1e9", "temperature_2_3", "scale_inf", "scale_", "scale_e-",
        "unplace_c", "unplace_e~shift_e3", "shuffle_e", "shuffle_e-1", "shuffle_e1_e2", "shift_e0.5", "shift_e9999999",
        "weight_e0.1.4.2", "weight_e0.1.4.2-2", "weight_e0.1.4.2--1", "weight_e0.1.4.2-0.5_e0.1.4.2-0.6",
        "hide", "hide_", "hide_e", "hide_x1", "hide_e01", "hide_e-1", "hide_e1.0", "hide_e1_e1", "hide_e2_e1",
        "hide_e1n", "hide_e1000000", "hide_e1~hide_e2", "hide_e1e3", "hide_e١", "hide_E1", "hide_e1~mute_e0.1~hide_c1",
        "scale_2~hide_e1", "hide_e" + "9" * 5000, "hide_e1~weight_e0.1.4.1-0.5", "hide_c1~weight_c0.1.4.1-0.5n",
        "noresidual_e0", "noresidual_e0.final", "nonorm_e0.final", "nonorm_e0.self", "nonorm_e.self.before",
        "nonorm_e0.self.", "x" * 10_000, "mute_e" + "9" * 5000 + ".1", "\ud800",
    ],
)  # fmt: skip
def test_any_other_text_is_refused(text):
    with pytest.raises(ValueError, match=r"^edits: .*\.$"):
        Edits.from_text(text)


@pytest.mark.parametrize(
    "site",
    [HeadSite("nowhere", 0, 0), HeadSite("encoder", -1, 0), HeadSite("encoder", 0, 0, "cross"), HeadSite("a~b", 0, 0)],
)
def test_a_site_that_no_model_has_has_no_text(site):
    with pytest.raises(InputError, match="expected what some model has"):
        Edits(muted=frozenset([site])).to_text()


@pytest.mark.parametrize(
    "key",
    [HiddenKey("nowhere", 0), HiddenKey("encoder", 0, "cross"), HiddenKey("a~b", 0), HiddenKey("encoder", 10**6)],
)
def test_a_hidden_key_that_no_model_has_has_no_text(key):
    with pytest.raises(InputError, match="expected what some model has"):
        Edits(hidden=frozenset([key])).to_text()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scale": 0.0}, "scale: found 0.0, expected 1e-06 to 1e"),
        ({"scale": -1.0}, "scale"),
        ({"temperature": math.inf}, "temperature"),
        ({"temperature": math.nan}, "temperature"),
        ({"overwritten": frozenset([Overwrite(HeadSite("encoder", 0, 0), 0, 0, 1.5)])}, "weight: found 1.5, expected"),
        ({"overwritten": frozenset([Overwrite(HeadSite("encoder", 0, 0), -1, 0, 1.0)])}, "query and key"),
        ({"hidden": frozenset([HiddenKey("encoder", -1)])}, "hidden: found -1, expected a position from 0"),
        (
            {
                "hidden": frozenset([HiddenKey("encoder", 2)]),
                "overwritten": frozenset([Overwrite(HeadSite("encoder", 0, 0), 1, 2, 0.5)]),
            },
            "overwritten: found 'a weight on a hidden key', expected 0 there",
        ),
        (
            {"overwritten": frozenset(Overwrite(HeadSite("encoder", 0, 0), 0, 0, x) for x in (0.0, 1.0))},
            "one value for",
        ),
        ({"shuffled": frozenset([Shuffle("encoder", -1)])}, "seed"),
        ({"shuffled": frozenset([Shuffle("encoder", 1), Shuffle("encoder", 2)])}, "one for every stack"),
        ({"shifted": frozenset([Shift("encoder", 10**7)])}, "shift"),
        ({"shifted": frozenset([Shift("encoder", 1)]), "unpositioned": frozenset(["encoder"])}, "without positions"),
    ],
)
def test_edits_that_contradict_each_other_or_are_out_of_range_are_refused(fields, message):
    with pytest.raises(InputError, match=message):
        Edits(**fields)
