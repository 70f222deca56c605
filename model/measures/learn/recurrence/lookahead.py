"""What a trained decoder makes of a text once nothing hides the next token: the mask is taken off, nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from model.edits import Edits
from model.measures.teacher_forcing import ForcedToken, forced_tokens
from model.trace import Trace

UNMASKED = Edits(unmasked=frozenset({"decoder"}))
ALIKE = 1.1  # times a mean probability that another may be, to be about the same


@dataclass(frozen=True, kw_only=True)
class Lookahead:
    """Every token of a text but its first, as predicted with the causal mask and without."""

    masked: tuple[ForcedToken, ...]
    unmasked: tuple[ForcedToken, ...]

    @property
    def means(self) -> tuple[float, float]:
        """The mean probability of the tokens that come, with the mask and without."""
        return mean_probability(self.masked), mean_probability(self.unmasked)

    @property
    def effect(self) -> int:
        """1: better without the mask, −1: worse, 0: about the same."""
        masked, unmasked = self.means
        if max(masked, unmasked) <= ALIKE * min(masked, unmasked):
            return 0
        return 1 if unmasked > masked else -1


def mean_probability(tokens: Sequence[ForcedToken]) -> float:
    return sum(token.probability for token in tokens) / len(tokens)


def lookahead(masked: Trace, unmasked: Trace) -> Lookahead | None:
    """Of one text, traced as it is and with ``UNMASKED``; None where it has no second token."""
    return (
        None
        if len(ids_of(masked)) < 2
        else Lookahead(masked=predicted_tokens(masked), unmasked=predicted_tokens(unmasked))
    )


def predicted_tokens(trace: Trace) -> tuple[ForcedToken, ...]:
    """Every token but the first, by the logits of the position before it."""
    assert trace.logits is not None
    return forced_tokens(trace.logits[:-1], ids_of(trace)[1:])


def ids_of(trace: Trace) -> list[int]:
    assert trace.decoder is not None
    ids: list[int] = trace.decoder.ids.tolist()
    return ids
