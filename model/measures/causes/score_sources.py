"""Why a head looks where it does: a score by what each earlier part wrote into the query's and the key's stream.

A score is scale · q · k + bias, and q and k are projections of two streams, each the sum of its parts
(``stream_parts``). With every norm's divisor frozen at what it is in the pass, those of the streams and those of
queries and keys, all else on the way is linear, the rotation by positions too. So the score is a sum over pairs, a part
of the query's stream with a part of the key's, and the bias that a position scheme adds: Elhage et al. 2021, "A
Mathematical Framework for Transformer Circuits", on the QK circuit and on composition. The sum is the score before a
cap and before the mask.

A softmax sees only differences: what adds the same number to the scores of all keys changes no weight, however large
the number is. ``relative`` splits the score less the mean of the scores of all keys that the query may see. In a model
without a cap that is the logarithm of the weight over the geometric mean of these keys' weights; what is the same for
all keys is 0 in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.checkpoint import Checkpoint
from model.edits import HeadSite, SublayerSite
from model.measures.causes.resumed_pass import attention_at
from model.measures.causes.stream_parts import FrozenStream, Part, by_part, divisor, frozen_stream, undivided
from model.trace import AttentionTrace, Trace
from model.transformer import Stack

Shares = Float[Tensor, " position"]  # how much of every position's vector is taken
Rotation = Callable[[Tensor, Tensor], Tensor]  # of vectors (any, row, head_width) by the positions of the rows
Name = TypeVar("Name")

PROJECTION_BIAS, SCORE_BIAS = Part("projection bias"), Part("score bias")
BATCH_BYTES = 64 << 20  # of the vectors of all parts at some positions


@dataclass(frozen=True, kw_only=True)
class ScoreSources:
    """A score by the parts of the query's and the key's stream; cells and bias sum to it.

    relative: it is that of the key less the mean of all keys that the query may see. score_bias: None where the
    model's positions add nothing to a score. In cross-attention the key's parts are of the encoder.
    """

    site: HeadSite
    query: int
    key: int
    relative: bool
    query_parts: tuple[Part, ...]
    key_parts: tuple[Part, ...]
    cells: Float[Tensor, "query_part key_part"]  # float64
    score_bias: float | None

    @property
    def score(self) -> float:
        """The sum of all."""
        return float(self.cells.sum()) + (self.score_bias or 0.0)

    def by(self, side: str) -> dict[Part, float]:
        """The score by the parts of one side, "query" or "key", each with all of the other's, and the bias."""
        parts, sums = (self.query_parts, self.cells.sum(1)) if side == "query" else (self.key_parts, self.cells.sum(0))
        bias = {} if self.score_bias is None else {SCORE_BIAS: self.score_bias}
        return dict(zip(parts, sums.tolist(), strict=True)) | bias

    def pairs(self) -> dict[tuple[Part, Part], float]:
        """The score by pairs, a part of the query's with one of the key's; the bias aside."""
        every = [(one, other) for one in self.query_parts for other in self.key_parts]
        return dict(zip(every, self.cells.flatten().tolist(), strict=True))


def largest(parts: Mapping[Name, float], count: int) -> list[tuple[Name, float]]:
    """The parts with the largest magnitudes, the largest first."""
    return sorted(parts.items(), key=lambda part: -abs(part[1]))[:count]


