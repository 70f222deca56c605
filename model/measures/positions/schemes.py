"""What position schemes do, in numbers: the parts of model/positions.py in, float64 matrices out.

Positions and dimensions count from 0, as in the formula.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn

from model.config import Config
from model.positions import BASE, POSITIONS, Positions, RelativePositions, computed_sinusoids
from model.trace import EmbeddingTrace
from model.transformer import Stack

Table = Float[np.ndarray, "position width"]

SCHEMES = ("sinusoidal", "learned", "rotary", "alibi", "relative")
OWN_NAMES = {name: (name,) for name in SCHEMES} | {
    "sinusoidal": ("sinusoidal", "sinusoidal-halves"),
    "learned": ("learned", "counted"),
}
MARGIN = 0.01  # the highest of many samples of a wave lies a little below its crest
LEAST_CHECKED = 100  # positions at which a shift is checked
HEAD_WIDTH, HEADS = 64, 8  # of the paper's base model: what the schemes are compared at


def sinusoidal_table(length: int, width: int) -> Table:
    """The formula's table, of any length and width."""
    return computed_sinusoids(length, width).numpy()


def own_table(stack: Stack, config: Config, length: int) -> Table | None:
    """What the stack of a checkpoint adds at its first positions, as many as it knows; None where it adds nothing."""
    length, device = min(length, stack.positions.capacity or length), next(stack.parameters()).device
    with torch.no_grad():
        rows = stack.positions(_unpadded(config, length).to(device), torch.zeros(length, config.width, device=device))
    return None if rows is None else rows.double().cpu().numpy()


def _unpadded(config: Config, length: int) -> Int[torch.Tensor, "position"]:
    """Ids that are no padding, which RoBERTa's positions do not count."""
    return torch.full((length,), config.pad_id + 1)


# Products of position vectors, and a shift


def products(table: Table) -> Float[np.ndarray, "query key"]:
    """The dot product of every two position vectors."""
    return table @ table.T


class ByDistance(NamedTuple):
    """What a matrix holds at each distance, 0 first, over all pairs that lie so far apart."""

    mean: Float[np.ndarray, "distance"]
    least: Float[np.ndarray, "distance"]
    most: Float[np.ndarray, "distance"]

    @property
    def spread(self) -> float:
        """The largest difference between two pairs at one distance; 0 where it alone decides."""
        return float((self.most - self.least).max())


def by_distance(matrix: Float[np.ndarray, "query key"]) -> ByDistance:
    """The diagonals of a symmetric matrix, each in three numbers."""
    diagonals = [matrix.diagonal(distance) for distance in range(len(matrix))]
    mean, least, most = ([function(diagonal) for diagonal in diagonals] for function in (np.mean, np.min, np.max))
    return ByDistance(np.array(mean), np.array(least), np.array(most))


def of_table(table: Table, compared: int) -> dict[str, np.ndarray]:
    """All that is drawn of a table: the first so many positions are compared, the waves are those of the formula."""
    matrix = products(table[:compared])
    return {
        "table": table,
        "products": matrix,
        "products_by_distance": by_distance(matrix).mean,
        "wavelengths": wavelengths(table.shape[1]),
    }


def frequency(pair: int, width: int) -> float:
    """Radians per position of the sine in dimension 2·pair and the cosine beside it."""
    return BASE ** (-2 * pair / width)


