"""The way to one weight: every number against a computation of its own, every figure against what it was given."""

import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from model import Edits, HeadSite, HiddenKey, NormSite, Overwrite, Shift, SublayerSite, load_checkpoint
from model.measures.numpy_reference import recheck
from model.measures.one_weight import STEPS, Quantities, WeightPath, WeightSite, path_of, strongest, strongest_giver
from model.measures.score_parts import score_parts, why_not
from tests import tiny
from tests.folders import KINDS, make_folders
from tests.model.edits.test_edits import CASES, edits_for, model_of, run
from tests.running import ROOT
from tests.scripts import run_script
from viz.theme import DARK, LIGHT
from viz.walkthrough import step_charts, step_sentences
from viz.walkthrough.source_excerpts import code_of
from viz.walkthrough.step_layout import pictures, specs
from viz.walkthrough.step_numbers import share

TEXT = "the dog bit the man . a cat saw"
ARCHITECTURES = {"encoder": "encoder", "decoder": "decoder", "encoder-decoder": "cross"}


def path_in(checkpoint: Any, attention: str = "encoder", edits: Any = None, **place: int) -> WeightPath:
    edits = edits or Edits()
    trace = checkpoint.trace(TEXT, edits=edits)
    chosen = {"layer": 1, "head": 2, "query": 3, "key": 1} | place
    return path_of(checkpoint.model, trace, WeightSite(attention=attention, **chosen), edits)


def found_in(path: WeightPath) -> dict[str, Quantities]:
    return {name: step(path) for name, step in STEPS.items()}


def number(quantities: dict[str, Quantities], step: str, name: str) -> np.ndarray:
    return quantities[step][name].values.astype(np.float64)


def double(parameter: Any) -> np.ndarray:
    return parameter.detach().double().numpy()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


# The steps


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("order", ["pre", "post"])
def test_each_step_follows_from_the_one_before(architecture, order):
    path = path_in(tiny.checkpoint(architecture, norm_order=order), ARCHITECTURES[architecture])
    quantities, module = found_in(path), path.module
    rows, place = slice(8, 12), path.site.key  # head 2 of width 4
    for name, linear in (("query", module.query), ("key", module.key)):
        projected = (
            double(linear.weight)[rows] @ number(quantities, "norm", f"{name}_input") + double(linear.bias)[rows]
        )
        assert np.allclose(number(quantities, "projection", name), projected, atol=1e-5)
    terms = number(quantities, "projection", "query") * number(quantities, "projection", "key")
    assert np.array_equal(number(quantities, "product", "terms"), terms)
    assert number(quantities, "product", "product") == pytest.approx(terms.sum(), abs=1e-5)
    assert number(quantities, "scale", "scaled") == pytest.approx(terms.sum() / 2, abs=1e-5)
    scores = np.where(quantities["mask"]["allowed"].values, number(quantities, "scale", "all_scaled"), -np.inf)
    assert np.allclose(number(quantities, "mask", "all_scores"), scores, atol=1e-6)
    shares = np.exp(scores) / np.exp(scores).sum()
    assert np.allclose(number(quantities, "softmax", "all_weights"), shares, atol=1e-6)
    exponentials = number(quantities, "softmax", "all_exponentials")
    assert np.allclose(exponentials / number(quantities, "softmax", "sum_of_exponentials"), shares, atol=1e-6)
    assert number(quantities, "softmax", "weight") == pytest.approx(shares[place], abs=1e-6) == path.weight()
    weighted = number(quantities, "value", "all_weighted_values")
    assert np.array_equal(weighted[place], number(quantities, "value", "weighted_value"))
    assert np.allclose(weighted.sum(axis=0), number(quantities, "value", "context"), atol=1e-5)
    joined = number(quantities, "heads", "joined")
    assert np.array_equal(joined[rows], number(quantities, "value", "context"))
    output = double(module.output.weight) @ joined + double(module.output.bias)
    assert np.allclose(number(quantities, "output", "output"), output, atol=1e-5)
    part = double(module.output.weight)[:, rows] @ joined[rows]
    assert np.allclose(number(quantities, "output", "output_of_head"), part)
    total = number(quantities, "residual", "stream_before") + number(quantities, "residual", "output")
    expected = normed(total, path.residual.norm) if order == "post" else total
    assert np.allclose(number(quantities, "residual", "stream_after"), expected, atol=1e-5)
    feed_forward_agrees(path, quantities, order)


def feed_forward_agrees(path: WeightPath, quantities: dict[str, Quantities], order: str) -> None:
    sublayer, read = path.modules.feed_forward, number(quantities, "feed-forward", "feed_forward_input")
    hidden = np.maximum(double(sublayer.inner.weight) @ read + double(sublayer.inner.bias), 0)
    assert np.allclose(number(quantities, "feed-forward", "hidden"), hidden, atol=1e-5)
    output = double(sublayer.outer.weight) @ hidden + double(sublayer.outer.bias)
    assert np.allclose(number(quantities, "feed-forward", "feed_forward_output"), output, atol=1e-5)
    if path.modules.cross_attention is None or path.site.attention == "cross":
        norm, before = path.modules.feed_forward_residual.norm, number(quantities, "residual", "stream_after")
        assert np.allclose(read, before if order == "post" else normed(before, norm), atol=1e-5)
        out = normed(before + output, norm) if order == "post" else before + output
        assert np.allclose(number(quantities, "feed-forward", "stream_out"), out, atol=1e-5)


