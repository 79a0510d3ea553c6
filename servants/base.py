"""One block at the servant's end: opened, begun, finished, closed; the same for every arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from orbtax import agent
from orbtax.errors import OrbtaxError
from orbtax.host import reading
from orbtax.ring import Faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What an intake took since the block began."""

    received_bytes: int
    messages: int
    checksum: int | None  # of every message, made after the clock; None unless asked to verify


class Intake(Protocol):
    """How one family of arms takes the messages of one block."""

    target: str  # where clients find it
    faults: Faults

    def begin(self) -> None:
        """Every connection is open and warm: counts from zero."""

    def finish(self) -> Count:
        """Waits for what is still on its way, and counts."""

    def close(self) -> None:
        """Closes the block's connections."""


class Servant:
    """Answers the parent's requests with one intake for each block."""

    def __init__(self, open_intake: Callable[[agent.Prepare], Intake]) -> None:
        self._open_intake = open_intake
        self._block: tuple[agent.Prepare, Intake] | None = None
        self._before: reading.Reading | None = None

    def handle(self, request: agent.Request) -> agent.Answer:
        """Answers one request; OrbtaxError if it comes out of turn."""
        match request:
            case agent.Prepare():
                self._close()
                intake = self._open_intake(request)
                self._block = request, intake
                return agent.Prepared(target=intake.target)
            case agent.Begin():
                prepared, intake = self._current()
                intake.begin()
                self._before = reading.read(prepared.interface)
                return agent.Done()
            case agent.Finish():
                return self._finish()
            case agent.Close():
                self._close()
                return agent.Done()
            case _:
                raise OrbtaxError(f"a servant does not know {type(request).__name__}")

    def _current(self) -> tuple[agent.Prepare, Intake]:
        if self._block is None:
            raise OrbtaxError("no block is prepared")
        return self._block

    def _finish(self) -> agent.Receipt:
        prepared, intake = self._current()
        if self._before is None:
            raise OrbtaxError("the block was not begun")
        # Read first: making checksums is not part of the block.
        after = reading.read(prepared.interface)
        count = intake.finish()
        options = prepared.block.case.options
        record = reading.difference(
            self._before,
            after,
            send_buffer_bytes=options.send_buffer_bytes,
            receive_buffer_bytes=options.receive_buffer_bytes,
        )
        return agent.Receipt(
            received_bytes=count.received_bytes,
            messages=count.messages,
            connections=len(after.connections),
            faults=intake.faults.count,
            first_faults=tuple(intake.faults.first),
            checksum=count.checksum,
            record=record,
        )

    def _close(self) -> None:
        block, self._block, self._before = self._block, None, None
        if block is not None:
            block[1].close()
