"""The CORBA callers: `corba`, `oneway`, `ami`, and the bare calls `empty` and `echo`."""

from __future__ import annotations

import time
from array import array
from collections import deque
from typing import Any

from orbtax import orb, stubs
from orbtax.errors import OrbtaxError
from orbtax.model import Arm, Case

STALL_S = 10.0
"""How long the servant's count may stand still before the rest is given up."""
POLL_S = 0.0002
_NO_TIMEOUT = 0xFFFFFFFF


class CorbaCaller:
    """Two-way calls on the reference that all threads share."""

    def __init__(self, sink: Any, gathered: int) -> None:
        self._sink = sink
        self._gathered = gathered
        self.send = self._operation(sink)

    def _operation(self, sink: Any) -> Any:
        return sink.push

    def connect(self) -> None:
        """Calls together with the other threads, so that each gets a connection."""
        self._sink.gather(self._gathered)

    def finish(self) -> None:
        """Nothing more to wait for: every reply has come."""

    def close(self) -> None:
        """The connections belong to the ORB."""

    def durations_ns(self) -> array[int] | None:
        """The loop sees every call."""
        return None


class OnewayCaller(CorbaCaller):
    """Oneway calls: the loop counts late."""

    def _operation(self, sink: Any) -> Any:
        return sink.push_oneway


class EchoCaller(CorbaCaller):
    """Two-way calls that bring the payload back."""

    def _operation(self, sink: Any) -> Any:
        return sink.echo


class EmptyCaller(CorbaCaller):
    """Two-way calls that carry nothing."""

    def _operation(self, sink: Any) -> Any:
        ping = sink.ping
        return lambda _message: ping()


class AmiCaller(CorbaCaller):
    """Asynchronous calls, at most `depth` of them outstanding."""

    def __init__(self, sink: Any, gathered: int, depth: int, calls: int) -> None:
        self._outstanding: deque[tuple[int, Any]] = deque()
        self._depth = depth
        self._durations = array("q", bytes(8 * calls))
        self._done = 0
        super().__init__(sink, gathered)

    def _operation(self, sink: Any) -> Any:
        return self._send

    def connect(self) -> None:
        """Opens a connection for each call that can be outstanding."""
        pollers = [self._sink.sendp_gather(self._gathered) for _ in range(self._depth)]
        for poller in pollers:
            poller.gather(_NO_TIMEOUT)

    def finish(self) -> None:
        """Waits for the calls that are still outstanding."""
        while self._outstanding:
            self._collect()

    def durations_ns(self) -> array[int]:
        """From the sending of each call to when its reply was taken, in the order of sending."""
        return self._durations

    def _send(self, message: bytes) -> None:
        if len(self._outstanding) == self._depth:
            self._collect()
        self._outstanding.append((time.perf_counter_ns(), self._sink.sendp_push(message)))

    def _collect(self) -> None:
        started_ns, poller = self._outstanding.popleft()
        poller.push(_NO_TIMEOUT)
        self._durations[self._done] = time.perf_counter_ns() - started_ns
        self._done += 1


_CALLERS = {
    Arm.CORBA: CorbaCaller,
    Arm.ONEWAY: OnewayCaller,
    Arm.ECHO: EchoCaller,
    Arm.EMPTY: EmptyCaller,
}


class CorbaTransport:
    """An ORB of its own for one block, so that each starts with no connection."""

    def __init__(self, case: Case, target: str, calls_each: int) -> None:
        self._case = case
        self._calls_each = calls_each
        sink_class = stubs.load().client.Sink
        self._orb = orb.start(case)
        self._sink = self._orb.string_to_object(target)._narrow(sink_class)
        if self._sink is None:
            raise OrbtaxError(f"the object at {target[:40]}… is not an OrbTax::Sink")

    def caller(self, thread: int) -> CorbaCaller:
        """The caller of one thread."""
        callers = self._case.threads * (self._case.options.depth if self._ami else 1)
        gathered = min(callers, self._case.connections)
        if self._ami:
            return AmiCaller(self._sink, gathered, self._case.options.depth, self._calls_each)
        return _CALLERS[self._case.arm](self._sink, gathered)

    def settle(self, total_bytes: int) -> int:
        """The servant's count, asked until it is whole; a oneway may still be on its way."""
        last, since = -1, time.monotonic()
        while True:
            count: int = self._sink.total_bytes()
            if count >= total_bytes:
                return count
            if count != last:
                last, since = count, time.monotonic()
            elif time.monotonic() - since > STALL_S:
                return count
            time.sleep(POLL_S)

    def close(self) -> None:
        """Destroys the ORB, which closes its connections."""
        self._sink = None
        self._orb.destroy()

    @property
    def _ami(self) -> bool:
        return self._case.arm is Arm.AMI
