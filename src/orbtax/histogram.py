"""Durations of calls as a log-linear histogram: small, exact to add, true to within 0.4 %.

Bins are as wide as 1/128 of their power of two (the layout of HdrHistogram, Tene 2012): below
256 ns every nanosecond has a bin of its own, from there each doubling is cut into 128 bins. The
middle of a bin is therefore at most 1/256 away from any duration in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orbtax.record import Latencies

PERCENTILES = (0.5, 0.9, 0.99, 0.999)
"""The percentiles that reports show, as shares of the calls."""

CALLS_BEYOND = 10
"""Calls that must lie beyond a percentile before it is told."""

_SUB_BITS = 7
_SUB_BINS = 1 << _SUB_BITS

EMPTY = Latencies(calls=0, min_ns=0, max_ns=0, sum_ns=0, bins=(), counts=())
"""The histogram of no calls, which changes nothing that it is merged into."""


def from_durations(durations_ns: ArrayLike) -> Latencies:
    """The histogram of whole durations in ns, of any shape.

    Raises ValueError for a negative duration, TypeError for values that are not integers.
    """
    durations = np.asarray(durations_ns).ravel()
    if durations.size == 0:
        return EMPTY
    if not np.issubdtype(durations.dtype, np.integer):
        raise TypeError(f"durations must be whole nanoseconds, not {durations.dtype}")
    if (shortest := int(durations.min())) < 0:
        raise ValueError(f"a duration of {shortest} ns is negative: the clock went backwards")
    bins, counts = np.unique(_bin_index(durations.astype(np.int64)), return_counts=True)
    return Latencies(
        calls=durations.size,
        min_ns=shortest,
        max_ns=int(durations.max()),
        sum_ns=int(durations.sum(dtype=np.int64)),
        bins=tuple(bins.tolist()),
        counts=tuple(counts.tolist()),
    )


def merge(parts: Iterable[Latencies]) -> Latencies:
    """The histogram of all calls of `parts`; that of no calls if there are none."""
    filled = [part for part in parts if part.calls]
    if not filled:
        return EMPTY
    every_bin = np.fromiter(chain.from_iterable(part.bins for part in filled), np.int64)
    every_count = np.fromiter(chain.from_iterable(part.counts for part in filled), np.int64)
    bins, place = np.unique(every_bin, return_inverse=True)
    counts = np.zeros(bins.size, dtype=np.int64)
    np.add.at(counts, place, every_count)
    return Latencies(
        calls=sum(part.calls for part in filled),
        min_ns=min(part.min_ns for part in filled),
        max_ns=max(part.max_ns for part in filled),
        sum_ns=sum(part.sum_ns for part in filled),
        bins=tuple(bins.tolist()),
        counts=tuple(counts.tolist()),
    )


def percentile(latencies: Latencies, share: float) -> float | None:
    """The duration in ns that `share` (between 0 and 1) of the calls do not exceed.

    By nearest rank, as the middle of its bin. None where fewer than `CALLS_BEYOND` calls are to
    be expected beyond it: p50 needs 20 calls, p99.9 needs 10,000.
    """
    if not 0 < share < 1:
        raise ValueError(f"a percentile is a share between 0 and 1, not {share}")
    # Rounded, since 100 * (1 - 0.9) falls short of 10 in binary.
    if round(latencies.calls * (1 - share), 6) < CALLS_BEYOND:
        return None
    rank = math.ceil(round(latencies.calls * share, 6))
    place = int(np.searchsorted(np.cumsum(latencies.counts), rank))
    low, high = bin_bounds(latencies.bins[place])
    middle = (low + high - 1) / 2
    return min(max(middle, latencies.min_ns), latencies.max_ns)


def bin_bounds(index: int) -> tuple[int, int]:
    """The first duration in ns of bin `index`, and the first one beyond it."""
    if index < 0:
        raise ValueError(f"bin {index} does not exist: bins count from 0")
    shift = max(0, index // _SUB_BINS - 1)
    step = index - shift * _SUB_BINS
    return step << shift, (step + 1) << shift


def _bin_index(durations: NDArray[np.int64]) -> NDArray[np.int64]:
    # A float that rounds up to the next power of two lands in the last bin of the power below,
    # which is where it belongs: no correction is needed above 2**53.
    _, exponents = np.frexp(durations.astype(np.float64))
    shift = np.maximum(exponents.astype(np.int64) - (_SUB_BITS + 1), 0)
    index: NDArray[np.int64] = shift * _SUB_BINS + (durations >> shift)
    return index
