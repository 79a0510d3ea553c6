"""The servant of the CORBA arms: an object of the interface in idl/, and an ORB for each block."""

from __future__ import annotations

import functools
import threading

from orbtax import agent, orb, stubs
from orbtax.ledger import Ledger
from orbtax.model import Arm
from orbtax.ring import Faults, checksum
from orbtax.servants.base import Count, Servant

GATHER_S = 20.0
ORDERED_ARMS = (Arm.CORBA, Arm.ECHO)
"""A thread's calls arrive in order only if each waits for the one before: a oneway takes whatever
connection is free and may overtake another."""


class Sink:
    """Writes down what it is given, message by message."""

    def __init__(self, ledger: Ledger, faults: Faults, verify: bool) -> None:
        self.kept: list[bytes] = []
        self._ledger = ledger
        self._faults = faults
        self._take = self._take_and_keep if verify else ledger.take
        self._arrived = 0
        self._gathering = threading.Condition()

    def push(self, payload: bytes) -> None:
        """Takes the payload."""
        self._take(payload)

    def push_oneway(self, payload: bytes) -> None:
        """Takes the payload; nobody waits."""
        self._take(payload)

    def echo(self, payload: bytes) -> bytes:
        """Takes the payload and gives it back."""
        self._take(payload)
        return payload

    def ping(self) -> None:
        """Takes nothing; the call itself is what is measured."""
        self._ledger.take(b"")

    def total_bytes(self) -> int:
        """Payload bytes taken since the last reset."""
        return self._ledger.received_bytes

    def reset(self) -> None:
        """Sets the counts to zero."""
        self._ledger.clear()
        with self._gathering:
            self._arrived = 0

    def gather(self, callers: int) -> None:
        """Returns once `callers` calls have come in, so that each has a connection."""
        with self._gathering:
            self._arrived += 1
            self._gathering.notify_all()
            if not self._gathering.wait_for(lambda: self._arrived >= callers, GATHER_S):
                self._faults.add(f"only {self._arrived} of {callers} callers came together")

    def _take_and_keep(self, payload: bytes) -> None:
        self._ledger.take(payload)
        self.kept.append(payload)


@functools.cache
def sink_class() -> type[Sink]:
    """`Sink` with the skeleton that the IDL compiler made: what an ORB can call."""
    return type("Servant", (Sink, stubs.load().servant.Sink), {})


class CorbaIntake:
    """One block's ORB with its servant, reached by the reference in `target`."""

    def __init__(self, request: agent.Prepare) -> None:
        self.faults = Faults()
        self._request = request
        self._ledger = Ledger(request.block.case.payload_bytes, look=request.check)
        self._sink = sink_class()(self._ledger, self.faults, request.verify)
        self._orb = orb.start(request.block.case, listen=request.address or "127.0.0.1")
        adapter = self._orb.resolve_initial_references("RootPOA")
        adapter.activate_object(self._sink)
        reference = adapter.servant_to_reference(self._sink)
        adapter._get_the_POAManager().activate()
        self.target: str = self._orb.object_to_string(reference)

    def begin(self) -> None:
        """Forgets the warm-up."""
        self._sink.reset()
        self._sink.kept.clear()

    def finish(self) -> Count:
        """Counts and judges; the client has made sure that nothing is on its way."""
        case = self._request.block.case
        ordered = case.arm in ORDERED_ARMS
        self._ledger.judge(case.threads, self._request.slots, self.faults, ordered=ordered)
        return Count(
            received_bytes=self._ledger.received_bytes,
            messages=self._ledger.messages,
            checksum=checksum(self._sink.kept) if self._request.verify else None,
        )

    def close(self) -> None:
        """Destroys the ORB, which closes its connections."""
        self._orb.destroy()


if __name__ == "__main__":
    agent.run("servant-corba", Servant(CorbaIntake).handle, load=sink_class)