def normed(x: np.ndarray, norm: Any) -> np.ndarray:
    centred = x - x.mean()
    return centred / np.sqrt((centred**2).mean() + norm.eps) * double(norm.weight) + double(norm.bias)


@pytest.mark.parametrize("order", ["pre", "post"])
def test_the_first_steps_are_the_token_table_the_positions_and_the_norm(order):
    checkpoint = tiny.checkpoint(norm_order=order)
    path = path_in(checkpoint, layer=0, query=4)
    quantities = found_in(path)
    token = double(checkpoint.model.embedding.weight)[int(path.queries.ids[4])] * math.sqrt(16)
    assert np.allclose(number(quantities, "embedding", "query_token"), token, atol=1e-6)
    angles = [4 / 10_000 ** (2 * (i // 2) / 16) for i in range(16)]
    waves = np.array([math.cos(a) if i % 2 else math.sin(a) for i, a in enumerate(angles)])
    assert np.allclose(number(quantities, "position", "query_position"), waves, atol=1e-6)
    assert np.allclose(number(quantities, "position", "query_total"), token + waves, atol=1e-6)
    assert np.allclose(number(quantities, "norm", "query_stream"), token + waves, atol=1e-6)
    read = normed(token + waves, path.residual.norm) if order == "pre" else token + waves
    assert np.allclose(number(quantities, "norm", "query_input"), read, atol=1e-5)


def test_a_case_of_two_tokens_worked_by_hand():
    """Width 2, one head, no norm before it; every matrix the identity, so that q, k and v are the token vectors."""
    sizes: dict[str, Any] = {"width": 2, "heads": 1, "layers": 1, "hidden": 2, "positions": "none"}
    checkpoint = tiny.checkpoint(scale_embeddings=False, norm_order="post", **sizes)
    attention = checkpoint.model.encoder.blocks[0].self_attention
    with torch.no_grad():
        checkpoint.model.embedding.weight[:2] = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
        for linear in (attention.query, attention.key, attention.value, attention.output):
            linear.weight.copy_(torch.eye(2))
            linear.bias.zero_()
    trace = checkpoint.trace_ids([0, 1])
    quantities = found_in(
        path_of(checkpoint.model, trace, WeightSite(attention="encoder", layer=0, head=0, query=0, key=1))
    )
    assert number(quantities, "product", "terms").tolist() == [3, -2]
    assert number(quantities, "product", "all_products").tolist() == [5, 1]
    assert number(quantities, "scale", "scaled") == pytest.approx(1 / math.sqrt(2))
    weight = 1 / (1 + math.exp(4 / math.sqrt(2)))  # 0.0558
    assert number(quantities, "softmax", "weight") == pytest.approx(weight)
    assert number(quantities, "value", "weighted_value") == pytest.approx([3 * weight, -weight])
    assert number(quantities, "value", "context") == pytest.approx([1 + 2 * weight, 2 - 3 * weight])
    assert number(quantities, "output", "output") == pytest.approx([1 + 2 * weight, 2 - 3 * weight])


def test_keys_shared_by_heads_are_those_that_the_scores_were_made_of(folders):
    path = path_in(load_checkpoint(folders["llama"], device="cpu"), "decoder", head=5)
    quantities = found_in(path)
    assert path.kv_head == 2
    assert number(quantities, "product", "terms").sum() == pytest.approx(
        number(quantities, "product", "product"), abs=1e-5
    )
    assert np.allclose(
        number(quantities, "product", "all_terms").sum(axis=1), number(quantities, "product", "all_products")
    )
    rows = slice(2 * path.head_width, 3 * path.head_width)
    plain = double(path.module.key.weight)[rows] @ number(quantities, "projection", "key_input")
    assert np.allclose(number(quantities, "projection", "key_projected"), plain, atol=1e-5)
    assert np.linalg.norm(number(quantities, "projection", "key")) == pytest.approx(np.linalg.norm(plain), abs=1e-5)


def test_a_muted_head_is_said_to_be_muted():
    checkpoint = tiny.checkpoint()
    for muted in (frozenset(), frozenset({HeadSite("encoder", 1, 2)})):
        path = path_in(checkpoint, edits=Edits(muted=muted))
        quantities = STEPS["value"](path)
        assert ("This head is muted" in step_sentences.idea(path, "value", quantities)) == bool(muted)
        assert quantities["context"].values.any() == (not muted)


@pytest.mark.parametrize(
    "place", [{"layer": 2}, {"layer": -1}, {"head": 4}, {"query": 99}, {"key": -1}, {"attention": "cross"}]
)
def test_a_weight_that_is_not_there_is_refused(place):
    with pytest.raises(ValueError, match="no such"):
        path_in(tiny.checkpoint(), **place)


def test_the_strongest_weight_is_found_in_the_whole_a_row_or_a_column():
    weights = np.array([[0.2, 0.8], [0.9, 0.1], [0.9, 0.1]])
    assert strongest(weights) == (1, 0)
    assert strongest(weights, query=0) == (0, 1)
    assert strongest(weights, key=1) == (0, 1)
    assert strongest(weights, 2, 1) == (2, 1)


def test_the_strongest_weight_is_of_a_query_that_may_choose_its_key_where_there_is_one():
    """The first token of a decoder sees itself alone: its weight is 1 in every head."""
    weights = np.array([[1.0, 0, 0], [0.3, 0.7, 0], [0.2, 0.6, 0.2]])
    assert strongest(weights) == (1, 1)
    assert strongest(weights, key=0) == (0, 0)
    assert strongest(weights[:1]) == (0, 0)


# Where a score comes from


@pytest.mark.parametrize("changes", [{}, {"norm_order": "pre"}, {"norm": "rms", "norm_order": "pre"}, {"segments": 2}])
def test_the_parts_of_a_score_add_up_to_it(changes):
    path = path_in(tiny.checkpoint(**changes), layer=0)
    parts = score_parts(path)
    product = float(path.attention.products[2, 3, 1])
    assert sum(parts.products.values()) == pytest.approx(product, abs=2e-6 * max(1, abs(product)))
    assert sum(parts.scores().values()) == pytest.approx(float(path.attention.scores[2, 3, 1]), abs=2e-6)
    assert ("segment", "segment") in parts.products if "segments" in changes else len(parts.products) == 5


def test_the_parts_are_the_products_of_projected_words_and_places():
    path = path_in(tiny.checkpoint(norm_order="post"), layer=0)
    query, key = double(path.module.query.weight)[8:12], double(path.module.key.weight)[8:12]
    embedding: Any = path.queries.embedding
    word, place = embedding.token.double().numpy(), embedding.position.double().numpy()
    expected = {
        ("content", "content"): (query @ word[3]) @ (key @ word[1]),
        ("content", "position"): (query @ word[3]) @ (key @ place[1]),
        ("position", "content"): (query @ place[3]) @ (key @ word[1]),
        ("position", "position"): (query @ place[3]) @ (key @ place[1]),
    }
    parts = score_parts(path)
    assert {pair: parts.products[pair] for pair in expected} == pytest.approx(expected)


@pytest.mark.parametrize("name", ["gpt2", "bert", "roberta", "bart", "marian", "gpt-neo"])
def test_the_parts_add_up_in_families_that_add_their_positions(name, folders):
    checkpoint = load_checkpoint(folders[name], device="cpu")
    path = path_in(checkpoint, "encoder" if checkpoint.config.architecture != "decoder" else "decoder", layer=0, head=1)
    parts = score_parts(path)
    assert sum(parts.products.values()) == pytest.approx(parts.product, abs=5e-6)


@pytest.mark.parametrize(
    ("architecture", "attention", "changes", "phrase"),
    [
        ("encoder", "encoder", {"layer": 1}, "Only in layer 1"),
        ("encoder-decoder", "cross", {}, "encoder's last layer"),
        ("decoder", "decoder", {"positions": "rotary"}, "turns query and key"),
        ("encoder", "encoder", {"positions": "relative"}, "adds a bias"),
        ("decoder", "decoder", {"positions": "alibi"}, "adds a bias"),
        ("encoder", "encoder", {"positions": "none"}, "adds no position vector"),
    ],
)
def test_where_a_score_cannot_be_split_one_sentence_says_why(architecture, attention, changes, phrase):
    layer = changes.pop("layer", 0)
    path = path_in(tiny.checkpoint(architecture, **changes), attention, layer=layer)
    reason = why_not(path)
    assert reason is not None
    assert phrase in reason
    with pytest.raises(ValueError, match=phrase):
        score_parts(path)


@pytest.mark.parametrize("norms", [{("self", "before")}, {("embedding", "")}, {("self", "before"), ("embedding", "")}])
def test_the_parts_add_up_where_norms_are_left_out(norms):
    sites = frozenset(NormSite("encoder", 0 if side else None, name, side) for name, side in norms)
    checkpoint = tiny.checkpoint(norm_order="pre", embedding_norm=True)
    path = path_in(checkpoint, edits=Edits(without_norm=sites, temperature=2.0), layer=0)
    parts, score = score_parts(path), float(path.attention.scores[2, 3, 1])
    assert sum(parts.scores().values()) == pytest.approx(score, abs=2e-6 * max(1, abs(score)))


def test_the_stream_after_the_attention_is_that_of_the_edited_pass():
    for kind in ("self", "cross"):
        edits = Edits(without_residual=frozenset([SublayerSite("decoder", 1, kind)]))
        path = path_in(tiny.checkpoint("encoder-decoder", norm_order="pre"), "cross", edits)
        quantities, sublayer = STEPS["residual"](path), path.modules.feed_forward_residual.norm
        read = normed(quantities["stream_after"].values.astype(np.float64), sublayer)
        assert np.allclose(read, path.block.feed_forward.input[3].numpy(), atol=1e-5)


def test_the_title_is_the_weight_with_four_digits_or_says_that_the_key_is_hidden():
    path = path_in(load_checkpoint("sentiment", device="cpu"))
    weight = float(path.attention.weights[2, 3, 1])
    assert step_sentences.title(path) == f"“the” (token 4) attends to “dog” with {100 * weight:.4g}\u00a0%."
    assert f" gives {100 * weight:.4g}\u00a0% of its attention " in step_sentences.answer(path)
    assert path.is_largest() == (weight == float(path.attention.weights[2].max()))
    hidden = unseen(tiny.checkpoint(), Edits(hidden=frozenset({HiddenKey("encoder", 1)})), 1)
    assert step_sentences.title(hidden) == "“the” (token 4) may not see “dog”."


def test_the_largest_weight_of_a_head_is_said_to_be_so():
    path = path_in(tiny.checkpoint())
    query, key = strongest(path.attention.weights[2].numpy())
    largest = path_in(tiny.checkpoint(), query=query, key=key)
    assert "It is the largest weight of the head." in step_sentences.answer(largest)
    other = path_in(tiny.checkpoint(), query=query, key=(key + 1) % 4)
    assert "largest" not in step_sentences.answer(other)
    path.attention.weights[2] = 0.25
    assert "No weight of the head is larger." in step_sentences.answer(path)


@pytest.mark.parametrize(
    ("weight", "digits"),
    [(0.99123, "99.12"), (0.2, "20"), (0.0531249, "5.312"), (0.99999, "99.99"), (1.0, "100"), (0.0, "0")],
)
def test_a_share_has_four_significant_digits_and_is_all_only_where_it_is(weight, digits):
    above = "more than " if weight == 0.99999 else ""
    assert share(weight) == f"{above}{digits}\u00a0%"


def test_all_digits_of_the_weight_are_given_on_demand():
    path = path_in(tiny.checkpoint())
    assert float(step_sentences.in_full(path).split()[4].rstrip(".")) == path.weight()


def test_the_query_that_gives_most_to_a_key_may_be_left_out():
    weights = np.array([[0.2, 0.8], [0.9, 0.1], [0.3, 0.7]])
    assert [strongest_giver(weights, 1), strongest_giver(weights, 1, {0}), strongest_giver(weights, 0)] == [0, 2, 1]
    assert strongest_giver(weights, 1, {0, 1, 2}) is None


def test_the_answer_names_what_is_edited():
    checkpoint = tiny.checkpoint()
    heads = [
        *(HeadSite("encoder", 0, head) for head in (1, 2, 3)),
        HeadSite("encoder", 1, 0),
        HeadSite("encoder", 1, 1),
    ]
    two, three = "head 2 of layer 1 and head 3 of layer 1", "head 2 of layer 1, head 3 of layer 1, head 4 of layer 1"
    for edits, end in (
        (Edits(), "to key 2 · dog."),
        (Edits(muted=frozenset(heads[:1])), " The model ran with head 2 of layer 1 muted."),
        (Edits(muted=frozenset(heads[:2])), f" The model ran with {two} muted."),
        (Edits(muted=frozenset(heads)), f" The model ran with {three} and 2 more heads muted."),
        (Edits(temperature=2.0), r" This pass is edited: temperature\_2."),
    ):
        assert step_sentences.answer(path_in(checkpoint, edits=edits)).endswith(end)


def test_the_softmax_is_not_said_to_give_a_weight_that_was_set():
    site = HeadSite("encoder", 1, 2)
    for edits in (Edits(uniform=frozenset({site})), Edits(overwritten=frozenset({Overwrite(site, 3, 0, 0.5)}))):
        path = path_in(tiny.checkpoint(), edits=edits)
        assert "An edit sets" in step_sentences.idea(path, "softmax", STEPS["softmax"](path))
    path = path_in(tiny.checkpoint(), edits=edits, query=2)
    assert "power of each score" in step_sentences.idea(path, "softmax", STEPS["softmax"](path))


def test_a_hidden_key_is_said_to_be_unseen_and_a_row_that_sees_none_to_be_0():
    checkpoint, hidden = tiny.checkpoint(), Edits(hidden=frozenset({HiddenKey("encoder", 2)}))
    masks = [
        step_sentences.idea(path, "mask", STEPS["mask"](path))
        for key in (2, 1)
        for path in [unseen(checkpoint, hidden, key)]
    ]
    assert all(
        "here it hides 1 token that an edit names. The score of a hidden key becomes minus infinity" in sentence
        for sentence in masks
    )
    assert masks[0].endswith(" This key is one of them.")
    assert " This key is not hidden: its score stays " in masks[1]
    every = Edits(hidden=frozenset(HiddenKey("encoder", key) for key in range(len(checkpoint.trace(TEXT).encoder.ids))))
    path = unseen(checkpoint, every, 1)
    assert (
        step_sentences.idea(path, "softmax", STEPS["softmax"](path))
        == "The query may see no key at all: each of its weights is 0."
    )
    for step, quantities in found_in(path).items():
        assert all(chart.to_dict() for row in pictures(path, step, quantities) for _, chart in row)


WINDOW: dict[str, Any] = {"window": 2, "windowed_layers": (0, 1)}
LAST = len(tiny.checkpoint().trace(TEXT).encoder.ids) - 1
UNMASKED, CAUSAL = Edits(unmasked=frozenset({"decoder"})), Edits(causal=frozenset({"encoder"}))
HIDDEN = Edits(hidden=frozenset({HiddenKey("decoder", 0)}))
EVERY = "here it hides nothing, because each token of this encoder may see every other, and a text that is read alone"


@pytest.mark.parametrize(
    ("attention", "changes", "edits", "query", "sentence"),
    [
        ("encoder", {}, Edits(), 3, EVERY),
        ("encoder", WINDOW, Edits(), 1, "here it hides nothing, because all tokens are within the window"),
        (
            "encoder",
            WINDOW,
            Edits(),
            3,
            "here it hides 2 tokens before the query, outside the window of this layer. The score",
        ),
        ("encoder", {}, CAUSAL, 3, f"here it hides {LAST - 3} tokens after the query (the future). The score"),
        ("decoder", {}, Edits(), LAST - 1, "here it hides 1 token after the query (the future). The score"),
        ("decoder", {}, Edits(), LAST, "(the future), and this query is the last token. "),
        ("decoder", {}, UNMASKED, 3, "here it hides nothing, because an edit took it away. "),
        (
            "decoder",
            {},
            HIDDEN,
            LAST - 2,
            "here it hides 2 tokens after the query (the future) and 1 token that an edit names. ",
        ),
        (
            *("decoder", WINDOW, HIDDEN, LAST - 1),
            f"hides 1 token after the query (the future) and {LAST - 3} tokens before the query, outside the window of "
            "this layer and 1 token that an edit names. ",
        ),
    ],
)
def test_the_mask_step_counts_the_keys_that_are_hidden_and_says_why(attention, changes, edits, query, sentence):
    path = path_in(tiny.checkpoint(attention, **changes), attention, edits, query=query, key=query)
    assert sentence in step_sentences.idea(path, "mask", STEPS["mask"](path))


def test_in_cross_attention_nothing_is_hidden():
    checkpoint = tiny.checkpoint("encoder-decoder")
    path = path_in(checkpoint, "cross", query=0)
    assert "each written token may see the whole source text" in step_sentences.idea(path, "mask", STEPS["mask"](path))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "A **bias** of the scores is a number that is added to each; this attention has none. A **mask** "),
        (
            {"positions": "alibi"},
            "a number that a formula gives for the distance from query to key: −0.03125. A **mask** ",
        ),
        ({"score_cap": 30.0}, "this attention has none. A smooth **cap** keeps every score between −30 and 30. "),
    ],
)
def test_the_mask_step_says_what_is_added(changes, sentence):
    path = path_in(tiny.checkpoint("decoder", **changes), "decoder")
    assert sentence in step_sentences.idea(path, "mask", STEPS["mask"](path))


