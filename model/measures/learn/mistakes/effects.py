"""The ten mistakes, each tried on one text: what comes out of the wrong lines and of the right ones."""

import copy
import math
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from model.attention import causal_mask
from model.config import Config
from model.measures.learn.mistakes import forms
from model.measures.learn.mistakes.classifier_pass import RIGHT, Forms, batch_of, can_read, read
from model.measures.learn.mistakes.effect import (
    Curves,
    Effect,
    Subject,
    Tables,
    answer,
    error_of,
    farthest,
    probabilities_of,
    seeded,
    with_answers,
)

ROWS = 8  # of a batch of one text
DISTANCES = 12
PADDING = (0, 1, 2, 4, 8, 16, 32)
CALLS = 20
DROPOUT = 0.1  # the paper's, where a model's weights have none


def sign(subject: Subject) -> Effect:
    """Without the minus in the exponent: the mean products of position vectors by distance."""
    places = tuple(range(max(4, min(len(subject.ids), DISTANCES))))
    tables = [
        table(len(places), subject.model.config.width) for table in (RIGHT.table, forms.sinusoids_without_the_minus)
    ]
    right, wrong = (products_by_distance(table.numpy()) for table in tables)
    changed = replace(RIGHT, table=forms.sinusoids_without_the_minus)
    return with_answers(subject, changed, Curves(places=places, right=right, wrong=wrong))


def products_by_distance(table: Float[np.ndarray, "position width"]) -> Float[np.ndarray, " distance"]:
    """The mean of all products of two rows that are so far apart."""
    products = table @ table.T
    return np.array([np.diagonal(products, distance).mean() for distance in range(len(table))])


def batch_positions(subject: Subject) -> Effect:
    """Positions counted along the batch: the answer of one text that stands in every row of it."""
    batch = subject.ids.expand(ROWS, -1)
    label, right = answer(read(subject.model, batch).probabilities)
    wrong = probabilities_of(
        label, read(subject.model, batch, forms=replace(RIGHT, positions=forms.positions_along_the_batch)).probabilities
    )
    curves = Curves(places=tuple(range(1, ROWS + 1)), right=right, wrong=wrong)
    return Effect(picture=curves, answers=farthest(right, wrong), label=label)


def head_mask(subject: Subject) -> Effect:
    """A mask for each sentence taken for one of each head, in a batch of as many texts as there are heads.

    The texts are the visitor's own and its beginnings; the picture has the weights of the last token of the text.
    """
    heads, length = subject.attention.query.shape[-3], len(subject.ids)
    lengths = beginnings(length, heads)
    ids, padding_mask = batch_of([subject.ids[:some] for some in lengths], subject.model.config.pad_id, length)
    mask = padding_mask[:, None].expand(-1, length, -1)
    scores = subject.attention.scores.expand(heads, -1, -1, -1)
    right, wrong = (
        form(scores, mask)[-1, :, -1].cpu().numpy() for form in (forms.mask_by_sentence, forms.mask_by_head)
    )
    tables = Tables(right=right, wrong=wrong)
    if not can_read(subject.model.config):
        return Effect(picture=tables)
    changed = replace(RIGHT, mask=forms.mask_by_head)
    label, answers = answer(read(subject.model, ids, padding_mask).probabilities[-1:])
    moved = probabilities_of(label, read(subject.model, ids, padding_mask, changed).probabilities[-1:])
    return Effect(picture=tables, answers=(float(answers[0]), float(moved[0])), label=label)


def beginnings(length: int, count: int) -> list[int]:
    """The lengths of a text's beginnings, from the first part to the whole: 2, 3, 5 … 12 tokens."""
    return [math.ceil(length * (part + 1) / count) for part in range(count)]


def billion(subject: Subject) -> Effect:
    """-1e9 in place of -inf: the first rows of head 1 in a text whose first token is padding, and which looks back.

    So is a text when a decoder continues several of different length at once. error: what float16 says.
    """
    scores = (subject.attention.products * subject.attention.scale)[None, :1].float()
    mask = padded_left(scores.shape[-1]).to(scores.device)
    right, wrong = (
        form(scores, mask)[0, 0].cpu().numpy() for form in (forms.softmax_with_infinity, forms.softmax_with_a_billion)
    )
    return Effect(
        picture=Tables(right=right, wrong=wrong),
        error=error_of(partial(forms.softmax_with_a_billion, scores.half(), mask)),
    )


def padded_left(length: int) -> Bool[Tensor, "query key"]:
    """A causal mask that hides the first key, which is padding, from all: its own row may look at nothing."""
    mask = causal_mask(length)
    mask[:, 0] = False
    return mask


