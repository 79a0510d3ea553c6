"""Our stream beside iperf3: the baseline must not be weaker than the tool that people trust."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from benchmarks.figure import Figure
from benchmarks.lane import Lane, case_of, in_turn, opened
from benchmarks.scale import Scale
from orbtax import iperf3
from orbtax.model import Arm, Link, Options, Placement
from orbtax.pair import Pair
from orbtax.report.numbers import counted

TITLE = "stream ÷ iperf3, 128 KiB"
PAYLOAD_BYTES = 128 * 1024
STREAMS = (1, 4)
LINKS = ("lo", "ib")
AT_LEAST = 1.0
ROUNDS = 2
OPTIONS = Options(congestion_control="cubic")
"""One control everywhere: hosts differ in theirs, and some make blocks over a loopback erratic."""


def figures(scale: Scale) -> Iterator[Figure]:
    """For each link and number of streams, with our messages as they are and kept in the cache.

    iperf3 sends one buffer over and over, which does not leave the cache; our messages in turn
    are larger than the second-level cache on purpose, for every arm. What that costs the sender
    shows in the second figure, where two messages take turns, and which has no target. Blocks are
    long ones, since iperf3 is used for seconds.

    Raises UnavailableError without iperf3.
    """
    iperf3.check_installed()
    long = replace(scale, block_s=scale.long_block_s, rounds=ROUNDS)
    for name in LINKS:
        with opened(name) as (link, placement):
            for streams in STREAMS:
                what = f"{name}, {counted(streams, 'stream')}"
                sides = partial(_sides, link, placement, streams, long)
                yield in_turn(sides, long).ratio(what, AT_LEAST)
                cached = in_turn(partial(sides, cache_bytes=0), long)
                yield cached.ratio(f"{what}, in the cache", at_least=None)


@contextmanager
def _sides(
    link: Link,
    placement: Placement,
    streams: int,
    scale: Scale,
    *,
    cache_bytes: int | None = None,
) -> Iterator[tuple[Lane, Lane]]:
    with Pair(link, placement, 0, verify=False, cache_bytes=cache_bytes) as pair:
        ours, theirs = (
            Lane.lasting(
                pair.run,
                replace(case_of(link, arm, PAYLOAD_BYTES, streams), options=OPTIONS),
                scale.block_s,
            )
            for arm in (Arm.STREAM, Arm.IPERF3)
        )
        yield ours, theirs
