"""The path to one attention weight and on from it: the numbers of every step, from the token vectors to the answer.

What the trace holds is read from it, bit for bit; what it does not hold (what a projection gave before it was normed
or rotated, one head's part of the output) is computed with the model's own modules, or in float64 where it is only a
product.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model.attention import MultiHeadAttention, join, split
from model.edits import NO_EDITS, Edits, HeadSite
from model.edits.interventions import LayerInterventions, ResidualInterventions
from model.measures.weight_answer import (
    Answer,
    answer_of,
    logits_of,
    mean_cross_attention,
    probabilities_of,
    vector_read,
)
from model.tokenizer import Tokenizer
from model.trace import AttentionTrace, BlockTrace, StackTrace, Trace
from model.transformer import Transformer

MOST_ANSWERS = 10  # tokens of an answer that are named


@dataclass(frozen=True, kw_only=True)
class WeightSite:
    """One weight: ``attention`` is "encoder" or "decoder" (self-attention), or "cross"; all count from 0."""

    attention: str
    layer: int
    head: int
    query: int
    key: int

    @property
    def stack(self) -> str:
        """The stack whose layer it is in, and which the query comes from."""
        return "encoder" if self.attention == "encoder" else "decoder"

    @property
    def key_stack(self) -> str:
        """The stack that the key comes from."""
        return "decoder" if self.attention == "decoder" else "encoder"


@dataclass(frozen=True)
class Quantity:
    """Numbers of one step, and what their axes are; no axis: a single number."""

    axes: tuple[str, ...]
    values: np.ndarray


Quantities = dict[str, Quantity]


@dataclass(frozen=True, kw_only=True)
class WeightPath:
    """A weight with the parts of the model and of the trace that it passes through."""

    site: WeightSite
    model: Transformer
    trace: Trace
    queries: StackTrace
    keys: StackTrace
    block: BlockTrace
    attention: AttentionTrace
    modules: Any  # the Block
    module: MultiHeadAttention
    residual: Any  # around the attention
    edits: Edits  # which the trace was made with
    tokenizer: Tokenizer | None = None  # which knows the masks and the names of ids

    @cached_property
    def answer(self) -> Answer:
        """The answer that the way ends in."""
        return answer_of(self.model.config, self.trace, self.site.stack, self.site.query, self.tokenizer)

    @property
    def layers_left(self) -> int:
        """How many layers of the stack come after this one."""
        return len(self.queries.blocks) - self.site.layer - 1

    @property
    def kv_head(self) -> int:
        """The head of keys and values that serves the query head."""
        return self.site.head // (self.module.heads // self.module.kv_heads)

    @property
    def head_width(self) -> int:
        """How many coordinates a query has."""
        return self.attention.query.shape[-1]

    @property
    def interventions(self) -> LayerInterventions:
        """What the edits become in the layer."""
        stack, tokens = getattr(self.model, self.site.stack), self.queries.embedding.token
        like = tokens.to(self.model.embedding.weight.device)
        return stack.interventions(self.edits, like, len(tokens)).layers[self.site.layer]

    @property
    def around(self) -> ResidualInterventions:
        """What they become in the residual connection around the attention."""
        at = self.interventions
        return at.cross_residual if self.site.attention == "cross" else at.self_residual

    @property
    def is_rotated_or_normed(self) -> bool:
        """Whether the query is not what the projection gave: normed by head, or rotated by its position."""
        return self.model.config.query_key_norm or self.model.config.positions == "rotary"

    @property
    def replaced(self) -> bool:
        """Whether an edit set weights of this query, so that they are not what the softmax gave."""
        kind = "cross" if self.site.attention == "cross" else "self"
        head = HeadSite(self.site.stack, self.site.layer, self.site.head, kind)
        cells = {(cell.site, cell.query) for cell in self.edits.overwritten}
        return head in self.edits.uniform or (head, self.site.query) in cells

    def weight(self) -> float:
        return float(self.attention.weights[self.site.head, self.site.query, self.site.key])

    def is_allowed(self) -> bool:
        """Whether the query may see the key."""
        mask = self.attention.mask.expand_as(self.attention.weights)
        return bool(mask[self.site.head, self.site.query, self.site.key])

    def is_largest(self) -> bool:
        """Whether the head gives nowhere more."""
        return self.weight() > 0 and self.weight() == float(self.attention.weights[self.site.head].max())


def path_of(
    model: Transformer, trace: Trace, site: WeightSite, edits: Edits = NO_EDITS, tokenizer: Tokenizer | None = None
) -> WeightPath:
    """The path of one weight in a trace made with these edits. ValueError where it has no such weight.

    tokenizer: of the model, which knows where a text has masks and what the ids of an answer are called.
    """
    queries, keys = getattr(trace, site.stack), getattr(trace, site.key_stack)
    if queries is None or keys is None or not 0 <= site.layer < len(queries.blocks):
        raise ValueError(f"{site}: the trace has no such layer")
    block = queries.blocks[site.layer]
    attention = block.cross_attention if site.attention == "cross" else block.self_attention
    within = attention is not None and all(
        0 <= place < size
        for place, size in zip((site.head, site.query, site.key), attention.weights.shape, strict=True)
    )
    if not within:
        raise ValueError(f"{site}: the trace has no such weight")
    modules = getattr(model, site.stack).blocks[site.layer]
    kind = "cross" if site.attention == "cross" else "self"
    return WeightPath(
        site=site,
        model=model,
        trace=trace,
        queries=queries,
        keys=keys,
        block=block,
        attention=attention,
        modules=modules,
        module=getattr(modules, f"{kind}_attention"),
        residual=getattr(modules, f"{kind}_residual"),
        edits=edits,
        tokenizer=tokenizer,
    )


def module_output(path: WeightPath, function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """What a module gives for what the trace holds, on the module's own device, back on the CPU as float32."""
    device = path.model.embedding.weight.device
    with torch.no_grad():
        return function(*(each.to(device) for each in inputs)).float().cpu()


