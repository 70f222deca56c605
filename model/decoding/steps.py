"""Producing text token by token: what is read, which token is taken, and what is kept of it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.cache import Cache
from model.config import Config
from model.decoding.logits_processors import NO_PROCESSORS, Logits, LogitsProcessors
from model.decoding.stitched_trace import DecoderPass, cache_of, stitched_trace
from model.edits import NO_EDITS, Edits
from model.edits.checks import incremental
from model.trace import StackTrace, Trace
from model.transformer import Transformer

LENGTH_PENALTY = 0.6  # "Attention Is All You Need", section 6.1
SOURCES, SPARE = 2, 30  # a pair's target has at most twice its source's tokens and 30 more


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How text is produced.

    "greedy" takes the likeliest token each time, "sample" draws one (``seed``: the same text again), both after the
    ``logits_processors``; "beam" follows ``width`` hypotheses and ranks them by the sum of the logarithms of their
    tokens' probabilities, divided by ((5 + length) / 6) ^ length_penalty.
    """

    max_tokens: int = 40
    method: str = "greedy"
    width: int = 4
    length_penalty: float = LENGTH_PENALTY
    seed: int = 0
    logits_processors: LogitsProcessors = NO_PROCESSORS


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """One produced token, and what the model said of it."""

    token_id: int
    token: str
    logits: Logits  # what the model said of every token
    read: tuple[int, ...]  # the ids that the decoder had read
    logits_processors: LogitsProcessors = NO_PROCESSORS

    @property
    def probability(self) -> float:
        """What the model gave the token, before any logits processor."""
        return float(self.before[self.token_id])

    @property
    def before(self) -> Float[Tensor, "vocabulary"]:
        """The probability of every token, as the model has it."""
        return self.logits.softmax(dim=-1)

    @property
    def after(self) -> Float[Tensor, "vocabulary"]:
        """The probabilities that the token was chosen by."""
        return self.logits_processors.applied(self.logits, self.read).softmax(dim=-1)

    @property
    def stages(self) -> dict[str, Float[Tensor, "vocabulary"]]:
        """The probabilities after each logits processor, in the order in which they act; "model" comes first."""
        return {name: logits.softmax(dim=-1) for name, logits in self.logits_processors.stages(self.logits, self.read)}

    def alternatives(self, count: int = 10) -> tuple[tuple[int, float], ...]:
        """The likeliest tokens, as the model has it, and their probabilities."""
        top = self.before.topk(min(count, len(self.logits)))
        return tuple(zip(top.indices.tolist(), top.values.tolist(), strict=True))


@dataclass(frozen=True, kw_only=True)
class Node:
    """One token in the tree of all hypotheses that a beam search kept."""

    parent: int | None  # its place among the nodes; None: what was there at the start
    depth: int  # tokens from the start, from 1
    token_id: int
    token: str
    probability: float
    score: float  # of the hypothesis that ends here: what beams are ranked by
    ended: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Generation:
    """What was produced so far, step by step."""

    text: str
    token_ids: tuple[int, ...]
    steps: tuple[Step, ...]
    ended: bool  # by the end token; otherwise there was no more room, or it goes on
    to_trace: Callable[[], Trace]
    score: float | None = None  # of a beam search: what its beams are ranked by
    alternatives: tuple["Generation", ...] = ()  # its other beams, best first
    tree: tuple[Node, ...] = ()  # all hypotheses that it kept, parents before their children

    @cached_property
    def trace(self) -> Trace:
        """The attention of every step in one trace: a decoder's with all tokens, a pair's without the last.

        It is put together from what the steps computed, and is that of one pass over the finished text: a token sees
        none after it. Where there is no cache, or where all beams would take too much memory, it is such a pass; only
        edits that let a token see later ones (``incremental`` names them) make the steps, each a pass of its own,
        differ from it.
        """
        return self.to_trace()


