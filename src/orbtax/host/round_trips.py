"""Round-trip times of this process's connections, seen while a block runs.

What a connection tells when a block is over is of its last segments, sent when the queues were
running empty: on a fast link that can be a small part of what it was under load.
"""

from __future__ import annotations

import math
import socket
from array import array
from collections.abc import Iterable
from dataclasses import replace

from orbtax.host import tcp
from orbtax.host.tcp_info import ROOM_BYTES, SMOOTHED_RTT
from orbtax.record import EndRecord, TcpState


class RoundTrips:
    """Looks at the smoothed round-trip time of each connection, again and again.

    It holds the connections open, so it has to be closed before they are.
    """

    def __init__(self, duplicates: Iterable[socket.socket]) -> None:
        """`duplicates` of TCP sockets become its own; of each connection it keeps one."""
        self._sockets: dict[tuple[str, str], socket.socket] = {}
        self._seen_us: dict[tuple[str, str], array[float]] = {}
        for duplicate in duplicates:
            names = tcp.ends(duplicate)
            if names is None or names in self._sockets:
                duplicate.close()
            else:
                self._sockets[names] = duplicate
                self._seen_us[names] = array("d")

    def look(self) -> None:
        """Takes one value of each connection; one system call each, for the middle of a block."""
        for names, connection in self._sockets.items():
            info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, ROOM_BYTES)
            if rtt_us := SMOOTHED_RTT.read(info):
                self._seen_us[names].append(rtt_us)

    def added_to(self, record: EndRecord) -> EndRecord:
        """The record with what was seen of its connections.

        The harmonic mean, since it is window ÷ round-trip time whose mean over the time is a rate.
        """
        return replace(record, connections=tuple(map(self._with_mean, record.connections)))

    def close(self) -> None:
        """Lets go of the connections."""
        for connection in self._sockets.values():
            connection.close()

    def _with_mean(self, state: TcpState) -> TcpState:
        seen_us = self._seen_us.get((state.local, state.remote))
        if not seen_us:
            return state
        mean_us = len(seen_us) / math.fsum(1 / rtt_us for rtt_us in seen_us)
        return replace(state, loaded_rtt_us=mean_us)
