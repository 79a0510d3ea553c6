"""The least that moves the same messages to the same servant: a loop and two readings of a clock.

No threads, no start gate, no time stamp for a call: what a person would write to see how fast it
can go. It is a program like our client, so that a parent can run both in turn.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from orbtax import agent, orb, stubs, wire
from orbtax.clients.program import shares_of
from orbtax.errors import OrbtaxError
from orbtax.host import reading
from orbtax.model import Arm
from orbtax.ring import Ring


class Loop(Protocol):
    """A connection and the loop on it."""

    def run(self, messages: list[bytes]) -> int:
        """Sends all messages, each with its reply; nanoseconds."""

    def confirmed_bytes(self) -> int:
        """What the servant says that it has taken."""

    def close(self) -> None:
        """Gives up the connection."""


class CallLoop:
    """`call`: a message and a reply over a socket."""

    def __init__(self, request: agent.Prepare, ring: Ring) -> None:
        address, _, port = (request.target or "").partition(" ")
        self._socket = socket.socket()
        wire.prepare(self._socket, request.block.case.options)
        self._socket.connect((address, int(port)))
        geometry = ring.geometry
        hello = wire.Hello(
            arm=Arm.CALL,
            thread=0,
            slots=geometry.slots,
            payload_bytes=geometry.payload_bytes,
            total_bytes=geometry.total_bytes,
        )
        self._socket.sendall(hello.pack())
        self._reply = self._socket.recv(wire.REPLY_BYTES)

    def run(self, messages: list[bytes]) -> int:
        """Sends all messages, each with its reply; nanoseconds."""
        send, receive = self._socket.sendall, self._socket.recv
        started_ns = time.perf_counter_ns()
        for message in messages:
            send(message)
            reply = receive(wire.REPLY_BYTES)
        ended_ns = time.perf_counter_ns()
        self._reply = reply
        return ended_ns - started_ns

    def confirmed_bytes(self) -> int:
        """What the servant says that it has taken."""
        return wire.count_of(memoryview(self._reply))

    def close(self) -> None:
        """Gives up the connection."""
        self._socket.close()


class CorbaLoop:
    """`corba`: a two-way invocation."""

    def __init__(self, request: agent.Prepare, _ring: Ring) -> None:
        self._orb = orb.start(request.block.case)
        reference = self._orb.string_to_object(request.target)
        self._sink: Any = reference._narrow(stubs.load().client.Sink)
        self._sink.ping()

    def run(self, messages: list[bytes]) -> int:
        """Sends all messages, each with its reply; nanoseconds."""
        push = self._sink.push
        started_ns = time.perf_counter_ns()
        for message in messages:
            push(message)
        return time.perf_counter_ns() - started_ns

    def confirmed_bytes(self) -> int:
        """What the servant says that it has taken."""
        count: int = self._sink.total_bytes()
        return count

    def close(self) -> None:
        """Gives up the connection."""
        self._orb.destroy()


_LOOPS: Mapping[Arm, Callable[[agent.Prepare, Ring], Loop]] = {
    Arm.CALL: CallLoop,
    Arm.CORBA: CorbaLoop,
}


class Client:
    """Answers the parent's requests, one block after the other."""

    def __init__(self) -> None:
        self._block: tuple[agent.Prepare, Ring, Loop] | None = None

    def handle(self, request: agent.Request) -> agent.Answer:
        """Answers one request."""
        match request:
            case agent.Prepare():
                (share,) = shares_of(request)
                ring = Ring(0, share, in_pages=not request.block.case.arm.is_corba)
                self._block = request, ring, _LOOPS[request.block.case.arm](request, ring)
            case agent.Go():
                return self._go()
            case agent.Close() if self._block is not None:
                self._block[2].close()
                self._block = None
        return agent.Done()

    def _go(self) -> agent.Outcome:
        if self._block is None:
            raise OrbtaxError("no block is prepared")
        request, ring, loop = self._block
        messages = list(ring)
        before = reading.read(request.interface)
        window_s = loop.run(messages) / 1e9
        after = reading.read(request.interface)
        total_bytes = ring.geometry.total_bytes
        return agent.Outcome(
            window_s=window_s,
            confirmed_bytes=loop.confirmed_bytes(),
            messages=ring.geometry.messages,
            start_skew_s=0.0,
            clock_tick_s=None,
            thread_bytes=(total_bytes,),
            thread_window_s=(window_s,),
            latencies=None,
            checksum=None,
            record=reading.difference(
                before, after, send_buffer_bytes=None, receive_buffer_bytes=None
            ),
        )


if __name__ == "__main__":
    agent.run("client-bare", Client().handle)
