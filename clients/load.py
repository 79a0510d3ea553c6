"""The one timing loop, the same for every arm; it knows no transport.

    connect every thread → one warm-up exchange each → release all together
    → each thread sends its messages → the receiver has confirmed the last byte → stop

The clock runs from the release to the last confirmation, as the sender's monotonic clock sees it.
Nothing is written, printed or allocated by this code inside that stretch but the time stamps, into
arrays made beforehand.
"""

from __future__ import annotations

import itertools
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from orbtax import histogram
from orbtax.errors import OrbtaxError
from orbtax.record import Latencies
from orbtax.ring import Message, Ring

CONNECT_S = 30.0
"""How long all threads together may take to connect and warm up."""
LOOK_S = 0.01
"""A look takes some microseconds and a change of thread: 1 in 1000 of the time."""

_clock = time.perf_counter_ns  # CLOCK_MONOTONIC on Linux


class Caller(Protocol):
    """One thread's way to move messages."""

    def connect(self) -> None:
        """Opens what the thread needs and exchanges one warm-up."""

    def send(self, message: Message) -> object:
        """Moves one message; a two-way arm returns when the reply has come."""

    def finish(self) -> None:
        """Waits until what this thread sent is confirmed, as far as the thread can know."""

    def close(self) -> None:
        """Gives up the connections."""

    def durations_ns(self) -> array[int] | None:
        """Durations of calls that overlap, which the loop cannot see; None: it can."""


class Transport(Protocol):
    """What the callers of one block share."""

    def caller(self, thread: int) -> Caller:
        """The caller of one thread."""

    def settle(self, total_bytes: int) -> int:
        """Bytes that the receiver has confirmed, once they are `total_bytes` or come no more."""

    def close(self) -> None:
        """Gives up what the callers shared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What the loop found out about one block. Times are of this process' monotonic clock."""

    window_s: float
    confirmed_bytes: int
    start_skew_s: float
    clock_tick_s: float
    thread_window_s: tuple[float, ...]
    latencies: Latencies | None


class Worker:
    """One sending thread."""

    def __init__(
        self, caller: Caller, ring: Ring, gate: threading.Barrier, stamps: array[int] | None
    ) -> None:
        self._caller = caller
        self._ring = ring
        self._gate = gate
        self.stamps = stamps
        self.started_ns = 0
        self.finished_ns = 0
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def durations_ns(self) -> array[int] | None:
        """Time of each call; None for an arm that does not wait."""
        own = self._caller.durations_ns()
        if own is not None or self.stamps is None:
            return own
        ends = np.frombuffer(self.stamps, np.int64)
        return array("q", np.diff(ends, prepend=self.started_ns).tobytes())

    def _run(self) -> None:
        try:
            self._caller.connect()
            self._gate.wait(CONNECT_S)  # all are connected
            self._gate.wait()  # the parent says go
            self.started_ns = _clock()
            self._send_all()
            self._caller.finish()
            self.finished_ns = _clock()
        except threading.BrokenBarrierError:
            pass  # another thread failed, and says why
        except Exception as error:  # reported with the block, whatever it was
            self.error = error
            self._gate.abort()

    def _send_all(self) -> None:
        send, stamps = self._caller.send, self.stamps
        if stamps is None:
            for message in self._ring:
                send(message)
        else:
            for index, message in enumerate(self._ring):
                send(message)
                stamps[index] = _clock()


class Load:
    """All threads of one block, connected and warm from the start."""

    def __init__(
        self,
        transport: Transport,
        rings: Sequence[Ring],
        *,
        stamped: bool,
        counted_late: bool,
    ) -> None:
        """Connects; `stamped` times each call, `counted_late` stops the clock at the count.

        Raises OrbtaxError if a thread cannot connect.
        """
        self._transport = transport
        self._counted_late = counted_late
        self._total_bytes = sum(ring.geometry.total_bytes for ring in rings)
        self._gate = threading.Barrier(len(rings) + 1)
        self._callers = [transport.caller(thread) for thread in range(len(rings))]
        self._workers = [
            Worker(caller, ring, self._gate, _stamps(ring) if stamped else None)
            for caller, ring in zip(self._callers, rings, strict=True)
        ]
        for worker in self._workers:
            worker.thread.start()
        try:
            self._gate.wait(CONNECT_S)
        except threading.BrokenBarrierError:
            self._join()
            raise OrbtaxError(f"the threads did not all connect within {CONNECT_S:g} s") from None

    def run(
        self,
        before: Callable[[], None],
        after: Callable[[], None],
        look: Callable[[], None] | None = None,
    ) -> Timing:
        """Releases the threads and times them; `before` and `after` read the host, off the clock.

        `look` is called every `LOOK_S` while they run. Raises OrbtaxError if a thread failed.
        """
        before()
        self._gate.wait()
        if look is not None:
            self._look_on(look)
        self._join()
        stopped_ns = max(worker.finished_ns for worker in self._workers)
        if self._counted_late:
            confirmed = self._transport.settle(self._total_bytes)
            stopped_ns = _clock()
            after()
        else:
            after()
            confirmed = self._transport.settle(self._total_bytes)
        starts = [worker.started_ns for worker in self._workers]
        return Timing(
            window_s=(stopped_ns - min(starts)) / 1e9,
            confirmed_bytes=confirmed,
            start_skew_s=(max(starts) - min(starts)) / 1e9,
            clock_tick_s=clock_tick_s(),
            thread_window_s=tuple(
                (worker.finished_ns - worker.started_ns) / 1e9 for worker in self._workers
            ),
            latencies=self._latencies(),
        )

    def close(self) -> None:
        """Gives up every connection."""
        self._gate.abort()
        self._join_quietly()
        for caller in self._callers:
            caller.close()
        self._transport.close()

    def _look_on(self, look: Callable[[], None]) -> None:
        """Looks until the first thread is done: from then on the load is not what it was."""
        threads = [worker.thread for worker in self._workers]
        threads[0].join(LOOK_S)
        while all(thread.is_alive() for thread in threads):
            look()
            threads[0].join(LOOK_S)

    def _join(self) -> None:
        self._join_quietly()
        for worker in self._workers:
            if worker.error is not None:
                raise OrbtaxError(f"{type(worker.error).__name__}: {worker.error}")

    def _join_quietly(self) -> None:
        for worker in self._workers:
            worker.thread.join()

    def _latencies(self) -> Latencies | None:
        each = [worker.durations_ns() for worker in self._workers]
        known = [histogram.from_durations(durations) for durations in each if durations]
        return histogram.merge(known) if known else None


def clock_tick_s() -> float:
    """The smallest step of the clock seen in a thousand readings."""
    readings = [_clock() for _ in range(1000)]
    steps = [b - a for a, b in itertools.pairwise(readings) if b > a]
    return min(steps) / 1e9


def _stamps(ring: Ring) -> array[int]:
    return array("q", bytes(8 * ring.geometry.messages))
