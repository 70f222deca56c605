"""One weight computed again along a path of its own: NumPy in float64, from the ids and the stored weights alone.

It shares no code with the forward pass and reads no number of a trace but the token ids and their segments. What the
weights were trained with in float32, the angles of rotary positions and the buckets of relative ones, is float32 here
too. Edits are made again too, each where it says that it acts; what they change is said in ``Edits`` alone.
"""

import math
import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from jaxtyping import Bool, Float, Int

from model.edits import NO_EDITS, Edits, HeadSite, NormSite, SublayerSite
from model.measures.one_weight import WeightSite
from model.trace import Trace
from model.transformer import Transformer

PositionIds = Int[np.ndarray, "position"]


@dataclass(frozen=True, kw_only=True)
class Rechecked:
    """The three numbers of one query and key: q·k, what enters the softmax, what leaves it."""

    product: float
    score: float
    weight: float


@dataclass(frozen=True, kw_only=True)
class ReferenceAttention:
    """One attention, all heads and all positions; named as in model.trace."""

    input: Float[np.ndarray, "query width"]
    query: Float[np.ndarray, "head query head_width"]
    key: Float[np.ndarray, "kv_head key head_width"]
    value: Float[np.ndarray, "kv_head key head_width"]
    products: Float[np.ndarray, "head query key"]
    scale: float
    bias: Float[np.ndarray, "head query key"] | None
    mask: Bool[np.ndarray, "query key"]
    scores: Float[np.ndarray, "head query key"]
    weights: Float[np.ndarray, "head query key"]
    context: Float[np.ndarray, "head query head_width"]
    output: Float[np.ndarray, "query width"]


@dataclass(frozen=True, kw_only=True)
class FeedForwardArrays:
    """One feed-forward layer."""

    input: Float[np.ndarray, "position width"]
    hidden: Float[np.ndarray, "position hidden"]
    output: Float[np.ndarray, "position width"]


@dataclass(frozen=True, kw_only=True)
class Layer:
    stream_in: Float[np.ndarray, "position width"]
    self_attention: ReferenceAttention
    cross_attention: ReferenceAttention | None
    feed_forward: FeedForwardArrays
    stream_out: Float[np.ndarray, "position width"]


def recheck(model: Transformer, trace: Trace, site: WeightSite, edits: Edits = NO_EDITS) -> Rechecked:
    """The chosen numbers of the pass over the trace's ids with these edits, those that the trace was made with."""
    numbers = Numbers(model, edits)
    memory = numbers.encoded(trace) if trace.encoder is not None and site.stack == "decoder" else None
    layers = numbers.layers(site.stack, numbers.entering(site.stack, trace), memory)
    layer = next(islice(layers, site.layer, None))
    attention = layer.cross_attention if site.attention == "cross" else layer.self_attention
    assert attention is not None
    place = site.head, site.query, site.key
    return Rechecked(
        product=float(attention.products[place]),
        score=float(attention.scores[place]),
        weight=float(attention.weights[place]),
    )


