"""Two cases side by side: block by block, in turn, so that what slows the machine slows both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from statistics import fmean, median
from typing import Self

from benchmarks.figure import Figure
from benchmarks.scale import Scale
from orbtax import plan
from orbtax.analysis.ratio import log_interval, paired_logs
from orbtax.calibrate import calibrate, sized
from orbtax.errors import ProgramError
from orbtax.links import catalogue
from orbtax.links.opened import open_link
from orbtax.model import Amount, Arm, Block, Case, Link, Placement
from orbtax.record import Sample, Status

RunBlock = Callable[[Block], Sample]


@dataclass(frozen=True, slots=True)
class Lane:
    """One case in blocks of one amount, and what runs them."""

    run: RunBlock
    case: Case
    amount: Amount

    @classmethod
    def lasting(cls, run: RunBlock, case: Case, block_s: float) -> Self:
        """Sizes the blocks to last `block_s`; ProgramError if none can be run."""
        pilot = calibrate(case, block_s, partial(run_block, run, case))
        return cls(run, case, sized(case, pilot, block_s))

    def goodput_bit_s(self) -> float:
        """The goodput of one block; ProgramError if it fails."""
        return run_block(self.run, self.case, self.amount).goodput_bit_s or 0.0


Sides = Callable[[], AbstractContextManager[tuple[Lane, Lane]]]
"""Starts programs for two cases, and ends them afterwards."""


@dataclass(slots=True)
class Rates:
    """Goodputs in bit/s of two cases: for each sitting, round by round."""

    above: list[list[float]] = field(default_factory=list)
    below: list[list[float]] = field(default_factory=list)

    def ratio(self, what: str, at_least: float | None) -> Figure:
        """The one in terms of the other: the median of the rounds.

        The interval is that of the sittings' means: rounds of the same programs share their luck
        (where their memory lies, say) and tell less than they seem to.
        """
        sittings = [paired_logs(*goodputs) for goodputs in zip(self.above, self.below, strict=True)]
        interval = log_interval([fmean(logs) for logs in sittings])
        assert interval is not None  # every block went well
        rounds = list(chain.from_iterable(sittings))
        return Figure(
            what=what,
            value=math.exp(median(rounds)),
            low=interval.low,
            high=interval.high,
            rounds=len(rounds),
            at_least=at_least,
        )

    def cost(self, what: str, at_most: float) -> Figure:
        """The share of throughput in % that `above` loses to `below`; less than 0 is noise."""
        ratio = self.ratio(what, at_least=None)
        return Figure(
            what=what,
            value=100 * (1 - ratio.value),
            unit="%",
            low=None if ratio.high is None else 100 * (1 - ratio.high),
            high=None if ratio.low is None else 100 * (1 - ratio.low),
            rounds=ratio.rounds,
            at_most=at_most,
        )


def in_turn(sides: Sides, scale: Scale) -> Rates:
    """Runs both in the order A B B A."""
    rates = Rates()
    for _ in range(scale.sittings):
        rates.above.append([])
        rates.below.append([])
        with sides() as (above, below):
            for number in range(scale.rounds):
                turns = [(above, rates.above[-1]), (below, rates.below[-1])]
                for lane, goodputs in turns[:: -1 if number % 2 else 1]:
                    goodputs.append(lane.goodput_bit_s())
    return rates


def run_block(run: RunBlock, case: Case, amount: Amount) -> Sample:
    """Runs one block of a case; ProgramError if it fails."""
    sample = run(Block(case=case, cell=0, round=0, position=0, amount=amount))
    if sample.status is not Status.OK:
        raise ProgramError(f"{case.arm} on {case.link}: {sample.reason}")
    return sample


@contextmanager
def opened(name: str) -> Iterator[tuple[Link, Placement]]:
    """A built-in link that stands, and where its programs run by default."""
    (link,) = catalogue.pick(catalogue.load_catalogue(None), [name])
    with open_link(link) as stands:
        yield stands.link, plan.parse_placement(None, (link,))


def case_of(link: Link, arm: Arm, payload_bytes: int, threads: int = 1) -> Case:
    """A case without options."""
    return Case(link=link.name, arm=arm, payload_bytes=payload_bytes, threads=threads)
