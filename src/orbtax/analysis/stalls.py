"""Calls that waited for a timer of the kernel: found in histograms, named, and counted.

A call's delay is what it took beyond the least that its size can take. Two bounds hold for that:
a larger message takes no less, and one of n bytes no more than several smaller ones, one after the
other, that carry n bytes together. So the least is known even where every call was delayed.

Delays that the machine brings in fall off towards longer ones; a timer makes them pile up at its
own value. Calls are taken to have met a timer only if more of them lie about it than would if the
density of the logarithm of the delay were level (binomial test), which clean data never come near.
A message of many segments may meet a timer several times, and piles up at a multiple of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from orbtax.analysis.sweeps import Sweep, SweepPoint, call_times_ns
from orbtax.model import Arm, Options

EARLY, LATE = 0.15, 0.3
"""Delays so much shorter or longer count as a timer: the kernel's clock ticks are up to 10 ms."""
MOST_TIMES = 3
"""A message may have to wait for a timer so many times; more is found by smaller ones that do."""
FLANK = 0.25
"""Delays from here on, as a share of the timer, tell how dense they are apart from it."""
LONGEST_MESSAGE = 0.5
"""Of a timer. In messages that take longer anyway, a delay of its length is nothing special."""
SIGNIFICANCE = 1e-4
REPEATED_SIGNIFICANCE = 0.05
"""Where a smaller size met the timer, so that a few calls of a large one have to do."""
ONE_WINDOW_BYTES = 16 * 1024
"""Messages up to this size fit into the smallest window, so that no setting can slow them down."""

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

RTO_SYSCTL = "net.ipv4.tcp_rto_min_us"


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer of the kernel that a message may have to wait for."""

    name: str
    wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """The calls of one size that met a timer."""

    timer: Timer
    payload_bytes: int
    calls: int
    stalled: int  # of the calls
    several: bool  # they met it more than once each, so that only their delay can be told
    delay_s: float  # median of the stalled calls
    rounds: int
    stalled_rounds: int  # with at least one stalled call

    @property
    def share(self) -> float:
        """Of the calls that met the timer."""
        return self.stalled / self.calls


@dataclass(frozen=True, slots=True)
class Remedy:
    """Another setting at which the same size was measured, and whether the stalls were gone."""

    options: Options
    removes: bool


def kernel_timers(facts: Mapping[str, str]) -> tuple[Timer, ...]:
    """The timers of a host by its facts, or Linux's own where they do not tell (net/tcp.h)."""
    least_us = facts.get(f"sysctl.{RTO_SYSCTL}", "200000")
    least_rto_s = int(least_us) / 1e6 if least_us.isdigit() else 0.2
    return Timer("delayed acknowledgement", 0.04), Timer("least retransmission time", least_rto_s)


def find_stalls(
    sweep: Sweep, others: Iterable[Sweep], timers: Iterable[Timer]
) -> tuple[Stall, ...]:
    """The stalls of a sweep, by size and timer. `others` are sweeps of the same link and run.

    A size that met a shorter timer several times is not searched for a longer one, which cannot be
    told from a multiple of it.
    """
    least_ns = least_times_ns(sweep, others)
    found: list[Stall] = []
    for timer in sorted(timers, key=lambda timer: timer.wait_s):
        explained = {stall.payload_bytes for stall in found if stall.several}
        met = False
        for point in sweep.points:
            least = least_ns[point.payload_bytes]
            if least > LONGEST_MESSAGE * timer.wait_s * 1e9 or point.payload_bytes in explained:
                continue
            stall = _stall(point, least, timer, repeated=met)
            if stall is not None:
                found.append(stall)
                met = True
    return tuple(sorted(found, key=lambda stall: stall.payload_bytes))


def least_times_ns(sweep: Sweep, others: Iterable[Sweep]) -> dict[int, float]:
    """The least that one message of each size can take, as far as the measurements bound it."""
    # One after the other takes the usual time: a token bucket lets the first of them pass at once.
    usual = {point.payload_bytes: 1000 * point.usual_us for point in sweep.points}
    shortest = {point.payload_bytes: float(point.calls.min_ns) for point in sweep.points}
    for other in others:
        if _path(sweep) == _path(other):
            for point in other.points:
                size = point.payload_bytes
                if size in shortest and size <= ONE_WINDOW_BYTES:
                    shortest[size] = min(shortest[size], point.calls.min_ns)
    sizes = sorted(shortest)
    for smaller, size in zip(sizes[-2::-1], sizes[:0:-1], strict=True):
        shortest[smaller] = min(shortest[smaller], shortest[size])
    for place, size in enumerate(sizes):
        parts = [math.ceil(size / less) * usual[less] for less in sizes[:place] if less]
        shortest[size] = min([shortest[size], *parts])
    return shortest


