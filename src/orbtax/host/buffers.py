"""A socket buffer asked for, beside the one that the kernel gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from orbtax.host.kernel import THIS_HOST, KernelFiles, UnreadableError
from orbtax.record import BufferRecord, TcpState

_LIMITS = {"send": "net.core.wmem_max", "receive": "net.core.rmem_max"}


def judge(
    requested_bytes: int | None,
    states: Sequence[TcpState],
    which: Literal["send", "receive"],
    kernel: KernelFiles = THIS_HOST,
) -> BufferRecord:
    """The buffers of all connections against the request; None leaves the size to the kernel.

    Linux doubles a request for its own bookkeeping and cuts it at a sysctl first (socket(7)), so
    an effective size below twice the request was clipped, or never set at all.
    """
    sizes = [
        size
        for state in states
        if (size := state.send_buffer_bytes if which == "send" else state.receive_buffer_bytes)
        is not None
    ]
    limit = None
    if requested_bytes is not None and any(size < 2 * requested_bytes for size in sizes):
        limit = _limit(_LIMITS[which], requested_bytes, min(sizes), kernel)
    return BufferRecord(
        requested_bytes=requested_bytes,
        effective_bytes=max(sizes, default=None),
        clipped=limit is not None,
        autotuned=requested_bytes is None,
        limit=limit,
    )


def _limit(sysctl: str, requested_bytes: int, smallest_bytes: int, kernel: KernelFiles) -> str:
    try:
        limit_bytes, *_ = kernel.sysctl_numbers(sysctl)
    except UnreadableError as error:
        return f"{sysctl}, whose value this network namespace does not show ({error})"
    allowed_bytes = 2 * min(limit_bytes, requested_bytes)
    if smallest_bytes < allowed_bytes:
        return (
            f"not {sysctl} = {limit_bytes}, which would have given {allowed_bytes}: "
            "the request never reached the socket"
        )
    return f"{sysctl} = {limit_bytes}"
