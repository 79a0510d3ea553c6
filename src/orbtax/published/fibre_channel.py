"""The Fibre Channel report of 1994: overhead and peak speed of messages between workstations."""

from __future__ import annotations

from dataclasses import dataclass

from orbtax.published.rows import read_records


@dataclass(frozen=True, slots=True, kw_only=True)
class FibreChannelResult:
    """One direction between two machines."""

    sender: str
    receiver: str
    overhead_us: float  # the time of a message as its size goes to zero
    peak_mbyte_s: float  # 10^6 bytes per second
    peak_message_bytes: int
    socket_buffer_bytes: int


def fibre_channel_results() -> tuple[FibreChannelResult, ...]:
    """The results in the order of the report's conclusion."""
    return read_records("fibre_channel.csv", FibreChannelResult)
