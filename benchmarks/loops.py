"""Our loop beside a bare one, and what recording and checking cost in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product

from benchmarks.figure import Figure
from benchmarks.lane import Lane, Place, Rates, case_of, in_turn, opened
from benchmarks.scale import Scale
from orbtax.model import Arm
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
    with opened(LINK) as place:
        for arm, size_bytes, what in _cases(CALLS):
            sides = partial(_ours_and_bare, place, arm, size_bytes, scale)
            yield in_turn(sides, scale).ratio(what, BARE_AT_LEAST)


def recording(scale: Scale) -> Iterator[Figure]:
    """What is lost to a time stamp for every call."""
    with opened(LINK) as place:
        for arm, size_bytes, what in _cases(CALLS):
            rates = _with_and_without(place, arm, size_bytes, scale, stamp=False)
            yield rates.cost(what, RECORDING_AT_MOST[size_bytes])


def integrity(scale: Scale) -> Iterator[Figure]:
    """What is lost to the receiver's look at both ends of every message."""
    with opened(LINK) as place:
        for arm, size_bytes, what in _cases((*CALLS, Arm.STREAM)):
            rates = _with_and_without(place, arm, size_bytes, scale, check=False)
            yield rates.cost(what, INTEGRITY_AT_MOST)


def _cases(arms: Sequence[Arm]) -> Iterator[tuple[Arm, int, str]]:
    for arm, size_bytes in product(arms, SIZES_BYTES):
        yield arm, size_bytes, f"{arm}, {format_size(size_bytes)}"


@contextmanager
def _ours_and_bare(
    place: Place, arm: Arm, size_bytes: int, scale: Scale
) -> Iterator[tuple[Lane, Lane]]:
    link, placement = place
    case = case_of(link, arm, size_bytes)
    with (
        Pair(link, placement, 0, verify=False) as ours,
        Pair(link, placement, 0, verify=False, client_module=_bare_client) as others,
    ):
        lane = Lane(ours, case, scale.block_s)
        yield lane, Lane(others, case, scale.block_s, beside=lane)


def _with_and_without(
    place: Place, arm: Arm, size_bytes: int, scale: Scale, *, check: bool = True, stamp: bool = True
) -> Rates:
    """Blocks as ever beside others of the same programs, whose luck would hide a small cost."""
    link, placement = place
    case = case_of(link, arm, size_bytes)

    @contextmanager
    def sides() -> Iterator[tuple[Lane, Lane]]:
        with Pair(link, placement, 0, verify=False) as pair:
            lane = Lane(pair, case, scale.block_s)
            yield lane, Lane(pair, case, scale.block_s, beside=lane, check=check, stamp=stamp)

    return in_turn(sides, replace(scale, rounds=scale.fine_rounds))


def _bare_client(_arm: Arm) -> str:
    return "benchmarks.bare_client"
