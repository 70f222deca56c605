"""The steps from a layer to the answer: every number against torch's own modules, and against NumPy's path."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from model import Edits, HeadSite, NormSite, load_checkpoint
from model.measures.answer_reference import recheck_answer
from model.measures.one_weight import STEPS, Quantities, WeightPath, WeightSite, path_of
from tests import tiny
from tests.folders import KINDS, make_folders
from tests.model.measures.test_one_weight import TEXT, drawn
from viz.text.head_findings import token_name
from viz.tokens import markdown_text
from viz.walkthrough import step_sentences
from viz.walkthrough.answer_sentences import STEPS_TO_ANSWER
from viz.walkthrough.recheck_table import rows_of_answer
from viz.walkthrough.step_layout import pictures

ATTENTIONS = {"encoder": ["encoder"], "decoder": ["decoder"], "encoder-decoder": ["encoder", "decoder", "cross"]}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def path_in(checkpoint: Any, attention: str = "encoder", edits: Edits | None = None, **place: int) -> WeightPath:
    edits = edits or Edits()
    chosen = {"layer": 0, "head": 1, "query": 3, "key": 1} | place
    site = WeightSite(attention=attention, **chosen)
    return path_of(checkpoint.model, checkpoint.trace(TEXT, edits=edits), site, edits, checkpoint.tokenizer)


def paths_of(checkpoint: Any) -> list[WeightPath]:
    """One in each of the model's attentions."""
    return [path_in(checkpoint, name, query=1, key=0) for name in ATTENTIONS[checkpoint.config.architecture]]


def numbers(path: WeightPath) -> dict[str, Quantities]:
    return {step: STEPS[step](path) for step in STEPS_TO_ANSWER}


def close(values: np.ndarray, expected: torch.Tensor) -> bool:
    return np.allclose(values, expected.detach().numpy(), atol=1e-5)


def idea_of(path: WeightPath, step: str) -> str:
    return step_sentences.idea(path, step, STEPS[step](path))


# The numbers


def test_the_later_layers_are_the_streams_that_the_layers_leave():
    path = path_in(tiny.checkpoint(layers=4), layer=1)
    quantities = numbers(path)["layers"]
    blocks = path.trace.text_stack.blocks
    assert np.array_equal(quantities["streams"].values, torch.stack([b.stream_out[3] for b in blocks[1:]]).numpy())
    first, last = blocks[1].stream_out[3].double(), blocks[3].stream_out[3].double()
    assert float(quantities["moved"].values) == pytest.approx(float((last - first).norm() / first.norm()))


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_the_last_norm_is_that_of_torch(norm):
    checkpoint = tiny.checkpoint("decoder", norm_order="pre", norm=norm)
    path = path_in(checkpoint, "decoder")
    own, quantities = checkpoint.model.decoder.norm, numbers(path)["last-norm"]
    stream = torch.from_numpy(quantities["last_stream"].values)
    norms: dict[str, Any] = {
        "layer": lambda: functional.layer_norm(stream, [16], own.weight, own.bias, own.eps),
        "rms": lambda: functional.rms_norm(stream, [16], own.weight, own.eps),
    }
    assert close(quantities["final"].values, norms[norm]())


def test_without_a_last_norm_the_stream_is_handed_on():
    quantities = numbers(path_in(tiny.checkpoint(norm_order="post")))["last-norm"]
    assert np.array_equal(quantities["last_stream"].values, quantities["final"].values)


@pytest.mark.parametrize("pooling", ["mean", "first-tanh", "first-relu"])
def test_the_answer_of_a_classifier_is_that_of_torch(pooling):
    checkpoint = tiny.checkpoint(labels=("no", "yes", "perhaps"), pooling=pooling)
    path, model = path_in(checkpoint), checkpoint.model
    quantities, final = numbers(path), path.trace.text_stack.final
    if pooling == "mean":
        pooled = final.mean(dim=0)
        assert np.array_equal(quantities["pooling"]["finals"].values, final.numpy())
    else:
        dense = functional.linear(final[0], model.pooling.dense.weight, model.pooling.dense.bias)
        pooled = torch.tanh(dense) if pooling == "first-tanh" else functional.relu(dense)
    logits = functional.linear(pooled, model.classifier.weight, model.classifier.bias)
    assert close(quantities["pooling"]["pooled"].values, pooled)
    assert close(quantities["logits"]["all_logits"].values, logits)
    assert close(quantities["answer"]["all_probabilities"].values, functional.softmax(logits, dim=-1))
    classified = list(checkpoint.classify(TEXT).values())
    assert quantities["answer"]["probabilities"].values.tolist() == pytest.approx(classified, abs=1e-9)


