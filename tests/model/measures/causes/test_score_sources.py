"""Sources of a score: they sum to it in every family, and lead back to the head that a hand-built model has there."""

import itertools
from typing import Any

import pytest
import torch

from model import HeadSite, available_checkpoints, load_checkpoint
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.measures.causes.score_sources import (
    PROJECTION_BIAS,
    SCORE_BIAS,
    ScoreSources,
    largest,
    score_sources,
    traced_score,
)
from model.measures.causes.source_chain import followed_back, read_positions
from model.measures.causes.stream_parts import Part, frozen_stream
from model.measures.one_weight import WeightSite, path_of
from model.measures.score_parts import CONSTANT, score_parts
from model.trace import AttentionTrace, Trace
from tests import tiny
from tests.folders import KINDS, make_folders

EVERY = [*KINDS, "own", *available_checkpoints()]
CLOSE = 1e-4


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def traced(checkpoint: Any, text: str = tiny.TEXT) -> Trace:
    return checkpoint.trace(text, target="a cat" if checkpoint.config.is_encoder_decoder else None)


def scores_before_cap(attention: AttentionTrace) -> Any:
    """(head, query, key), NaN where the query may not see the key."""
    scores = attention.products.double() * attention.scale
    scores = scores if attention.bias is None else scores + attention.bias.double()
    return scores.masked_fill(~attention.mask, torch.nan)


def expect_sum(sources: ScoreSources, score: float) -> None:
    """The sum of the cells, and of each side's parts, is the score."""
    size = max(1.0, float(sources.cells.abs().max()))
    assert sources.score == pytest.approx(score, abs=CLOSE * size)
    for side in ("query", "key"):
        assert sum(sources.by(side).values()) == pytest.approx(score, abs=CLOSE * size)
    assert len(sources.pairs()) == sources.cells.numel()


@pytest.mark.parametrize("kind", EVERY)
def test_the_parts_sum_to_the_score_in_every_attention(kind, folders):
    checkpoint = load_checkpoint(folders.get(kind, kind), device="cpu")
    trace = traced(checkpoint)
    for place in attention_sites(trace):
        scores = scores_before_cap(attention_at(trace, place))
        head, query = len(scores) - 1, scores.shape[1] - 1
        site = HeadSite(place.stack, place.layer, head, place.sublayer)
        row = scores[head, query]
        for key in row.isfinite().nonzero().flatten().tolist()[-2:]:
            expect_sum(score_sources(checkpoint, trace, site, query, key), float(row[key]))
            assert traced_score(trace, site, query, key) == pytest.approx(float(row[key]))
            expect_sum(
                score_sources(checkpoint, trace, site, query, key, relative=True), float(row[key] - row.nanmean())
            )


@pytest.mark.parametrize("order", ["post", "pre", "both", "parallel"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_the_parts_sum_to_what_the_attention_reads(order, norm):
    checkpoint = tiny.checkpoint("decoder", norm_order=order, norm=norm, embedding_norm=True, layers=3)
    stack, trace = checkpoint.model.decoder, traced(checkpoint).decoder
    assert trace is not None
    stream = frozen_stream(stack, trace, order, (2, "self"))
    length = len(trace.ids)
    vectors = stream.mixed(torch.eye(length, dtype=torch.float64))
    assert len(vectors) == len(stream.parts)
    torch.testing.assert_close(vectors.sum(dim=0).float(), trace.blocks[2].self_attention.input, atol=CLOSE, rtol=CLOSE)
    torch.testing.assert_close(stream.total, vectors.sum(dim=0), atol=1e-5, rtol=1e-5)
    mix = torch.rand(2, length, dtype=torch.float64)
    torch.testing.assert_close(stream.mixed(mix), torch.einsum("rp,spw->srw", mix, vectors))


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "relative", "none"])
def test_a_score_above_the_mean_is_what_the_softmax_sees(positions):
    checkpoint = tiny.checkpoint("decoder", positions=positions, norm_order="pre")
    trace = traced(checkpoint)
    assert trace.decoder is not None
    weights = trace.decoder.blocks[1].self_attention.weights[2, 4, :5].double()
    sources = score_sources(checkpoint, trace, HeadSite("decoder", 1, 2), 4, 1, relative=True)
    assert traced_score(trace, sources.site, 4, 1, relative=True) == pytest.approx(sources.score, abs=CLOSE)
    assert sources.score == pytest.approx(float(weights[1].log() - weights.log().mean()), abs=CLOSE)
    assert (sources.score_bias is None) == (positions not in ("alibi", "relative"))
    constant = sources.by("key")[PROJECTION_BIAS]
    assert constant == pytest.approx(0, abs=1e-12) or positions == "rotary", "the same for every key"
    first = score_sources(checkpoint, trace, HeadSite("decoder", 1, 2), 0, 0, relative=True)
    assert not first.cells.any(), "the first token sees itself alone"
    assert followed_back(checkpoint, trace, HeadSite("decoder", 1, 2), 0, 0) == ()


