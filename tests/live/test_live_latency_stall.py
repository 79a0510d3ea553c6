"""A stall of a real kernel: write, write, read, with Nagle's algorithm against a delayed reply.

The second small write waits for the acknowledgement of the first (RFC 896), which the other end
delays until it has something to send or its timer runs out (RFC 1122). With TCP_NODELAY the second
write goes out at once. The arms of orbtax write a message at once and do not do this to themselves,
so that the pattern has a server of its own here.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from orbtax.analysis.stalls import Remedy, find_stalls, kernel_timers, remedies
from orbtax.analysis.sweeps import Sweep, SweepPoint
from orbtax.histogram import from_durations
from orbtax.model import Arm, Options
from orbtax.wire import receive_exactly

pytestmark = [pytest.mark.live, pytest.mark.slow]

LENGTH = struct.Struct("!Q")
REPLY = bytes(24)
SIZES = (1, 100, 1000)
CALLS, ROUNDS = 12, 2
OFF, ON = Options(nodelay=False), Options()


def answer(listener: socket.socket) -> None:
    """Takes a length and so many bytes, replies, until the client goes away."""
    connection, _ = listener.accept()
    with connection:
        head = memoryview(bytearray(LENGTH.size))
        while connection.recv(1, socket.MSG_PEEK):
            receive_exactly(connection, head)
            (size,) = LENGTH.unpack(head)
            receive_exactly(connection, memoryview(bytearray(size)))
            connection.sendall(REPLY)


@contextlib.contextmanager
def server() -> Iterator[tuple[str, int]]:
    """A server for one connection; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        yield listener.getsockname()
        thread.join()


def call_ns(connection: socket.socket, message: bytes) -> int:
    """Write, write, read: how long it took."""
    started_ns = time.perf_counter_ns()
    connection.sendall(LENGTH.pack(len(message)))
    connection.sendall(message)
    receive_exactly(connection, memoryview(bytearray(len(REPLY))))
    return time.perf_counter_ns() - started_ns


def swept(options: Options) -> Sweep:
    with server() as address, socket.create_connection(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, options.nodelay)
        points = tuple(
            SweepPoint(
                size,
                {
                    (0, number): from_durations(
                        [call_ns(connection, bytes(size)) for _ in range(CALLS)]
                    )
                    for number in range(ROUNDS)
                },
            )
            for size in SIZES
        )
    return Sweep("lo", Arm.CALL, options, points)


def test_nagle_against_a_delayed_acknowledgement_is_found_named_and_gone_with_nodelay() -> None:
    timers = kernel_timers({})
    off, on = swept(OFF), swept(ON)
    stalls = find_stalls(off, [off, on], timers)
    assert [stall.payload_bytes for stall in stalls] == list(SIZES)
    assert {stall.timer.name for stall in stalls} == {"delayed acknowledgement"}
    assert all(stall.share > 0.5 and not stall.several for stall in stalls)
    assert all(stall.stalled_rounds == ROUNDS for stall in stalls)
    assert find_stalls(on, [off, on], timers) == ()
    for stall in stalls:
        assert remedies(stall, off, [(off, stalls), (on, ())]) == (Remedy(ON, removes=True),)