def unseen(checkpoint: Any, edits: Edits, key: int) -> WeightPath:
    """The path of a weight on this key."""
    return path_in(checkpoint, edits=edits, query=3, key=key)


# Recheck


@pytest.mark.parametrize("name", [*KINDS, "own"])
def test_the_recheck_agrees_with_the_pass_in_every_family(name, folders):
    checkpoint = load_checkpoint(folders[name], device="cpu")
    trace = checkpoint.trace(TEXT)
    attentions = {"encoder": ["encoder"], "decoder": ["decoder"], "encoder-decoder": ["encoder", "decoder", "cross"]}
    for attention in attentions[checkpoint.config.architecture]:
        for layer in range(2):
            site = WeightSite(attention=attention, layer=layer, head=1, query=0, key=0)
            path = path_of(checkpoint.model, trace, site)
            again, place = recheck(checkpoint.model, trace, site), (1, 0, 0)
            assert again.weight == pytest.approx(path.weight(), abs=1e-5)
            assert again.score == pytest.approx(float(path.attention.scores[place]), abs=1e-4)
            assert again.product == pytest.approx(float(path.attention.products[place]), abs=1e-4)


def test_the_recheck_mutes_what_was_muted_and_sees_a_number_that_is_wrong():
    checkpoint = tiny.checkpoint()
    edits = Edits(muted=frozenset({HeadSite("encoder", 0, 1)}))
    path = path_in(checkpoint, edits=edits)
    trace = checkpoint.trace(TEXT, edits=edits)
    assert recheck(checkpoint.model, trace, path.site, edits).weight == pytest.approx(path.weight(), abs=1e-6)
    assert recheck(checkpoint.model, trace, path.site).weight != pytest.approx(path.weight(), abs=1e-4)