@dataclass(frozen=True)
class ReadStream:
    """One side of a head's score: a stream, and what makes a query or a key of it."""

    stream: FrozenStream
    weight: Float[Tensor, "head_width width"]
    bias: Float[Tensor, " head_width"] | None
    norm: nn.Module  # of queries or keys
    rotation: Rotation | None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Those of the stream, and the projection's bias."""
        return self.stream.parts + (() if self.bias is None else (PROJECTION_BIAS,))

    def by_part(self, shares: Shares) -> tuple[tuple[Part, ...], Float[Tensor, "part head_width"]]:
        """The parts of the positions' queries or keys, each taken times its share and summed."""
        mixable = isinstance(self.norm, nn.Identity) and self.rotation is None  # else each position is its own
        if mixable:
            return by_part(self.parts, self.projected(shares[None])[:, 0])
        vectors = torch.zeros(len(self.parts), len(self.weight), dtype=torch.float64)
        most = max(1, BATCH_BYTES // (8 * len(self.parts) * self.weight.shape[1]))
        for positions in shares.nonzero().flatten().split(most):
            rows = self.projected(torch.eye(len(shares), dtype=torch.float64)[positions])
            vectors += torch.einsum("r,sri->si", shares[positions], self.finished(rows, positions))
        return by_part(self.parts, vectors)

    def projected(self, mix: Float[Tensor, "row position"]) -> Float[Tensor, "part row head_width"]:
        """What the projection makes of each part in mixtures of positions, the bias last."""
        vectors = self.stream.mixed(mix) @ self.weight.T
        return vectors if self.bias is None else torch.cat([vectors, (mix.sum(dim=1)[:, None] * self.bias)[None]])

    def finished(
        self, vectors: Float[Tensor, "any row head_width"], positions: Int[Tensor, " row"]
    ) -> Float[Tensor, "any row head_width"]:
        """Projected parts as they enter q·k: normed by what the whole is, and rotated."""
        if not isinstance(self.norm, nn.Identity):
            vectors = undivided(self.norm, vectors) / divisor(self.norm, self.whole(positions))
        return vectors if self.rotation is None else self.rotation(vectors, positions)

    def whole(self, positions: Int[Tensor, " row"]) -> Float[Tensor, "row head_width"]:
        """What the projection makes of the stream itself."""
        vectors = self.stream.total[positions] @ self.weight.T
        return vectors if self.bias is None else vectors + self.bias

    def pieces(self, part: Part, vectors: Float[Tensor, "any width"], position: int) -> Float[Tensor, "any head_width"]:
        """What becomes of the pieces of a part that joins the stream at a position."""
        rows = (self.stream.onward(part, vectors, position) @ self.weight.T)[:, None]
        return self.finished(rows, torch.tensor([position]))[:, 0]


@torch.no_grad()
def score_sources(
    checkpoint: Checkpoint, trace: Trace, site: HeadSite, query: int, key: int, *, relative: bool = False
) -> ScoreSources:
    """The score that a head gives to a key for a query, by the parts of both streams; float64.

    trace: of this checkpoint, without edits. relative: less the mean score of the keys that the query may see.
    ValueError where the pass has no such head or position, or the query may not see the key.
    """
    attention = attention_of(trace, site)
    taken = key_shares(attention, site.head, query, key, relative=relative)
    query_side, key_side = read_streams(checkpoint, trace, site)
    query_parts, queries = query_side.by_part(one_hot(query, attention.weights.shape[1]))
    key_parts, keys = key_side.by_part(taken)
    bias = attention.bias
    return ScoreSources(
        site=site,
        query=query,
        key=key,
        relative=relative,
        query_parts=query_parts,
        key_parts=key_parts,
        cells=float(attention.scale) * queries @ keys.T,
        score_bias=None if bias is None else float(bias[site.head, query].double() @ taken),
    )


def traced_score(trace: Trace, site: HeadSite, query: int, key: int, *, relative: bool = False) -> float:
    """The same score as the pass itself computed it, before a cap. ValueError: see ``score_sources``."""
    attention = attention_of(trace, site)
    taken = key_shares(attention, site.head, query, key, relative=relative)
    row = attention.products[site.head, query].double() * float(attention.scale)
    row = row if attention.bias is None else row + attention.bias[site.head, query].double()
    return float(row @ taken)


def attention_of(trace: Trace, site: HeadSite) -> AttentionTrace:
    """The attention that a head is in. ValueError where the pass has no such head."""
    stack = trace.encoder if site.stack == "encoder" else trace.decoder
    if stack is not None and 0 <= site.layer < len(stack.blocks):
        attention = attention_at(trace, SublayerSite(site.stack, site.layer, site.attention))
        if 0 <= site.head < len(attention.weights):
            return attention
    raise ValueError(f"{site}: the pass has no such head")


def key_shares(attention: AttentionTrace, head: int, query: int, key: int, *, relative: bool) -> Shares:
    """1 of the key; where it is relative, less an equal share of every key that the query may see.

    ValueError where the query may not see the key.
    """
    allowed = attention.mask.expand_as(attention.weights)[head]
    if not (0 <= query < allowed.shape[0] and 0 <= key < allowed.shape[1] and allowed[query, key]):
        raise ValueError(f"query {query} sees no key {key} in {tuple(allowed.shape)} queries and keys")
    share = one_hot(key, allowed.shape[1])
    return share - allowed[query].double() / allowed[query].sum() if relative else share


def one_hot(position: int, length: int) -> Shares:
    """1 of a position."""
    return torch.eye(length, dtype=torch.float64)[position]


def read_streams(checkpoint: Checkpoint, trace: Trace, site: HeadSite) -> tuple[ReadStream, ReadStream]:
    """The query's side of a head's scores, and the key's."""
    model, order = checkpoint.model, checkpoint.config.norm_order
    stack, traced = getattr(model, site.stack), getattr(trace, site.stack)
    queries = frozen_stream(stack, traced, order, (site.layer, site.attention))
    if site.attention == "cross":
        assert model.encoder is not None
        assert trace.encoder is not None
        keys, rotation = frozen_stream(model.encoder, trace.encoder, order), None
    else:
        keys, rotation = queries, rotation_of(stack, site.layer)
    module: MultiHeadAttention = getattr(stack.blocks[site.layer], f"{site.attention}_attention")
    key_head = site.head // (module.heads // module.kv_heads)
    return (
        read_stream(queries, module.query, site.head, module.heads, module.query_norm, rotation),
        read_stream(keys, module.key, key_head, module.kv_heads, module.key_norm, rotation),
    )


def read_stream(
    stream: FrozenStream, linear: nn.Linear, head: int, heads: int, norm: nn.Module, rotation: Rotation | None
) -> ReadStream:
    """What one head of a projection reads of a stream."""
    weight = linear.weight.detach().unflatten(0, (heads, -1))[head].double().cpu()
    bias = None if linear.bias is None else linear.bias.detach().unflatten(0, (heads, -1))[head].double().cpu()
    return ReadStream(stream, weight, bias, norm, rotation)


def rotation_of(stack: Stack, layer: int) -> Rotation | None:
    """What rotates a layer's queries and keys by their positions."""
    windowed = layer in stack.windowed
    if stack.positions.rotate(torch.zeros(1, 1), windowed=windowed) is None:
        return None

    def rotation(vectors: Tensor, positions: Tensor) -> Tensor:
        rotate = stack.positions.rotate(vectors, positions, windowed=windowed)
        assert rotate is not None
        return rotate(vectors)

    return rotation