def test_two_tokens_by_hand():
    """One head of width 2 whose q is its input and whose k is its input with the coordinates changed over."""
    checkpoint = tiny.checkpoint(vocabulary=80, width=2, heads=1, layers=1, positions="learned", norm_order="pre")
    model = checkpoint.model
    block = model.encoder.blocks[0]
    block.self_residual.norm = torch.nn.Identity()
    with torch.no_grad():
        for parameter in model.encoder.parameters():
            parameter.zero_()
        model.embedding.weight[5] = torch.tensor([1.0, 2.0]) / (2**0.5 if model.config.scale_embeddings else 1)
        model.embedding.weight[6] = torch.tensor([3.0, 0.0]) / (2**0.5 if model.config.scale_embeddings else 1)
        model.encoder.positions.table.weight[:2] = torch.tensor([[0.0, 1.0], [4.0, 0.0]])
        block.self_attention.query.weight.copy_(torch.eye(2))
        block.self_attention.key.weight.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
        block.self_attention.query.bias.copy_(torch.tensor([0.0, 1.0]))
    trace = checkpoint.trace_ids([5, 6])
    sources = score_sources(checkpoint, trace, HeadSite("encoder", 0, 0), 0, 1)
    # q: token (1, 2), position (0, 1), bias (0, 1); k: token (0, 3), position (0, 4), bias 0; scale 1/√2
    token, position = Part("token"), Part("position")
    expected = {
        (token, token): 6.0, (token, position): 8.0, (token, PROJECTION_BIAS): 0.0,
        (position, token): 3.0, (position, position): 4.0, (position, PROJECTION_BIAS): 0.0,
        (PROJECTION_BIAS, token): 3.0, (PROJECTION_BIAS, position): 4.0, (PROJECTION_BIAS, PROJECTION_BIAS): 0.0,
    }  # fmt: skip
    found = {pair: value * 2**0.5 for pair, value in sources.pairs().items()}
    assert found == pytest.approx(expected)
    assert [pair for pair, _ in largest(found, 2)] == [(token, position), (token, token)]
    # The other key's is (2, 1) + (1, 0): with q (1, 4) its score is 7, the first one's 28, their mean 17.5.
    above = score_sources(checkpoint, trace, HeadSite("encoder", 0, 0), 0, 1, relative=True)
    assert above.score * 2**0.5 == pytest.approx(28 - 17.5)
    assert above.by("key")[token] * 2**0.5 == pytest.approx((12 - 6) / 2)
    assert above.by("key")[position] * 2**0.5 == pytest.approx((16 - 1) / 2)


