"""The raw callers: `stream`, `call` and `pingpong` over a TCP socket for each thread."""

from __future__ import annotations

import socket
from array import array
from collections.abc import Sequence

from orbtax import wire
from orbtax.model import Arm, Options
from orbtax.ring import Geometry, Message


class SocketCaller:
    """One thread's socket; a subclass says what a message is."""

    def __init__(self, arm: Arm, thread: int, target: str, options: Options, share: Geometry):
        address, _, port = target.partition(" ")
        self._place = (address, int(port))
        self._hello = wire.Hello(
            arm=arm,
            thread=thread,
            slots=share.slots,
            payload_bytes=share.payload_bytes,
            total_bytes=share.total_bytes,
        )
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._options = options
        wire.prepare(self._socket, options)
        self._answer = memoryview(bytearray(wire.REPLY_BYTES))
        self.confirmed_bytes = 0

    def connect(self) -> None:
        """Connects and exchanges a greeting for a reply."""
        self._socket.connect(self._place)
        wire.choose_congestion_control(self._socket, self._options)
        self._socket.sendall(self._hello.pack())
        wire.receive_reply(self._socket, self._answer)

    def finish(self) -> None:
        """Nothing more to wait for: every reply has come."""

    def close(self) -> None:
        """Closes the socket."""
        self._socket.close()

    def durations_ns(self) -> array[int] | None:
        """The loop sees every call."""
        return None


class StreamCaller(SocketCaller):
    """Writes message after message; the receiver confirms the sum at the end."""

    def connect(self) -> None:
        """Connects, and puts the socket's own write in the loop's way: no frame in between."""
        super().connect()
        self.send = self._socket.sendall

    def send(self, message: Message) -> None:
        """Writes the message."""
        self._socket.sendall(message)

    def finish(self) -> None:
        """Waits for the receiver's confirmation."""
        self.confirmed_bytes = wire.receive_reply(self._socket, self._answer)


class CallCaller(SocketCaller):
    """Writes a message and waits for the reply."""

    def send(self, message: Message) -> None:
        """One message, one reply, which nearly always comes in one piece."""
        self._socket.sendall(message)
        filled = self._socket.recv_into(self._answer)
        if filled < wire.REPLY_BYTES:
            wire.receive_rest(self._socket, self._answer, filled)

    def finish(self) -> None:
        """The last reply carries the receiver's count."""
        self.confirmed_bytes = wire.count_of(self._answer)


class PingPongCaller(SocketCaller):
    """Writes a message and waits until all of it has come back."""

    def __init__(self, arm: Arm, thread: int, target: str, options: Options, share: Geometry):
        super().__init__(arm, thread, target, options, share)
        self._echo = memoryview(bytearray(share.payload_bytes))

    def send(self, message: Message) -> None:
        """One message there and back."""
        size = len(message)
        self._socket.sendall(message)
        wire.receive_exactly(self._socket, self._echo[:size])
        self.confirmed_bytes += size


_CALLERS = {Arm.STREAM: StreamCaller, Arm.CALL: CallCaller, Arm.PINGPONG: PingPongCaller}


class SocketTransport:
    """The sockets of one block."""

    def __init__(self, arm: Arm, target: str, options: Options, shares: Sequence[Geometry]) -> None:
        make = _CALLERS[arm]
        self._callers = [
            make(arm, thread, target, options, share) for thread, share in enumerate(shares)
        ]

    def caller(self, thread: int) -> SocketCaller:
        """The caller of one thread."""
        return self._callers[thread]

    def settle(self, total_bytes: int) -> int:
        """The sum of what each connection's receiver has confirmed."""
        return sum(caller.confirmed_bytes for caller in self._callers)

    def close(self) -> None:
        """Nothing is shared."""
