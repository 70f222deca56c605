"""What one forward pass did: frozen records shaped like the model itself.

The axis vocabulary, used in every annotation, docstring and figure of this project:

    batch       sentences computed together; free (any number of leading axes), and absent from a finished trace
    layer       a block of a stack, counted from the input, from 0
    head        one attention head of a layer, from 0; kv_head where several query heads share keys and values
    query       the position that looks
    key         the position that is looked at
    memory      a position of the encoder's output, which cross-attention looks at
    position    a token of the sentence
    width       the residual stream
    head_width  what one head sees of it
    hidden      the feed-forward layer's inner width
    vocabulary  the tokens that can be predicted
    label       the classes that can be predicted

"Query attends to key", always in that order.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.scores import for_every_head, masked_scores

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class AttentionTrace:
    """Every step of one multi-head attention, in the order in which it is computed; products and scores on demand."""

    input: Float[Tensor, "*batch query width"]  # what the query projection reads (normed, in pre-norm)
    query: Float[Tensor, "*batch head query head_width"]  # as it enters q·k, unscaled
    key: Float[Tensor, "*batch kv_head key head_width"]
    value: Float[Tensor, "*batch kv_head key head_width"]
    scale: float | Float[Tensor, "batch 1 1 1"]  # what the products are multiplied by: 1/√head_width in the paper
    bias: Float[Tensor, "head query key"] | Float[Tensor, "*batch head query key"] | None  # what is added to that
    cap: float | None  # what keeps their sum within ±cap
    mask: Bool[Tensor, "*#batch #head query key"] | Bool[Tensor, "query key"]  # True: the query may see the key
    weights: Float[Tensor, "*batch head query key"]  # rows sum to 1, or are 0 where everything is masked
    context: Float[Tensor, "*batch head query head_width"]  # weights @ value, before the output projection
    output: Float[Tensor, "*batch query width"]  # after it: what is added to the stream

    @property
    def products(self) -> Float[Tensor, "*batch head query key"]:
        """q·k alone; computed again from queries and keys at every call."""
        return self.query @ for_every_head(self.key, self.query.shape[-3]).transpose(-1, -2)

    @property
    def scores(self) -> Float[Tensor, "*batch head query key"]:
        """The products after scale, bias, cap and mask, masked ones -inf; computed again at every call."""
        return masked_scores(self.products, self.mask, self.scale, self.bias, self.cap)


@dataclass(frozen=True, kw_only=True)
class FeedForwardTrace:
    """The position-wise feed-forward layer."""

    input: Float[Tensor, "*batch position width"]
    hidden: Float[Tensor, "*batch position hidden"]  # after the activation
    output: Float[Tensor, "*batch position width"]


@dataclass(frozen=True, kw_only=True)
class EmbeddingTrace:
    """What enters block 0 and what it is the sum of."""

    token: Float[Tensor, "*batch position width"]  # scaled, where the architecture scales it
    position: Float[Tensor, "position width"] | Float[Tensor, "*batch position width"] | None
    segment: Float[Tensor, "*batch position width"] | None
    total: Float[Tensor, "*batch position width"]  # their sum, normed where the architecture norms it


@dataclass(frozen=True, kw_only=True)
class BlockTrace:
    """One layer: the residual stream before and after it, and its sublayers."""

    stream_in: Float[Tensor, "*batch position width"]
    self_attention: AttentionTrace
    cross_attention: AttentionTrace | None
    feed_forward: FeedForwardTrace
    stream_out: Float[Tensor, "*batch position width"]


@dataclass(frozen=True, kw_only=True)
class StackTrace:
    """An encoder or a decoder. The text's own facts are None where ids were given instead of text."""

    ids: Int[Tensor, "*batch position"]
    embedding: EmbeddingTrace
    blocks: tuple[BlockTrace, ...]
    final: Float[Tensor, "*batch position width"]  # after the last norm: what the head reads
    tokens: tuple[str, ...] | None = None  # display pieces, one per position
    spans: tuple[tuple[int, int] | None, ...] | None = None  # characters [start, end) of the text
    words: tuple[int | None, ...] | None = None  # index of the word that the token is a piece of
    special: tuple[bool, ...] | None = None  # added by the tokenizer, not typed
    segments: tuple[int, ...] | None = None  # 0 for the text, 1 for its pair
    dropped: int = 0  # tokens at the end of the text that did not fit

    def names(self) -> tuple[str, ...]:
        """The tokens of a single sentence, one per position; their ids as text where no tokens are known."""
        return self.tokens if self.tokens is not None else tuple(map(str, self.ids.tolist()))

    def weights(self) -> Float[Tensor, "layer *batch head query key"]:
        """The self-attention weights of all layers, stacked."""
        return torch.stack([block.self_attention.weights for block in self.blocks])

    def cross_weights(self) -> Float[Tensor, "layer *batch head query key"]:
        """The cross-attention weights of all layers, stacked; ValueError where the stack has none."""
        cross = [block.cross_attention.weights for block in self.blocks if block.cross_attention is not None]
        if not cross:
            raise ValueError("this stack has no cross-attention: only the decoder of an encoder-decoder does")
        return torch.stack(cross)


@dataclass(frozen=True, kw_only=True)
class Trace:
    """One forward pass of a Transformer. A stack or a result that the architecture does not have is None."""

    encoder: StackTrace | None
    decoder: StackTrace | None
    pooled: Float[Tensor, "*batch width"] | None  # the mean of the real tokens: what the classifier reads
    logits: Float[Tensor, "*batch position vocabulary"] | Float[Tensor, "*batch label"] | None

    @property
    def text_stack(self) -> StackTrace:
        """The stack that read the text: the encoder where there is one."""
        stack = self.encoder or self.decoder
        assert stack is not None
        return stack

    @property
    def output_stack(self) -> StackTrace:
        """The stack whose last state the head read: the decoder where there is one."""
        stack = self.decoder or self.encoder
        assert stack is not None
        return stack


def map_tensors(record: T, change: Callable[[Tensor], Any]) -> T:
    """A copy of a record in which every tensor, however deep, is ``change(tensor)``."""
    if isinstance(record, Tensor):
        return change(record)
    if isinstance(record, tuple):
        return tuple(map_tensors(item, change) for item in record)  # type: ignore[return-value]
    if is_dataclass(record) and not isinstance(record, type):
        names = [field.name for field in fields(record)]
        return type(record)(**{name: map_tensors(getattr(record, name), change) for name in names})
    return record
