"""Sinusoidal position vectors as the hands of clocks: each pair of a sine and a cosine is one hand.

Shifting all positions by k rotates every hand of a clock by the same angle, k times that of one position (Vaswani et
al. 2017, section 3.5: PE(pos + k) is a linear function of PE(pos)).
"""

import math

import numpy as np
from jaxtyping import Float

from model.config import Config
from model.edits.checks import LEARNED
from model.measures.positions.schemes import wavelengths
from model.positions import BASE

SHIFTS = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
CLOCKS = 4
FASTER = 4.0  # times that a clock turns while the next one turns once


def possible_shifts(config: Config, tokens: int) -> tuple[int, ...]:
    """The shifts for which a model has positions for a text of so many tokens; a formula has them for all."""
    if config.positions == "none":
        return ()
    most = config.max_length - tokens if config.positions in LEARNED else SHIFTS[-1]
    return tuple(shift for shift in SHIFTS if shift <= most)


def clock_pairs(width: int) -> list[int]:
    """Pairs of dimensions, from the fastest on, each turning about a quarter as fast as the one before.

    Pair i holds dimensions 2i and 2i + 1, the sine and the cosine of pos / 10000^(2i / width).
    """
    whole = width // 2
    pairs = [round(width / 2 * clock * math.log(FASTER) / math.log(BASE)) for clock in range(CLOCKS)]
    return sorted({pair for pair in pairs if pair < whole})


def hand_angles(vectors: Float[np.ndarray, "position width"], pairs: list[int]) -> Float[np.ndarray, "clock position"]:
    """The angle of each hand in degrees, clockwise from the top, from 0 up to 360: the sine points to the right."""
    sines, cosines = (vectors[:, [2 * pair + side for pair in pairs]] for side in range(2))
    return np.degrees(np.arctan2(sines, cosines)).T % 360


def turns(width: int, pairs: list[int]) -> list[float]:
    """Positions to a full turn of each of these clocks."""
    return [float(wavelengths(width)[pair]) for pair in pairs]