def quantity(axes: str, values: Tensor | np.ndarray | np.floating | float) -> Quantity:
    """Axes as words with spaces between; a copy, for what is shown is no window onto the trace."""
    numbers = values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
    return Quantity(tuple(axes.split()), numbers.copy())


def stream_before(path: WeightPath) -> Float[Tensor, "position width"]:
    """The residual stream when it reaches the attention."""
    if path.site.attention != "cross":
        return path.block.stream_in
    add = partial(path.modules.self_residual.add, interventions=path.interventions.self_residual)
    return module_output(path, add, path.block.stream_in, path.block.self_attention.output)


def stream_after(path: WeightPath) -> Float[Tensor, "position width"]:
    """The stream with what the attention said."""
    add = partial(path.residual.add, interventions=path.around)
    return module_output(path, add, stream_before(path), path.attention.output)


def key_input(path: WeightPath) -> Float[Tensor, "position width"]:
    """What the key projection reads."""
    return path.keys.final if path.site.attention == "cross" else path.attention.input


def of_both(path: WeightPath, name: str, queries: Tensor, keys: Tensor) -> Quantities:
    """One row of the query's position and one of the key's."""
    return {
        f"query_{name}": quantity("width", queries[path.site.query]),
        f"key_{name}": quantity("width", keys[path.site.key]),
    }


def embedding(path: WeightPath) -> Quantities:
    """The token vectors, scaled where the architecture scales them."""
    return of_both(path, "token", path.queries.embedding.token, path.keys.embedding.token)


def position(path: WeightPath) -> Quantities:
    """What is added for position and segment, and what comes of it."""
    quantities = embedding(path)
    for name in ("position", "segment"):
        added = getattr(path.queries.embedding, name), getattr(path.keys.embedding, name)
        for side, place, rows in zip(("query", "key"), (path.site.query, path.site.key), added, strict=True):
            if rows is not None:
                quantities[f"{side}_{name}"] = quantity("width", rows[place])
    return quantities | of_both(path, "total", path.queries.embedding.total, path.keys.embedding.total)