class ChosenToken(NamedTuple):
    """A token, and what it was chosen by."""

    token_id: int
    logits: Logits
    read: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """A decoder with the memory that it looks at, one row of it for each row of ids, or neither of them in rows.

    Keys and values are computed once, and kept in a cache, unless ``cached`` is False or the edits do not allow it.
    """

    model: Transformer
    memory: Float[Tensor, "*row memory width"] | None = None
    memory_padding_mask: Bool[Tensor, "*row memory"] | None = None
    edits: Edits = NO_EDITS
    cached: bool = True
    encoder: StackTrace | None = None  # the pass that the memory is from
    passes: list[DecoderPass] | None = None  # where what it computes from a cache is kept; None: nowhere

    @torch.no_grad()
    def read(
        self, ids: Int[Tensor, "*row position"], past: Cache | None = None
    ) -> tuple[Float[Tensor, "*row vocabulary"], Cache | None]:
        """What the model says of the token after these ids, and the cache to go on from; ``past`` has the first."""
        new, memory = (ids, self.memory) if past is None else (ids[..., past.length :], None)
        stack = self.model.decode(new, None, memory, self.memory_padding_mask, edits=self.edits, past=past)
        logits = self.model.predict(stack.final[..., -1:, :])[..., 0, :].float()
        if not (self.cached and incremental(self.edits, self.model.config)):
            return logits, None
        if self.passes is not None:
            self.passes.append(DecoderPass.of(stack))
        return logits, Cache.of(stack)

    @torch.no_grad()
    def trace(self, ids: Sequence[int], step_logits: Sequence[Logits] | None, rows: Iterable[int]) -> Trace:
        """The trace of one pass over these ids, the first of which it has read in passes that were kept.

        rows: in which row of each pass. step_logits: what it said after the first pass and after each that followed,
        which is not computed again; None: without logits.
        """
        passes, length = list[DecoderPass](), 0
        for each, row in zip(self.passes or [], rows, strict=False):
            if length < len(ids):
                passes.append(each.row(row))
                length += len(passes[-1].ids)
        if length < len(ids):
            rest = torch.tensor(ids[length:], device=passes[0].ids.device)
            passes.append(DecoderPass.of(self.model.decode(rest, edits=self.edits, past=cache_of(passes))))
        assert self.model.decoder is not None
        stack = stitched_trace(self.model.decoder, passes, self.edits)
        logits = None if step_logits is None else self.predictions(stack.final, len(passes[0].ids) - 1, step_logits)
        return Trace(encoder=self.encoder, decoder=stack, pooled=None, logits=logits)

    def predictions(
        self, final: Float[Tensor, "position width"], first: int, step_logits: Sequence[Logits]
    ) -> Float[Tensor, "position vocabulary"]:
        """What the model says at every position, where from ``first`` on it is known."""
        around = (final[:first], final[first + len(step_logits) :])
        before, after = (self.model.predict(some).float().cpu() for some in around)
        return torch.cat([before, *(one[None] for one in step_logits), after])


def write(
    decoder: Decoder,
    ids: Sequence[int],
    longest: int,
    take: Callable[[Logits], int],
    logits_processors: LogitsProcessors,
) -> Iterator[ChosenToken]:
    """One token after the other, until the end token or ``longest`` ids in all; the end token is included.

    ``take`` chooses by the processed logits. A memory is without rows. Whoever asks for no further token has those that
    there are.
    """
    written, cache, device = list(ids), None, decoder.model.embedding.weight.device
    while len(written) < longest:
        logits, cache = decoder.read(torch.tensor(written, device=device), cache)
        next_logits = logits.cpu()
        chosen = take(logits_processors.applied(next_logits, written))
        yield ChosenToken(chosen, next_logits, tuple(written))
        written.append(chosen)
        if chosen == decoder.model.config.end_id:
            return


def likeliest(logits: Logits) -> int:
    """The token that greedy decoding takes."""
    return int(logits.argmax())


def sampler(seed: int, earlier: int = 0) -> Callable[[Logits], int]:
    """What draws a token with its probability, in an order that the seed decides.

    earlier: how many tokens are there already. The next is drawn as if the same seed had drawn those.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(logits: Logits) -> int:
        nonlocal earlier
        for _ in range(earlier):  # a draw takes as many random numbers as there are tokens, whatever is likely
            torch.multinomial(torch.ones_like(logits), 1, generator=generator)
        earlier = 0
        return int(torch.multinomial(logits.softmax(dim=-1), 1, generator=generator))

    return draw


def token_taker(settings: Settings, earlier: int = 0) -> Callable[[Logits], int]:
    """What takes the next token by these settings, after so many that were produced."""
    return sampler(settings.seed, earlier) if settings.method == "sample" else likeliest


def retaken(
    settings: Settings, logits: Float[Tensor, "position vocabulary"], ids: Sequence[int], start: int
) -> list[int]:
    """What these settings take at every place from ``start`` on, where a decoder has read the ids before it.

    ``logits`` are those of one pass over ``ids``; where they took each of ``ids``, both are the same.
    """
    take = token_taker(settings)
    return [
        take(settings.logits_processors.applied(logits[place - 1], ids[:place])) for place in range(start, len(ids))
    ]


def most_written(config: Config, source: int, asked: int) -> int:
    """How many tokens are produced at most, for a source of so many.

    Only a pair has a rule of its own, for one that has lost its way repeats itself until it is stopped: twice the
    source's tokens and 30 more (a rule of the kind of fairseq's max_len_a and max_len_b).
    """
    return min(asked, SOURCES * source + SPARE) if config.is_encoder_decoder else asked
