"""Our stream beside iperf3: the baseline must not be weaker than the tool that people trust."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from benchmarks.figure import Figure
from benchmarks.lane import Lane, case_of, in_turn, opened
from benchmarks.scale import Scale
from orbtax import iperf3
from orbtax.model import Arm, Link, Placement
from orbtax.pair import Pair

TITLE = "stream ÷ iperf3, 128 KiB"
PAYLOAD_BYTES = 128 * 1024
STREAMS = (1, 4)
LINKS = ("lo", "ib")
AT_LEAST = 1.0


def figures(scale: Scale) -> Iterator[Figure]:
    """One figure for each link and number of streams; UnavailableError without iperf3."""
    iperf3.check_installed()
    for name in LINKS:
        with opened(name) as (link, placement):
            for streams in STREAMS:
                rates = in_turn(partial(_sides, link, placement, streams, scale), scale)
                yield rates.ratio(f"{name}, {streams} stream{'s' * (streams > 1)}", AT_LEAST)


@contextmanager
def _sides(
    link: Link, placement: Placement, streams: int, scale: Scale
) -> Iterator[tuple[Lane, Lane]]:
    with Pair(link, placement, 0, verify=False) as pair:
        ours, theirs = (
            Lane(pair, case_of(link, arm, PAYLOAD_BYTES, streams), scale.block_s)
            for arm in (Arm.STREAM, Arm.IPERF3)
        )
        yield ours, theirs
