"""Numbers as reports show them: three significant digits, never an exponent."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from orbtax.analysis.ratio import Interval
from orbtax.report.tables import MISSING

Show = Callable[[float], str]

_VISIBLY_UNEVEN = 0.1
"""The difference between the sides of an interval, in half-widths, that `±` would hide."""


def significant(value: float) -> str:
    """A value to three significant digits: `8.76`, `38.0`, `1230`; a dash for none (NaN)."""
    if not math.isfinite(value):
        return MISSING
    return f"{Decimal(f'{value:.2e}'):f}" if value else "0"


def gbit_s(rate_bit_s: float) -> str:
    """A rate in Gbit/s, without its unit: `8.76`."""
    return significant(rate_bit_s / 1e9)


def per_cent(ratio: float) -> str:
    """A ratio in per cent, without its unit: `3.85`, `90.9`, `101.3`."""
    return f"{100 * ratio:.1f}" if ratio >= 0.9995 else significant(100 * ratio)


def with_bounds(interval: Interval | None, show: Show) -> str:
    """Value and 95 % interval: `8.76 [8.71, 8.81]`; one round has no interval: `8.76 [–]`."""
    if interval is None:
        return MISSING
    if interval.low is None or interval.high is None:
        return f"{show(interval.value)} [{MISSING}]"
    return f"{show(interval.value)} [{show(interval.low)}, {show(interval.high)}]"


def with_half_width(interval: Interval | None) -> str:
    """A ratio in per cent and how far its interval, if it has one, reaches: `90.9 ±0.7`.

    Where it visibly reaches further to one side, both bounds stand: `17.7 [8.29, 37.8]`.
    """
    if interval is None:
        return MISSING
    if interval.low is None or interval.high is None:
        return per_cent(interval.value)
    down, up = 100 * (interval.value - interval.low), 100 * (interval.high - interval.value)
    digits = 1 if up >= 0.05 else 2
    uneven = abs(up - down) > _VISIBLY_UNEVEN * (up + down) / 2
    if uneven and f"{down:.{digits}f}" != f"{up:.{digits}f}":
        return with_bounds(interval, per_cent)
    return f"{per_cent(interval.value)} ±{up:.{digits}f}"


def counted(number: int, thing: str) -> str:
    """`1 thread`, `4 threads`."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
