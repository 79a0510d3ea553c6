"""The post of 2008 on SDP: bandwidth by message size for three settings of the socket buffers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from orbtax.published.rows import read_rows


@dataclass(frozen=True, slots=True)
class BufferSetting:
    """The socket buffers of both ends."""

    send_buffer_bytes: int
    receive_buffer_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SdpResult:
    """What netperf moved at one message size under one setting."""

    message_bytes: int
    buffers: BufferSetting
    mbit_s: float


SETTINGS: Mapping[str, BufferSetting] = MappingProxyType(
    {
        "send16M_recv8M_mbit_s": BufferSetting(16 * 1024**2, 8 * 1024**2),
        "send256K_recv256K_mbit_s": BufferSetting(256 * 1024, 256 * 1024),
        "send16K_recv87380_mbit_s": BufferSetting(16 * 1024, 87_380),
    }
)
"""Column of the file → the setting that its figures were taken with."""


def sdp_results() -> tuple[SdpResult, ...]:
    """All results, in rising message size."""
    return tuple(
        SdpResult(
            message_bytes=int(row["packet_bytes"]), buffers=setting, mbit_s=float(row[column])
        )
        for row in read_rows("sdp_buffers.csv")
        for column, setting in SETTINGS.items()
    )
