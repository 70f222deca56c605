"""From tokens that a decoder takes to what a person is shown: text, steps, beams, their tree."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from model.decoding.beam import Beams, length_normalised, search, tree
from model.decoding.logits_processors import NO_PROCESSORS, LogitsProcessors
from model.decoding.steps import ChosenToken, Decoder, Generation, Settings, Step, token_taker, write
from model.errors import InputError, printable
from model.tokenizer import Tokenizer
from model.trace import Trace

METHODS = ("greedy", "beam", "sample")
WIDEST = 64
PROCESSOR_FIELDS = frozenset(vars(NO_PROCESSORS))
REAL = frozenset({"length_penalty", "temperature", "top_p", "repetition_penalty"})  # a whole number is one as well


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# What an option may be, and how that is said.
RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "method": (lambda value: value in METHODS, f"one of {', '.join(METHODS)}"),
    "max_tokens": (lambda value: type(value) is int and value >= 1, "a whole number from 1"),
    "width": (lambda value: type(value) is int and 1 <= value <= WIDEST, f"a whole number from 1 to {WIDEST}"),
    "length_penalty": (lambda value: is_number(value) and value >= 0, "a number from 0"),
    "seed": (lambda value: type(value) is int and 0 <= value < 1 << 63, "a whole number from 0"),
    "temperature": (lambda value: is_number(value) and value >= 0, "a number from 0"),
    "top_k": (lambda value: value is None or (type(value) is int and value >= 0), "a whole number from 0, or None"),
    "top_p": (lambda value: is_number(value) and 0 <= value <= 1, "a number from 0 to 1"),
    "repetition_penalty": (lambda value: is_number(value) and value > 0, "a number above 0"),
}


def make_settings(**options: Any) -> Settings:
    """The settings of these options, the logits processors' among them. Raises InputError for one out of range."""
    for name in RULES.keys() & options.keys():
        right, expected = RULES[name]
        if not right(options[name]):
            value = options[name]
            printed = repr(printable(value)) if isinstance(value, str) else printable(value)
            raise InputError(f"{name}: found {printed}, expected {expected}.")
    options = {name: float(value) if name in REAL else value for name, value in options.items()}
    logits_processors = LogitsProcessors(**{name: options.pop(name) for name in PROCESSOR_FIELDS & options.keys()})
    if options.get("method") == "beam" and logits_processors != NO_PROCESSORS:
        raise InputError("method: found 'beam', expected greedy or sample where the probabilities are changed.")
    return Settings(**options, logits_processors=logits_processors)


@dataclass(frozen=True, kw_only=True)
class Writer:
    """One text about to be produced."""

    decoder: Decoder  # with as many rows of memory as there are beams
    tokenizer: Tokenizer
    settings: Settings
    started: tuple[int, ...]  # what the decoder reads first
    longest: int  # ids in all
    to_trace: Callable[
        [Sequence[ChosenToken], Sequence[int]], Trace
    ]  # of the tokens produced, in these rows of the passes
    earlier: int = 0  # how many of what the decoder reads first count as produced

    def stream(self) -> Iterator[Generation]:
        """What there is after every token; once, and empty, where there is no room for any."""
        if self.longest <= len(self.started):
            return iter([self.generation([])])
        return self.followed() if self.settings.method == "beam" else self.taken()

    def taken(self) -> Iterator[Generation]:
        """Greedy decoding or sampling."""
        take = token_taker(self.settings, self.earlier)
        written = list[ChosenToken]()
        for chosen in write(self.decoder, self.started, self.longest, take, self.settings.logits_processors):
            written.append(chosen)
            yield self.generation(written)

    def followed(self) -> Iterator[Generation]:
        """Beam search."""
        start = torch.tensor([self.started], device=self.decoder.model.embedding.weight.device)
        width, penalty = self.settings.width, self.settings.length_penalty
        for beams in search(self.decoder, start, width, penalty, self.longest, recorded=True):
            used = [beam for beam in range(width) if beams.scores[0, beam] > -math.inf]
            best, *others = (self.beam(beams, beam) for beam in used)
            nodes = tree(beams, penalty, self.tokenizer.pieces)
            yield Generation(**vars(best) | {"alternatives": tuple(others), "tree": nodes})

    def beam(self, beams: Beams, beam: int) -> Generation:
        score = length_normalised(beams.scores[0, beam], beams.lengths[0, beam], self.settings.length_penalty)
        return self.generation(beams.chosen(beam, self.started), float(score), beams.rows(beam))

    def generation(
        self, written: list[ChosenToken], score: float | None = None, rows: Sequence[int] = ()
    ) -> Generation:
        """What these tokens come to, which were read in these rows; there are none but in a beam search."""
        ids = tuple(chosen.token_id for chosen in written)
        pieces = self.tokenizer.pieces(ids)
        steps = tuple(
            Step(**chosen._asdict(), token=piece, logits_processors=self.settings.logits_processors)
            for chosen, piece in zip(written, pieces, strict=True)
        )
        return Generation(
            text=self.tokenizer.decode(ids),
            token_ids=ids,
            steps=steps,
            ended=bool(ids) and ids[-1] == self.decoder.model.config.end_id,
            to_trace=partial(self.to_trace, tuple(written), rows),
            score=score,
        )
