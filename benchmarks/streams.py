"""Our stream beside iperf3: the baseline must not be weaker than the tool that people trust."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product

from benchmarks.figure import Figure
from benchmarks.lane import Lane, case_of, in_turn, opened
from benchmarks.scale import Scale
from orbtax import iperf3
from orbtax.model import Arm, Link, Placement
from orbtax.pair import Pair
from orbtax.report.numbers import counted
from orbtax.units import display_duration

TITLE = "stream ÷ iperf3, 128 KiB"
PAYLOAD_BYTES = 128 * 1024
STREAMS = (1, 4)
LINKS = ("lo", "ib")
AT_LEAST = 1.0
"""In long blocks: iperf3 is used for seconds, ten by default.

Short ones stand beside them without a target. On a loopback they are mostly over before the
buffers have grown, and then one small buffer for each stream, which iperf3 sends over and over,
does not leave the cache; ours are larger than it on purpose.
"""
LONG_ROUNDS = 2


def figures(scale: Scale) -> Iterator[Figure]:
    """For each link and number of streams a long block and a short one.

    Raises UnavailableError without iperf3.
    """
    iperf3.check_installed()
    long = replace(scale, block_s=scale.long_block_s, rounds=LONG_ROUNDS)
    for name in LINKS:
        with opened(name) as (link, placement):
            for streams, (each, at_least) in product(STREAMS, ((long, AT_LEAST), (scale, None))):
                rates = in_turn(partial(_sides, link, placement, streams, each), each)
                what = f"{name}, {counted(streams, 'stream')}, {display_duration(each.block_s)}"
                yield rates.ratio(what, at_least)


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