@pytest.mark.parametrize("kind", EVERY)
def test_a_heads_part_is_the_sum_over_the_positions_that_it_read(kind, folders):
    checkpoint = load_checkpoint(folders.get(kind, kind), device="cpu")
    trace = traced(checkpoint)
    place = attention_sites(trace)[-1]
    query, keys = (size - 1 for size in attention_at(trace, place).weights.shape[1:])
    site = HeadSite(place.stack, place.layer, 0, place.sublayer)
    whole = score_sources(checkpoint, trace, site, query, keys)
    above = score_sources(checkpoint, trace, site, query, keys, relative=True)
    for sources, side in itertools.product((whole, above), ("query", "key")):
        size = max(1.0, float(sources.cells.abs().max()))
        heads = [part for part in sources.by(side) if part.kind in ("self", "cross")]
        for part in (heads[0], heads[-1]):
            pieces = read_positions(checkpoint, trace, sources, side, part)
            assert float(pieces.sum()) == pytest.approx(sources.by(side)[part], abs=CLOSE * size)


@pytest.mark.parametrize("changes", [{}, {"norm_order": "pre"}, {"norm": "rms", "norm_order": "pre"}, {"segments": 2}])
def test_in_layer_1_the_parts_are_those_of_content_and_position(changes):
    checkpoint = tiny.checkpoint(**changes)
    trace = traced(checkpoint)
    at = WeightSite(attention="encoder", layer=0, head=2, query=3, key=1)
    split = score_parts(path_of(checkpoint.model, trace, at))
    names = {"token": "content", "position": "position", "segment": "segment"}
    sums = dict.fromkeys(split.products, 0.0)
    for pair, value in score_sources(checkpoint, trace, HeadSite("encoder", 0, 2), 3, 1).pairs().items():
        one, other = (names.get(part.kind, CONSTANT) for part in pair)
        sums[(CONSTANT, CONSTANT) if CONSTANT in (one, other) else (one, other)] += value
    assert sums == pytest.approx(split.scores(), abs=1e-6)


WORDS, PLACES = 6, 8


def induction_checkpoint() -> Any:
    """Two layers of one head, without norms: the first copies the token before, the second looks for what it copied.

    The stream has room for a token, a position, and the token before. Scale, values and feed-forward layers do no more.
    """
    width = 2 * WORDS + PLACES
    changes: dict[str, Any] = {"vocabulary": WORDS, "width": width, "heads": 1, "max_length": PLACES}
    changes |= {"positions": "learned", "norm_order": "pre", "scale_embeddings": False}
    checkpoint = tiny.checkpoint("decoder", **changes)
    decoder, model = checkpoint.model.decoder, checkpoint.model
    token, place, before = torch.eye(width).split([WORDS, PLACES, WORDS])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.embedding.weight.copy_(token)
        decoder.positions.table.weight.copy_(place)
        first, second = (block.self_attention for block in decoder.blocks)
        first.query.weight[:PLACES] = 100 * place
        first.key.weight[1:PLACES] = place[:-1]  # the key of position 3 is what the query of position 4 asks for
        first.value.weight[:WORDS] = token
        first.output.weight[:, :WORDS] = before.T
        second.query.weight[:WORDS] = 100 * token
        second.key.weight[:WORDS] = before
    for block in decoder.blocks:
        block.self_residual.norm = block.feed_forward_residual.norm = torch.nn.Identity()
    decoder.norm = torch.nn.Identity()
    return checkpoint


def test_an_induction_head_is_led_back_to_the_head_that_copied_the_token_before():
    checkpoint = induction_checkpoint()
    trace = checkpoint.trace_ids([5, 3, 1, 4, 3])
    weights = trace.decoder.weights()[:, 0]
    assert weights[0, 2, 1] > 0.99
    assert weights[1, 4, 2] > 0.99, "position 2 comes after the same token"
    sources = score_sources(checkpoint, trace, HeadSite("decoder", 1, 0), 4, 2, relative=True)
    ((pair, value),) = largest(sources.pairs(), 1)
    assert pair == (Part("token"), Part("self", 0, 0))
    assert value == pytest.approx(sources.score)
    first, second = followed_back(checkpoint, trace, HeadSite("decoder", 1, 0), 4, 2)
    assert (first.side, first.part, first.position, first.read) == ("key", Part("self", 0, 0), 2, 1)
    assert first.share == pytest.approx(1)
    assert first.opposed_share == pytest.approx(0, abs=1e-6)
    assert first.read_share == pytest.approx(1)
    assert (second.site, second.query, second.key) == (HeadSite("decoder", 0, 0), 2, 1)
    assert (second.part, second.head, second.read) == (Part("position"), None, None)
    assert second.share == pytest.approx(1)
    assert followed_back(checkpoint, trace, HeadSite("decoder", 1, 0), 4, 2, depth=1) == (first,)


