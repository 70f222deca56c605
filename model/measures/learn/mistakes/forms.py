"""The lines that tutorials write wrong, each beside its right form. Both run, in ``classifier_pass`` and ``effects``.

Tensors have their batch axis first, as in the tutorials: (batch, position, width).
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.transformer import Transformer

Stream = Float[Tensor, "batch position width"]
Heads = Float[Tensor, "batch head position head_width"]
Scores = Float[Tensor, "batch head query key"]
SentenceMask = Bool[Tensor, "batch query key"]  # True: the query may see the key


def sinusoids_as_in_the_paper(length: int, width: int) -> Float[Tensor, "position width"]:
    """Section 3.5: the angle of pair i is pos / 10000^(2i/width)."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    even = torch.arange(0, width, 2, dtype=torch.float64)
    angle = position * 10_000 ** (-even / width)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def sinusoids_without_the_minus(length: int, width: int) -> Float[Tensor, "position width"]:
    """The same with a rising exponent: the second pair already turns by more than one radian a position."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    even = torch.arange(0, width, 2, dtype=torch.float64)
    angle = position * 10_000 ** (even / width)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def positions_along_the_sentence(x: Stream, table: Float[Tensor, "row width"]) -> Stream:
    """Token 0 of every sentence gets row 0."""
    length = x.size(1)
    return x + table[:length]


def positions_along_the_batch(x: Stream, table: Float[Tensor, "row width"]) -> Stream:
    """Every token of sentence 0 gets row 0: right where the position is the first axis, and here it is the batch."""
    length = x.size(0)
    return x + table[:length, None]


def mask_by_sentence(scores: Scores, mask: SentenceMask) -> Scores:
    """An axis of length 1 stands for the heads."""
    mask = mask[:, None]
    scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1)


def mask_by_head(scores: Scores, mask: SentenceMask) -> Scores:
    """Axes are matched from the last: the mask of sentence b meets head b. Another batch size raises an error."""
    scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1)


def softmax_with_infinity(scores: Scores, mask: Bool[Tensor, "query key"]) -> Scores:
    """A row without any key is NaN after the softmax, and is made 0."""
    masked = scores.masked_fill(~mask, -math.inf)
    return masked.softmax(dim=-1).nan_to_num(0)


def softmax_with_a_billion(scores: Scores, mask: Bool[Tensor, "query key"]) -> Scores:
    """A row without any key is the same everywhere, for float32 has no room for a score beside a billion."""
    masked = scores.masked_fill(~mask, -1e9)
    return masked.softmax(dim=-1)


def mean_of_tokens(x: Stream, padding_mask: Bool[Tensor, "batch position"]) -> Float[Tensor, "batch width"]:
    """The sum over real tokens, divided by how many there are."""
    kept = padding_mask[..., None]
    total = (x * kept).sum(dim=1)
    return total / kept.sum(dim=1)


def mean_of_everything(x: Stream, padding_mask: Bool[Tensor, "batch position"]) -> Float[Tensor, "batch width"]:
    """Padding has vectors, too."""
    total = x.sum(dim=1)
    return total / x.size(1)


def weights_before_dropout(scores: Scores, value: Heads, dropout: nn.Dropout) -> tuple[Heads, Scores]:
    """Context and weights; dropout acts on the way to the context alone."""
    weights = scores.softmax(dim=-1)
    return dropout(weights) @ value, weights


def weights_after_dropout(scores: Scores, value: Heads, dropout: nn.Dropout) -> tuple[Heads, Scores]:
    """The context is the same; what is returned as weights has holes, and the rest is scaled up."""
    weights = dropout(scores.softmax(dim=-1))
    return weights @ value, weights


def split_by_transpose(x: Stream, heads: int) -> Heads:
    """A token's width is cut into heads; then head and position change places."""
    batch, length, width = x.shape
    x = x.view(batch, length, heads, width // heads)
    return x.transpose(1, 2)


def split_by_view(x: Stream, heads: int) -> Heads:
    """The same shape, filled in the order of memory: head 0 gets the first tokens whole."""
    batch, length, width = x.shape
    return x.view(batch, heads, length, width // heads)


def join_by_transpose(context: Heads) -> Stream:
    """A token's heads side by side again."""
    batch, heads, length, head_width = context.shape
    context = context.transpose(1, 2).contiguous()
    return context.view(batch, length, heads * head_width)


def join_without_contiguous(context: Heads) -> Stream:
    """RuntimeError: a view cannot put memory in another order."""
    batch, heads, length, head_width = context.shape
    context = context.transpose(1, 2)
    return context.view(batch, length, heads * head_width)


def join_by_reshape(context: Heads) -> Stream:
    """No error, and the first rows are all of head 0."""
    batch, heads, length, head_width = context.shape
    return context.reshape(batch, length, heads * head_width)


def pre_norm(x: Stream, sublayer: Callable[[Tensor], Tensor], norm: nn.Module) -> Stream:
    """Xiong et al. 2020: nothing stands on the residual path."""
    normed = norm(x)
    update = sublayer(normed)
    return x + update


def post_norm(x: Stream, sublayer: Callable[[Tensor], Tensor], norm: nn.Module) -> Stream:
    """The paper's own order, section 3.1."""
    update = sublayer(x)
    total = x + update
    return norm(total)


def answer_in_use(model: Transformer, ids: Int[Tensor, " position"]) -> Float[Tensor, " label"]:
    """Dropout is off."""
    model.eval()
    with torch.no_grad():
        return model(ids).logits.softmax(dim=-1)


def answer_as_in_training(model: Transformer, ids: Int[Tensor, " position"]) -> Float[Tensor, " label"]:
    """``no_grad`` saves memory; it does not turn dropout off."""
    model.train()
    with torch.no_grad():
        return model(ids).logits.softmax(dim=-1)
