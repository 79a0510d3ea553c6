"""Calls that waited for a timer of the kernel: found in histograms, named, and counted.

A call's delay is what it took beyond the least that its size can take. Two bounds hold for that:
a larger message takes no less, and one of n bytes no more than several smaller ones that carry n
bytes together. So the least is known even where every call of a size was delayed.

Delays that the machine brings in fall off towards longer ones; a timer makes them pile up at its
own value. Calls are taken to have met a timer only if more of them lie about it than would if the
density of the logarithm of the delay were level (binomial test), which clean data never come near.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binom

from orbtax.analysis.sweeps import Sweep, SweepPoint, call_times_ns
from orbtax.model import Arm, Options

WINDOW = 0.85, 1.25
"""Delays this close to a timer count as it: the kernel's clock ticks are up to 10 ms long."""
FLANK = 0.25
"""Delays from here on, as a share of the timer, tell how dense they are apart from it."""
LONGEST_MESSAGE = 0.5
"""Of a timer. In messages that take longer anyway, a delay of its length is nothing special."""
SIGNIFICANCE = 0.001
ONE_WINDOW_BYTES = 16 * 1024
"""Messages up to this size fit into the smallest window, so that no setting can slow them down."""

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
    """The stalls of a sweep, by size and timer. `others` are sweeps of the same link and run."""
    least_ns = least_times_ns(sweep, others)
    found: list[Stall] = []
    for timer in timers:
        met = False
        for point in sweep.points:
            least = least_ns[point.payload_bytes]
            if least > LONGEST_MESSAGE * timer.wait_s * 1e9:
                continue
            stall = _stall(point, least, timer, repeated=met)
            if stall is not None:
                found.append(stall)
                met = True
    return tuple(sorted(found, key=lambda stall: stall.payload_bytes))


def least_times_ns(sweep: Sweep, others: Iterable[Sweep]) -> dict[int, float]:
    """The least that one message of each size can take, as far as the measurements bound it."""
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
        parts = [math.ceil(size / less) * shortest[less] for less in sizes[:place] if less]
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
    """`repeated`: a smaller size met the timer, so that this one may meet it more than once."""
    before, low, high = (share * timer.wait_s * 1e9 for share in (FLANK, *WINDOW))
    times_ns, counts = call_times_ns(point.calls)
    delays_ns = times_ns - least_ns
    met = (delays_ns >= low) & ((delays_ns <= high) | repeated)
    stalled = int(counts[met].sum())
    if not _piles_up(stalled, int(counts[(delays_ns >= before) & (delays_ns < low)].sum())):
        return None
    delay_ns = float(np.median(np.repeat(delays_ns[met], counts[met])))
    return Stall(
        timer=timer,
        payload_bytes=point.payload_bytes,
        calls=point.calls.calls,
        stalled=stalled,
        several=delay_ns > high,
        delay_s=delay_ns / 1e9,
        rounds=len(point.by_round),
        stalled_rounds=sum(calls.max_ns >= least_ns + low for calls in point.by_round.values()),
    )


def _piles_up(about: int, before: int) -> bool:
    """Whether so many calls about a timer are more than a level density explains."""
    level = math.log(WINDOW[1] / WINDOW[0]) / math.log(WINDOW[1] / FLANK)
    return about > 0 and float(binom.sf(about - 1, about + before, level)) <= SIGNIFICANCE


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