def sites_in(trace: Any) -> list[WeightSite]:
    """The last layer of every attention, at places that a causal mask allows and one that it forbids."""
    sites = []
    for name, stack in (("encoder", trace.encoder), ("decoder", trace.decoder), ("cross", trace.decoder)):
        if stack is not None and (name != "cross" or stack.blocks[-1].cross_attention is not None):
            layer = len(stack.blocks) - 1
            places = [(0, 3, 2), (1, 3, 2), (1, 1, 0), (1, 2, 3)]
            sites += [
                WeightSite(attention=name, layer=layer, head=head, query=query, key=key) for head, query, key in places
            ]
    return sites


@torch.no_grad()
@pytest.mark.parametrize(("variant", "kind"), CASES)
def test_the_recheck_makes_every_edit_that_the_pass_made(variant, kind):
    model, (edits, _) = model_of(variant, layers=3), edits_for(variant)[kind]
    plain, trace = run(model), run(model, edits=edits)
    for site in [*sites_in(trace), *(replace(site, layer=1) for site in sites_in(trace))]:
        weight = path_of(model, trace, site, edits).weight()
        assert recheck(model, trace, site, edits).weight == pytest.approx(weight, abs=1e-6)
        if abs(path_of(model, plain, site).weight() - weight) > 1e-4:
            assert recheck(model, trace, site).weight != pytest.approx(weight, abs=5e-5)


