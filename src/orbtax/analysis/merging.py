"""How many messages a stream put into one TCP segment, by the counters of its own socket.

A protocol that gathers small messages before it sends makes the time of one look small, and with
it the overhead: the warning of the report of 1994.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orbtax.analysis.rates import good_blocks
from orbtax.model import Arm, Options
from orbtax.record import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedMessages:
    """The messages of one stream case over all its rounds, and what carried them."""

    link: str
    payload_bytes: int
    options: Options
    messages: int  # handed to the socket
    segments: int | None  # data segments sent; None: the kernel did not tell
    time_s: float

    @property
    def messages_per_segment(self) -> float | None:
        """Above 1 where messages were merged, below where one took several segments."""
        return self.messages / self.segments if self.segments else None

    @property
    def message_us(self) -> float:
        """Time per message, which merging makes small."""
        return 1e6 * self.time_s / self.messages


def merged_messages(samples: Iterable[Sample]) -> tuple[MergedMessages, ...]:
    """The streams of a run, each setting by size."""
    found = [
        _merged(case.link, case.payload_bytes, case.options, blocks)
        for case, blocks in good_blocks(samples).items()
        if case.arm is Arm.STREAM
    ]
    return tuple(sorted(found, key=lambda each: (each.link, each.payload_bytes)))


def _merged(link: str, size: int, options: Options, blocks: list[Sample]) -> MergedMessages:
    counts = [
        state.data_segments_out
        for block in blocks
        for state in (block.client.connections if block.client else ())
    ]
    known = [count for count in counts if count is not None]
    return MergedMessages(
        link=link,
        payload_bytes=size,
        options=options,
        messages=sum(block.messages or 0 for block in blocks),
        segments=sum(known) if known and len(known) == len(counts) else None,
        time_s=sum(block.window_s or 0.0 for block in blocks),
    )