def norm(path: WeightPath) -> Quantities:
    """The stream as it arrives, and what the projections read of it."""
    before = stream_before(path)
    arriving = of_both(path, "stream", before, path.keys.final if path.site.attention == "cross" else before)
    return arriving | of_both(path, "input", path.attention.input, key_input(path))


def projection(path: WeightPath) -> Quantities:
    """Query and key, with the rows of the two matrices that make them."""
    quantities = of_both(path, "input", path.attention.input, key_input(path))
    sides = (("query", path.site.head, path.site.query), ("key", path.kv_head, path.site.key))
    for name, head, place in sides:
        linear = getattr(path.module, name)
        rows = slice(head * path.head_width, (head + 1) * path.head_width)
        quantities[f"{name}_matrix"] = quantity("head_width width", linear.weight[rows].float())
        if linear.bias is not None:
            quantities[f"{name}_bias"] = quantity("head_width", linear.bias[rows].float())
        if path.is_rotated_or_normed:
            read = path.attention.input if name == "query" else key_input(path)
            heads = path.module.heads if name == "query" else path.module.kv_heads
            plain = split(module_output(path, linear, read), heads)
            quantities[f"{name}_projected"] = quantity("head_width", plain[head, place])
    return quantities | query_and_key(path)


def query_and_key(path: WeightPath) -> Quantities:
    """The two vectors whose product the score is."""
    return {
        "query": quantity("head_width", path.attention.query[path.site.head, path.site.query]),
        "key": quantity("head_width", path.attention.key[path.kv_head, path.site.key]),
    }


def product(path: WeightPath) -> Quantities:
    """q·k coordinate by coordinate, of this key and of all; a product of two float32 is exact in float64."""
    query = path.attention.query[path.site.head, path.site.query].double()
    keys = path.attention.key[path.kv_head]
    terms = query * keys.double()
    products = row(path, path.attention.products)
    return query_and_key(path) | {
        "terms": quantity("head_width", terms[path.site.key]),
        "product": quantity("", products.values[path.site.key]),
        "all_keys": quantity("key head_width", keys),
        "all_terms": quantity("key head_width", terms),
        "all_products": products,
    }


def row(path: WeightPath, cells: Tensor) -> Quantity:
    """The row of the query in something (head, query, key) or (query, key)."""
    return quantity("key", cells.expand(*path.attention.weights.shape)[path.site.head, path.site.query])


def scale(path: WeightPath) -> Quantities:
    """The products × scale."""
    products = path.attention.products
    scaled = row(path, products * path.attention.scale)
    return {
        "all_products": row(path, products),
        "scale": quantity("", path.attention.scale),
        "all_scaled": scaled,
        "scaled": quantity("", scaled.values[path.site.key]),
    }


def mask(path: WeightPath) -> Quantities:
    """What is added, what may be seen, and the scores that come of it: masked ones are -inf."""
    quantities = {"all_scaled": row(path, path.attention.products * path.attention.scale)}
    if path.attention.bias is not None:
        quantities["all_biases"] = row(path, path.attention.bias)
    if path.module.cap is not None:
        quantities["cap"] = quantity("", path.module.cap)
    scores = row(path, path.attention.scores)
    return quantities | {
        "allowed": row(path, path.attention.mask),
        "all_scores": scores,
        "score": quantity("", scores.values[path.site.key]),
    }


def softmax(path: WeightPath) -> Quantities:
    """e to the power of every score, and its share of the sum; the largest is taken off, so that nothing overflows."""
    in_float32 = row(path, path.attention.scores)
    scores = in_float32.values.astype(np.float64)
    largest = scores.max() if np.isfinite(scores.max()) else 0.0
    exponentials = np.exp(scores - largest)
    weights = row(path, path.attention.weights)
    return {
        "all_scores": in_float32,
        "all_exponentials": quantity("key", exponentials),
        "sum_of_exponentials": quantity("", exponentials.sum()),
        "all_weights": weights,
        "weight": quantity("", weights.values[path.site.key]),
    }