@torch.no_grad()
def test_the_recheck_leaves_out_the_last_norm_of_an_encoder_that_is_read():
    model, edits = model_of("t5"), Edits(without_norm=frozenset([NormSite("encoder", None, "final")]))
    trace = run(model, edits=edits)
    for site in sites_in(trace):
        weight = path_of(model, trace, site, edits).weight()
        assert recheck(model, trace, site, edits).weight == pytest.approx(weight, abs=1e-6)


def test_the_recheck_of_a_masked_weight_is_0_and_its_score_minus_infinity():
    checkpoint = tiny.checkpoint("decoder")
    trace = checkpoint.trace(TEXT)
    again = recheck(checkpoint.model, trace, WeightSite(attention="decoder", layer=1, head=0, query=1, key=3))
    assert (again.weight, again.score) == (0, -math.inf)


# Words, code and scripts


@pytest.mark.parametrize("name", [*KINDS, "own"])
def test_every_step_of_every_family_has_words_a_formula_code_and_pictures(name, folders):
    checkpoint = load_checkpoint(folders[name], device="cpu")
    attention = "cross" if checkpoint.config.architecture == "encoder-decoder" else checkpoint.config.architecture
    path = path_in(checkpoint, attention, head=1, query=0, key=0)
    for step, quantities in found_in(path).items():
        assert step_sentences.idea(path, step, quantities).endswith(".")
        assert step_sentences.formula(path, step)
        assert set(quantities) <= set(step_sentences.LABELS)
        assert all(chart.to_dict() for row in pictures(path, step, quantities) for _, chart in row)
        for excerpt in code_of(path, step):
            file, line = excerpt.place.split(":")[0].split(", line ")
            source = [text.strip() for text in (ROOT / file).read_text(encoding="utf-8").splitlines()]
            lines = [text.strip() for text in excerpt.code.splitlines()]
            assert source[int(line) - 1] == lines[0]
            assert set(lines) <= set(source), "read, not retyped"


