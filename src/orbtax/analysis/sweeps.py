"""Sweeps over the message size: the calls of one arm under one setting, size by size.

What stands for a size is the median of the calls of each round, and the rounds are its repetitions.
The median is the time that a message usually takes: the few that were interrupted or met a timer
do not move it, as they would the mean, and unlike the minimum it does not shrink as calls are
added. What the others met is told apart, from the histograms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np
from numpy.typing import NDArray

from orbtax.analysis.rates import RoundKey, good_blocks
from orbtax.histogram import bin_bounds, merge
from orbtax.model import Arm, Options
from orbtax.record import Latencies, Sample

TWO_WAY_ARMS = (Arm.PINGPONG, Arm.ECHO)
"""Their payload crosses the link twice."""


@dataclass(frozen=True)
class SweepPoint:
    """The calls of one size: a histogram for each round in which a block went well."""

    payload_bytes: int
    by_round: Mapping[RoundKey, Latencies]

    @cached_property
    def medians_us(self) -> Mapping[RoundKey, float]:
        """The median of the calls of each round."""
        return {key: median_ns(calls) / 1000 for key, calls in self.by_round.items()}

    @cached_property
    def usual_us(self) -> float:
        """The median of the rounds' medians."""
        return median(self.medians_us.values())

    @cached_property
    def calls(self) -> Latencies:
        """The calls of all rounds."""
        return merge(self.by_round.values())


@dataclass(frozen=True, slots=True)
class Sweep:
    """One arm over the sizes, all else equal; points in the order of their sizes."""

    link: str
    arm: Arm
    options: Options
    points: tuple[SweepPoint, ...]

    @property
    def ways(self) -> int:
        """How many times a payload crosses the link."""
        return 2 if self.arm in TWO_WAY_ARMS else 1

    @property
    def rounds(self) -> int:
        """Rounds in which any size was measured."""
        return len({key for point in self.points for key in point.by_round})

    def point(self, payload_bytes: int) -> SweepPoint | None:
        """The point of a size, None if it was not measured."""
        return next((each for each in self.points if each.payload_bytes == payload_bytes), None)


def sweeps(samples: Iterable[Sample]) -> tuple[Sweep, ...]:
    """The sweeps of all arms that wait, in the order in which they were first measured."""
    found: dict[tuple[str, Arm, Options], list[SweepPoint]] = {}
    for case, blocks in good_blocks(samples).items():
        by_round = {
            (block.cell, block.round): block.latencies
            for block in blocks
            if block.latencies and block.latencies.calls
        }
        if by_round:
            points = found.setdefault((case.link, case.arm, case.options), [])
            points.append(SweepPoint(case.payload_bytes, by_round))
    return tuple(
        Sweep(*key, tuple(sorted(points, key=lambda point: point.payload_bytes)))
        for key, points in found.items()
    )


def call_times_ns(calls: Latencies) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The durations of a histogram, rising, and how many calls took each."""
    bounds = np.array([bin_bounds(place) for place in calls.bins], dtype=np.float64).reshape(-1, 2)
    middles = (bounds.sum(axis=1) - 1) / 2
    return np.clip(middles, calls.min_ns, calls.max_ns), np.array(calls.counts, dtype=np.int64)


def median_ns(calls: Latencies) -> float:
    """The median of at least one call; NaN of none."""
    if not calls.calls:
        return math.nan
    times, counts = call_times_ns(calls)
    ranks = (calls.calls + 1) // 2, calls.calls // 2 + 1  # one and the same of an odd number
    return float(times[np.searchsorted(np.cumsum(counts), ranks)].mean())
