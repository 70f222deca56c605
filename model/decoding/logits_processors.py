"""What is done to the logits of the next token before one is chosen, in the order of ``transformers``."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

Logits = Float[Tensor, "vocabulary"]


@dataclass(frozen=True, kw_only=True)
class LogitsProcessors:
    """How likely tokens are made likelier or others left out; as it stands, nothing is changed.

    repetition_penalty: what the logits of tokens that are there already are divided by, or multiplied by where they
    are negative (Keskar et al. 2019, "CTRL", section 4.1). temperature: what all logits are divided by; 0 leaves the
    likeliest token alone. top_k: how many tokens are left, the likeliest, and those as likely as the last of them; 0
    or None: all (Fan et al. 2018). top_p: the least probability that the tokens left have together, the likeliest
    first; 0 leaves one (Holtzman et al. 2020, section 3.1).
    """

    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def stages(self, logits: Logits, ids: Sequence[int]) -> Iterator[tuple[str, Logits]]:
        """The logits after each step, named by its field, "model" before all; -inf: left out.

        ``ids`` are those that the decoder has read. Logits mean the same when a number is added to all of them, and
        dividing by the temperature does so.
        """
        yield "model", logits
        logits = penalise_repetition(logits, ids, self.repetition_penalty)
        yield "repetition_penalty", logits
        logits = scale_by_temperature(logits, self.temperature)
        yield "temperature", logits
        logits = keep_top_k(logits, self.top_k or len(logits))
        yield "top_k", logits
        yield "top_p", keep_top_p(logits, self.top_p)

    def applied(self, logits: Logits, ids: Sequence[int]) -> Logits:
        """The logits after the last step."""
        return logits if self == NO_PROCESSORS else dict(self.stages(logits, ids))["top_p"]


def penalise_repetition(logits: Logits, ids: Sequence[int], penalty: float) -> Logits:
    """The logits with those of ``ids`` made smaller by a penalty above 1."""
    seen = torch.tensor(sorted(set(ids)), dtype=torch.long)
    seen_logits = logits[seen]
    return logits.index_copy(0, seen, torch.where(seen_logits < 0, seen_logits * penalty, seen_logits / penalty))


def scale_by_temperature(logits: Logits, temperature: float) -> Logits:
    """The logits, the largest moved to 0 so that none overflows, divided by the temperature."""
    if temperature == 0:
        return torch.full_like(logits, -math.inf).index_fill(0, logits.argmax(), 0.0)
    return logits if temperature == 1 else (logits - logits.max()) / temperature


def keep_top_k(logits: Logits, count: int) -> Logits:
    """The logits without those smaller than the largest so many."""
    least = logits.topk(min(count, len(logits))).values[-1] if count < len(logits) else -math.inf
    return logits.masked_fill(logits < least, -math.inf)


def keep_top_p(logits: Logits, share: float) -> Logits:
    """The logits without the unlikeliest tokens that come to 1 - ``share`` together; the likeliest stays."""
    if share == 1:
        return logits
    rising, order = logits.sort()
    out = rising.softmax(dim=-1).cumsum(dim=-1) <= 1 - share
    out[-1] = False
    return logits.masked_fill(torch.zeros_like(out).index_copy(0, order, out), -math.inf)


NO_PROCESSORS = LogitsProcessors()