@pytest.mark.parametrize(
    "changes",
    [{}, {"tie_embeddings": False}, {"output_scale": 0.25}, {"logit_cap": 2.0}, {"vocabulary_bias": True}],
    ids=["tied", "untied", "scaled", "capped", "biased"],
)
def test_the_answer_of_a_decoder_is_that_of_torch(changes):
    checkpoint = tiny.checkpoint("decoder", norm_order="pre", **changes)
    path, model = path_in(checkpoint, "decoder"), checkpoint.model
    quantities, final = numbers(path), path.trace.output_stack.final[3]
    table = model.embedding.weight if model.projection is None else model.projection.weight
    logits = functional.linear(final * changes.get("output_scale", 1.0), table, model.vocabulary_bias)
    logits = logits if "logit_cap" not in changes else 2.0 * torch.tanh(logits / 2.0)
    assert close(quantities["logits"]["all_logits"].values, logits)
    ten = logits.sort(descending=True)
    assert quantities["logits"]["ids"].values.tolist() == ten.indices[:10].tolist()
    assert close(quantities["logits"]["logits"].values, ten.values[:10])
    name, probability = checkpoint.likeliest(path.trace, 3)
    assert float(quantities["answer"]["probability"].values) == pytest.approx(probability)
    assert markdown_of(name) in idea_of(path, "answer")


def markdown_of(name: str) -> str:
    """A token as the sentences give it."""
    return f"“{markdown_text(token_name(name))}”"


def test_the_masked_word_is_that_of_torch(folders):
    checkpoint = load_checkpoint(folders["bert"], device="cpu")
    path, head = path_in(checkpoint), checkpoint.model.word_head
    assert head is not None
    dense = functional.linear(path.trace.output_stack.final[3], head.dense.weight, head.dense.bias)
    norm: Any = head.norm
    read = functional.layer_norm(functional.gelu(dense), [24], norm.weight, norm.bias, norm.eps)
    quantities = numbers(path)
    assert close(quantities["pooling"]["read"].values, read)
    bias = checkpoint.model.vocabulary_bias
    logits = functional.linear(read, checkpoint.model.embedding.weight, bias)
    assert close(quantities["logits"]["all_logits"].values, logits)


def test_the_logits_are_computed_where_the_trace_holds_none():
    labels: Any = {"labels": ("no", "yes")}
    for architecture, changes in (("encoder", labels), ("decoder", {}), ("encoder-decoder", {})):
        path = path_in(tiny.checkpoint(architecture, **changes), architecture.split("-")[-1], query=0, key=0)
        without = replace(path, trace=replace(path.trace, logits=None))
        for step in ("logits", "answer"):
            for name, quantity in STEPS[step](path).items():
                assert np.allclose(STEPS[step](without)[name].values, quantity.values, atol=1e-5)


# Which answer it is


def test_a_decoder_is_followed_to_the_token_after_the_query():
    path = path_in(tiny.checkpoint("decoder"), "decoder", query=4)
    assert (path.answer.kind, path.answer.position) == ("next", 4)
    following = path.trace.output_stack.names()[5]
    assert f"goes on with {markdown_of(following)}" in idea_of(path, "answer")
    assert "goes on" not in idea_of(path_in(tiny.checkpoint("decoder"), "decoder", query=LAST), "answer")


LAST = len(tiny.checkpoint("decoder").trace(TEXT).decoder.ids) - 1


def test_an_encoder_that_is_read_is_followed_to_the_decoder_s_query_that_looks_at_it_most():
    path = path_in(tiny.checkpoint("encoder-decoder"), "encoder", query=2)
    decoder: Any = path.trace.decoder
    shares = np.mean([block.cross_attention.weights[:, :, 2].numpy() for block in decoder.blocks], axis=(0, 1))
    assert path.answer.position == int(shares.argmax())
    assert np.allclose(STEPS["pooling"](path)["reading"].values, shares)
    (chart,) = [chart for row in pictures(path, "pooling", STEPS["pooling"](path)) for _, chart in row]
    rows = drawn(chart)
    assert all(row["value"] == pytest.approx(shares[int(row["name"].strip("▶ ").split(" ")[0]) - 1]) for row in rows)
    assert [row["name"].startswith("▶") for row in rows].index(True) == [row["value"] for row in rows].index(
        shares.max()
    )