def test_the_code_of_a_step_is_the_statement_that_computes_it():
    path = path_in(tiny.checkpoint())
    for step, statement in (
        ("product", "products = query @ key.transpose(-1, -2)"),
        ("scale", "scores = products * scale"),
        ("value", "value = split(self.value(memory), self.kv_heads)"),
        ("heads", "return x.transpose(-2, -3).flatten(-2)"),
        ("output", "output = self.output(join(context))"),
        ("mask", "scores.masked_fill_(~mask, -math.inf)  # in place: a pass less"),
        (
            "residual",
            "return normed(self.norm, without(x, interventions.stream) + self.dropout(update), "
            "interventions.norm_after)",
        ),
    ):
        assert code_of(path, step)[0].code == statement
    assert [excerpt.code for excerpt in code_of(path, "projection")] == [
        "query = mask_and_bias.rotate(self.query_norm(split(self.query(x), self.heads)))",
        "key = rotate(self.key_norm(split(self.key(memory), self.kv_heads)))",
    ]
    assert "table[:, 0::2] = angle.sin()" in code_of(path, "position")[1].code


@pytest.mark.parametrize("segments", [0, 2])
def test_the_code_of_a_step_leaves_out_what_this_model_has_not(segments):
    lines = code_of(path_in(tiny.checkpoint(segments=segments)), "position")[-1].code.splitlines()
    assert ("total = total + segment" in map(str.strip, lines)) == bool(segments)


def test_a_scale_of_its_own_in_each_layer_is_said_written_and_scripted(folders):
    checkpoint = load_checkpoint(folders["gpt2-by-layer"], device="cpu")
    for layer in range(3):
        path = path_in(checkpoint, "decoder", layer=layer)
        quantities = STEPS["scale"](path)
        assert number({"scale": quantities}, "scale", "scale") == pytest.approx(1 / ((layer + 1) * math.sqrt(8)))
        sentence = step_sentences.idea(path, "scale", quantities)
        assert f" = 1 / ({layer + 1} · √8), for this is layer {layer + 1}, so that" in sentence
        assert step_sentences.formula(path, "scale") == r"\frac{q_i \cdot k_j}{\ell\,\sqrt{d_k}}"
        assert r"\frac{q_i \cdot k_j}{\ell\,\sqrt{d_k}}" in step_sentences.formula(path, "mask")
        assert all("ℓ: the layer, counted from 1" in step_sentences.symbols(path, step) for step in ("scale", "mask"))
    ran = run_script(step_sentences.script(path, checkpoint=str(folders["gpt2-by-layer"]), text=TEXT, pair=""))
    assert ran.returncode == 0, ran.stderr
    assert [float(line.split()[-1]) for line in ran.stdout.splitlines()] == pytest.approx([path.weight()] * 4, abs=1e-5)
    edited = path_in(checkpoint, "decoder", Edits(scale=1.0))
    assert step_sentences.formula(edited, "scale") == r"c\,(q_i \cdot k_j)"


