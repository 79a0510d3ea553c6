"""One look at this process and its host: before a block, and again after it.

Light to import, since every servant and client does: no package beyond the standard library.
"""

from __future__ import annotations

import resource
from collections.abc import Mapping
from dataclasses import dataclass, field

from orbtax.host import buffers, processor, tcp
from orbtax.host import interface as interfaces
from orbtax.host.interface import InterfaceReading
from orbtax.host.kernel import UnreadableError
from orbtax.host.processor import ProcessorReading
from orbtax.host.tcp import RawConnection
from orbtax.record import EndRecord, InterfaceCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Counters of this process's connections, its host's processors and one interface.

    The processors are read first and last, so that what the reading itself costs falls outside
    the block on both sides of it.
    """

    processor_first: ProcessorReading
    connections: tuple[RawConnection, ...]
    interface: InterfaceReading | None
    processor_last: ProcessorReading
    missing: Mapping[str, str] = field(default_factory=dict)


def read(interface: str | None, whose: int = resource.RUSAGE_SELF) -> Reading:
    """Reads all counters now; `interface` is the link's, None if it is not known.

    `whose` processor time counts is as in `processor.read`. To be called while the connections
    are open: what is closed can no longer be asked.
    """
    processor_first = processor.read(whose=whose)
    connections = tcp.read_connections()
    counters, missing = None, {}
    if interface is None:
        missing["interface"] = "the interface that carries the link is not known"
    else:
        try:
            counters = interfaces.read(interface)
        except UnreadableError as error:
            missing["interface"] = str(error)
    return Reading(
        processor_first=processor_first,
        connections=connections,
        interface=counters,
        processor_last=processor.read(whose=whose),
        missing=missing,
    )


def difference(
    before: Reading,
    after: Reading,
    *,
    send_buffer_bytes: int | None,
    receive_buffer_bytes: int | None,
) -> EndRecord:
    """What this end saw of the block between two readings.

    The buffers are those that the case asked for, None where it left them to the kernel.
    """
    missing = {**before.missing, **after.missing}
    connections = tcp.difference(before.connections, after.connections)
    closed = tcp.closed_meanwhile(before.connections, after.connections)
    if closed:
        missing["connections"] = "closed before the second reading, so not counted: " + ", ".join(
            f"{raw.local} → {raw.remote}" for raw in closed
        )
    count: InterfaceCount | None = None
    if before.interface is not None and after.interface is not None:
        try:
            count = interfaces.difference(before.interface, after.interface)
        except UnreadableError as error:
            missing["interface"] = str(error)
    return EndRecord(
        processor=processor.difference(before.processor_last, after.processor_first),
        connections=connections,
        interface=count,
        send_buffer=buffers.judge(send_buffer_bytes, connections, "send"),
        receive_buffer=buffers.judge(receive_buffer_bytes, connections, "receive"),
        missing=missing,
    )
