"""What a Transformer costs to run and to train: operations and bytes by formulas, seconds by measuring.

What grows with the square of the text is attention alone: every query meets every key. Everything else, the
projections and the feed-forward layers, grows with the text as such.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn import functional as F

from model.config import Config
from model.measures.learn.durations import Clock, least_seconds
from model.measures.learn.records import RECORDS
from model.measures.learn.sizes.parameters import parameter_count, parts_of
from model.transformer import Transformer

FLOAT_BYTES = 4  # of a float32
TRAINING_COPIES = 4  # the weights, their gradients and the two moments of Adam (Rajbhandari et al. 2020, section 3.1)
MATRIX_PARTS = ("self_attention", "cross_attention", "feed_forward", "word_head")  # at every token

# The model that is measured: small enough for one core, and wide enough that both kinds of growth are seen.
MEASURED = Config(
    architecture="encoder",
    vocabulary=1000,
    width=128,
    heads=4,
    layers=2,
    hidden=512,
    max_length=1024,
    norm_order="pre",
    labels=("negative", "positive"),
)
LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
LONGEST_LIVE = 512  # 1,024 tokens take some 400 MB to train on, more than a small server has
SECONDS_LIVE = 20.0
ROUNDS, LONG_ENOUGH = 20, 0.6  # a length is timed so often, or until so many seconds are spent
ALIKE_UP_TO = 32  # tokens: up to it, starting each operation takes longer than the operation
RECORD = RECORDS / "costs.json"


@dataclass(frozen=True, kw_only=True)
class Operations:
    """Floating-point operations of one forward pass; a multiplication and the addition after it are two.

    of_tokens: what grows with the number of tokens. of_pairs: what grows with its square.
    """

    of_tokens: int
    of_pairs: int


def operations(config: Config, tokens: int) -> Operations:
    """Those of all matrix products, where every stack reads so many tokens.

    Two for each token and each number of a matrix; two for each query, key and coordinate, in q·k and again in weights
    times values: Kaplan et al. 2020, section 2.1 and table 1. The full square is computed, masked or not. Norms,
    softmax, activations and sums are left out, and so is a classifier, which reads one vector.
    """
    of_tokens = of_pairs = 0
    for part in parts_of(config):
        symbols, name = part.symbols, part.name
        if name in MATRIX_PARTS:
            matrices = [shape for shape in part.shapes if len(shape) == 2]
            of_tokens += 2 * tokens * part.copies * sum(symbols[one] * symbols[other] for one, other in matrices)
        if name.endswith("_attention"):
            of_pairs += 2 * 2 * tokens**2 * symbols["d_q"] * part.copies
    if config.has_decoder or config.word_head:
        of_tokens += 2 * tokens * config.vocabulary * config.width
    return Operations(of_tokens=of_tokens, of_pairs=of_pairs)


def weight_count(config: Config, tokens: int) -> int:
    """How many attention weights one pass computes: one for every head, query and key of every attention."""
    heads = sum(part.symbols["h"] * part.copies for part in parts_of(config) if part.name.endswith("_attention"))
    return heads * tokens**2


def weight_bytes(config: Config, tokens: int) -> int:
    """The memory of the attention weights of one pass, in float32, where all are kept, as in training."""
    return FLOAT_BYTES * weight_count(config, tokens)


def parameter_bytes(config: Config) -> int:
    """The memory of the parameters in float32."""
    return FLOAT_BYTES * parameter_count(config)


def training_bytes(config: Config) -> int:
    """The memory that training with Adam needs in float32 before a text is read: four numbers for each parameter."""
    return TRAINING_COPIES * parameter_bytes(config)


@dataclass(frozen=True, kw_only=True)
class TimedLength:
    """What was measured at one length: seconds of a forward pass and of a training step; bytes of all weights."""

    tokens: int
    forward: float
    training: float
    weight_bytes: int


@dataclass(frozen=True, kw_only=True)
class LengthRecord:
    """A measurement that was made before, and how."""

    points: tuple[TimedLength, ...]
    command: str
    date: str
    machine: str


class TimedModel:
    """A fresh model with an optimiser, and what takes its time."""

    def __init__(self, config: Config) -> None:
        self.model = Transformer(config)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=1e-4)

    def forward(self, ids: Int[Tensor, "batch position"]) -> int:
        """One pass without gradients: the bytes of all attention weights in its trace."""
        self.model.eval()
        with torch.no_grad():
            trace = self.model(ids)
        assert trace.encoder is not None
        return sum(block.self_attention.weights.nbytes for block in trace.encoder.blocks)

    def train(self, ids: Int[Tensor, "batch position"]) -> None:
        """A pass with gradients, back through it, and a step of the optimiser."""
        self.model.train()
        self.optimiser.zero_grad()
        F.cross_entropy(self.model(ids).logits, torch.zeros(len(ids), dtype=torch.long)).backward()
        self.optimiser.step()


def time_lengths(
    lengths: Sequence[int], *, limit: float | None = None, clock: Clock = time.perf_counter, config: Config = MEASURED
) -> Iterator[TimedLength]:
    """One text of each length through a fresh model, on the CPU; the least of several rounds, after one that warms up.

    It ends before the next length where ``limit`` seconds are spent or would be: a length twice as long takes at most
    about four times as long.
    """
    began = time.perf_counter()
    subject = TimedModel(config)
    for tokens in lengths:
        started = time.perf_counter()
        point = at_length(subject, tokens, config.vocabulary, clock)
        yield point
        spent, last = time.perf_counter() - began, time.perf_counter() - started
        if limit is not None and spent + 4 * last > limit:
            return


def at_length(subject: TimedModel, tokens: int, vocabulary: int, clock: Clock) -> TimedLength:
    """One length."""
    ids = torch.randint(vocabulary, (1, tokens), generator=torch.Generator().manual_seed(tokens))
    kept_bytes = subject.forward(ids)
    subject.train(ids)
    calls = (lambda: subject.forward(ids), lambda: subject.train(ids))
    forward, training = least_seconds(calls, ROUNDS, LONG_ENOUGH, clock)
    return TimedLength(tokens=tokens, forward=forward, training=training, weight_bytes=kept_bytes)


def growth(points: Sequence[TimedLength], what: str) -> float:
    """How many times as much the longest text costs as the one before. ValueError with fewer than two points."""
    if len(points) < 2:
        raise ValueError(f"{len(points)} lengths, wanted two or more")
    before, last = points[-2:]
    return float(getattr(last, what) / getattr(before, what))


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """Two measured times that cannot both be those of the work alone.

    what: "forward" or "training", which took less time at ``tokens`` than at ``shorter``; or, where that is None, a
    training step that took less time than the forward pass it contains.
    """

    tokens: int
    shorter: int | None
    what: str = "training"


def contradiction(points: Sequence[TimedLength]) -> Contradiction | None:
    """The first contradiction from the longest text down; of one length, a training step and its pass come first."""
    for place in reversed(range(len(points))):
        point = points[place]
        if point.training < point.forward:
            return Contradiction(tokens=point.tokens, shorter=None)
        if point.tokens > ALIKE_UP_TO:
            for what, before in product(("forward", "training"), reversed(points[:place])):
                if getattr(point, what) < getattr(before, what):
                    return Contradiction(tokens=point.tokens, shorter=before.tokens, what=what)
    return None


def read_record(file: Path = RECORD) -> LengthRecord:
    """The recorded measurement."""
    values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    points = tuple(TimedLength(**point) for point in values.pop("points"))
    return LengthRecord(points=points, **values)


def write_record(record: LengthRecord, file: Path = RECORD) -> None:
    """Keep a measurement beside the code that made it."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(asdict(record), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
