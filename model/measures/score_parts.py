"""Where a score comes from: q·k split by what the query's and the key's vectors are the sum of.

In the first layer the vector that is projected is token vector + position vector (+ segment vector), perhaps normed.
A projection is linear, and so is a norm once its divisor is known: norm(t + p) = gain · (t - mean t) / divisor +
gain · (p - mean p) / divisor + shift. So q = q_content + q_position + q_constant, likewise k, and q·k is the sum of
the products of their parts, exactly (cf. Ke et al. 2021, "Rethinking Positional Encoding in Language Pre-training",
section 3.1). The divisor is that of the whole vector: it belongs to both parts and is not split.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.edits import NormSite
from model.measures.one_weight import WeightPath

CONSTANT = "bias"  # what no token and no position changes: the projections' biases and the norms' shifts

BIASING = ("relative", "alibi")


@dataclass(frozen=True, kw_only=True)
class ScoreParts:
    """``products`` by (query's part, key's part), as "content", "position", "segment"; they sum to ``product``.

    All that has a bias in it is one part, ("bias", "bias"). Multiplied by ``scale`` the products are parts of the
    score.
    """

    products: dict[tuple[str, str], float]
    product: float
    scale: float

    def scores(self) -> dict[tuple[str, str], float]:
        """The parts × scale."""
        return {name: part * self.scale for name, part in self.products.items()}


def why_not(path: WeightPath) -> str | None:
    """One sentence where a score cannot be split; None where it can."""
    if path.site.attention == "cross":
        return "Here the key comes from the encoder's last layer, in which content and position are long mixed."
    if path.site.layer > 0:
        return "Only in layer 1 are content and position still two summands; here the layers before have mixed them."
    if path.queries.embedding.position is None:
        ways = {
            "rotary": "It turns query and key instead, so that every product holds both content and position.",
            **dict.fromkeys(BIASING, "It adds a bias to the score instead, which the step “bias and mask” shows."),
        }
        return "This model adds no position vector to its tokens. " + ways.get(path.model.config.positions, "")
    return (
        None
        if not path.is_rotated_or_normed
        else "Each head norms its queries and keys here, which mixes what was a sum."
    )


def score_parts(path: WeightPath) -> ScoreParts:
    """The parts of one product, in float64. ValueError, with the reason, where it cannot be split."""
    if (reason := why_not(path)) is not None:
        raise ValueError(reason)
    rows = slice(path.site.head * path.head_width, (path.site.head + 1) * path.head_width)
    query = projected(sources(path, path.site.query), path.module.query, rows)
    rows = slice(path.kv_head * path.head_width, (path.kv_head + 1) * path.head_width)
    key = projected(sources(path, path.site.key), path.module.key, rows)
    products = {(one, other): float(query[one] @ key[other]) for one in query for other in key}
    named = {pair: product for pair, product in products.items() if CONSTANT not in pair}
    constant = sum(product for pair, product in products.items() if CONSTANT in pair)
    total = path.attention.products[path.site.head, path.site.query, path.site.key]
    return ScoreParts(
        products=named | {(CONSTANT, CONSTANT): constant}, product=float(total), scale=float(path.attention.scale)
    )


def sources(path: WeightPath, place: int) -> dict[str, Float[Tensor, "width"]]:
    """The summands of what the projections read at one position."""
    embedding = path.queries.embedding
    named = {"content": embedding.token, "segment": embedding.segment, "position": embedding.position}
    vectors = {name: rows[place].double() for name, rows in named.items() if rows is not None}
    vectors[CONSTANT] = torch.zeros_like(vectors["content"])
    name, skipped = path.site.stack, path.edits.without_norm
    if NormSite(name, None, "embedding") not in skipped:
        vectors = through(getattr(path.model, name).norm_embedding, vectors)
    left_out = path.model.config.norm_order == "post" or NormSite(name, path.site.layer, "self", "before") in skipped
    return vectors if left_out else through(path.residual.norm, vectors)


def through(norm: nn.Module, parts: dict[str, Float[Tensor, "width"]]) -> dict[str, Float[Tensor, "width"]]:
    """What a norm makes of each summand, with the divisor of their sum; its shift goes to the constant part."""
    if isinstance(norm, nn.Identity):
        return parts
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    centred = isinstance(norm, nn.LayerNorm)
    moved = {name: part - part.mean() if centred else part for name, part in parts.items()}
    whole = torch.stack(list(moved.values())).sum(dim=0)
    divisor = (whole.square().mean() + float(norm.eps or 0.0)).sqrt()
    assert norm.weight is not None
    normed = {name: norm.weight.detach().cpu().double() * part / divisor for name, part in moved.items()}
    if isinstance(norm, nn.LayerNorm) and norm.bias is not None:
        normed[CONSTANT] = normed[CONSTANT] + norm.bias.detach().cpu().double()
    return normed


def projected(
    parts: dict[str, Float[Tensor, "width"]], linear: nn.Linear, rows: slice
) -> dict[str, Float[Tensor, "head_width"]]:
    """What some rows of a projection make of each summand; its bias goes to the constant part."""
    matrix = linear.weight[rows].detach().cpu().double()
    products = {name: matrix @ part for name, part in parts.items()}
    if linear.bias is not None:
        products[CONSTANT] = products[CONSTANT] + linear.bias[rows].detach().cpu().double()
    return products
