"""Every number of a pass against NumPy in float64, from the token ids and the stored weights alone."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from model.measures.answer_reference import logits_of, pooled_of
from model.measures.evidence.agreement import Comparison, Skipped
from model.measures.evidence.checked_pass import PLACED_BY_DISTANCE, Pass
from model.measures.numpy_reference import Layer, Numbers, ReferenceAttention, softmax
from model.trace import AttentionTrace, BlockTrace, StackTrace

OF_ATTENTION = {
    "input": ("query", "coordinate"),
    "query": ("head", "query", "coordinate"),
    "key": ("key-value head", "key", "coordinate"),
    "value": ("key-value head", "key", "coordinate"),
    "products": ("head", "query", "key"),
    "mask": ("query", "key"),
    "scores": ("head", "query", "key"),
    "weights": ("head", "query", "key"),
    "context": ("head", "query", "coordinate"),
    "output": ("query", "coordinate"),
}
OF_FEED_FORWARD = {"input": "fed", "hidden": "hidden", "output": "fed-forward"}
POSITION = ("position", "coordinate")
NOTHING_ADDED = {
    "rotary": "Nothing is added to the token vectors: queries and keys are rotated, and compared as they then are.",
    "relative": "Nothing is added to the token vectors: a number for the distance is added to the scores.",
    "alibi": "Nothing is added to the token vectors: a number for the distance is added to the scores.",
    "none": "This model is told no positions.",
}
NO_BIAS = "This model adds nothing to its scores for the distance of query and key."
NO_HEAD = "This model predicts nothing: it has no head."
NOT_POOLED = "This model makes no one vector of a text: it has no classifier."
Results = Iterator[Comparison | Skipped]
Vectors = Float[np.ndarray, "position width"]


def from_stored_weights(one: Pass) -> Results:
    """All stacks layer by layer, then what the model says; only one layer of the other path is kept at a time."""
    numbers, memory, final = one.numbers, None, np.zeros(0)
    for name, stack in one.stacks.items():
        yield from embedding_pairs(numbers, name, stack)
        x = numbers.entering(name, one.trace)
        for layer, reference in enumerate(numbers.layers(name, x, memory)):
            yield from of_layer({"stack": name, "layer": layer}, stack.blocks[layer], reference)
            x = reference.stream_out
        final = memory = numbers.finished(name, x)
        yield Comparison(check="final", ours=stack.final, expected=final, place={"stack": name}, axes=POSITION)
    yield from head_pairs(one, numbers, final)


def embedding_pairs(numbers: Numbers, name: str, stack: StackTrace) -> Results:
    """What enters the first layer, and what it is the sum of."""
    ids, ours, place = stack.ids.numpy(), stack.embedding, {"stack": name}
    tokens = numbers.token_vectors(name, ids)
    yield Comparison(check="tokens", ours=ours.token, expected=tokens, place=place, axes=POSITION)
    if ours.position is None:
        yield Skipped(check="positions", reason=NOTHING_ADDED[numbers.config.positions])
    else:
        vectors = np.broadcast_to(numbers.position_vectors(name, ids), ours.position.shape)
        yield Comparison(check="positions", ours=ours.position, expected=vectors, place=place, axes=POSITION)
    total = numbers.embedded(name, ids, stack.segments)
    yield Comparison(check="entering", ours=ours.total, expected=total, place=place, axes=POSITION)


def of_layer(place: dict[str, str | int], ours: BlockTrace, expected: Layer) -> Results:
    """One layer: its stream, attentions and feed-forward layer."""
    for name in ("stream_in", "stream_out"):
        pair = getattr(ours, name), getattr(expected, name)
        yield Comparison(check="stream", ours=pair[0], expected=pair[1], place=place, axes=POSITION)
    yield from of_attention(place | {"attention": "self"}, ours.self_attention, expected.self_attention)
    if ours.cross_attention is not None and expected.cross_attention is not None:
        yield from of_attention(place | {"attention": "cross"}, ours.cross_attention, expected.cross_attention)
    for name, check in OF_FEED_FORWARD.items():
        pair = getattr(ours.feed_forward, name), getattr(expected.feed_forward, name)
        yield Comparison(check=check, ours=pair[0], expected=pair[1], place=place, axes=POSITION)


def of_attention(place: dict[str, str | int], ours: AttentionTrace, expected: ReferenceAttention) -> Results:
    """Every step of one attention."""
    for name, axes in OF_ATTENTION.items():
        pair = getattr(ours, name), getattr(expected, name)
        yield Comparison(check=name, ours=pair[0], expected=pair[1], place=place, axes=axes)
    yield Comparison(check="scale", ours=np.array(float(ours.scale)), expected=np.array(expected.scale), place=place)
    if ours.bias is None and expected.bias is None:
        yield Skipped(check="bias", reason=NO_BIAS)
        return
    shape = ours.weights.shape
    first, second = (np.broadcast_to(0.0 if bias is None else bias, shape) for bias in (ours.bias, expected.bias))
    yield Comparison(check="bias", ours=first, expected=second, place=place, axes=OF_ATTENTION["scores"])


def head_pairs(one: Pass, numbers: Numbers, final: Vectors) -> Results:
    """What the head reads and says, as logits and as probabilities."""
    pooled = pooled_of(numbers, final)
    if one.trace.pooled is None or pooled is None:
        yield Skipped(check="pooled", reason=NOT_POOLED)
    else:
        yield Comparison(check="pooled", ours=one.trace.pooled, expected=pooled, place={}, axes=("coordinate",))
    logits = logits_of(numbers, final)
    if logits is None or one.trace.logits is None:
        yield from (Skipped(check=name, reason=NO_HEAD) for name in ("logits", "probabilities"))
        return
    axes = ("label",) if logits.ndim == 1 else ("position", "token id")
    yield Comparison(check="logits", ours=one.trace.logits, expected=logits, place={}, axes=axes)
    yield probabilities(one, softmax(np.atleast_2d(logits)[None])[0])


def probabilities(one: Pass, expected: Float[np.ndarray, "position vocabulary"]) -> Comparison:
    """What is on the screen: each label's probability, or that of the likeliest token at every position."""
    checkpoint, axes = one.checkpoint, ("position",)
    if checkpoint.config.labels:
        ours = np.array(list(checkpoint.probabilities(one.trace).values()))
        return Comparison(check="probabilities", ours=ours, expected=expected[0], place={}, axes=("label",))
    ours = np.array([checkpoint.likeliest(one.trace, position)[1] for position in range(len(expected))])
    return Comparison(check="probabilities", ours=ours, expected=expected.max(axis=-1), place={}, axes=axes)


def placed_by_distance(one: Pass) -> bool:
    """Whether only the distance of query and key enters the scores."""
    return one.checkpoint.config.positions in PLACED_BY_DISTANCE


def without_head(numbers: Numbers, one: Pass) -> Numbers:
    """The same path with the columns of the output projection that read the chosen head's context set to 0."""
    site = one.head
    name = f"{site.stack}.blocks.{site.layer}.{site.attention}_attention.output.weight"
    config = numbers.config.of_decoder() if site.stack == "decoder" else numbers.config
    weight = numbers.stored[name].clone()
    weight[:, site.head * config.head_width : (site.head + 1) * config.head_width] = 0
    numbers.stored = {**numbers.stored, name: weight}
    return numbers
