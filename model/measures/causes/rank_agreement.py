"""How far two measures put the tokens of a text into one order, by size: Kendall's τ."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.stats import kendalltau

FEWEST = 3  # tokens, of which an order says something


@dataclass(frozen=True, kw_only=True)
class RankAgreement:
    """tau: 1 the same order, 0 none, −1 the reverse; τ-b, which mends ties (Kendall 1945, "The Treatment of Ties").

    probability: that of a τ at least as far from 0 if the orders had nothing to do with each other. Both are NaN where
    there is no order: fewer than three tokens, or all sizes equal. equal: whether the first's and the second's are.
    """

    tau: float
    probability: float
    tokens: int
    equal: tuple[bool, bool] = (False, False)

    @property
    def is_known(self) -> bool:
        """Whether there are two orders to compare."""
        return bool(np.isfinite(self.tau))


def rank_agreement(
    first: Float[np.ndarray, " token"], second: Float[np.ndarray, " token"], *, signed: bool = False
) -> RankAgreement:
    """Of the sizes, or, ``signed``, of the numbers with their signs; tokens for which either is NaN are left out."""
    both = np.isfinite(first) & np.isfinite(second)
    sizes, others = first[both], second[both]
    if not signed:
        sizes, others = np.abs(sizes), np.abs(others)
    if both.sum() < FEWEST:
        return RankAgreement(tau=float("nan"), probability=float("nan"), tokens=int(both.sum()))
    equal = bool(np.ptp(sizes) == 0), bool(np.ptp(others) == 0)
    if any(equal):
        return RankAgreement(tau=float("nan"), probability=float("nan"), tokens=int(both.sum()), equal=equal)
    result = kendalltau(sizes, others)
    return RankAgreement(tau=float(result.statistic), probability=float(result.pvalue), tokens=int(both.sum()))
