"""Sweeps of made-up calls: durations that follow a cost model, with scatter and planted delays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from orbtax.analysis.sweeps import Sweep, SweepPoint
from orbtax.histogram import from_durations
from orbtax.model import Arm, Options

SIZES = (1, 100, 1000, 8192, 65_536, 100_000, 262_144, 1_048_576)
ROUNDS = 5
Delays = Callable[[np.random.Generator, int], np.ndarray]


def usual_us(size: int) -> float:
    """The time that a message usually takes: 50 µs and 4 GB/s."""
    return 50 + size / 4000


def make_calls_us(
    size: int, draws: np.random.Generator, calls: int = 100, scatter: float = 0.1
) -> np.ndarray:
    """Durations of calls in µs, with the tail that an ordinary machine gives them.

    One in fifty is late by up to some milliseconds, since something else ran.
    """
    late = draws.random(calls) < 0.02
    return usual_us(size) * np.exp(draws.normal(0, scatter, calls)) + late * draws.exponential(
        1500, calls
    )


def make_point(size: int, rounds_us: Sequence[np.ndarray]) -> SweepPoint:
    """The calls of one size, round by round, in µs."""
    return SweepPoint(
        size,
        {
            (0, number): from_durations((1000 * calls_us).astype(np.int64))
            for number, calls_us in enumerate(rounds_us)
        },
    )


def make_sweep(
    draws: np.random.Generator,
    *,
    sizes: Sequence[int] = SIZES,
    delayed: Mapping[int, Delays] | None = None,
    arm: Arm = Arm.CALL,
    options: Options | None = None,
    rounds: int = ROUNDS,
    **calls: float,
) -> Sweep:
    """A sweep on `lo`; `delayed` gives the delays in µs of the calls of some sizes."""
    points = []
    for size in sizes:
        rounds_us = [make_calls_us(size, draws, **calls) for _ in range(rounds)]
        if delayed and size in delayed:
            rounds_us = [each + delayed[size](draws, len(each)) for each in rounds_us]
        points.append(make_point(size, rounds_us))
    return Sweep("lo", arm, options or Options(), tuple(points))


def stalls_of(share: float, wait_ms: float = 40.0, tick_ms: float = 4.0) -> Delays:
    """Delays of a share of the calls by a timer that the kernel's ticks lengthen."""

    def delays_us(draws: np.random.Generator, calls: int) -> np.ndarray:
        met = np.zeros(calls, dtype=bool)
        met[draws.choice(calls, round(share * calls), replace=False)] = True
        return met * 1000 * (wait_ms + draws.uniform(0, tick_ms, calls))

    return delays_us
