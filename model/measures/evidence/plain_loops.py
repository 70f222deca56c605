"""What can be counted by hand: the statistics of heads, and sines and cosines, in plain Python loops."""

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from jaxtyping import Float

from model.measures.evidence.agreement import Comparison, Skipped
from model.measures.evidence.checked_pass import Pass
from model.measures.head_statistics import head_statistics, is_punctuation
from model.trace import StackTrace

MOST_WEIGHTS = 60_000  # of each attention: a loop takes about a microsecond for one
NO_SINUSOIDS = "The positions of this model are no sines and cosines."
NO_POSITIONS = "The positions are switched off here."
Weights = Sequence[Sequence[float]]  # (query, key)


def statistics(one: Pass) -> Iterator[Comparison]:
    """Every statistic of as many heads as a loop has time for, and of one at least."""
    for name, stack in one.stacks.items():
        yield from statistics_of(one, {"stack": name, "attention": "self"}, stack, stack)
        if stack.blocks[0].cross_attention is not None and one.trace.encoder is not None:
            yield from statistics_of(one, {"stack": name, "attention": "cross"}, stack, one.trace.encoder)


def statistics_of(one: Pass, place: dict[str, str | int], stack: StackTrace, keys: StackTrace) -> Iterator[Comparison]:
    """Those of one kind of attention."""
    cross = place["attention"] == "cross"
    weights = (stack.cross_weights() if cross else stack.weights()).double().numpy()
    marks = [is_punctuation(token) for token in keys.tokens] if keys.tokens else None
    ours = head_statistics(weights, keys.special, marks, cross=cross)
    everywhere = list(product(*map(range, weights.shape[:2])))
    sites = everywhere[: max(1, MOST_WEIGHTS // weights[0, 0].size)]
    attention = f"{place['stack']} {place['attention']}-attention"
    part = f"the first {len(sites)} of {len(everywhere)} heads, layer by layer ({attention})"
    part = part if len(sites) < len(everywhere) else ""
    for layer, head in sites:
        rows = weights[layer, head].tolist()
        expected = {"entropy": entropy(rows)} | shares(rows, keys.special, marks, one_text=not cross)
        for statistic, by_loop in expected.items():
            if statistic in ours:
                at = place | {"layer": layer, "head": head, "statistic": statistic}
                value = ours[statistic][layer, head]
                ours_here, expected_here = np.array(value), np.array(by_loop)
                yield Comparison(check="statistics", ours=ours_here, expected=expected_here, place=at, part=part)


def entropy(rows: Weights) -> float:
    """Bits: −Σ w·log₂ w of a row, the mean over the rows that hold any weight."""
    seeing = [row for row in rows if sum(row) > 0]
    return -sum(weight * math.log2(weight) for row in seeing for weight in row if weight > 0) / len(seeing)


def shares(
    rows: Weights, special: Sequence[bool] | None, marks: Sequence[bool] | None, *, one_text: bool
) -> dict[str, float]:
    """What a statistic counts of each weight, over all weight; the names are those of ``head_statistics``."""
    total, sums = 0.0, dict.fromkeys(("distance", "self", "previous", "next", "first", "special", "punctuation"), 0.0)
    for query, row in enumerate(rows):
        for key, weight in enumerate(row):
            total += weight
            sums["distance"] += weight * abs(query - key)
            sums["self"] += weight * (key == query)
            sums["previous"] += weight * (key == query - 1)
            sums["next"] += weight * (key == query + 1)
            sums["first"] += weight * (key == 0)
            sums["special"] += weight * bool(special and special[key])
            sums["punctuation"] += weight * bool(marks and marks[key])
    left_out = set() if one_text else {"distance", "self", "previous", "next"}
    return {name: part / total for name, part in sums.items() if name not in left_out}


def sinusoids(one: Pass) -> Iterator[Comparison | Skipped]:
    """The position vectors against math.sin and math.cos: "Attention Is All You Need", section 3.5."""
    config = one.checkpoint.config
    if not config.positions.startswith("sinusoidal"):
        yield Skipped(check="sinusoids", reason=NO_SINUSOIDS)
        return
    for name, stack in one.stacks.items():
        if name in one.edits.unpositioned or stack.embedding.position is None:
            yield Skipped(check="sinusoids", reason=NO_POSITIONS)
            continue
        position_ids = one.numbers.position_ids(name, len(stack.ids)).tolist()
        expected = waves(position_ids, config.width, halves=config.positions.endswith("halves"))
        ours, axes = stack.embedding.position, ("position", "coordinate")
        yield Comparison(check="sinusoids", ours=ours, expected=expected, place={"stack": name}, axes=axes)


def waves(position_ids: Sequence[int], width: int, *, halves: bool) -> Float[np.ndarray, "position width"]:
    """Sine and cosine in turn, or all sines before all cosines."""
    rows = []
    for place in position_ids:
        turn = [(math.sin, math.cos)[i % 2](place / 10_000 ** (2 * (i // 2) / width)) for i in range(width)]
        rows.append(turn[0::2] + turn[1::2] if halves else turn)
    return np.array(rows)