def test_only_the_last_layer_is_called_so():
    checkpoint = tiny.checkpoint()
    for layer in range(checkpoint.config.layers):
        path = path_in(checkpoint, layer=layer)
        sentence = step_sentences.idea(path, "feed-forward", found_in(path)["feed-forward"])
        assert ("last layer" in sentence) == (layer + 1 == checkpoint.config.layers)


def test_numbers_are_printed_so_that_python_reads_them_back():
    values = tiny.normal(3, 4).numpy() / 3
    assert np.array_equal(
        np.array(json.loads(step_sentences.exactly(values).replace(",\n]", "\n]")), np.float32), values
    )
    assert step_sentences.exactly(np.array(0.1, np.float32)) == "0.1"
    assert np.array_equal(np.array(json.loads(step_sentences.exactly(values[0])), np.float32), values[0])


SITE = HeadSite("encoder", 2, 3)
SCRIPTED = [
    Edits(),
    Edits(muted=frozenset({HeadSite("encoder", 0, 1)}), temperature=2.0, shifted=frozenset({Shift("encoder", 3)})),
    Edits(overwritten=frozenset({Overwrite(SITE, 4, 1, 0.75, renormalise=True)})),
    Edits(hidden=frozenset({HiddenKey("encoder", 2)})),
]


@pytest.mark.parametrize("edits", SCRIPTED, ids=["plain", "edited", "overwritten", "hidden"])
def test_the_script_runs_and_asserts_the_weight(edits):
    checkpoint = load_checkpoint("sentiment", device="cpu")
    text = 'It\'s "not" bad \\ at all.'
    trace = checkpoint.trace(text, edits=edits)
    path = path_of(checkpoint.model, trace, WeightSite(attention="encoder", layer=2, head=3, query=4, key=1), edits)
    script = step_sentences.script(path, checkpoint="sentiment", text=text, pair="")
    ran = run_script(script)
    assert ran.returncode == 0, ran.stderr
    printed = [float(line.split()[-1]) for line in ran.stdout.splitlines()]
    assert printed == pytest.approx([path.weight()] * (3 if edits.overwritten else 4), abs=1e-5)
    wrong = script.replace(f"shown = {path.weight()!r}", f"shown = {path.weight() + 0.01!r}")
    assert wrong != script
    assert run_script(wrong).returncode == 1


def test_the_files_names_say_step_and_quantity():
    path = path_in(tiny.checkpoint())
    arrays = step_sentences.arrays_of(found_in(path))
    assert np.array_equal(arrays["product_terms"], STEPS["product"](path)["terms"].values)
    assert np.array_equal(arrays["feed_forward_hidden"], STEPS["feed-forward"](path)["hidden"].values)


# Figures


def drawn(chart: Any) -> list[dict[str, Any]]:
    """The rows of the layer that holds the marks, or of all layers where they have the same."""
    parts = json.loads(chart.to_json())
    return max((part.get("data", {}).get("values", []) for part in [parts, *parts["layer"]]), key=len)


@pytest.mark.parametrize("step", STEPS)
def test_a_page_gets_the_charts_that_are_drawn_with_the_check(step):
    path = path_in(tiny.checkpoint())
    quantities = STEPS[step](path)
    checked = [[(title, chart.to_dict()) for title, chart in row] for row in pictures(path, step, quantities)]
    assert unnamed(specs(path, step, quantities)) == unnamed(checked)


def unnamed(rows: Any) -> str:
    """Altair counts the views that it makes."""
    return re.sub(r"view_\d+", "", json.dumps(rows))


VALUES = np.array([0.5, -2.0, 0.0, 1.25])
TOKENS = ["the", "<b>", "the", "1"]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_strips_hold_the_numbers_of_their_vectors_to_one_scale(theme):
    chart = step_charts.heat_strips({"first": VALUES, "second": VALUES[:2] * 2}, theme=theme)
    rows = drawn(chart)
    assert [row["value"] for row in rows] == [*VALUES.tolist(), 1.0, -4.0]
    assert [row["shade"] for row in rows] == [0.125, -0.5, 0, 0.3125, 0.25, -1]
    assert [(row["strip"], row["counted"], row["of"]) for row in rows[2:5]] == [(0, 3, 4), (0, 4, 4), (1, 1, 2)]
    written = json.loads(chart.to_json())
    assert written["description"] == "first; second"
    assert written["config"]["background"] == theme.background
    scale = written["layer"][0]["encoding"]["color"]["scale"]
    shades = dict(zip(scale["domain"], scale["range"], strict=True))
    assert (shades[-1], shades[0], shades[1]) == (theme.below[-1], theme.background, theme.above[-1])
    dashes = written["layer"][1]
    assert dashes["mark"]["type"] == "rule"
    assert any("value < 0" in str(each.get("filter")) for each in dashes["transform"])


def test_a_strip_says_how_many_numbers_it_has_and_from_where_to_where_they_go():
    names = step_charts.heat_strips({"first": VALUES, "second": np.zeros(1)})
    labels = [row["said"] for row in json.loads(names.to_json())["layer"][-1]["data"]["values"]]
    assert labels == ["4 numbers, −2 to 1.25", "one number, 0"]