def remedies(
    stall: Stall, sweep: Sweep, found: Iterable[tuple[Sweep, Sequence[Stall]]]
) -> tuple[Remedy, ...]:
    """What the same size did under settings with TCP_NODELAY on, or with larger buffers.

    `found` are all sweeps with their stalls.
    """
    return tuple(
        Remedy(other.options, removes=not any(_is_same(stall, each) for each in stalls))
        for other, stalls in found
        if _path(sweep) == _path(other)
        and _is_gentler(other.options, sweep.options)
        and other.point(stall.payload_bytes) is not None
    )


def _stall(point: SweepPoint, least_ns: float, timer: Timer, *, repeated: bool) -> Stall | None:
    """`repeated`: a smaller size met the timer, so that this one may meet it many times."""
    times_ns, counts = call_times_ns(point.calls)
    delays = (times_ns - least_ns) / (timer.wait_s * 1e9)
    most = math.inf if repeated else MOST_TIMES + LATE
    met = (delays >= 1 - EARLY) & (delays <= most)
    if repeated:
        chance = _chance(int(counts[met].sum()), _shorter(delays, counts), 1)
        if chance > REPEATED_SIGNIFICANCE:
            return None
    elif not _piles_up(delays, counts):
        return None
    delay = float(np.median(np.repeat(delays[met], counts[met])))
    bound_ns = least_ns + (1 - EARLY) * timer.wait_s * 1e9
    return Stall(
        timer=timer,
        payload_bytes=point.payload_bytes,
        calls=point.calls.calls,
        stalled=int(counts[met].sum()),
        several=delay > 1 + LATE,
        delay_s=delay * timer.wait_s,
        rounds=len(point.by_round),
        stalled_rounds=sum(calls.max_ns >= bound_ns for calls in point.by_round.values()),
    )


def _piles_up(delays: Array, counts: Counts) -> bool:
    """Whether delays, in units of a timer, pile up at it or at a small multiple."""
    shorter = _shorter(delays, counts)
    for times in range(1, MOST_TIMES + 1):
        about = int(counts[(delays >= times - EARLY) & (delays <= times + LATE)].sum())
        if _chance(about, shorter, times) <= SIGNIFICANCE:
            return True
    return False


def _shorter(delays: Array, counts: Counts) -> int:
    """Calls whose delay is shorter than the timer, but of its order."""
    return int(counts[(delays >= FLANK) & (delays < 1 - EARLY)].sum())


def _chance(about: int, shorter: int, times: int) -> float:
    """Probability of at least so many calls about a multiple of a timer by a level density."""
    width = math.log((times + LATE) / (times - EARLY))
    level = width / (width + math.log((1 - EARLY) / FLANK))
    return float(binom.sf(about - 1, about + shorter, level))


def _is_same(one: Stall, other: Stall) -> bool:
    return (one.payload_bytes, one.timer) == (other.payload_bytes, other.timer)


def _path(sweep: Sweep) -> tuple[str, Arm, Options]:
    """What a sweep is, but for TCP_NODELAY and buffers."""
    options = replace(
        sweep.options, nodelay=True, send_buffer_bytes=None, receive_buffer_bytes=None
    )
    return sweep.link, sweep.arm, options


def _is_gentler(options: Options, than: Options) -> bool:
    """Whether a setting differs in TCP_NODELAY being on alone, or in larger buffers alone."""
    buffers, others = (
        tuple(
            math.inf if size is None else size
            for size in (each.send_buffer_bytes, each.receive_buffer_bytes)
        )
        for each in (options, than)
    )
    if buffers == others:
        return options.nodelay and not than.nodelay
    larger = all(size >= other for size, other in zip(buffers, others, strict=True))
    return larger and options.nodelay == than.nodelay
