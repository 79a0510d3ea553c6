"""Linux `struct tcp_info`, member by member, and what changed in it over a block.

Offsets and types are those of include/uapi/linux/tcp.h; the kernel only ever appends members, so
an older kernel returns a shorter structure and a newer one a longer structure.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

ROOM_BYTES = 256
"""Enough for every member that is read here."""

_SYN_AND_FIN_BYTES = 2
_STATE_OFFSET = 0
_STATES_AFTER_FIN = (8, 9, 11)  # CLOSE_WAIT, LAST_ACK, CLOSING
_TCPI_OPT_WSCALE = 4
_OPTIONS_OFFSET = 5
_SCALES_OFFSET = 6


def _same(value: int) -> int:
    return value


def _bits(value_bytes: int) -> int:
    return 8 * value_bytes


def _seconds(value_us: int) -> float:
    return value_us / 1_000_000


@dataclass(frozen=True, slots=True)
class Member:
    """One member of `struct tcp_info` and the field of `TcpState` that it fills."""

    name: str  # in TcpState
    member: str  # in the kernel
    offset: int
    code: str  # I: 32 bits, Q: 64 bits
    since: str  # the first Linux that has it
    counts: bool = False  # a counter since the connection was opened
    convert: Callable[[int], float] = _same
    unmeasured: int | None = None  # what the kernel gives while it has no measurement

    def read(self, info: bytes) -> int | None:
        """The raw value, or None if the structure ends before it."""
        if self.offset + struct.calcsize(f"={self.code}") > len(info):
            return None
        value: int = struct.unpack_from(f"={self.code}", info, self.offset)[0]
        return value

    def since_then(self, before: int, after: int) -> int:
        """How far the counter went; one of 32 bits starts again at 0 after its last value."""
        return (after - before) % 2**32 if self.code == "I" else max(0, after - before)


_SENT = Member("sent_bytes", "tcpi_bytes_sent", 200, "Q", "4.19", True)
_RETRANSMITTED = Member("retransmitted_bytes", "tcpi_bytes_retrans", 208, "Q", "4.19", True)
_ACKNOWLEDGED = Member("acknowledged_bytes", "tcpi_bytes_acked", 120, "Q", "4.1", True)
_RECEIVED = Member("received_bytes", "tcpi_bytes_received", 128, "Q", "4.1", True)
SMOOTHED_RTT = Member("smoothed_rtt_us", "tcpi_rtt", 68, "I", "2.4", unmeasured=0)
SEND_WINDOW = Member("send_window_bytes", "tcpi_snd_wnd", 228, "I", "5.4")

MEMBERS = (
    Member("mss_bytes", "tcpi_snd_mss", 16, "I", "2.4"),
    SMOOTHED_RTT,
    Member("congestion_window_segments", "tcpi_snd_cwnd", 80, "I", "2.4"),
    Member("retransmissions", "tcpi_total_retrans", 100, "I", "2.6", True),
    _ACKNOWLEDGED,
    _RECEIVED,
    Member("segments_out", "tcpi_segs_out", 136, "I", "4.2", True),
    Member("segments_in", "tcpi_segs_in", 140, "I", "4.2", True),
    Member("min_rtt_us", "tcpi_min_rtt", 148, "I", "4.6", unmeasured=0xFFFFFFFF),
    Member("data_segments_out", "tcpi_data_segs_out", 156, "I", "4.6", True),
    # bytes per second in the kernel
    Member("delivery_rate_bit_s", "tcpi_delivery_rate", 160, "Q", "4.9", False, _bits, 0),
    Member("busy_s", "tcpi_busy_time", 168, "Q", "4.10", True, _seconds),
    Member("receiver_limited_s", "tcpi_rwnd_limited", 176, "Q", "4.10", True, _seconds),
    Member("buffer_limited_s", "tcpi_sndbuf_limited", 184, "Q", "4.10", True, _seconds),
    _RETRANSMITTED,
    SEND_WINDOW,
)


@dataclass(frozen=True, slots=True)
class InfoChange:
    """What one connection did between two structures, by the field names of `TcpState`."""

    values: Mapping[str, Any]  # whole numbers, seconds, or None
    missing: Mapping[str, str] = field(default_factory=dict)


def difference(before: bytes | None, after: bytes) -> InfoChange:
    """Counters as they grew from `before` to `after`, everything else as it stands in `after`.

    `before` is None for a connection that was opened since: its counters start from zero.
    """
    values: dict[str, float | None] = {}
    missing: dict[str, str] = {}
    for member in MEMBERS:
        later = _payload(member, after)
        earlier = 0 if before is None else _payload(member, before)
        if later is None or earlier is None:
            missing[member.name] = (
                f"{member.member} came with Linux {member.since}: "
                f"the tcp_info of this kernel ends at byte {len(after)}"
            )
        elif later == member.unmeasured:
            missing[member.name] = f"{member.member}: the kernel has no measurement yet"
        else:
            grown = member.since_then(earlier, later) if member.counts else later
            values[member.name] = member.convert(grown)
    scales, reasons = _window_scales(after)
    return InfoChange(dict.fromkeys(missing) | values | scales, missing | reasons)


def _payload(member: Member, info: bytes) -> int | None:
    """The raw value; of byte counters without the SYN and FIN, which the kernel counts as bytes."""
    value = member.read(info)
    if value is None:
        return None
    if member is _ACKNOWLEDGED:
        sent, repeated = _SENT.read(info), _RETRANSMITTED.read(info)
        if sent is None or repeated is None:
            return value
        # Never more payload was acknowledged than was sent once. At most these two are taken off,
        # since a retransmission that failed in this host counts as repeated and not as sent.
        return value - min(max(value - (sent - repeated), 0), _SYN_AND_FIN_BYTES)
    if member is _RECEIVED and info[_STATE_OFFSET] in _STATES_AFTER_FIN:
        return value - 1
    return value


def _window_scales(info: bytes) -> tuple[dict[str, float | None], dict[str, str]]:
    """The two four-bit shifts, whose order within their byte is the machine's."""
    names = ("window_scale_send", "window_scale_receive")
    if len(info) <= _SCALES_OFFSET:
        reason = f"tcpi_snd_wscale: the tcp_info of this kernel ends at byte {len(info)}"
    elif not info[_OPTIONS_OFFSET] & _TCPI_OPT_WSCALE:
        reason = "window scaling was not negotiated: a window is at most 65535 bytes"
    else:
        low, high = info[_SCALES_OFFSET] & 0xF, info[_SCALES_OFFSET] >> 4
        shifts = (low, high) if sys.byteorder == "little" else (high, low)
        return dict(zip(names, shifts, strict=True)), {}
    return dict.fromkeys(names), dict.fromkeys(names, reason)