def value(path: WeightPath) -> Quantities:
    """Every key's value × its weight, and their sum."""
    weights, values = row(path, path.attention.weights), path.attention.value[path.kv_head]
    weighted = weights.values.astype(np.float64)[:, None] * values.double().numpy()
    return {
        "all_weights": weights,
        "value": quantity("head_width", values[path.site.key]),
        "weighted_value": quantity("head_width", weighted[path.site.key]),
        "all_values": quantity("key head_width", values),
        "all_weighted_values": quantity("key head_width", weighted),
        "context": quantity("head_width", path.attention.context[path.site.head, path.site.query]),
    }


def heads(path: WeightPath) -> Quantities:
    """What all heads found for the query, side by side."""
    return {
        "context": quantity("head_width", path.attention.context[path.site.head, path.site.query]),
        "joined": quantity("joined", join(path.attention.context)[path.site.query]),
    }


def output(path: WeightPath) -> Quantities:
    """The output projection, and the part of it that this head makes."""
    linear = path.module.output
    columns = slice(path.site.head * path.head_width, (path.site.head + 1) * path.head_width)
    context = path.attention.context[path.site.head, path.site.query].double()
    quantities = {
        "joined": quantity("joined", join(path.attention.context)[path.site.query]),
        "output_matrix": quantity("width joined", linear.weight.float()),
    }
    if linear.bias is not None:
        quantities["output_bias"] = quantity("width", linear.bias.float())
    part = linear.weight[:, columns].detach().cpu().double() @ context
    return quantities | {
        "output_of_head": quantity("width", part),
        "output": quantity("width", path.attention.output[path.site.query]),
    }


def residual(path: WeightPath) -> Quantities:
    """The stream before the attention, what is added, and the stream after it."""
    return {
        "stream_before": quantity("width", stream_before(path)[path.site.query]),
        "output": quantity("width", path.attention.output[path.site.query]),
        "stream_after": quantity("width", stream_after(path)[path.site.query]),
    }


def feed_forward(path: WeightPath) -> Quantities:
    """The feed-forward layer at the query's position, and the stream as it leaves the layer."""
    sublayer = path.block.feed_forward
    return {
        "feed_forward_input": quantity("width", sublayer.input[path.site.query]),
        "hidden": quantity("hidden", sublayer.hidden[path.site.query]),
        "feed_forward_output": quantity("width", sublayer.output[path.site.query]),
        "stream_out": quantity("width", path.block.stream_out[path.site.query]),
    }


def later_layers(path: WeightPath) -> Quantities:
    """The stream at the query after this layer and each one that follows, and how far it has moved from the first."""
    streams = torch.stack([block.stream_out[path.site.query] for block in path.queries.blocks[path.site.layer :]])
    first, last = streams[0].double(), streams[-1].double()
    length = first.norm()
    return {
        "streams": quantity("layer width", streams),
        "last_stream": quantity("width", streams[-1]),
        "moved": quantity("", (last - first).norm() / length if length else 0.0),
    }


def last_norm(path: WeightPath) -> Quantities:
    """The stream at the query as the last layer leaves it, and what the stack hands on."""
    return {
        "last_stream": quantity("width", path.queries.blocks[-1].stream_out[path.site.query]),
        "final": quantity("width", path.queries.final[path.site.query]),
    }


