"""Our loop beside a bare one, and what recording and checking cost in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from benchmarks.figure import Figure
from benchmarks.lane import Lane, Rates, case_of, in_turn, opened
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
    for what, _, rates in _beside(scale, CALLS, client_module=_bare_client):
        yield rates.ratio(what, BARE_AT_LEAST)


def recording(scale: Scale) -> Iterator[Figure]:
    """What is lost to a time stamp for every call."""
    for what, size_bytes, rates in _beside(scale, CALLS, client_module=_unrecorded_client):
        yield rates.cost(what, RECORDING_AT_MOST[size_bytes])


def integrity(scale: Scale) -> Iterator[Figure]:
    """What is lost to the receiver's look at both ends of every message."""
    for what, _, rates in _beside(scale, (*CALLS, Arm.STREAM), check=False):
        yield rates.cost(what, INTEGRITY_AT_MOST)


def _beside(
    scale: Scale, arms: Sequence[Arm], **changes: object
) -> Iterator[tuple[str, int, Rates]]:
    """Our programs beside the same with `changes`, for each arm and payload."""
    with opened(LINK) as (link, placement):

        def pair(**chosen: object) -> Pair:
            return Pair(link, placement, 0, verify=False, **chosen)  # type: ignore[arg-type]

        @contextmanager
        def sides(arm: Arm, size_bytes: int) -> Iterator[tuple[Lane, Lane]]:
            with pair() as ours, pair(**changes) as others:
                case = case_of(link, arm, size_bytes)
                yield Lane(ours, case, scale.block_s), Lane(others, case, scale.block_s)

        for arm in arms:
            for size_bytes in SIZES_BYTES:
                rates = in_turn(partial(sides, arm, size_bytes), scale)
                yield f"{arm}, {format_size(size_bytes)}", size_bytes, rates


def _bare_client(_arm: Arm) -> str:
    return "benchmarks.bare_client"


def _unrecorded_client(_arm: Arm) -> str:
    return "benchmarks.unrecorded_client"
