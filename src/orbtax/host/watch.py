"""Connections of this process, watched while a block runs: round-trip times and windows.

What a connection tells when a block is over is of its last segments, sent when the queues were
running empty: on a fast link its round trip can be a small part of what it was under load.
"""

from __future__ import annotations

import math
import socket
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from orbtax.host import tcp
from orbtax.host.tcp_info import ROOM_BYTES, SEND_WINDOW, SMOOTHED_RTT
from orbtax.record import EndRecord, TcpState

ROUNDED_DOWN_US = 0.5
"""What the kernel takes off a round-trip time, on average, by giving whole microseconds."""


@dataclass(frozen=True, slots=True)
class _Watched:
    """A duplicate of one connection, and what was seen of it."""

    connection: socket.socket
    rtts_us: array[float] = field(default_factory=lambda: array("d"))
    windows_bytes: array[float] = field(default_factory=lambda: array("d"))

    def look(self) -> None:
        info = self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, ROOM_BYTES)
        rtt_us, window_bytes = SMOOTHED_RTT.read(info), SEND_WINDOW.read(info)
        if rtt_us:
            self.rtts_us.append(rtt_us + ROUNDED_DOWN_US)
        if window_bytes is not None:
            self.windows_bytes.append(window_bytes)


class Watch:
    """Looks at connections again and again.

    It holds them open, so it has to be closed before they are.
    """

    def __init__(self, duplicates: Iterable[socket.socket]) -> None:
        """`duplicates` of TCP sockets become its own; of each connection it keeps one."""
        self._watched: dict[tuple[str, str], _Watched] = {}
        for duplicate in duplicates:
            names = tcp.ends(duplicate)
            if names is None or names in self._watched:
                duplicate.close()
            else:
                self._watched[names] = _Watched(duplicate)

    def look(self) -> None:
        """Looks once: a system call for each connection, light enough for the middle of a block."""
        for watched in self._watched.values():
            watched.look()

    def added_to(self, record: EndRecord) -> EndRecord:
        """The record with the means of what was seen of its connections.

        Of round-trip times the harmonic one, since the mean over the time of window ÷ round-trip
        time is what becomes a rate.
        """
        return replace(record, connections=tuple(map(self._with_means, record.connections)))

    def close(self) -> None:
        """Lets go of the connections."""
        for watched in self._watched.values():
            watched.connection.close()

    def _with_means(self, state: TcpState) -> TcpState:
        watched = self._watched.get((state.local, state.remote))
        if watched is None or not watched.rtts_us:
            return state
        rtts_us, windows_bytes = watched.rtts_us, watched.windows_bytes
        return replace(
            state,
            loaded_rtt_us=len(rtts_us) / math.fsum(1 / rtt_us for rtt_us in rtts_us),
            loaded_window_bytes=math.fsum(windows_bytes) / len(windows_bytes)
            if windows_bytes
            else None,
        )