@pytest.mark.parametrize(("query", "mask"), [(3, "dog"), (1, "dog"), (3, "[MASK]")])
def test_a_model_of_masked_words_is_followed_to_the_mask(query, mask, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", (mask,))  # this vocabulary has no mask of its own
    path = path_in(tiny.checkpoint(word_head=True), query=query)
    expected = ("masked", 1) if mask == "dog" else ("placed", 3)
    assert (path.answer.kind, path.answer.position) == expected
    place = f"in place of {1 + expected[1]} · "
    assert place in idea_of(path, "answer")


def test_a_model_without_a_head_says_so_in_one_sentence():
    path = path_in(tiny.checkpoint())
    for step in ("pooling", "logits", "answer"):
        assert (
            idea_of(path, step) == "This model has no head that gives an answer: it ends in the vectors of its tokens."
        )
        assert pictures(path, step, STEPS[step](path))


def test_a_weight_that_no_later_layer_reads_is_said_to_change_nothing():
    checkpoint = tiny.checkpoint(labels=("no", "yes"), pooling="first-tanh")
    assert "this weight changes nothing in the answer" in idea_of(path_in(checkpoint, layer=1), "pooling")
    assert "only through the attention of later layers" in idea_of(path_in(checkpoint, layer=0), "pooling")
    assert "attention" not in idea_of(path_in(checkpoint, layer=1, query=0), "pooling")
    moved = Edits(muted=frozenset({HeadSite("encoder", 1, 1)}))
    first, other = (checkpoint.trace(TEXT, edits=edits).encoder.final for edits in (Edits(), moved))
    assert not torch.allclose(first[3], other[3])
    only_third = first.clone()
    only_third[3] = other[3]
    assert torch.equal(checkpoint.model.pooling(only_third, None), checkpoint.model.pooling(first, None))


# Along NumPy's path


@pytest.mark.parametrize("name", [*KINDS, "own"])
def test_the_recheck_of_the_answer_agrees_in_every_family(name, folders):
    checkpoint = load_checkpoint(folders[name], device="cpu")
    for path in paths_of(checkpoint):
        again: Any = recheck_answer(checkpoint.model, path.trace, path.site.stack, path.answer)
        quantities = numbers(path)
        assert np.allclose(again.last_stream[1], quantities["last-norm"]["last_stream"].values, atol=1e-4)
        assert np.allclose(again.final[1], quantities["last-norm"]["final"].values, atol=1e-4)
        if path.answer.kind == "none":
            assert again.logits is None
            continue
        assert np.allclose(again.read, quantities["logits"]["read"].values, atol=1e-4)
        assert np.allclose(again.logits, quantities["logits"]["all_logits"].values, atol=1e-4)
        assert np.allclose(again.probabilities, quantities["answer"]["all_probabilities"].values, atol=1e-5)


def test_the_recheck_makes_the_edits_and_sees_numbers_that_are_wrong():
    checkpoint = tiny.checkpoint("decoder", norm_order="pre")
    norm = frozenset({NormSite("decoder", None, "final")})
    edits = Edits(muted=frozenset({HeadSite("decoder", 1, 2)}), without_norm=norm)
    path = path_in(checkpoint, "decoder", edits)
    logits = STEPS["logits"](path)["all_logits"].values
    rechecked: Any = [recheck_answer(path.model, path.trace, "decoder", path.answer, each) for each in (edits, Edits())]
    again, plain = rechecked
    assert np.allclose(again.logits, logits, atol=1e-4)
    assert not np.allclose(plain.logits, logits, atol=1e-2)
    assert "An edit leaves out the norm" in idea_of(path, "last-norm")


def test_the_table_of_the_recheck_names_the_coordinate_that_differs_most():
    path = path_in(tiny.checkpoint(labels=("no", "<b>")))
    again = recheck_answer(path.model, path.trace, "encoder", path.answer)
    again.final[3, 6] += 0.5
    rows = rows_of_answer(path, again)
    assert len(rows) == 5
    assert "coordinate 7 " in rows[1]["number"]
    assert float(rows[1]["difference"]) == pytest.approx(-0.5, abs=1e-2)
    assert all(abs(float(row["difference"])) < 1e-5 for row in rows[2:])
    assert not any("<b>" in row["number"] for row in rows)


# Figures and words


@pytest.mark.parametrize("step", ["logits", "answer"])
def test_the_bars_are_the_labels_and_their_numbers(step):
    path = path_in(tiny.checkpoint(labels=("no", "yes")))
    quantities = STEPS[step](path)
    rows = drawn(pictures(path, step, quantities)[0][0][1])
    values = quantities["logits" if step == "logits" else "probabilities"].values
    assert [row["value"] for row in rows] == pytest.approx(values.tolist())
    best = int(values.argmax())
    assert [row["name"].strip("▶ ") for row in rows] == ["1 · no", "2 · yes"]
    assert [row["outlined"] for row in rows] == [place == best for place in range(2)]


def test_the_grid_of_layers_holds_every_number_by_its_layer():
    path = path_in(tiny.checkpoint(layers=3))
    quantities = STEPS["layers"](path)
    rows = drawn(pictures(path, "layers", quantities)[0][0][1])
    streams = quantities["streams"].values
    assert {(row["name"], row["coordinate"]): row["value"] for row in rows} == {
        (str(layer + 1), place): float(streams[layer, place]) for layer in range(3) for place in range(16)
    }


@pytest.mark.parametrize("name", [*KINDS, "own"])
def test_every_step_to_the_answer_explains_its_symbols(name, folders):
    for path in paths_of(load_checkpoint(folders[name], device="cpu")):
        for step in STEPS_TO_ANSWER:
            written, meanings = step_sentences.formula(path, step), step_sentences.symbols(path, step)
            for symbol, meaning in (("u_", "u: final"), ("W", "W"), ("E", "E:"), ("P_k", "P: "), ("y =", "y: logits")):
                if symbol in written:
                    assert meaning in meanings
            assert step_sentences.idea(path, step, STEPS[step](path)).count("  ") == 0
