"""What a model says of two texts, or of two orders of one text, beside each other."""

from dataclasses import dataclass

from model.checkpoint import Checkpoint
from model.tokenizer import Tokenizer
from model.trace import Trace

EQUAL = 1e-6  # of a probability: what the rounding of another order of the same sums may change
POINTS = (0.01, 0.10)  # where "nearly the same" and "a little apart" end


@dataclass(frozen=True, kw_only=True)
class TwoVerdicts:
    """The answer to the first text, and its probability for both. same_answer: whether the second's is the same."""

    answer: str
    first: float
    second: float
    same_answer: bool

    @property
    def apart(self) -> float:
        """The difference of the two probabilities."""
        return abs(self.first - self.second)

    @property
    def distance(self) -> int:
        """0: equal; 1: less than a point apart; 2: less than ten; 3: more."""
        return 0 if self.apart <= EQUAL else 1 + sum(self.apart >= limit for limit in POINTS)


def two_verdicts(checkpoint: Checkpoint, first: Trace, second: Trace) -> TwoVerdicts:
    """Of a classifier: the class that it finds most probable for the first text, in both."""
    probabilities = [checkpoint.probabilities(trace) for trace in (first, second)]
    answers = [max(each, key=each.__getitem__) for each in probabilities]
    one, other = (each[answers[0]] for each in probabilities)
    return TwoVerdicts(answer=answers[0], first=one, second=other, same_answer=answers[0] == answers[1])


def same_tokens(tokenizer: Tokenizer, first: str, second: str) -> bool:
    """Whether two texts have the same tokens, each as often, in whatever order."""
    one, other = (sorted(tokenizer.encode(text).ids) for text in (first, second))
    return one == other
