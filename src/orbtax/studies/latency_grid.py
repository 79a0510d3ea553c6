"""The sizes and the settings that a message's time is measured at.

A cell is one pass over all sizes under one setting, and its rounds are repetitions of the whole
curve: what one repetition shows and another does not is seen, and a drift falls on no size alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from orbtax.model import Arm, Case, Cell, Options

KIB = 1024
LARGEST_BYTES = 10_000_000
NEIGHBOUR_BYTES = 3
"""Each full size is measured with this much less and more, so that a step beside it shows."""
BUFFERS_BYTES = (32 * KIB, 64 * KIB)
"""Those of the report of 1994."""

WAITING_ARMS = (Arm.CALL, Arm.PINGPONG, Arm.CORBA, Arm.ECHO)
BRIEF_ARMS = (Arm.CALL, Arm.CORBA)

# Around the sizes at which omniORB sends in another way (8 and 16 KiB) and a segment of the
# loopback interface is full (64 KiB), both neighbours.
BRIEF_SIZES_BYTES = (
    *(0, 1, 10, 100, 500, 1000, 2000, 4096, 8189, 8192, 8195, 10_000, 16_381, 16_384, 16_387),
    *(32_768, 65_533, 65_536, 65_539, 100_000, 131_072, 262_144, 500_000, 1_048_576, 2_000_000),
    *(5_000_000, LARGEST_BYTES),
)
# Large ones, too: where the law changes, four sizes have to lie beyond.
SOME_SIZES_BYTES = (
    *(0, 1, 100, 1000, 8192, 16_384, 65_533, 65_536, 65_539, 131_072, 262_144),
    *(500_000, 1_048_576, 2_000_000, 5_000_000, LARGEST_BYTES),
)
# With small buffers a large message may wait for a timer over and over.
FEW_SIZES_BYTES = (
    *(0, 1, 100, 1000, 8192, 16_384, 32_768, 65_533, 65_536, 65_539, 100_000, 131_072, 262_144),
    1_048_576,
)
LONG_S = 0.01
MERGING_SIZES_BYTES = (1, 4, 16, 64, 256, 1024, 4096, 16_384)
MERGING_MESSAGES = 20_000
"""In each round, or fewer where they are more than `MERGING_BYTES`."""
MERGING_BYTES = 16 * KIB * KIB


@dataclass(frozen=True, slots=True)
class Pass:
    """A setting of the raw sockets, with the sizes and arms that it is tried at."""

    options: Options
    sizes_bytes: tuple[int, ...]
    arms: tuple[Arm, ...]


def full_sizes_bytes() -> tuple[int, ...]:
    """0 to 10 MB: 1, 2, 5 × 10^n and powers of two, each with 3 bytes less and more."""
    decades = {step * 10**power for power in range(8) for step in (1, 2, 5)}
    doubled = {1 << power for power in range(24)}
    middles = {0} | {size for size in decades | doubled if size <= LARGEST_BYTES}
    around = {
        size + way * NEIGHBOUR_BYTES for size in middles if size for way in (-1, 0, 1)
    } | middles
    return tuple(sorted(size for size in around if size >= 0))


def brief_passes(
    sizes_bytes: Sequence[int] | None = None, rate_bit_s: int | None = None
) -> tuple[Pass, ...]:
    """What fits into two minutes: one whole curve of every arm, and each setting changed alone.

    Of the sizes that a link of `rate_bit_s` takes long for, only the largest is measured.
    """
    most_bytes = None if rate_bit_s is None else LONG_S * rate_bit_s / 8
    many, some, few = (
        tuple(sizes_bytes) if sizes_bytes is not None else _quick(sizes, most_bytes)
        for sizes in (BRIEF_SIZES_BYTES, SOME_SIZES_BYTES, FEW_SIZES_BYTES)
    )
    return (
        Pass(Options(), many, WAITING_ARMS),
        Pass(Options(reverse=True), some, BRIEF_ARMS),
        Pass(Options(nodelay=False), some, (Arm.CALL, Arm.PINGPONG)),
        *(Pass(_buffered(Options(), size), few, BRIEF_ARMS) for size in BUFFERS_BYTES),
    )


def full_passes(sizes_bytes: Sequence[int] | None = None) -> tuple[Pass, ...]:
    """Every size under every setting: both directions, all buffers, TCP_NODELAY on and off."""
    sizes = tuple(sizes_bytes or full_sizes_bytes())
    return tuple(
        Pass(_buffered(Options(nodelay=nodelay, reverse=reverse), size), sizes, WAITING_ARMS)
        for reverse, size, nodelay in product((False, True), (None, *BUFFERS_BYTES), (True, False))
    )


def cell_of(link: str, each: Pass, rounds: int) -> Cell:
    """One pass over the sizes, the arms of a size next to each other; calls have size 0 as well."""
    cases = [
        Case(link=link, arm=arm, payload_bytes=size, threads=1, options=options)
        for size in sorted({0, *each.sizes_bytes})
        for arm, options in _at(size, each)
    ]
    return Cell(cases=tuple(cases), rounds=rounds)


def merging_cells(link: str, rounds: int) -> tuple[Cell, ...]:
    """Small messages written one after the other, with TCP_NODELAY on and off.

    Their number is given: the last ones of a stream wait for an acknowledgement with TCP_NODELAY
    off, so that the time of a few messages does not tell how many fill a block.
    """
    return tuple(
        Cell(
            cases=tuple(
                Case(
                    link=link,
                    arm=Arm.STREAM,
                    payload_bytes=size,
                    threads=1,
                    options=Options(nodelay=nodelay),
                )
                for nodelay in (True, False)
            ),
            rounds=rounds,
            total_bytes=rounds * size * min(MERGING_MESSAGES, MERGING_BYTES // size),
        )
        for size in MERGING_SIZES_BYTES
    )


def corba_options(options: Options) -> Options | None:
    """What omniORB can be given of a setting; None if nothing of it would be in force.

    Its sockets always have TCP_NODELAY, and it has an option for the send buffer alone.
    """
    if not options.nodelay:
        return None
    return replace(options, receive_buffer_bytes=None)


def _quick(sizes_bytes: Sequence[int], most_bytes: float | None) -> tuple[int, ...]:
    """Those up to `most_bytes`, and the largest in any case."""
    *others, largest = sizes_bytes
    return (*(size for size in others if most_bytes is None or size <= most_bytes), largest)


def _at(size: int, each: Pass) -> Iterator[tuple[Arm, Options]]:
    for arm in each.arms:
        options = corba_options(each.options) if arm.is_corba else each.options
        if options is None or (size == 0 and not arm.is_corba):
            continue
        if size == 0 and arm is Arm.CORBA:
            yield Arm.EMPTY, options
        yield arm, options


def _buffered(options: Options, size_bytes: int | None) -> Options:
    return replace(options, send_buffer_bytes=size_bytes, receive_buffer_bytes=size_bytes)