def pooling(path: WeightPath) -> Quantities:
    """From the vectors that the stack hands on to the one that the answer is read from."""
    answer, final = path.answer, path.queries.final
    quantities = {"final": quantity("width", final[path.site.query])}
    if path.site.stack == "encoder" and answer.kind == "written":
        return quantities | {"reading": quantity("target", mean_cross_attention(path.trace, path.site.query))}
    if path.trace.pooled is not None:
        mean = path.model.config.pooling == "mean"
        rows = {"finals": quantity("position width", final)} if mean else {"first_final": quantity("width", final[0])}
        return quantities | rows | {"pooled": quantity("width", path.trace.pooled)}
    if path.model.word_head is None or answer.position is None:
        return quantities
    read = vector_read(path.model, path.trace, answer)
    assert read is not None
    return quantities | {
        "answering": quantity("width", final[answer.position]),
        "read": quantity("width", read),
    }


def head_logits(path: WeightPath) -> Quantities:
    """What the head reads, and a logit for every label or token; the likeliest tokens apart."""
    read, numbers = (ask(path.model, path.trace, path.answer) for ask in (vector_read, logits_of))
    if read is None or numbers is None:
        return {"final": quantity("width", path.queries.final[path.site.query])}
    ids = likeliest(path, numbers)
    return {
        "read": quantity("width", read),
        "ids": quantity("answer", ids),
        "logits": quantity("answer", numbers[ids]),
        "all_logits": quantity("label" if path.answer.position is None else "vocabulary", numbers),
    }


def final_answer(path: WeightPath) -> Quantities:
    """The softmax of the logits, and the probability of the likeliest label or token."""
    numbers = logits_of(path.model, path.trace, path.answer)
    if numbers is None:
        return {"final": quantity("width", path.queries.final[path.site.query])}
    ids, probabilities = likeliest(path, numbers), probabilities_of(numbers)
    return {
        "ids": quantity("answer", ids),
        "logits": quantity("answer", numbers[ids]),
        "probabilities": quantity("answer", probabilities[ids]),
        "all_probabilities": quantity("label" if path.answer.position is None else "vocabulary", probabilities),
        "probability": quantity("", probabilities.max()),
    }


def likeliest(path: WeightPath, numbers: Float[Tensor, " answer"]) -> Tensor:
    """Every label in its order, or the ids of the tokens with the largest logits, the largest first."""
    if path.answer.position is None:
        return torch.arange(len(numbers))
    return numbers.topk(min(MOST_ANSWERS, len(numbers))).indices


# In the order in which they are computed.
STEPS: dict[str, Callable[[WeightPath], Quantities]] = {
    "embedding": embedding,
    "position": position,
    "norm": norm,
    "projection": projection,
    "product": product,
    "scale": scale,
    "mask": mask,
    "softmax": softmax,
    "value": value,
    "heads": heads,
    "output": output,
    "residual": residual,
    "feed-forward": feed_forward,
    "layers": later_layers,
    "last-norm": last_norm,
    "pooling": pooling,
    "logits": head_logits,
    "answer": final_answer,
}


def strongest(
    weights: Float[np.ndarray, "query key"], query: int | None = None, key: int | None = None
) -> tuple[int, int]:
    """The query and key with the largest weight, among those of the query or key that is given; the first of equals.

    A query that may look at one key alone, as the first of a decoder, comes last: nothing but 1 could be its weight.
    """
    if query is None and key is None:
        chooses = (weights > 0).sum(axis=1, keepdims=True) > 1
        weights = np.where(chooses, weights, -1) if chooses.any() else weights
    rows = slice(None) if query is None else slice(query, query + 1)
    columns = slice(None) if key is None else slice(key, key + 1)
    among = weights[rows, columns]
    row, column = np.unravel_index(int(np.argmax(among)), among.shape)
    return int(row) + (query or 0), int(column) + (key or 0)


def strongest_giver(weights: Float[np.ndarray, "query key"], key: int, left_out: Collection[int] = ()) -> int | None:
    """The query that gives most to a key, but for those left out; None where that leaves none."""
    queries = [query for query in range(len(weights)) if query not in left_out]
    return max(queries, key=lambda query: float(weights[query, key]), default=None)