def test_cross_attention_is_led_back_into_the_encoder():
    checkpoint = load_checkpoint("translate-en-fr", device="cpu")
    trace = checkpoint.trace("The small dog sees the old man.")
    assert trace.decoder is not None
    stacks = set()
    for layer, block in enumerate(trace.decoder.blocks):
        assert block.cross_attention is not None
        for head, weights in enumerate(block.cross_attention.weights):
            key = int(weights[2].argmax())
            steps = followed_back(checkpoint, trace, HeadSite("decoder", layer, head, "cross"), 2, key)
            assert steps[0].score > 0
            for step, after in itertools.pairwise(steps):
                assert (after.site, after.query, after.key) == (step.head, step.position, step.read)
                stacks.add((step.side, step.stack))
    assert stacks >= {("key", "encoder"), ("query", "decoder")}


@pytest.mark.parametrize("kind", available_checkpoints())
def test_the_largest_part_is_followed_while_it_is_a_head(kind):
    checkpoint = load_checkpoint(kind, device="cpu")
    trace = traced(checkpoint, "The old man was not good, and the dog saw him.")
    stack = trace.output_stack
    name = "decoder" if trace.decoder is not None else "encoder"
    for head in range(len(stack.blocks[-1].self_attention.weights)):
        weights = stack.blocks[-1].self_attention.weights[head, 2]
        steps = followed_back(checkpoint, trace, HeadSite(name, len(stack.blocks) - 1, head), 2, int(weights.argmax()))
        assert 1 <= len(steps) <= 4
        assert all(step.head is not None for step in steps[:-1])
        for step in steps:
            sources = score_sources(checkpoint, trace, step.site, step.query, step.key, relative=True)
            assert step.score == pytest.approx(sources.score)
            assert step.value == pytest.approx(sources.by(step.side)[step.part])
            sign = 1 if step.score > 0 else -1
            parts = [sign * value for value in sources.by(step.side).values()]
            assert sign * step.value == pytest.approx(max(parts))
            in_favour = sum(value for value in parts if value > 0)
            assert in_favour / (sign * step.score) == pytest.approx(1 + step.opposed_share), "the rest is what opposes"


def test_what_the_pass_does_not_have_is_refused():
    checkpoint = tiny.checkpoint("decoder")
    trace = traced(checkpoint)
    for site in (HeadSite("encoder", 0, 0), HeadSite("decoder", 2, 0), HeadSite("decoder", 0, 4)):
        with pytest.raises(ValueError, match="no such head"):
            score_sources(checkpoint, trace, site, 1, 0)
    with pytest.raises(ValueError, match="no cross-attention"):
        score_sources(checkpoint, trace, HeadSite("decoder", 0, 0, "cross"), 1, 0)
    for query, key in ((0, 1), (99, 0), (1, -1)):
        with pytest.raises(ValueError, match="sees no key"):
            score_sources(checkpoint, trace, HeadSite("decoder", 1, 0), query, key)
    sources = score_sources(checkpoint, trace, HeadSite("decoder", 1, 0), 1, 0)
    for part in (Part("token"), Part("self", 1, 0), SCORE_BIAS):
        with pytest.raises(ValueError, match="no head"):
            read_positions(checkpoint, trace, sources, "key", part)
