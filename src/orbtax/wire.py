"""Socket framing of the raw arms: a greeting, the bytes, a reply or a confirmation.

    client → servant   Hello, once for each connection
    servant → client   REPLY_BYTES, the warm-up exchange
    client → servant   the messages; for `call` a reply of REPLY_BYTES to each, for `pingpong`
                       the message itself
    servant → client   REPLY_BYTES, which confirm the bytes taken (`stream` only)

A reply has as many bytes as omniORB's empty one, so that `call` differs from a CORBA call in what
the broker does, not in what the wire carries back.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Self

from orbtax.errors import OrbtaxError
from orbtax.model import Arm, Options

REPLY_BYTES = 24
STALL_S = 30.0
"""How long one system call on a raw socket may make no progress."""

_HELLO = struct.Struct("!4sBBHIQQ")
_MAGIC = b"OTX1"
_REPLY = struct.Struct("!Q16x")
_TIMEVAL = struct.Struct("ll")
_MODES = {Arm.STREAM: 1, Arm.CALL: 2, Arm.PINGPONG: 3}


class WireError(OrbtaxError):
    """The other end did not speak as it must, or went away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The greeting of one connection: whose it is and what will come."""

    arm: Arm
    thread: int
    slots: int
    payload_bytes: int
    total_bytes: int  # of this connection

    def pack(self) -> bytes:
        """The greeting as bytes."""
        mode = _MODES[self.arm]
        return _HELLO.pack(
            _MAGIC, mode, 0, self.thread, self.slots, self.payload_bytes, self.total_bytes
        )

    @classmethod
    def receive(cls, connection: socket.socket) -> Self:
        """Reads a greeting; WireError if it is none."""
        raw = bytearray(_HELLO.size)
        receive_exactly(connection, memoryview(raw))
        magic, mode, _, thread, slots, payload_bytes, total_bytes = _HELLO.unpack(raw)
        arms = [arm for arm, number in _MODES.items() if number == mode]
        if magic != _MAGIC or not arms:
            raise WireError(f"a connection greeted with {bytes(raw[:8]).hex()}, not as orbtax does")
        return cls(
            arm=arms[0],
            thread=thread,
            slots=slots,
            payload_bytes=payload_bytes,
            total_bytes=total_bytes,
        )


def reply(count: int) -> bytes:
    """A reply that carries a count."""
    return _REPLY.pack(count)


def receive_reply(connection: socket.socket, buffer: memoryview) -> int:
    """Reads a reply into `buffer` (REPLY_BYTES) and gives its count."""
    receive_exactly(connection, buffer)
    return count_of(buffer)


def count_of(buffer: memoryview) -> int:
    """The count in a reply."""
    count: int = _REPLY.unpack(buffer)[0]
    return count


def receive_exactly(connection: socket.socket, view: memoryview) -> None:
    """Fills `view`: a plain `recv_into` loop, never MSG_WAITALL, which delays the wake-up."""
    receive_rest(connection, view, connection.recv_into(view))


def receive_rest(connection: socket.socket, view: memoryview, filled: int) -> None:
    """Fills what is left of `view`; WireError if the connection is closed before."""
    size = len(view)
    while filled < size:
        taken = connection.recv_into(view[filled:])
        if not taken:
            raise WireError(f"the connection was closed after {filled} of {size} bytes")
        filled += taken


def choose_congestion_control(connection: socket.socket, options: Options) -> None:
    """Sets it on an established connection: a route's own choice would override an earlier one."""
    if options.congestion_control is not None:
        name = options.congestion_control.encode()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)


def prepare(connection: socket.socket, options: Options) -> None:
    """Sets what the options ask for, before the socket is connected or listens.

    A receive buffer set later would not count: the window scale is agreed on at the start.
    """
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, options.nodelay)
    if options.send_buffer_bytes is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, options.send_buffer_bytes)
    if options.receive_buffer_bytes is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, options.receive_buffer_bytes)
    # A kernel time-out, so that the socket stays blocking: Python's own would poll before each
    # call and double the system calls.
    limit = _TIMEVAL.pack(int(STALL_S), 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