def wavelengths(width: int) -> Float[np.ndarray, "pair"]:
    """Positions to a full turn of each sine, its cosine's too: from 2π towards 10000·2π."""
    return np.array([2 * math.pi / frequency(pair, width) for pair in range((width + 1) // 2)])


def rotation(pair: int, width: int, shift: int) -> Float[np.ndarray, "2 2"]:
    """The matrix that takes (sine, cosine) of any position to that of the position ``shift`` later."""
    angle = shift * frequency(pair, width)
    return np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])


class RotationShift(NamedTuple):
    """One pair of dimensions at a position and at a later one, and the rotation between them."""

    matrix: Float[np.ndarray, "2 2"]
    before: Float[np.ndarray, "2"]
    rotated: Float[np.ndarray, "2"]  # matrix · before
    after: Float[np.ndarray, "2"]  # as it stands in the table
    angle: float  # degrees
    positions: int  # from which every pair was shifted as well
    largest: float  # difference between what is rotated and the table, over all these

    @property
    def difference(self) -> float:
        """How far the rotated pair is from the table's, at most."""
        return float(np.abs(self.rotated - self.after).max())


def rotation_shift(width: int, pair: int, position: int, shift: int) -> RotationShift:
    """Rotate a pair of the formula's table, and look up where it should have come to; then all pairs likewise."""
    positions = max(position + 1, LEAST_CHECKED)
    table = sinusoidal_table(positions + shift, width)
    columns, matrix = slice(2 * pair, 2 * pair + 2), rotation(pair, width, shift)
    before, after = table[position, columns], table[position + shift, columns]
    return RotationShift(
        matrix=matrix,
        before=before,
        rotated=matrix @ before,
        after=after,
        angle=math.degrees(shift * frequency(pair, width)),
        positions=positions,
        largest=largest_shift_difference(table, shift),
    )


def largest_shift_difference(table: Table, shift: int) -> float:
    """Between a rotated pair and the one in the table, over every pair and position whose shift stays in the table."""
    differences = [0.0]
    for pair in range(table.shape[1] // 2):
        columns = slice(2 * pair, 2 * pair + 2)
        rotated = table[: len(table) - shift, columns] @ rotation(pair, table.shape[1], shift).T
        differences.append(float(np.abs(rotated - table[shift:, columns]).max(initial=0)))
    return max(differences)


def unseen(table: Table, count: int) -> Float[np.ndarray, "position"]:
    """For each position, the share of its numbers that the first ``count`` positions never come within 0.01 of.

    That is, which lie outside the range of their dimension there by more than 0.01.
    """
    low, high = table[:count].min(axis=0) - MARGIN, table[:count].max(axis=0) + MARGIN
    return ((table < low) | (table > high)).mean(axis=1)


# A text's own vectors


class Parts(NamedTuple):
    """What is summed to what enters the first layer; None for what the architecture does not add."""

    token: Table
    position: Table | None
    segment: Table | None
    total: Table

    @property
    def placed(self) -> Table:
        """Each token's vector with its position's."""
        return self.token if self.position is None else self.token + self.position

    @property
    def names(self) -> dict[str, Table]:
        """What there is, by what it is called, in the order of the sum."""
        normed = not np.allclose(self.total, self.placed + (0 if self.segment is None else self.segment), atol=1e-5)
        named = {
            "token vector": self.token,
            "position vector": self.position,
            "segment vector": self.segment,
            "sum, after the norm of the embeddings" if normed else "sum": self.total,
        }
        return {name: part for name, part in named.items() if part is not None}


def parts(embedding: EmbeddingTrace) -> Parts:
    """The numbers of a trace."""

    def numbers(tensor: torch.Tensor | None) -> Table | None:
        return None if tensor is None else tensor.double().numpy()

    token, total = embedding.token.double().numpy(), embedding.total.double().numpy()
    return Parts(token, numbers(embedding.position), numbers(embedding.segment), total)


def vectors(parts: Parts) -> dict[str, Table]:
    """What there is of them, by the names of the fields, as the float32 of the trace."""
    return {name: part.astype(np.float32) for name, part in parts._asdict().items() if part is not None}


def repeated_token(ids: Int[torch.Tensor, "position"]) -> tuple[int, int] | None:
    """The first two positions that hold one token; None where all tokens differ."""
    seen: dict[int, int] = {}
    for position, token in enumerate(ids.tolist()):
        if token in seen:
            return seen[token], position
        seen[token] = position
    return None


def apart(vectors: Table, one: int, other: int) -> float:
    """The distance of two rows: the square root of the sum of the squared differences."""
    return float(np.linalg.norm(vectors[one] - vectors[other]))


# Schemes side by side


class SchemePart(NamedTuple):
    """What a scheme adds to the score of each query and key, and whether the numbers are a checkpoint's own."""

    added: Float[np.ndarray, "query key"]  # NaN where the query does not see the key
    own: bool


def scheme_part(
    scheme: str, length: int, head: int, *, causal: bool = False, of: tuple[Stack, Config] | None = None
) -> SchemePart:
    """What one of SCHEMES adds to the scores of one head, the content being alike at every position.

    - Vectors added to the tokens': (p_query · p_key) / √width, as if they were query and key themselves.
    - Queries and keys rotated: q·k / √head_width where both are all ones, minus the same without rotating.
    - A bias on the scores: the bias.

    The numbers are those of the stack ``of`` a checkpoint where it has the scheme; otherwise of a stack of the paper's
    sizes, and what is learned stands as it was initialised, from seed 0.
    """
    positions, config, own = _part(scheme, length, causal, of)
    added = _added(positions, config, min(length, positions.capacity or length), head)
    hidden = np.triu(np.ones(added.shape, dtype=bool), 1) if causal else np.zeros(added.shape, dtype=bool)
    return SchemePart(np.where(hidden, np.nan, added), own)


def _part(scheme: str, length: int, causal: bool, of: tuple[Stack, Config] | None) -> tuple[Positions, Config, bool]:
    """The checkpoint's part, or a fresh one."""
    if of is not None and of[1].positions in OWN_NAMES[scheme]:
        positions, config = of[0].positions, of[1]
        if not isinstance(positions, RelativePositions) or positions.causal == causal:
            return positions, config, True
    config = Config(
        architecture="encoder",
        vocabulary=1,
        width=HEADS * HEAD_WIDTH,
        heads=HEADS,
        layers=1,
        hidden=1,
        max_length=length,
        positions=scheme,
    )
    positions, generator = POSITIONS[scheme](config, causal=causal), torch.Generator().manual_seed(0)
    for table in positions.parameters():
        nn.init.normal_(table, std=config.width**-0.5, generator=generator)
    return positions, config, False


def _added(positions: Positions, config: Config, length: int, head: int) -> Float[np.ndarray, "query key"]:
    device = next((table.device for table in positions.parameters()), torch.device("cpu"))
    tokens = torch.zeros(length, config.width, device=device)
    with torch.no_grad():
        bias, rotate = positions.bias(tokens), positions.rotate(tokens, windowed=False)
        vectors = positions(_unpadded(config, length).to(device), tokens)
        if bias is not None:
            return bias[min(head, len(bias) - 1)].double().cpu().numpy()
        if rotate is not None:
            vectors = rotate(torch.ones(1, length, config.head_width, device=device))[0]
    assert vectors is not None
    table = vectors.double().cpu().numpy()
    not_rotated = 0 if rotate is None else table.shape[1]
    return (products(table) - not_rotated) / math.sqrt(table.shape[1])


def buckets(length: int, *, causal: bool = False) -> Int[np.ndarray, "query key"]:
    """Which of T5's 32 learned numbers, counted from 0, serves each query and key."""
    positions, _, _ = _part("relative", length, causal, None)
    assert isinstance(positions, RelativePositions)
    place = torch.arange(length)
    return positions.buckets(place[None, :] - place[:, None]).numpy()