def padded_mean(subject: Subject) -> Effect:
    """Padding in the mean: the answer with ever more of it behind the text. Attention hides it in both forms."""
    room = subject.model.config.max_length - len(subject.ids)
    places = tuple(count for count in PADDING if count <= room)
    label, curves = 0, list[np.ndarray]()
    for pool in (forms.mean_of_tokens, forms.mean_of_everything):
        probabilities = torch.cat([padded_answer(subject, count, replace(RIGHT, pool=pool)) for count in places])
        label = label if curves else answer(probabilities)[0]
        curves.append(probabilities_of(label, probabilities))
    right, wrong = curves
    return Effect(picture=Curves(places=places, right=right, wrong=wrong), answers=farthest(right, wrong), label=label)


def padded_answer(subject: Subject, count: int, changed: Forms) -> Float[Tensor, "row label"]:
    """The answer with so many tokens of padding at the end."""
    ids, padding_mask = batch_of([subject.ids], subject.model.config.pad_id, len(subject.ids) + count)
    return read(subject.model, ids, padding_mask, changed).probabilities


def dropped_weights(subject: Subject) -> Effect:
    """Weights returned after dropout: what each row of head 1 adds up to."""
    attention = subject.attention
    scores, value = attention.scores[None, :1], attention.value[None, :1]
    dropout = nn.Dropout(dropout_of(subject.model.config)).train()
    sums = []
    for form in (forms.weights_before_dropout, forms.weights_after_dropout):
        with seeded(0):
            _, weights = form(scores, value, dropout)
        sums.append(weights[0, 0].double().sum(dim=-1).cpu().numpy())
    right, wrong = sums
    return Effect(picture=Curves(places=tuple(range(1, len(right) + 1)), right=right, wrong=wrong))


def dropout_of(config: Config) -> float:
    """The share of the weights that the dropout of the above leaves out."""
    return config.attention_dropout or DROPOUT


def viewed_split(subject: Subject) -> Effect:
    """``view`` in place of ``view`` and ``transpose``: the token whose numbers stand at each place of each head."""
    heads, width = subject.attention.query.shape[-3], subject.attention.input.shape[-1]
    numbered = token_numbers(len(subject.ids), width - width % heads)
    right, wrong = (
        form(numbered, heads)[0, :, :, 0].numpy() for form in (forms.split_by_transpose, forms.split_by_view)
    )
    return with_answers(subject, replace(RIGHT, split=forms.split_by_view), Tables(right=right, wrong=wrong))


def token_numbers(length: int, width: int) -> Float[Tensor, "batch position width"]:
    """Every number of token n is n, counted from 1: they tell where it goes."""
    return torch.arange(1.0, length + 1)[None, :, None].repeat(1, 1, width)


def reshaped_join(subject: Subject) -> Effect:
    """``reshape`` without the transpose back: the token whose numbers each head's place in a row holds.

    error: what torch says of the transpose without ``contiguous``, for which the reshape is the cure.
    """
    heads, head_width = subject.attention.query.shape[-3], subject.attention.value.shape[-1]
    context = forms.split_by_transpose(token_numbers(len(subject.ids), heads * head_width), heads).contiguous()
    right, wrong = (
        form(context)[0, :, ::head_width].numpy() for form in (forms.join_by_transpose, forms.join_by_reshape)
    )
    tables = Tables(right=right, wrong=wrong)
    effect = with_answers(subject, replace(RIGHT, join=forms.join_by_reshape), tables)
    return replace(effect, error=error_of(partial(forms.join_without_contiguous, context)))


def post_norm(subject: Subject) -> Effect:
    """The norm after the sum: how long a token's stream is on average, before the first layer and after each."""
    changed = replace(RIGHT, residual=forms.post_norm)
    passes = [read(subject.model, subject.ids[None], forms=each) for each in (RIGHT, changed)]
    right, wrong = (np.array([float(stream.norm(dim=-1).mean()) for stream in each.streams]) for each in passes)
    return with_answers(subject, changed, Curves(places=tuple(range(len(right))), right=right, wrong=wrong))


def live_dropout(subject: Subject) -> Effect:
    """Dropout left on: the answer of one text, called again and again."""
    # The copy shares its weights; its mode of training is its own, and nobody else's pass is disturbed.
    model = copy.deepcopy(subject.model, {id(each): each for each in subject.model.parameters()})
    label, once = answer(forms.answer_in_use(model, subject.ids)[None])
    wrong = []
    for call in range(CALLS):
        with seeded(call):
            wrong.append(float(forms.answer_as_in_training(model, subject.ids)[label]))
    curves = Curves(places=tuple(range(1, CALLS + 1)), right=once.repeat(CALLS), wrong=np.array(wrong))
    return Effect(picture=curves, answers=farthest(curves.right, curves.wrong), label=label)
