"""The servant of the raw arms: takes `stream`, `call` and `pingpong` over TCP sockets.

One thread for each connection, a plain `recv_into` loop into a buffer that is used again.
"""

from __future__ import annotations

import contextlib
import socket
import threading

from orbtax import agent, wire
from orbtax.ledger import Ledger
from orbtax.model import Arm
from orbtax.ring import Faults, Geometry, StreamCheck, checksum
from orbtax.servants.base import Count, Servant

READ_BYTES = 524_288
"""A stream is read into a buffer of at least this many bytes, of whole messages."""


class Connection:
    """One accepted connection, taken by a thread of its own."""

    def __init__(self, accepted: socket.socket, faults: Faults, request: agent.Prepare) -> None:
        self._socket = accepted
        self._faults = faults
        self._check = request.check
        self._verify = request.verify
        self._kept: list[bytes] = []
        self.received_bytes = 0
        self.messages = 0
        self._thread = threading.Thread(target=self._take, daemon=True)

    def start(self) -> None:
        """Begins to take; whoever counts connections must know of this one by then."""
        self._thread.start()

    def checksum(self) -> int:
        """Of every message that was kept."""
        return checksum(self._kept)

    def join(self) -> None:
        """Waits until the connection's bytes are taken or it failed."""
        self._thread.join(wire.STALL_S)

    def close(self) -> None:
        """Ends the connection, whatever it is doing."""
        self._hang_up()
        self._thread.join()
        self._socket.close()

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):  # the client may have been quicker
            self._socket.shutdown(socket.SHUT_RDWR)

    def _take(self) -> None:
        try:
            hello = wire.Hello.receive(self._socket)
            geometry = Geometry(
                payload_bytes=hello.payload_bytes,
                slots=hello.slots,
                total_bytes=hello.total_bytes,
            )
            take = self._take_stream if hello.arm is Arm.STREAM else self._take_calls
            take(hello, geometry)
        except (OSError, wire.WireError) as error:
            self._faults.add(f"{type(error).__name__}: {error}")
            self._hang_up()

    def _take_stream(self, hello: wire.Hello, geometry: Geometry) -> None:
        size = geometry.payload_bytes
        buffer = bytearray(size * max(1, READ_BYTES // size))
        view = memoryview(buffer)
        check = StreamCheck(buffer, hello.thread, geometry, self._faults)
        self._socket.sendall(wire.reply(0))
        left = geometry.total_bytes
        while left:
            stretch = view[: min(left, len(view))]
            wire.receive_exactly(self._socket, stretch)
            left -= len(stretch)
            self.received_bytes += len(stretch)
            whole = len(stretch) // size
            if self._check:
                check.take(whole)
                check.take_last(stretch[whole * size :])
            if self._verify:
                cuts = range(0, len(stretch), size)
                self._kept.extend(bytes(stretch[at : at + size]) for at in cuts)
        self.messages = geometry.messages
        self._socket.sendall(wire.reply(self.received_bytes))

    def _take_calls(self, hello: wire.Hello, geometry: Geometry) -> None:
        size = geometry.payload_bytes
        buffer = bytearray(size)
        view = memoryview(buffer)
        ledger = Ledger(size, look=self._check)
        sends_back = hello.arm is Arm.PINGPONG
        self._socket.sendall(wire.reply(0))
        for number in range(1, geometry.total_bytes // size + 1):
            filled = self._socket.recv_into(view)
            if filled < size:
                wire.receive_rest(self._socket, view, filled)
            self._socket.sendall(view if sends_back else wire.reply(number * size))
            # After the reply: nobody waits for it.
            ledger.take(buffer)
            if self._verify:
                self._kept.append(bytes(buffer))
        if geometry.last_bytes:
            last = view[: geometry.last_bytes]
            wire.receive_exactly(self._socket, last)
            self._socket.sendall(last if sends_back else wire.reply(geometry.total_bytes))
            ledger.take(bytes(last))
            if self._verify:
                self._kept.append(bytes(last))
        self.received_bytes = ledger.received_bytes
        self.messages = ledger.messages
        ledger.judge(hello.thread + 1, geometry.slots, self._faults)


class SocketIntake:
    """Listens anew for every block, so that each has the buffers that it asks for."""

    def __init__(self, request: agent.Prepare) -> None:
        self.faults = Faults()
        self._request = request
        self._connections: list[Connection] = []
        address = request.address or "127.0.0.1"
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.socket(family, socket.SOCK_STREAM)
        wire.prepare(self._listener, request.block.case.options)
        self._listener.bind((address, 0))
        self._listener.listen(request.block.case.threads)
        self.target = f"{address} {self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Nothing: a connection counts from its greeting on."""

    def finish(self) -> Count:
        """Waits for every connection, and counts."""
        for connection in self._connections:
            connection.join()
        sums = [connection.checksum() for connection in self._connections]
        return Count(
            received_bytes=sum(connection.received_bytes for connection in self._connections),
            messages=sum(connection.messages for connection in self._connections),
            checksum=sum(sums) % 2**64 if self._request.verify else None,
        )

    def close(self) -> None:
        """Stops listening and ends every connection."""
        # A close alone would leave the accepting thread asleep in the kernel.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except BlockingIOError:
                continue  # the kernel's time-out; the client may still be on its way
            except OSError:
                return  # no longer listening
            options = self._request.block.case.options
            wire.prepare(accepted, options)
            wire.choose_congestion_control(accepted, options)
            connection = Connection(accepted, self.faults, self._request)
            self._connections.append(connection)
            connection.start()


if __name__ == "__main__":
    agent.run("servant-sockets", Servant(SocketIntake).handle)
