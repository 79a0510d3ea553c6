"""The cost model of a message: time = overhead + size ÷ speed, with a breakpoint if there is one.

The straight line and its two numbers, the asymptotic speed r∞ and the half-speed size n½, are
Hockney's (R. W. Hockney, Parallel Computing 17, 1991). Sizes are fitted with relative residuals,
so that small messages count.

A sweep may have one breakpoint, if the data ask for it. Both ways to have one are tried: a bend,
where only the slope changes (a cache is full), and a jump, where both segments are free (another
protocol takes over, a timer runs out). Neither can stand for the other: a bend cannot jump, and a
jump bent to be continuous spoils both slopes. The smallest corrected Akaike criterion decides
(Hurvich and Tsai, Biometrika 76, 1989). A breakpoint counts as three parameters, because looking
for it where it fits best gains as much as three (Ninomiya, Statistics & Probability Letters 72,
2005): with that, 1 % of straight lines are taken for broken ones, with one parameter 27 %. Where
the shapes come close, the intervals widen by what they differ (Buckland, Burnham and Augustin,
Biometrics 53, 1997), since an interval that takes the chosen shape for sure is too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from orbtax.analysis.ratio import student_t
from orbtax.analysis.shapes import Fit, Lines, Quantity, Segment, Shape, fit_shape

FEWEST_SIZES = 5
WIDEST = 100.0
"""A value whose interval reaches up to so many times itself is not determined."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A fitted value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """The fitted model of one sweep; an estimate is None where the data do not determine it.

    `residuals` belong to `sizes_bytes` and are ln(measured ÷ model). `aicc` tells how well each
    shape did that was tried, which few sizes leave no room for; the smallest was taken.
    """

    shape: Shape
    segments: tuple[Segment, ...]
    overhead_us: Estimate | None  # time of a message as its size goes to zero
    byte_ns: Estimate | None  # time per byte, towards large messages
    asymptotic_bytes_s: Estimate | None  # r∞: bytes per second, towards large messages
    half_speed_bytes: Estimate | None  # n½: the size that reaches half of r∞
    breakpoint_bytes: Estimate | None  # where the second segment begins
    sizes_bytes: tuple[int, ...]
    residuals: tuple[float, ...]
    aicc: Mapping[Shape, float]

    def time_us(self, size_bytes: float) -> float:
        """The time that the model gives for a size."""
        line = next(each for each in reversed(self.segments) if size_bytes >= each.from_bytes)
        return line.intercept_us + line.byte_us * size_bytes


def fit_cost_model(
    sizes_bytes: Sequence[int],
    times_us: Sequence[float],
    *,
    ways: int = 1,
    shapes: Iterable[Shape] = tuple(Shape),
) -> CostModel | None:
    """The model of a sweep: rising sizes, from 0 on, and the time of one message of each.

    `ways` is how many times the payload crosses the link: 2 where it comes back. None if there are
    fewer than `FEWEST_SIZES` sizes. Raises ValueError for sizes that do not rise or times that are
    not above zero.
    """
    sizes, times = np.array(sizes_bytes, float), np.array(times_us, float)
    if np.any(np.diff(sizes) <= 0) or np.any(times <= 0):
        raise ValueError("sizes must rise and times be above zero")
    if len(sizes) < FEWEST_SIZES:
        return None
    found = (fit_shape(shape, sizes, times) for shape in shapes)
    fits = sorted(
        (fit for fit in found if fit is not None and math.isfinite(fit.aicc)),
        key=lambda fit: fit.aicc,
    )
    best = fits[0]
    return CostModel(
        shape=best.shape,
        segments=best.lines,
        overhead_us=_estimate(fits, lambda lines: lines[0].intercept_us),
        byte_ns=_estimate(fits, lambda lines: 1e3 * lines[-1].byte_us / ways),
        asymptotic_bytes_s=_estimate(fits, lambda lines: ways * 1e6 / lines[-1].byte_us),
        half_speed_bytes=_estimate(fits, _half_speed_bytes),
        breakpoint_bytes=_breakpoint_bytes(best),
        sizes_bytes=tuple(sizes_bytes),
        residuals=tuple(map(float, -best.residuals)),
        aicc={fit.shape: fit.aicc for fit in fits},
    )


def _estimate(fits: Sequence[Fit], quantity: Quantity) -> Estimate | None:
    """A quantity of the best fit, which comes first; the others add to its standard error."""
    best = fits[0].log_estimate(quantity)
    if best is None:
        return None
    weights, errors = [], []
    for fit in fits:
        if (known := fit.log_estimate(quantity)) is not None:
            weights.append(math.exp((fits[0].aicc - fit.aicc) / 2))
            errors.append(math.hypot(known[1], known[0] - best[0]))
    reach = float(np.average(errors, weights=weights)) * student_t(fits[0].freedom)
    if reach > math.log(WIDEST):
        return None
    return Estimate(*(math.exp(best[0] + way * reach) for way in (0, -1, 1)))


def _breakpoint_bytes(fit: Fit) -> Estimate | None:
    """Where the second segment begins; of a jump, known to lie between two sizes."""
    if fit.shape is Shape.LINE:
        return None
    if fit.shape is Shape.BEND:
        return _estimate([fit], lambda lines: lines[-1].from_bytes)
    first, last = fit.possible_seconds[0], fit.possible_seconds[-1]
    middle = math.sqrt(fit.sizes[fit.second - 1] * fit.sizes[fit.second])
    return Estimate(middle, float(fit.sizes[first - 1]), float(fit.sizes[last]))


def _half_speed_bytes(lines: Lines) -> float:
    """The smallest size whose speed is half of the asymptotic one; infinite if there is none.

    With one segment it is overhead ÷ time per byte, which is overhead × r∞ of one way.
    """
    half_byte_us = 2 * lines[-1].byte_us
    ends = [*(after.from_bytes for _, after in pairwise(lines)), math.inf]
    for line, end in zip(lines, ends, strict=True):
        gain_us = half_byte_us - line.byte_us
        size = line.intercept_us / gain_us if gain_us > 0 else math.inf
        if size < end:
            return max(size, line.from_bytes)
    return math.inf
