"""Where labels go so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import isotonic_regression


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions at least `gap` apart between `low` and `high`, as near to `wanted` as can be.

    Nearest in the sense of least squares, in the order of `wanted` (the first of equals is the
    lower). With the gaps taken out, this is an isotonic regression within bounds, whose solution
    is the unbounded one clipped (Best and Chakravarti 1990). Where the range is too short for all
    of them, the gap shrinks so that they fill it evenly.
    """
    if not wanted:
        return []
    order = np.argsort(wanted, kind="stable")
    gap = min(gap, (high - low) / max(1, len(wanted) - 1))
    gaps = gap * np.arange(len(wanted))
    kept_apart = isotonic_regression(np.asarray(wanted, dtype=float)[order] - gaps).x
    placed = np.empty(len(wanted))
    placed[order] = np.clip(kept_apart, low, high - gaps[-1]) + gaps
    return [float(position) for position in placed]
