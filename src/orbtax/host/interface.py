"""What crossed one network interface, from the counters in /proc/self/net/dev.

That file shows the interfaces of the process's own network namespace; /sys/class/net may show
those of the namespace in which it was mounted.
"""

from __future__ import annotations

from dataclasses import dataclass

from orbtax.host.kernel import THIS_HOST, KernelFiles, UnreadableError
from orbtax.record import InterfaceCount

_SOURCE = "self/net/dev"
_COLUMNS = 16  # 8 of receiving, 8 of sending


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceReading:
    """Counters of one interface since it was made."""

    interface: str
    received_bytes: int
    received_packets: int
    received_dropped_packets: int
    sent_bytes: int
    sent_packets: int
    sent_dropped_packets: int


def read(interface: str, kernel: KernelFiles = THIS_HOST) -> InterfaceReading:
    """The counters of `interface` now.

    UnreadableError when this network namespace has no such interface, or the file another form.
    """
    return parse(kernel.read_proc(_SOURCE), interface)


def parse(text: str, interface: str) -> InterfaceReading:
    """The line of `interface` in a /proc/net/dev; UnreadableError when there is none."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, counters = line.partition(":")
        if colon:
            found[name.strip()] = counters
    if interface not in found:
        known = ", ".join(found) or "no interface"
        raise UnreadableError(f"there is no interface {interface!r} here, only: {known}")
    try:
        columns = [int(column) for column in found[interface].split()]
    except ValueError:
        columns = []
    if len(columns) < _COLUMNS:
        raise UnreadableError(
            f"/proc/{_SOURCE} gives {found[interface].strip()!r} for {interface}: "
            f"{_COLUMNS} counters are needed"
        )
    return InterfaceReading(
        interface=interface,
        received_bytes=columns[0],
        received_packets=columns[1],
        received_dropped_packets=columns[3],
        sent_bytes=columns[8],
        sent_packets=columns[9],
        sent_dropped_packets=columns[11],
    )


def difference(before: InterfaceReading, after: InterfaceReading) -> InterfaceCount:
    """What crossed the interface between two readings of it.

    UnreadableError when a counter ran backwards: the interface was made anew in between.
    """
    count = InterfaceCount(
        interface=after.interface,
        received_bytes=after.received_bytes - before.received_bytes,
        sent_bytes=after.sent_bytes - before.sent_bytes,
        received_packets=after.received_packets - before.received_packets,
        sent_packets=after.sent_packets - before.sent_packets,
        dropped_packets=after.received_dropped_packets
        + after.sent_dropped_packets
        - before.received_dropped_packets
        - before.sent_dropped_packets,
    )
    counters = (count.received_bytes, count.sent_bytes, count.received_packets, count.sent_packets)
    if min(*counters, count.dropped_packets) < 0:
        raise UnreadableError(
            f"a counter of {after.interface} ran backwards: it was made anew during the block"
        )
    return count
