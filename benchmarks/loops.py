"""Our loop beside a bare one, and what recording and checking cost in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from itertools import product

from benchmarks.figure import Figure
from benchmarks.lane import Lane, Rates, case_of, in_turn, opened
from benchmarks.scale import Scale
from orbtax.model import Arm, Case, Link, Placement
from orbtax.pair import Pair
from orbtax.units import format_size

LINK = "lo"
SIZES_BYTES = (1024, 64 * 1024)
CALLS = (Arm.CORBA, Arm.CALL)

BARE_TITLE = "our loop ÷ a bare loop of the same calls"
BARE_AT_LEAST = 0.97
RECORDING_TITLE = "throughput lost to recording each call"
RECORDING_AT_MOST = {1024: 3.0, 64 * 1024: 1.0}  # %
INTEGRITY_TITLE = "throughput lost to checking each message"
INTEGRITY_AT_MOST = 1.0  # %


def bare(scale: Scale) -> Iterator[Figure]:
    """The goodput of our whole client over that of a `for` loop with two readings of a clock."""
    for what, _, rates in _beside(scale, CALLS, _ours_and_bare):
        yield rates.ratio(what, BARE_AT_LEAST)


def recording(scale: Scale) -> Iterator[Figure]:
    """What is lost to a time stamp for every call."""
    sides = partial(_with_and_without, stamp=False)
    for what, size_bytes, rates in _beside(_fine(scale), CALLS, sides):
        yield rates.cost(what, RECORDING_AT_MOST[size_bytes])


def integrity(scale: Scale) -> Iterator[Figure]:
    """What is lost to the receiver's look at both ends of every message."""
    sides = partial(_with_and_without, check=False)
    for what, _, rates in _beside(_fine(scale), (*CALLS, Arm.STREAM), sides):
        yield rates.cost(what, INTEGRITY_AT_MOST)


def _fine(scale: Scale) -> Scale:
    return replace(scale, rounds=scale.fine_rounds)


def _beside(
    scale: Scale,
    arms: Sequence[Arm],
    sides: Callable[[Link, Placement, Case, float], AbstractContextManager[tuple[Lane, Lane]]],
) -> Iterator[tuple[str, int, Rates]]:
    """Both sides of each arm and payload, in turn."""
    with opened(LINK) as (link, placement):
        for arm, size_bytes in product(arms, SIZES_BYTES):
            case = case_of(link, arm, size_bytes)
            rates = in_turn(partial(sides, link, placement, case, scale.block_s), scale)
            yield f"{arm}, {format_size(size_bytes)}", size_bytes, rates


@contextmanager
def _ours_and_bare(
    link: Link, placement: Placement, case: Case, block_s: float
) -> Iterator[tuple[Lane, Lane]]:
    with (
        Pair(link, placement, 0, verify=False) as ours,
        Pair(link, placement, 0, verify=False, client_module=_bare_client) as bare,
    ):
        lane = Lane.lasting(ours.run, case, block_s)
        yield lane, replace(lane, run=bare.run)


@contextmanager
def _with_and_without(
    link: Link,
    placement: Placement,
    case: Case,
    block_s: float,
    *,
    check: bool = True,
    stamp: bool = True,
) -> Iterator[tuple[Lane, Lane]]:
    """Of the same programs, whose luck would hide a small cost."""
    with Pair(link, placement, 0, verify=False) as pair:
        lane = Lane.lasting(pair.run, case, block_s)
        yield lane, replace(lane, run=partial(pair.run, check=check, stamp=stamp))


def _bare_client(_arm: Arm) -> str:
    return "benchmarks.bare_client"
