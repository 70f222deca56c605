"""The mistakes of tutorials: right forms against torch and the model, wrong ones by hand and in NumPy."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from model import load_checkpoint
from model.attention import join, masked_softmax, split
from model.measures.learn.mistakes import effects, forms
from model.measures.learn.mistakes.catalogue import MISTAKES, usable
from model.measures.learn.mistakes.classifier_pass import batch_of, can_read, read
from model.measures.learn.mistakes.effect import MOST_TOKENS, farthest, subject_of
from model.output_heads import masked_mean
from model.positions import sinusoids
from tests import tiny
from tests.tiny import normal

TEXT = "The film was slow, but I loved it."
OTHER = "I loved the film, but it was slow."


@pytest.fixture(scope="module")
def sentiment():
    return load_checkpoint("sentiment", device="cpu")


def ids_of(checkpoint, text: str) -> list[int]:
    return checkpoint.trace(text).text_stack.ids.tolist()


def effect(checkpoint, name: str, text: str = TEXT) -> Any:
    return MISTAKES[name].effect(subject_of(checkpoint.model, ids_of(checkpoint, text)))


def positive(checkpoint, text: str) -> float:
    return checkpoint.classify(text)["positive"]


# The right forms are the model's own, or torch's


@pytest.mark.parametrize("text", [TEXT, OTHER, "Fine.", "My brother is a doctor."])
def test_the_right_pass_is_the_models(sentiment, text):
    trace = sentiment.trace(text)
    ours = read(sentiment.model, trace.encoder.ids[None])
    streams = [trace.encoder.blocks[0].stream_in, *(block.stream_out for block in trace.encoder.blocks)]
    assert torch.allclose(torch.stack(ours.streams)[:, 0], torch.stack(streams), rtol=0, atol=1e-5)
    assert torch.allclose(ours.probabilities[0], trace.logits.softmax(dim=-1), rtol=0, atol=1e-6)


def test_the_right_pass_of_a_batch_is_that_of_its_sentences():
    model = tiny.transformer(labels=("no", "yes"), norm_order="pre")
    ids, padding_mask = batch_of([tiny.ids(3), tiny.ids(6, seed=1)], 0, 6)
    expected = model(ids, padding_mask=padding_mask).logits.softmax(dim=-1)
    assert torch.allclose(read(model, ids, padding_mask).probabilities, expected, rtol=0, atol=1e-6)


def test_a_model_of_another_kind_is_not_read():
    fitting: dict[str, Any] = {"labels": ("no", "yes"), "norm_order": "pre"}
    assert can_read(tiny.config(**fitting))
    for change in ({"norm_order": "post"}, {"positions": "learned"}, {"pooling": "first-tanh"}, {"labels": ()}):
        assert not can_read(tiny.config(**fitting | change))


def test_right_forms_are_those_of_the_model():
    assert torch.allclose(forms.sinusoids_as_in_the_paper(40, 16), sinusoids(40, 16), rtol=0, atol=1e-12)
    x, padding_mask = normal(2, 5, 16), tiny.padding_mask(5, 3)
    assert torch.equal(forms.split_by_transpose(x, 4), split(x, 4))
    assert torch.equal(forms.join_by_transpose(split(x, 4)), join(split(x, 4)))
    assert torch.allclose(forms.mean_of_tokens(x, padding_mask), masked_mean(x, padding_mask))
    scores, mask = normal(1, 4, 5, 5), effects.padded_left(5)
    assert torch.allclose(
        forms.softmax_with_infinity(scores, mask), masked_softmax(scores.masked_fill(~mask, -math.inf), mask)
    )


def test_the_right_orders_of_norms_are_those_of_torchs_layer():
    layer: Any = nn.TransformerEncoderLayer(16, 4, 24, dropout=0.0, batch_first=True, norm_first=True).eval()
    x = normal(2, 5, 16)

    def attend(each):
        return layer.self_attn(each, each, each, need_weights=False)[0]

    def feed(each):
        return layer.linear2(F.relu(layer.linear1(each)))

    for norm_first, form in ((True, forms.pre_norm), (False, forms.post_norm)):
        layer.norm_first = norm_first
        expected = form(form(x, attend, layer.norm1), feed, layer.norm2)
        assert torch.allclose(layer(x), expected, rtol=0, atol=1e-5)


def test_the_right_split_mask_and_join_are_those_of_torchs_attention():
    theirs, x, padding_mask = nn.MultiheadAttention(16, 4, batch_first=True), normal(2, 5, 16), tiny.padding_mask(5, 3)
    query, key, value = (
        forms.split_by_transpose(part, 4)
        for part in F.linear(x, theirs.in_proj_weight, theirs.in_proj_bias).chunk(3, dim=-1)
    )
    weights = forms.mask_by_sentence(query @ key.mT / 2, padding_mask[:, None].expand(-1, 5, -1))
    context = theirs.out_proj(forms.join_by_transpose(weights @ value))
    expected, their_weights = theirs(x, x, x, key_padding_mask=~padding_mask, average_attn_weights=False)
    assert torch.allclose(context, expected, rtol=0, atol=1e-5)
    assert torch.allclose(weights, their_weights, rtol=0, atol=1e-6)


# The wrong forms, by hand


def test_the_missing_minus_gives_the_products_that_were_worked_out():
    tables = [forms.sinusoids_without_the_minus(4, 128), forms.sinusoids_as_in_the_paper(4, 128)]
    wrong, right = (effects.products_by_distance(table.numpy()) for table in tables)
    assert wrong.tolist() == pytest.approx([64, -0.3, -8.0, -6.4], abs=0.05)
    assert right.tolist() == pytest.approx([64, 62.1, 57.4, 52.2], abs=0.05)
    by_angles = [sum(math.cos(d * 10_000 ** (2 * i / 128)) for i in range(64)) for d in range(4)]
    assert wrong.tolist() == pytest.approx(by_angles)


def test_positions_along_the_batch_give_one_vector_to_a_whole_sentence():
    x, table = torch.zeros(3, 5, 16), sinusoids(5, 16).float()
    wrong = forms.positions_along_the_batch(x, table)
    assert all(torch.equal(wrong[row, token], table[row]) for row in range(3) for token in range(5))
    right = forms.positions_along_the_sentence(x, table)
    assert all(torch.equal(right[row, token], table[token]) for row in range(3) for token in range(5))


def test_a_view_fills_heads_in_the_order_of_memory():
    x = torch.arange(8.0).reshape(1, 2, 4)  # two tokens of four numbers
    assert forms.split_by_view(x, 2).tolist() == [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]]
    assert forms.split_by_transpose(x, 2).tolist() == [[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]]


def test_a_reshape_mixes_tokens_and_a_view_after_the_transpose_stops():
    context = torch.arange(8.0).reshape(1, 2, 2, 2)  # two heads, two tokens, two numbers
    assert forms.join_by_reshape(context).tolist() == [[[0, 1, 2, 3], [4, 5, 6, 7]]]
    assert forms.join_by_transpose(context).tolist() == [[[0, 1, 4, 5], [2, 3, 6, 7]]]
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        forms.join_without_contiguous(context)


def test_a_mask_by_head_hides_what_another_sentence_pads():
    scores, mask = torch.zeros(2, 2, 1, 2), torch.tensor([[[True, False]], [[True, True]]])
    assert forms.mask_by_head(scores, mask)[1].tolist() == [[[1, 0]], [[0.5, 0.5]]]
    assert forms.mask_by_sentence(scores, mask)[1].tolist() == [[[0.5, 0.5]], [[0.5, 0.5]]]
    with pytest.raises(RuntimeError, match="must match"):
        forms.mask_by_head(torch.zeros(3, 2, 1, 2), torch.ones(3, 1, 2, dtype=torch.bool))


def test_a_billion_spreads_a_row_without_keys_evenly_and_float16_has_no_such_number():
    scores, mask = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), torch.tensor([[False, False], [False, True]])
    assert forms.softmax_with_a_billion(scores, mask).tolist() == [[[[0.5, 0.5], [0, 1]]]]
    assert forms.softmax_with_infinity(scores, mask).tolist() == [[[[0, 0], [0, 1]]]]
    with pytest.raises(RuntimeError, match="overflow"):
        forms.softmax_with_a_billion(scores.half(), mask)


def test_the_wrong_mean_counts_padding():
    x, padding_mask = torch.tensor([[[2.0], [4.0], [9.0]]]), torch.tensor([[True, True, False]])
    assert forms.mean_of_everything(x, padding_mask).tolist() == [[5]]
    assert forms.mean_of_tokens(x, padding_mask).tolist() == [[3]]


def test_dropout_leaves_rows_that_do_not_add_up_and_the_context_is_the_same_either_way():
    scores, value, dropout = normal(1, 2, 5, 5), normal(1, 2, 5, 3, seed=1), nn.Dropout(0.4).train()
    outcomes = []
    for form in (forms.weights_before_dropout, forms.weights_after_dropout):
        torch.manual_seed(1)
        outcomes.append(form(scores, value, dropout))
    (context, whole), (same, dropped) = outcomes
    assert torch.equal(context, same)
    assert torch.allclose(whole.sum(dim=-1), torch.ones(()))
    kept = dropped != 0
    assert torch.allclose(dropped[kept], whole[kept] / 0.6)
    assert 0 < int(kept.sum()) < kept.numel()


def test_a_model_in_training_answers_anew_at_each_call_and_one_in_use_does_not():
    model = tiny.transformer(labels=("no", "yes"), dropout=0.3)
    ids = tiny.ids(6)
    expected = model.eval()(ids).logits.softmax(dim=-1)
    assert torch.equal(forms.answer_in_use(model, ids), expected)
    torch.manual_seed(0)
    calls = [forms.answer_as_in_training(model, ids) for _ in range(3)]
    assert len({tuple(call.tolist()) for call in calls}) == 3


# What they change in a text


def normed(x: np.ndarray, norm: Any) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + norm.eps)
    return scaled * array(norm.weight) + array(norm.bias)


def array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


def linear(part: Any, x: np.ndarray) -> np.ndarray:
    return x @ array(part.weight).T + array(part.bias)


def gelu(x: np.ndarray) -> np.ndarray:
    return x * np.vectorize(lambda each: (1 + math.erf(each / math.sqrt(2))) / 2)(x)


def numpy_positions(count: int, width: int, mistake: str) -> np.ndarray:
    table, sign = np.empty((count, width)), 1 if mistake == "sign" else -1
    for position in range(count):
        for pair in range(width // 2):
            angle = 0 if mistake == "batch" else position * 10_000 ** (sign * 2 * pair / width)
            table[position, 2 * pair : 2 * pair + 2] = math.sin(angle), math.cos(angle)
    return table


def numpy_head(projected: list[np.ndarray], head: int, heads: int, mistake: str, seen: int) -> np.ndarray:
    count, width = projected[0].shape
    size = width // heads
    if mistake == "view":  # the numbers of head h in memory, one after the other
        chunk = slice(head * count * size, (head + 1) * count * size)
        query, key, value = (each.ravel()[chunk].reshape(count, size) for each in projected)
    else:
        query, key, value = (each[:, head * size : (head + 1) * size] for each in projected)
    scores = query @ key.T / math.sqrt(size)
    scores[:, seen:] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ value


def numpy_answer(checkpoint, ids: list[int], mistake: str = "", seen: tuple[int, ...] = ()) -> float:
    """The probability of "positive", head by head, in float64; ``mistake`` is made as loops would make it.

    seen: how many tokens each head sees; all, where nothing is said.
    """
    model, count = checkpoint.model, len(ids)
    heads, width = model.config.heads, model.config.width

    def attend(x: np.ndarray, attention: Any) -> np.ndarray:
        projected = [linear(part, x) for part in (attention.query, attention.key, attention.value)]
        lengths = seen or (count,) * heads
        contexts = [numpy_head(projected, head, heads, mistake, lengths[head]) for head in range(heads)]
        if mistake == "reshape":
            return linear(attention.output, np.concatenate([each.ravel() for each in contexts]).reshape(count, width))
        return linear(attention.output, np.concatenate(contexts, axis=1))

    def feed(x: np.ndarray, layer: Any) -> np.ndarray:
        return linear(layer.outer, gelu(linear(layer.inner, x)))

    x = array(model.embedding.weight)[ids] * math.sqrt(width) + numpy_positions(count, width, mistake)
    for block in model.encoder.blocks:
        for sublayer, part, norm in (
            (attend, block.self_attention, block.self_residual.norm),
            (feed, block.feed_forward, block.feed_forward_residual.norm),
        ):
            x = normed(x + sublayer(x, part), norm) if mistake == "norm" else x + sublayer(normed(x, norm), part)
    logits = linear(model.classifier, normed(x, model.encoder.norm).mean(axis=0))
    return float(np.exp(logits[1]) / np.exp(logits).sum())


@pytest.mark.parametrize("name", ["sign", "view", "reshape", "norm"])
@pytest.mark.parametrize("text", [TEXT, OTHER, "Fine."])
def test_the_wrong_answer_is_that_of_numpy(sentiment, name, text):
    measured = effect(sentiment, name, text)
    right, wrong = (numpy_answer(sentiment, ids_of(sentiment, text), mistake) for mistake in ("", name))
    expected = (right, wrong) if measured.label == 1 else (1 - right, 1 - wrong)
    assert measured.answers == pytest.approx(expected, abs=2e-4)


def test_positions_along_the_batch_answer_alike_for_two_orders_and_otherwise_in_each_row(sentiment):
    first, second = effect(sentiment, "batch"), effect(sentiment, "batch", OTHER)
    assert first.picture.wrong[0] == pytest.approx(numpy_answer(sentiment, ids_of(sentiment, TEXT), "batch"), abs=2e-4)
    assert first.picture.wrong == pytest.approx(1 - second.picture.wrong, abs=1e-5)  # the other label is the likelier
    assert first.picture.right == pytest.approx(np.full(effects.ROWS, positive(sentiment, TEXT)), abs=1e-5)


def test_a_mask_by_head_in_a_whole_batch_answers_as_heads_that_see_so_many_tokens(sentiment):
    measured, ids = effect(sentiment, "mask"), ids_of(sentiment, TEXT)
    lengths = tuple(effects.beginnings(len(ids), 8))
    assert lengths == (2, 3, 4, 5, 7, 8, 9, 10)
    assert [int((row > 0).sum()) for row in measured.picture.wrong] == list(lengths)
    assert measured.answers[1] == pytest.approx(numpy_answer(sentiment, ids, seen=lengths), abs=2e-4)
    own = sentiment.trace(TEXT).encoder.weights()[0, :, -1].numpy()
    assert measured.picture.right == pytest.approx(own, abs=1e-6)


def test_padding_in_the_mean_answers_as_a_mean_over_the_models_own_padded_vectors(sentiment):
    measured, ids = effect(sentiment, "mean"), ids_of(sentiment, TEXT)
    assert measured.picture.right == pytest.approx(np.full(7, positive(sentiment, TEXT)), abs=1e-5)
    for count, wrong in zip(measured.picture.places, measured.picture.wrong, strict=True):
        batch, padding_mask = batch_of([torch.tensor(ids)], 0, len(ids) + count)
        with torch.no_grad():
            final = sentiment.model(batch, padding_mask=padding_mask).encoder.final
            expected = sentiment.model.classifier(final.mean(dim=1)).softmax(dim=-1)[0, 1]
        assert wrong == pytest.approx(float(expected), abs=1e-5)


def test_padding_stops_where_the_model_has_no_positions_left():
    model = tiny.transformer(labels=("no", "yes"), norm_order="pre")
    measured: Any = effects.padded_mean(subject_of(model, tiny.ids(27).tolist()))
    assert measured.picture.places == (0, 1, 2, 4)


def test_dropout_left_on_does_not_reach_the_model_that_others_use(sentiment):
    before = torch.random.get_rng_state()
    measured = effect(sentiment, "dropout")
    assert not any(module.training for module in sentiment.model.modules())
    assert torch.equal(torch.random.get_rng_state(), before)
    assert measured.picture.right == pytest.approx(np.full(effects.CALLS, positive(sentiment, TEXT)), abs=1e-6)
    assert len(set(measured.picture.wrong)) == effects.CALLS
    assert measured.picture.wrong.tolist() == effect(sentiment, "dropout").picture.wrong.tolist()


def test_the_length_of_the_stream_is_that_of_the_trace(sentiment):
    measured, stack = effect(sentiment, "norm"), sentiment.trace(TEXT).encoder
    streams = [stack.blocks[0].stream_in, *(block.stream_out for block in stack.blocks)]
    expected = [np.linalg.norm(stream.numpy(), axis=1).mean() for stream in streams]
    assert measured.picture.right == pytest.approx(np.array(expected), rel=1e-5)


def test_the_rows_of_weights_and_of_tokens_are_whole(sentiment):
    assert effect(sentiment, "weights").picture.right == pytest.approx(np.ones(10), abs=1e-6)
    assert np.abs(effect(sentiment, "weights").picture.wrong - 1).max() > 0.05
    viewed = effect(sentiment, "view").picture
    assert viewed.right.tolist() == [list(range(1, 11))] * 8
    assert viewed.wrong.tolist() == [[(head * 10 + place) // 8 + 1 for place in range(10)] for head in range(8)]
    joined = effect(sentiment, "reshape").picture
    assert joined.right.tolist() == [[token + 1] * 8 for token in range(10)]
    assert joined.wrong.tolist() == [[(8 * row + head) % 10 + 1 for head in range(8)] for row in range(10)]


@pytest.mark.parametrize("name", ["sentiment", "stories", "translate-en-fr"])
@pytest.mark.parametrize("count", [1, 2, 5, 60, 300])
def test_every_mistake_bears_any_length_of_text(name, count):
    checkpoint = load_checkpoint(name, device="cpu")
    subject = subject_of(checkpoint.model, ([5, 6, 7, 8, 9] * 60)[:count])
    assert len(subject.ids) == min(count, MOST_TOKENS)
    for mistake in usable(checkpoint.config):
        measured = MISTAKES[mistake].effect(subject)
        assert np.isfinite(measured.picture.right).all()
        assert np.isfinite(measured.picture.wrong).all()
        assert measured.picture.right.shape == measured.picture.wrong.shape


def test_each_model_shows_the_mistakes_that_it_can():
    assert usable(load_checkpoint("sentiment", device="cpu").config) == list(MISTAKES)
    assert usable(load_checkpoint("stories", device="cpu").config) == ["mask", "billion", "weights", "view", "reshape"]
    assert "sign" in usable(load_checkpoint("translate-en-fr", device="cpu").config)


def test_the_two_answers_are_those_that_differ_most():
    assert farthest(np.array([0.9, 0.8, 0.7]), np.array([0.8, 0.1, 0.9])) == (0.8, 0.1)
    measured = effect(load_checkpoint("sentiment", device="cpu"), "dropout")
    assert measured.moved == pytest.approx(np.abs(measured.picture.right - measured.picture.wrong).max())


def test_a_text_without_tokens_is_refused():
    with pytest.raises(ValueError, match="0 tokens, wanted 1 or more"):
        subject_of(tiny.transformer(), [])
