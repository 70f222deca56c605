"""What a check says: numbers of a pass beside what they should be, and whether they agree."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

ABSOLUTE, RELATIVE = 1e-5, 1e-5
Place = tuple[tuple[str, str | int], ...]  # (("stack", "encoder"), ("layer", 0), ("head", 3), …), counted from 0
Numbers = Float[Tensor, "..."] | Bool[Tensor, "..."] | Float[np.ndarray, "..."] | Bool[np.ndarray, "..."]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One kind of number, where it is on the screen, what it is compared with, and how far it may be from that.

    A number may differ by ``absolute``, and by ``relative`` times the largest number of the array that it is part of:
    rounding grows with the numbers that are added up.
    """

    name: str
    group: str
    quantity: str
    screen: str
    reference: str
    absolute: float = ABSOLUTE
    relative: float = RELATIVE


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Numbers of one check and what they should be; ``axes`` name what an index counts.

    part: of which numbers of their kind these are some, and how many; "" where all are compared.
    """

    check: str
    ours: Numbers
    expected: Numbers
    place: Mapping[str, str | int]
    axes: Sequence[str] = ()
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """Why a check says nothing about this model or this pass."""

    check: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The result of one check; of all its numbers, that which comes nearest to what is allowed, or exceeds it most.

    ``passed`` is None where the check does not apply, for the ``reason`` given. ``parts`` say what was compared, where
    that was not all.
    """

    check: Check
    passed: bool | None
    reason: str = ""
    count: int = 0
    ours: float = 0.0
    expected: float = 0.0
    difference: float = 0.0
    allowed: float = 0.0
    place: Place = ()
    parts: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """How much of what is allowed the difference takes; infinite where nothing is allowed."""
        if self.difference == 0:
            return 0.0
        return self.difference / self.allowed if self.allowed else float("inf")


def gather(checks: Sequence[Check], results: Iterable[Comparison | Skipped]) -> list[CheckResult]:
    """One finding for every check, in their order. A check of which nothing is said has failed, too."""
    by_name = {check.name: check for check in checks}
    findings: dict[str, CheckResult] = {}
    for one in results:
        check, before = by_name[one.check], findings.get(one.check)
        if isinstance(one, Comparison):
            findings[one.check] = worse(before, result_of(check, one))
        elif before is None:
            findings[one.check] = CheckResult(check=check, passed=None, reason=one.reason)
    silent = "Nothing was compared."
    return [findings.get(check.name, CheckResult(check=check, passed=False, reason=silent)) for check in checks]


def worse(before: CheckResult | None, now: CheckResult) -> CheckResult:
    """Of two findings of one check that which counts, with the numbers of both."""
    if before is None or before.passed is None:
        return now
    chosen = max(before, now, key=lambda one: (one.passed is False, one.share))
    parts = tuple(dict.fromkeys((*before.parts, *now.parts)))
    return replace(chosen, count=before.count + now.count, parts=parts)


def result_of(check: Check, one: Comparison) -> CheckResult:
    """What one pair of arrays says. NaN, and an infinity that is not in both, differ by infinity."""
    ours, expected = np.asarray(one.ours, np.float64), np.asarray(one.expected, np.float64)
    place = tuple(one.place.items())
    if ours.shape != expected.shape or not ours.size:
        reason = f"Found numbers of shape {ours.shape}, expected {expected.shape} and at least one."
        return CheckResult(check=check, passed=False, reason=reason, difference=float("inf"), place=place)
    with np.errstate(invalid="ignore"):
        apart = np.where(ours == expected, 0.0, np.abs(ours - expected))
    apart = np.where(np.isnan(apart), np.inf, apart)
    largest = np.abs(expected, where=np.isfinite(expected), out=np.zeros_like(expected)).max()
    allowed = check.absolute + check.relative * float(largest)
    at = np.unravel_index(int(apart.argmax()), apart.shape)
    return CheckResult(
        check=check,
        passed=bool(apart[at] <= allowed),
        count=ours.size,
        ours=float(ours[at]),
        expected=float(expected[at]),
        difference=float(apart[at]),
        allowed=allowed,
        place=place + tuple(zip(one.axes, map(int, at), strict=True)),
        parts=(one.part,) if one.part else (),
    )
