"""The client program: makes the messages, connects, runs the timing loop, answers its parent."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from orbtax import agent
from orbtax.clients.load import Load, Transport
from orbtax.errors import OrbtaxError
from orbtax.host import reading, tcp
from orbtax.host.watch import Watch
from orbtax.model import Arm, Case
from orbtax.ring import Geometry, Ring, split


class Client:
    """Answers the parent's requests, one block after the other."""

    def __init__(self) -> None:
        self._block: tuple[agent.Prepare, tuple[Ring, ...], Load] | None = None

    def handle(self, request: agent.Request) -> agent.Answer:
        """Answers one request; OrbtaxError if it comes out of turn."""
        match request:
            case agent.Prepare():
                self._close()
                self._prepare(request)
                return agent.Done()
            case agent.Go():
                return self._go()
            case agent.Close():
                self._close()
                return agent.Done()
            case _:
                raise OrbtaxError(f"a client does not know {type(request).__name__}")

    def _prepare(self, request: agent.Prepare) -> None:
        shares = shares_of(request)
        case = request.block.case
        in_pages = not case.arm.is_corba  # the ORB takes `bytes` alone
        rings = tuple(Ring(thread, share, in_pages=in_pages) for thread, share in enumerate(shares))
        transport = connect_transport(case, request.target or "", shares)
        load = Load(
            transport,
            rings,
            stamped=request.stamp and case.arm.waits and case.arm is not Arm.AMI,
            counted_late=case.arm is Arm.ONEWAY,
        )
        self._block = request, rings, load

    def _go(self) -> agent.Outcome:
        if self._block is None:
            raise OrbtaxError("no block is prepared")
        request, rings, load = self._block
        readings: list[reading.Reading] = []

        def read() -> None:
            readings.append(reading.read(request.interface))

        watched = tcp.duplicate_sockets() if request.watch else ()
        with contextlib.closing(Watch(watched)) as watch:
            timing = load.run(read, read, watch.look if request.watch else None)
        options = request.block.case.options
        record = reading.difference(
            *readings,
            send_buffer_bytes=options.send_buffer_bytes,
            receive_buffer_bytes=options.receive_buffer_bytes,
        )
        return agent.Outcome(
            window_s=timing.window_s,
            confirmed_bytes=timing.confirmed_bytes,
            messages=sum(ring.geometry.messages for ring in rings),
            start_skew_s=timing.start_skew_s,
            clock_tick_s=timing.clock_tick_s,
            thread_bytes=tuple(ring.geometry.total_bytes for ring in rings),
            thread_window_s=timing.thread_window_s,
            latencies=timing.latencies,
            checksum=sum(map(Ring.checksum, rings)) % 2**64 if request.verify else None,
            record=watch.added_to(record),
        )

    def _close(self) -> None:
        block, self._block = self._block, None
        if block is not None:
            block[2].close()


def shares_of(request: agent.Prepare) -> tuple[Geometry, ...]:
    """Each thread's share of the block."""
    block = request.block
    threads = block.case.threads
    bytes_each = split(block.amount.total_bytes, threads)
    empty_each = split(block.amount.empty_messages, threads)
    return tuple(
        Geometry(
            payload_bytes=block.case.payload_bytes,
            slots=request.slots,
            total_bytes=total_bytes,
            empty_messages=empty_messages,
        )
        for total_bytes, empty_messages in zip(bytes_each, empty_each, strict=True)
    )


def connect_transport(case: Case, target: str, shares: Sequence[Geometry]) -> Transport:
    """The transport of the case's arm."""
    # Imported here: a client of raw sockets alone must not load the ORB.
    if case.arm.is_corba:
        from orbtax.clients.corba import CorbaTransport

        return CorbaTransport(case, target, shares[0].messages)
    from orbtax.clients.sockets import SocketTransport

    return SocketTransport(case.arm, target, case.options, shares)


if __name__ == "__main__":
    agent.run("client", Client().handle)
