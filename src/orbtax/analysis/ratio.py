"""Means and ratios of rates over rounds, with 95 % intervals made from their logarithms.

Rates scatter by factors, not by amounts, and a ratio must come out the same whichever way up it
is written: both ask for logarithms (Fleming and Wallace, CACM 29(3), 1986, on geometric means of
ratios). A block that gave no rate (None, or nothing moved) is left out and counted as failed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from scipy.special import stdtrit

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A geometric mean over rounds with its 95 % interval.

    From one round there is a value but no interval: both bounds are None. `failed` rounds had no
    value to give and are not among `rounds`.
    """

    value: float
    low: float | None
    high: float | None
    rounds: int
    failed: int = 0

    @property
    def half_width(self) -> float | None:
        """How far the interval reaches above its value, as a share: 0.03 is ±3 %."""
        return None if self.high is None else self.high / self.value - 1

    def covers(self, value: float) -> bool:
        """Whether the interval exists and holds `value`."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high


def student_t(freedom: float) -> float:
    """The factor of a two-sided 95 % interval with `freedom` degrees of freedom."""
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean of two or more values and its standard error, s ÷ √n."""
    count = len(values)
    mean = math.fsum(values) / count
    squares = math.fsum((value - mean) ** 2 for value in values)
    return mean, math.sqrt(squares / (count - 1) / count)


def geometric_mean(rates: Iterable[float | None]) -> Interval | None:
    """The geometric mean of rates in any unit, one per round; None if no round gave one.

    exp(m ± t · s ÷ √n) with m and s the mean and standard deviation of the logarithms and t
    Student's factor for n − 1 degrees of freedom. Raises ValueError for a negative rate.
    """
    listed = list(rates)
    logs = [math.log(rate) for rate in listed if _counts(rate)]
    return log_interval(logs, failed=len(listed) - len(logs))


def paired_logs(
    numerators: Sequence[float | None], denominators: Sequence[float | None]
) -> list[float]:
    """The logarithms of the ratios of those rounds in which both blocks gave a rate.

    Raises ValueError for a negative rate and for sequences of unequal length.
    """
    pairs = zip(numerators, denominators, strict=True)
    return [math.log(above / below) for above, below in pairs if _counts(above) and _counts(below)]


def paired_ratio(
    numerators: Sequence[float | None], denominators: Sequence[float | None]
) -> Interval | None:
    """The ratio of two rates that were measured side by side, round by round.

    The interval is that of the rounds' log-ratios, as in `geometric_mean`, so that what slows a
    whole round falls out. None if no round gave both.
    """
    logs = paired_logs(numerators, denominators)
    return log_interval(logs, failed=len(numerators) - len(logs))


def independent_ratio(
    numerators: Iterable[float | None], denominators: Iterable[float | None]
) -> Interval | None:
    """The ratio of two rates from blocks that were not run side by side.

    Welch's interval for the difference of two means (Biometrika 34, 1947), on the logarithms.
    `rounds` is the smaller of the two numbers. None if either side has no rate; bounds are None
    if either has only one.
    """
    sides = [list(numerators), list(denominators)]
    above, below = ([math.log(rate) for rate in side if _counts(rate)] for side in sides)
    if not above or not below:
        return None
    failed = len(sides[0]) + len(sides[1]) - len(above) - len(below)
    rounds = min(len(above), len(below))
    if rounds == 1:
        ratio = math.exp(math.fsum(above) / len(above) - math.fsum(below) / len(below))
        return Interval(value=ratio, low=None, high=None, rounds=1, failed=failed)
    (mean_above, error_above), (mean_below, error_below) = map(mean_and_error, (above, below))
    error = math.hypot(error_above, error_below)
    reach = error * student_t(_welch_freedom(error_above, len(above), error_below, len(below)))
    return _exponential(mean_above - mean_below, reach, rounds, failed)


def log_interval(logs: Sequence[float], failed: int = 0) -> Interval | None:
    """The interval of the geometric mean of values given by their logarithms."""
    if not logs:
        return None
    if len(logs) == 1:
        return Interval(value=math.exp(logs[0]), low=None, high=None, rounds=1, failed=failed)
    mean, error = mean_and_error(logs)
    return _exponential(mean, error * student_t(len(logs) - 1), len(logs), failed)


def _exponential(mean: float, reach: float, rounds: int, failed: int) -> Interval:
    return Interval(
        value=math.exp(mean),
        low=math.exp(mean - reach),
        high=math.exp(mean + reach),
        rounds=rounds,
        failed=failed,
    )


def _welch_freedom(error_a: float, count_a: int, error_b: float, count_b: int) -> float:
    square_a, square_b = error_a**2, error_b**2
    if square_a + square_b == 0:
        return count_a + count_b - 2
    # Shares first: the fourth powers of small errors would underflow.
    share_a = square_a / (square_a + square_b)
    share_b = 1 - share_a
    return 1 / (share_a**2 / (count_a - 1) + share_b**2 / (count_b - 1))


def _counts(rate: float | None) -> TypeGuard[float]:
    if rate is not None and rate < 0:
        raise ValueError(f"a rate of {rate} is negative")
    return bool(rate)
