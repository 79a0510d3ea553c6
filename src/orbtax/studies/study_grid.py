"""What the mailing-list study measures on one link: calls, and a search for the socket's best.

Both are laid down before anything is measured, and all of it is in the record: no setting is
tried because another one did well. The search goes in two steps: over the streams, with the
windows left to the kernel, and over the windows, at a few numbers of streams.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orbtax.model import Arm, Case, Options

KIB = 1024
STREAM_PAYLOAD_BYTES = 128 * KIB
"""What iperf hands to the socket at a time over TCP, unless told otherwise."""

WINDOWS_BYTES = (None, 64 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB)
"""Send and receive windows of the search; None leaves a window to the kernel."""

Windows = tuple[int | None, int | None]
"""A send and a receive window in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Sizes and threads of the calls, and the settings of the socket."""

    payloads_bytes: tuple[int, ...]
    threads: tuple[int, ...]
    streams: tuple[int, ...]
    windows: tuple[Windows, ...]
    window_streams: tuple[int, ...]  # the numbers of streams at which windows are set

    def calls(self, link: str) -> tuple[Case, ...]:
        """Every size with every number of threads."""
        return tuple(
            Case(link=link, arm=Arm.CORBA, payload_bytes=size, threads=count)
            for size in self.payloads_bytes
            for count in self.threads
        )

    def sockets(self, link: str) -> tuple[Case, ...]:
        """Both steps of the search."""
        left_to_kernel = ((count, Options()) for count in self.streams)
        by_hand = (
            (count, Options(send_buffer_bytes=send, receive_buffer_bytes=receive))
            for count in self.window_streams
            for send, receive in self.windows
        )
        return tuple(
            Case(
                link=link,
                arm=Arm.STREAM,
                payload_bytes=STREAM_PAYLOAD_BYTES,
                threads=count,
                options=options,
            )
            for count, options in (*left_to_kernel, *by_hand)
        )


_EVERY_COUNT = tuple(range(1, 33))
_SET_BYTES = WINDOWS_BYTES[1:]

FULL = Grid(
    payloads_bytes=tuple(KIB << step for step in range(11)),
    threads=_EVERY_COUNT,
    streams=_EVERY_COUNT,
    windows=tuple(
        (send, receive) for send in WINDOWS_BYTES for receive in WINDOWS_BYTES if send or receive
    ),
    window_streams=(1, 2, 3, 4, 6, 8, 16, 32),
)
"""As published: 1 KiB to 1 MiB in powers of two, 1 to 32 threads, every combination."""

QUICK = Grid(
    payloads_bytes=(KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB),
    threads=(1, 8, 26, 32),
    streams=(1, 2, 4, 8, 16, 32),
    windows=(
        *((size, size) for size in _SET_BYTES),
        (256 * KIB, 512 * KIB),  # the post's best on 10 GbE
        (256 * KIB, 1024 * KIB),  # and on InfiniBand
    ),
    window_streams=(4,),
)
"""The corners of the full grid, its published optima, and enough between them to see a shape."""


def interleaved(*groups: Iterable[Case]) -> tuple[Case, ...]:
    """The cases of all groups in one order that spreads each group evenly over the whole.

    A drift while one round goes over them then falls on all groups alike.
    """
    placed = []
    for group in groups:
        cases = tuple(group)
        placed += [((index + 0.5) / len(cases), case) for index, case in enumerate(cases)]
    return tuple(case for _, case in sorted(placed, key=lambda each: each[0]))