class Numbers:
    """The stored weights by their names, each as float64 while it is used."""

    def __init__(self, model: Transformer, edits: Edits) -> None:
        self.stored, self.config, self.edits = model.state_dict(), model.config, edits

    def get(self, name: str) -> np.ndarray:
        return self.rows(name, slice(None))

    def rows(self, name: str, which: np.ndarray | slice) -> np.ndarray:
        """Some rows of one parameter."""
        return np.asarray(self.stored[name][which].detach().cpu().double().numpy())

    def entering(self, stack: str, trace: Trace) -> Float[np.ndarray, "position width"]:
        """What enters the first layer of a stack."""
        read = getattr(trace, stack)
        return self.embedded(stack, read.ids.numpy(), read.segments)

    def encoded(self, trace: Trace) -> Float[np.ndarray, "position width"]:
        """What the encoder hands to the decoder."""
        x = self.entering("encoder", trace)
        for layer in self.layers("encoder", x, None):
            x = layer.stream_out
        return self.finished("encoder", x)

    def finished(self, stack: str, x: Float[np.ndarray, "position width"]) -> Float[np.ndarray, "position width"]:
        """The last norm of a stack, where it has one."""
        own = self.config.norm_order != "post"
        return self.normed(f"{stack}.norm", x, NormSite(stack, None, "final")) if own else x

    def linear(self, name: str, x: Float[np.ndarray, "position inner"]) -> Float[np.ndarray, "position outer"]:
        """x Wᵀ + b."""
        result = x @ self.get(f"{name}.weight").T
        return result + self.get(f"{name}.bias") if f"{name}.bias" in self.stored else result

    def normed(self, name: str, x: np.ndarray, site: NormSite | None, *, rms: bool | None = None) -> np.ndarray:
        """The layer or RMS norm of that name, over the last axis; x itself where edits leave the norm out."""
        if site in self.edits.without_norm:
            return x
        rms = self.config.norm == "rms" if rms is None else rms
        centred = x if rms else x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self.config.norm_epsilon)
        stretched = centred / spread * self.get(f"{name}.weight")
        return stretched + self.get(f"{name}.bias") if f"{name}.bias" in self.stored else stretched

    def embedded(
        self, stack: str, ids: np.ndarray, segments: tuple[int, ...] | None
    ) -> Float[np.ndarray, "position width"]:
        """What enters the first layer."""
        x = self.token_vectors(stack, ids)
        if f"{stack}.segments.weight" in self.stored:
            x = x + self.get(f"{stack}.segments.weight")[list(segments or [0] * len(ids))]
        x = x + self.position_vectors(stack, ids)
        return self.normed_embedding(stack, x)

    def normed_embedding(self, stack: str, x: Float[np.ndarray, "position width"]) -> np.ndarray:
        """The norm before the first layer, where there is one."""
        named = f"{stack}.norm_embedding"
        return self.normed(named, x, NormSite(stack, None, "embedding")) if f"{named}.weight" in self.stored else x

    def token_vectors(self, stack: str, ids: np.ndarray) -> Float[np.ndarray, "position width"]:
        """Rows of the table of embeddings, scaled where the architecture scales them."""
        own = stack == "decoder" and "target_embedding.weight" in self.stored
        vectors = self.rows("target_embedding.weight" if own else "embedding.weight", ids)
        return vectors * math.sqrt(self.config.width) if self.config.scale_embeddings else vectors

    def position_ids(self, stack: str, length: int) -> PositionIds:
        """Where each token stands: drawn lots of a shuffle rank the tokens, a shift moves all."""
        order, seed = list(range(length)), self.edits.seed(stack)
        if seed is not None:
            lots = random.Random(seed)
            drawn = [lots.random() for _ in order]
            order = [sum(other < one for other in drawn) for one in drawn]
        return np.array(order) + self.edits.shift(stack)

    def position_vectors(self, stack: str, ids: np.ndarray) -> np.ndarray | float:
        """What is added to the token vectors; 0 where positions enter otherwise, or not at all."""
        kind, position_ids = self.config.positions, self.position_ids(stack, len(ids))
        if stack in self.edits.unpositioned:
            return 0.0
        if kind.startswith("sinusoidal"):
            return sinusoids(position_ids, self.config.width, halves=kind.endswith("halves"))
        if kind == "counted":
            typed = ids != self.config.pad_id
            position_ids = np.where(typed, position_ids[np.cumsum(typed) - 1], -1)
        if kind in ("learned", "counted"):
            return self.get(f"{stack}.positions.table.weight")[position_ids + self.config.position_offset]
        return 0.0

    def layers(self, stack: str, x: Float[np.ndarray, "position width"], memory: np.ndarray | None) -> Iterator[Layer]:
        """One layer after the other, each on what the last one left; none is kept here."""
        of_stack = self.config.of_decoder() if stack == "decoder" else self.config
        for number in range(of_stack.layers):
            layer = self.layer(stack, number, x, memory)
            x = layer.stream_out
            yield layer

    def layer(self, stack: str, layer: int, x: Float[np.ndarray, "position width"], memory: np.ndarray | None) -> Layer:
        attention = self.shown_attention(stack, layer, "self", x, x)
        stream, cross_attention = self.after(stack, layer, "self", x, attention), None
        if memory is not None:
            cross_attention = self.shown_attention(stack, layer, "cross", stream, memory)
            stream = self.after(stack, layer, "cross", stream, cross_attention)
        fed = self.fed_forward(stack, layer, x if self.config.norm_order == "parallel" else stream)
        out = self.added(SublayerSite(stack, layer, "feed-forward"), stream, fed.output)
        return Layer(
            stream_in=x, self_attention=attention, cross_attention=cross_attention, feed_forward=fed, stream_out=out
        )

    def before(self, site: SublayerSite, x: Float[np.ndarray, "position width"]) -> Float[np.ndarray, "position width"]:
        """What a sublayer reads."""
        before = NormSite(site.stack, site.layer, site.sublayer, "before")
        return x if self.config.norm_order == "post" else self.normed(f"{residual_of(site)}.norm", x, before)

    def added(self, site: SublayerSite, x: np.ndarray, update: np.ndarray) -> Float[np.ndarray, "position width"]:
        """The stream with what a sublayer said; that alone, where edits leave the connection out."""
        x = np.zeros_like(x) if site in self.edits.without_residual else x
        name, after = residual_of(site), NormSite(site.stack, site.layer, site.sublayer, "after")
        if self.config.norm_order == "post":
            return self.normed(f"{name}.norm", x + update, after)
        return x + (self.normed(f"{name}.norm_after", update, after) if self.config.norm_order == "both" else update)

    def after(
        self, stack: str, layer: int, kind: str, x: np.ndarray, shown_attention: ReferenceAttention
    ) -> np.ndarray:
        """The stream with what an attention said."""
        return self.added(SublayerSite(stack, layer, kind), x, shown_attention.output)

    def shown_attention(
        self, stack: str, layer: int, kind: str, x: Float[np.ndarray, "query width"], memory: np.ndarray | None
    ) -> ReferenceAttention:
        """One attention; self-attention reads keys from the same normed stream, cross-attention from the memory."""
        at, site = f"{stack}.blocks.{layer}.{kind}_attention", SublayerSite(stack, layer, kind)
        seen = self.before(site, x)
        looked_at = seen if kind == "self" or memory is None else memory
        query, key, value = self.projected(at, seen, looked_at)
        if kind == "self" and self.config.positions == "rotary" and stack not in self.edits.unpositioned:
            position_ids, windowed = self.position_ids(stack, len(x)), layer in self.config.windowed_layers
            query, key = (self.rotated(each, position_ids, windowed=windowed) for each in (query, key))
        group, scale = len(query) // len(key), self.scale(query.shape[-1], layer)
        products = query @ key.repeat(group, axis=0).transpose(0, 2, 1)
        bias = (
            self.bias(stack, x.shape[0], len(query))
            if kind == "self" and stack not in self.edits.unpositioned
            else None
        )
        scores = self.capped(products * scale + (0.0 if bias is None else bias))
        allowed = self.allowed(stack, layer, kind, scores.shape[1:])
        scores = np.where(allowed, scores, -np.inf)
        weights = self.overwritten(softmax(scores), allowed, site)
        context = self.ablated(weights @ value.repeat(group, axis=0), site)
        joined = context.transpose(1, 0, 2).reshape(context.shape[1], -1)
        output = self.linear(f"{at}.output", joined)
        return ReferenceAttention(
            input=seen, query=query, key=key, value=value, products=products, scale=scale, bias=bias, mask=allowed,
            scores=scores, weights=weights, context=context, output=output,
        )  # fmt: skip

    def capped(self, scores: Float[np.ndarray, "head query key"]) -> Float[np.ndarray, "head query key"]:
        """Scores within the cap, where there is one."""
        cap = self.config.score_cap
        return scores if cap is None else cap * np.tanh(scores / cap)

    def scale(self, head_width: int, layer: int) -> float:
        """What products are multiplied by in a layer, counted from 0."""
        own = self.config.score_scale or 1 / math.sqrt(head_width)
        own = own / (layer + 1) if self.config.score_scale_by_layer else own
        return (own if self.edits.scale is None else self.edits.scale) / self.edits.temperature

    def overwritten(
        self, weights: Float[np.ndarray, "head query key"], allowed: Bool[np.ndarray, "query key"], site: SublayerSite
    ) -> Float[np.ndarray, "head query key"]:
        """The weights after those edits that set some of them."""
        for head in heads_at(self.edits.uniform, site):
            weights[head] = allowed / np.maximum(allowed.sum(axis=1, keepdims=True), 1)
        lines = set()
        for cell in self.edits.overwritten:
            line = cell.site.head, cell.query
            inside = cell.query < weights.shape[1] and cell.key < weights.shape[2]
            if inside and heads_at({cell.site}, site):
                weights[(*line, cell.key)] = cell.value
                lines |= {line} if cell.renormalise else set()
        for line in lines:
            weights[line] /= weights[line].sum() or 1
        return weights

    def ablated(
        self, context: Float[np.ndarray, "head query head_width"], site: SublayerSite
    ) -> Float[np.ndarray, "head query head_width"]:
        """What the heads found, after those edits that replace it."""
        averaged = heads_at(self.edits.averaged, site)
        context[averaged] = context[averaged].mean(axis=1, keepdims=True)
        context[slice(None) if site in self.edits.muted_layers else heads_at(self.edits.muted, site)] = 0
        return context

    def projected(
        self, at: str, seen: Float[np.ndarray, "query width"], looked_at: Float[np.ndarray, "key width"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Queries, keys and values, each (head, position, head_width)."""
        width, projections = self.config.head_width, []
        if at.startswith("decoder"):
            width = self.config.of_decoder().head_width
        for name, read in (("query", seen), ("key", looked_at), ("value", looked_at)):
            joined = self.linear(f"{at}.{name}", read)
            split = joined.reshape(len(joined), -1, width).transpose(1, 0, 2)
            if self.config.query_key_norm and name != "value":
                split = self.normed(f"{at}.{name}_norm", split, None, rms=True)
            projections.append(split)
        return projections[0], projections[1], projections[2]

    def rotated(
        self, x: Float[np.ndarray, "head position head_width"], position_ids: PositionIds, *, windowed: bool
    ) -> np.ndarray:
        """Each pair (i, i + half) rotated by position × its frequency."""
        rotated_width = self.config.rotary_width or self.config.head_width
        half = rotated_width // 2
        frequency = self.frequencies(rotated_width, windowed=windowed)
        angle = np.outer(position_ids.astype(np.float32), frequency).astype(np.float64)
        one, other, rest = x[..., :half], x[..., half:rotated_width], x[..., rotated_width:]
        cosine, sine = np.cos(angle), np.sin(angle)
        return np.concatenate([one * cosine - other * sine, other * cosine + one * sine, rest], axis=-1)

    def frequencies(self, rotated_width: int, *, windowed: bool) -> Float[np.ndarray, "pair"]:
        """Radians a position, in float32."""
        config, own = self.config, windowed and self.config.rotary_window_base is not None
        base = config.rotary_window_base if own and config.rotary_window_base is not None else config.rotary_base
        exponent = np.arange(0, rotated_width, 2, dtype=np.float32) / np.float32(rotated_width)
        frequencies = (1 / np.float32(base) ** exponent).astype(np.float32)
        if own or config.rotary_scaling == "none":
            return frequencies
        slowed = frequencies / np.float32(config.rotary_factor)
        if config.rotary_scaling == "linear":
            return slowed
        turns = config.rotary_original_length * frequencies / (2 * math.pi)
        blend = np.clip((turns - config.rotary_low) / (config.rotary_high - config.rotary_low), 0, 1)
        return ((1 - blend) * slowed + blend * frequencies).astype(np.float32)

    def bias(self, stack: str, length: int, heads: int) -> Float[np.ndarray, "head query key"] | None:
        """What is added to the scores for the distance of query and key; None where positions enter otherwise."""
        position_ids = self.position_ids(stack, length).tolist()
        if self.config.positions == "alibi":
            distance = [[abs(key - query) for key in position_ids] for query in position_ids]
            return -np.multiply.outer(slopes(heads), np.array(distance, dtype=np.float64))
        if self.config.positions != "relative":
            return None
        table = self.get(f"{stack}.positions.table.weight")
        rows = [
            [self.bucket(key - query, len(table), causal=stack == "decoder") for key in position_ids]
            for query in position_ids
        ]
        return table[np.array(rows)].transpose(2, 0, 1)

    def bucket(self, offset: int, count: int, *, causal: bool) -> int:
        """The bucket of key - query: one each for near ones, then ever wider."""
        first, far = 0, max(-offset, 0)
        if not causal:
            count //= 2
            first, far = (count if offset > 0 else 0), abs(offset)
        exact = count // 2
        if far < exact:
            return first + far
        growth = np.log(np.float32(far) / np.float32(exact)) / np.float32(
            math.log(self.config.relative_distance / exact)
        )
        return first + min(exact + int(growth * np.float32(count - exact)), count - 1)

    def allowed(self, stack: str, layer: int, kind: str, shape: tuple[int, ...]) -> Bool[np.ndarray, "query key"]:
        """Who may see whom."""
        query, key = np.indices(shape)
        hidden = [one.position for one in self.edits.hidden if (one.stack, one.attention) == (stack, kind)]
        seen = ~np.isin(key, hidden)
        return seen & self.masked(stack, layer, query, key) if kind == "self" else seen

    def masked(
        self, stack: str, layer: int, query: Int[np.ndarray, "query key"], key: Int[np.ndarray, "query key"]
    ) -> Bool[np.ndarray, "query key"]:
        """Who may see whom in self-attention, where no key is hidden."""
        seen = np.ones(key.shape, dtype=bool)
        if stack == "decoder":
            seen &= key <= query
        if layer in self.config.windowed_layers and self.config.window is not None:
            seen &= key > query - self.config.window
        seen |= stack in self.edits.unmasked
        return seen & (key <= query) if stack in self.edits.causal else seen

    def fed_forward(self, stack: str, layer: int, x: np.ndarray) -> FeedForwardArrays:
        """The feed-forward layer."""
        at = f"{stack}.blocks.{layer}.feed_forward"
        seen = self.before(SublayerSite(stack, layer, "feed-forward"), x)
        hidden = ACTIVATIONS[self.config.activation](self.linear(f"{at}.inner", seen))
        if self.config.gated:
            hidden = hidden * self.linear(f"{at}.gated", seen)
        return FeedForwardArrays(input=seen, hidden=hidden, output=self.linear(f"{at}.outer", hidden))


def residual_of(site: SublayerSite) -> str:
    """What the norms beside a sublayer are stored under."""
    return f"{site.stack}.blocks.{site.layer}.{site.sublayer.replace('-', '_')}_residual"


def heads_at(heads: Collection[HeadSite], site: SublayerSite) -> list[int]:
    """Those of the heads that are in this attention."""
    return [at.head for at in heads if (at.stack, at.layer, at.attention) == (site.stack, site.layer, site.sublayer)]


def slopes(heads: int) -> Float[np.ndarray, "head"]:
    """ALiBi's: from 2^(-8/n) on, a geometric series; where n is no power of two, filled from that of twice as many."""
    power = 2 ** int(math.log2(heads))
    own, denser = ([2.0 ** (-8 * place / count) for place in range(1, count + 1)] for count in (power, 2 * power))
    return np.array((own + denser[::2])[:heads])


def sinusoids(position_ids: PositionIds, width: int, *, halves: bool) -> Float[np.ndarray, "position width"]:
    """Sine and cosine in turn ("Attention Is All You Need", section 3.5), or all sines before all cosines; float32."""
    angles = [[place / 10_000 ** (2 * (i // 2) / width) for i in range(width)] for place in position_ids.tolist()]
    table = np.where(np.arange(width) % 2 == 0, np.sin(angles), np.cos(angles)).astype(np.float32)
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1) if halves else table


def softmax(scores: Float[np.ndarray, "head query key"]) -> Float[np.ndarray, "head query key"]:
    """Over the keys; a row in which everything is masked is 0."""
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = exponentials.sum(axis=-1, keepdims=True)
    return np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)


def gelu(x: np.ndarray) -> np.ndarray:
    """x times the normal distribution's share below x: Hendrycks and Gimpel 2016."""
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_by_tanh(x: np.ndarray) -> np.ndarray:
    """The approximation in the same paper."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": gelu,
    "gelu-tanh": gelu_by_tanh,
    "silu": lambda x: x / (1 + np.exp(-x)),
}
