"""The most memory that either end ever has, with many threads and large messages."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figure import Figure
from benchmarks.lane import case_of, opened, run_block
from benchmarks.scale import Scale
from orbtax.errors import ProgramError
from orbtax.model import Amount, Arm
from orbtax.pair import Pair

PAYLOAD_BYTES = 1024**2
MESSAGES = 8  # of each thread
AT_MOST = 250.0  # MB
ARMS = (Arm.CORBA, Arm.STREAM, Arm.CALL)


def title(scale: Scale) -> str:
    """What the table is about."""
    return f"peak memory, {scale.threads} threads × 1 MiB"


def figures(scale: Scale) -> Iterator[Figure]:
    """Client and servant of each arm, in programs that have run nothing else."""
    amount = Amount(total_bytes=scale.threads * MESSAGES * PAYLOAD_BYTES)
    with opened("lo") as (link, placement):
        for arm in ARMS:
            with Pair(link, placement, 0, verify=False) as pair:
                case = case_of(link, arm, PAYLOAD_BYTES, scale.threads)
                sample = run_block(pair.run, case, amount)
            for name, end in (("client", sample.client), ("servant", sample.servant)):
                if end is None:
                    raise ProgramError(f"the {name} of {arm} did not tell its memory")
                peak = end.processor.peak_memory_bytes / 1e6
                yield Figure(what=f"{arm}, {name}", value=peak, unit="MB", at_most=AT_MOST)
