"""The receiving end of the `iperf3` arm: an iperf3 server for each block, on a port of its own."""

from __future__ import annotations

import socket

from orbtax import agent, iperf3
from orbtax.errors import OrbtaxError
from orbtax.host import reading


class Server:
    """Answers the parent's requests with one iperf3 server for each block."""

    def __init__(self) -> None:
        self._block: tuple[agent.Prepare, iperf3.Child] | None = None
        self._before: reading.Reading | None = None

    def handle(self, request: agent.Request) -> agent.Answer:
        """Answers one request; OrbtaxError if it comes out of turn or iperf3 failed."""
        match request:
            case agent.Prepare():
                self._close()
                return agent.Prepared(target=self._listen(request))
            case agent.Begin():
                prepared, _ = self._current()
                self._before = iperf3.read(prepared.interface)
                return agent.Done()
            case agent.Finish():
                return self._finish()
            case agent.Close():
                self._close()
                return agent.Done()
            case _:
                raise OrbtaxError(f"a servant does not know {type(request).__name__}")

    def _listen(self, request: agent.Prepare) -> str:
        iperf3.check_installed()
        address = request.address or "127.0.0.1"
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as reserved:
            # Bound until iperf3 listens, so that nobody else is given the port; both allow reuse.
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            reserved.bind((address, 0))
            port = reserved.getsockname()[1]
            child = iperf3.Child(iperf3.server_words(address, port))
            self._block = request, child
            child.await_listening()
        return f"{address} {port}"

    def _finish(self) -> agent.Receipt:
        prepared, child = self._current()
        if self._before is None:
            raise OrbtaxError("the block was not begun")
        result = child.result(iperf3.END_S)
        after = iperf3.read(prepared.interface)
        return agent.Receipt(
            received_bytes=result.received_bytes,
            messages=iperf3.messages(prepared.block, result),
            connections=len(result.connections),
            faults=0,
            first_faults=(),
            checksum=None,
            record=iperf3.record(prepared.block, self._before, after, result),
        )

    def _current(self) -> tuple[agent.Prepare, iperf3.Child]:
        if self._block is None:
            raise OrbtaxError("no block is prepared")
        return self._block

    def _close(self) -> None:
        block, self._block, self._before = self._block, None, None
        if block is not None:
            block[1].close()


if __name__ == "__main__":
    agent.run("servant-iperf3", Server().handle)
