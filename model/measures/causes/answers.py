"""What many passes say of the answers of one pass: probability, logit, logarithm of the probability."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.measures.comparison import stream_distances
from model.measures.outcome import Outcome
from model.trace import Trace
from model.transformer import Transformer

Numbers = Float[np.ndarray, "*passes"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Said:
    """What passes say of the answers of an outcome; of several answers, which stand one after the other in a text:

    probability: the mean of their probabilities. logit: the mean of their logits. log_probability: the sum of the
    natural logarithms of their probabilities, that of the whole text. log_odds: the mean of log(p / (1 − p)), in nats:
    the lead over all other answers together. turned: whether another answer is the most probable; of several, whether
    any is. The numbers are NaN where the outcome is a "stream"; else distance is NaN: by how much the last stream
    differs from the outcome's own, as a share of its length.
    """

    probability: Numbers
    logit: Numbers
    log_probability: Numbers
    log_odds: Numbers
    turned: Bool[np.ndarray, "*passes"]
    distance: Numbers

    def reshaped(self, *shape: int) -> "Said":
        """The same passes along these axes."""
        return Said(**{field.name: getattr(self, field.name).reshape(shape) for field in fields(self)})


def joined(parts: Iterable[Said]) -> Said:
    """The passes of all parts, in their order."""
    every = list(parts)
    return Said(**{field.name: np.concatenate([getattr(part, field.name) for part in every]) for field in fields(Said)})


@torch.no_grad()
def said_of(model: Transformer, outcome: Outcome, before: Trace, final: Float[Tensor, "row position width"]) -> Said:
    """What the passes say that end in these states. ``before`` is the pass that the outcome is of."""
    unknown = np.full(len(final), np.nan)
    if outcome.kind == "stream":
        own = before.output_stack.final
        distances = [stream_distances([own], [state])[0] for state in final.float().cpu()]
        never = np.zeros(len(final), bool)
        numbers = {"probability": unknown, "logit": unknown, "log_probability": unknown, "log_odds": unknown}
        return Said(**numbers, turned=never, distance=np.array(distances))
    logits = answer_logits(model, outcome, final).double().cpu()
    answers = torch.tensor(outcome.answers)[None, :, None].expand(len(final), -1, 1)
    chosen = logits.gather(-1, answers)[..., 0]
    others = logits.scatter(-1, answers, -torch.inf).logsumexp(dim=-1)
    logarithms = logits.log_softmax(dim=-1).gather(-1, answers)[..., 0]
    return Said(
        probability=logarithms.exp().mean(dim=-1).numpy(),
        logit=chosen.mean(dim=-1).numpy(),
        log_probability=logarithms.sum(dim=-1).numpy(),
        log_odds=(chosen - others).mean(dim=-1).numpy(),
        turned=(logits.argmax(dim=-1) != answers[..., 0]).any(dim=-1).numpy(),
        distance=unknown,
    )


def answer_logits(
    model: Transformer, outcome: Outcome, final: Float[Tensor, "row position width"]
) -> Float[Tensor, "row answer vocabulary"]:
    """The logits from which the answers are read, and no others: of labels one row a pass."""
    if outcome.kind == "label":
        assert model.pooling is not None
        assert model.classifier is not None
        return model.classifier(model.pooling(final, None))[:, None]
    read = final[:, list(outcome.rows)]
    return model.predict(read if model.word_head is None else model.word_head(read))
