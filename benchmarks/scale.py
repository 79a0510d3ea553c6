"""How much `invoke bench` does: enough to judge by, or just enough to see that it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The size of every benchmark."""

    sittings: int  # each with programs of its own: a process may be lucky all its life
    rounds: int  # in a sitting
    fine_rounds: int  # likewise, where a difference of 1 % is looked for
    block_s: float
    long_block_s: float  # beside a tool that is used for seconds
    samples: int  # in the run that is reported
    threads: int  # whose memory is looked at
    starts: int  # of the command line
    judged: bool  # whether the figures can be held against their targets


FULL = Scale(
    sittings=10,
    rounds=6,
    fine_rounds=20,
    block_s=0.1,
    long_block_s=1,
    samples=100_000,
    threads=32,
    starts=9,
    judged=True,
)
SMOKE = Scale(
    sittings=1,
    rounds=2,
    fine_rounds=2,
    block_s=0.01,
    long_block_s=0.05,
    samples=500,
    threads=4,
    starts=1,
    judged=False,
)
