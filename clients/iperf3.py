"""The sending end of the `iperf3` arm: an iperf3 client runs the block, and is read."""

from __future__ import annotations

from orbtax import agent, iperf3
from orbtax.errors import OrbtaxError


class Client:
    """Answers the parent's requests, one block after the other."""

    def __init__(self) -> None:
        self._request: agent.Prepare | None = None

    def handle(self, request: agent.Request) -> agent.Answer:
        """Answers one request; OrbtaxError if it comes out of turn or iperf3 failed."""
        match request:
            case agent.Prepare():
                iperf3.check_installed()
                self._request = request
                return agent.Done()
            case agent.Go():
                return self._go()
            case agent.Close():
                self._request = None
                return agent.Done()
            case _:
                raise OrbtaxError(f"a client does not know {type(request).__name__}")

    def _go(self) -> agent.Outcome:
        request = self._request
        if request is None or request.target is None:
            raise OrbtaxError("no block is prepared")
        address, _, port = request.target.partition(" ")
        words = iperf3.client_words(request.block, address, int(port))
        before = iperf3.read(request.interface)
        result = iperf3.Child(words).result()
        after = iperf3.read(request.interface)
        return agent.Outcome(
            window_s=result.window_s,
            confirmed_bytes=result.received_bytes,
            messages=iperf3.messages(request.block, result),
            start_skew_s=None,
            clock_tick_s=None,
            thread_bytes=result.stream_bytes,
            thread_window_s=result.stream_window_s,
            latencies=None,
            checksum=None,
            record=iperf3.record(request.block, before, after, result),
        )


if __name__ == "__main__":
    agent.run("client-iperf3", Client().handle)