@pytest.mark.parametrize("step", ["embedding", "projection", "value", "feed-forward"])
def test_the_strips_of_a_step_are_the_vectors_of_the_trace(step):
    path = path_in(load_checkpoint("sentiment", device="cpu"))
    quantities, attention, block = STEPS[step](path), path.attention, path.block
    expected = {
        "embedding": [path.queries.embedding.token[3], path.queries.embedding.token[1]],
        "projection": [attention.query[2, 3], attention.key[2, 1]],
        "value": [attention.value[2, 1], attention.weights[2, 3, 1] * attention.value[2, 1], attention.context[2, 3]],
        "feed-forward": [block.stream_out[3]],
    }[step]
    rows = drawn(pictures(path, step, quantities)[-1][0][1])
    for place, vector in enumerate(expected):
        values = [row["value"] for row in rows if row["strip"] == place]
        assert values == pytest.approx(vector.tolist(), rel=1e-6, abs=1e-7)
    assert {row["strip"] for row in rows} == set(range(len(expected)))


@pytest.mark.parametrize(
    ("top", "tick"), [(4.8, 4), (0.0047, 0.004), (10.0, 10), (199.0, 100), (1e-5, 1e-5), (0.3, 0.3)]
)
def test_the_scale_of_a_sum_has_a_round_number_on_either_side(top, tick):
    terms = np.array([top, -top]) / 1.3  # and above the larger and below the smaller there is room
    layers = json.loads(step_charts.sum_bars(terms).to_json())["layer"]
    (axis,) = [layer["encoding"]["y"]["axis"] for layer in layers if "axis" in layer["encoding"]["y"]]
    assert sorted(axis["values"]) == pytest.approx([-tick, 0, tick])


def test_the_bars_of_a_sum_end_in_the_sum():
    rows = drawn(step_charts.sum_bars(VALUES))
    assert [row["value"] for row in rows] == VALUES.tolist()
    assert [row["sum so far"] for row in rows] == VALUES.cumsum().tolist()


def test_the_strip_of_heads_names_the_head_of_every_number_and_outlines_one():
    chart = step_charts.head_strip(VALUES, 2, 1, name="contexts")
    assert [(row["value"], row["head"]) for row in drawn(chart)] == [(0.5, 1), (-2.0, 1), (0.0, 2), (1.25, 2)]
    outline = json.loads(chart.to_json())["layer"][2]["data"]["values"]
    assert [(row["left"], row["right"], row["said"]) for row in outline] == [(0.5, 1, "head 2")]


def test_the_bars_of_keys_hold_their_numbers_and_mark_the_chosen_one():
    values = np.array([0.5, -np.inf, -0.25, 1.0])
    rows = drawn(step_charts.key_bars(values, TOKENS, 3, title="score"))
    assert [row["value"] for row in rows] == [0.5, None, -0.25, 1.0]
    assert [row["said"] for row in rows] == ["0.5", "masked", "−0.25", "1"]
    assert [row["name"] for row in rows] == ["1 · the", "2 · <b>", "3 · the", "▶ 4 · 1"]


def test_the_grid_holds_the_terms_of_every_key_with_a_dash_below_0():
    terms = np.arange(-6.0, 6.0).reshape(4, 3)
    chart = step_charts.term_grid(terms, TOKENS, 1, rows_of=[0, 1, 3])
    rows = drawn(chart)
    assert {(row["key"], row["coordinate"]): row["value"] for row in rows} == {
        (key, place): terms[key, place] for key in (0, 1, 3) for place in range(3)
    }
    assert {row["shade"] * 6 for row in rows} == {row["value"] for row in rows}
    cells, dashes, outline = json.loads(chart.to_json())["layer"]
    assert (cells["mark"]["type"], dashes["mark"]["type"]) == ("rect", "rule")
    assert [row["name"] for row in outline["data"]["values"]] == ["▶ 2 · <b>"]


def test_the_bars_of_parts_end_with_their_sum():
    rows = drawn(step_charts.part_bars({"word → word": 1.5, "biases": -0.25}))
    assert [(row["name"], row["value"]) for row in rows] == [("word → word", 1.5), ("biases", -0.25), ("sum", 1.25)]


def test_of_many_keys_the_chosen_one_and_those_of_most_weight_are_drawn():
    weights, allowed = np.array([0.1, 0.0, 0.3, 0.2, 0.4]), np.array([True, True, True, True, True])
    assert step_charts.keys_to_show(weights, allowed, 1, most=3) == [1, 2, 4]
    assert step_charts.keys_to_show(weights, allowed, 1) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: step_charts.heat_strips({"wrong": np.zeros((2, 2))}),
        lambda: step_charts.sum_bars(np.zeros(0)),
        lambda: step_charts.key_bars(VALUES, TOKENS[:2], 0, title="score"),
        lambda: step_charts.term_grid(np.zeros((3, 2)), TOKENS, 0),
    ],
    ids=["vector", "sum", "keys", "grid"],
)
def test_a_wrong_shape_is_refused_with_what_was_wanted(draw):
    with pytest.raises(Exception, match=r"wanted|Float"):
        draw()
