"""The moments of a training at which something is measured or kept: steps on a geometric scale."""

from dataclasses import dataclass
from typing import Any

from model.training.watched.head_measures import HeadScore

CURVE_PER_DOUBLING = 8.0
SNAPSHOTS_PER_DOUBLING = (2.5, 1.0, 0.5)  # the first with which all of them fit


def geometric_steps(last: int, per_doubling: float) -> list[int]:
    """0, 1, and from there on so many a doubling, each once, up to the last step, which is one of them."""
    steps, place = {0, last}, 0
    while (step := round(2 ** (place / per_doubling))) < last:
        steps.add(step)
        place += 1
    return sorted(steps)


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What is measured of a model after so many steps, on fresh sequences.

    loss: nats a token. accuracy: how often the likeliest token is right, 0 to 1. tokens: those learned from until now,
    which took so many seconds, measuring left out. scores: by kind, where a snapshot is kept.
    """

    step: int
    loss: float
    accuracy: float
    tokens: int
    seconds: float
    scores: dict[str, HeadScore] | None = None

    @classmethod
    def from_json(cls, values: Any) -> "Moment":
        """The moment that ``to_json`` wrote. ValueError for anything else."""
        names = ("step", "loss", "accuracy", "tokens", "seconds")
        if not isinstance(values, dict) or values.keys() - {"scores"} != set(names):
            raise ValueError("other fields than those of a moment")
        numbers = {name: values[name] for name in names}
        for name, number in numbers.items():
            if type(number) is not (int if name in ("step", "tokens") else float) or number < 0:
                raise ValueError(f"{name} is not a number from 0 on")
        scores = {kind: HeadScore.from_json(each) for kind, each in values.get("scores", {}).items()}
        return cls(**numbers, scores=scores or None)

    @property
    def tokens_per_second(self) -> float:
        """The speed until now; 0 at the beginning."""
        return self.tokens / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """The fields as plain JSON values; scores as (layer, head) lists."""
        values: dict[str, Any] = {"step": self.step, "loss": round(self.loss, 6), "accuracy": round(self.accuracy, 6)}
        values |= {"tokens": self.tokens, "seconds": round(self.seconds, 3)}
        if self.scores is not None:
            values["scores"] = {kind: each.to_json() for kind, each in self.scores.items()}
        return values
