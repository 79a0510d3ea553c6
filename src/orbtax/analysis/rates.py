"""The rates of each case by round: what all comparisons are made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from orbtax.model import Case, Purpose
from orbtax.record import Sample, Status

RoundKey = tuple[int, int]
"""A cell's index in the plan, and the round within it."""

Rates = list[float | None]
"""One rate per round; None where the block gave none."""


@dataclass(slots=True, kw_only=True)
class CaseRates:
    """The measured blocks of one case.

    A rate is goodput in bit/s or, in a case without payload, messages per second. A round's rate
    is None if its block failed or was refused and no repetition of it went well. `moved_bytes`
    are the bytes confirmed in blocks that went well, `failed` and `refused` count the others.
    """

    case: Case
    by_round: dict[RoundKey, float | None] = field(default_factory=dict)
    moved_bytes: int = 0
    failed: int = 0
    refused: int = 0

    def add(self, sample: Sample) -> None:
        """Take in one measured sample of this case."""
        key = sample.cell, sample.round
        rate = _rate(sample)
        if sample.status is Status.OK and rate:
            self.by_round[key] = rate
            self.moved_bytes += sample.confirmed_bytes or 0
            return
        self.by_round.setdefault(key, None)
        if sample.status is Status.REFUSED:
            self.refused += 1
        else:
            self.failed += 1

    def in_order(self) -> Rates:
        """Its rates in the order of the rounds."""
        return [self.by_round[key] for key in sorted(self.by_round)]


def by_case(samples: Iterable[Sample], planned: Iterable[Case] = ()) -> dict[Case, CaseRates]:
    """The measured samples sorted by case: first the planned cases, then others as they appear."""
    found = {case: CaseRates(case=case) for case in planned}
    for sample in samples:
        if sample.purpose is not Purpose.MEASURE:
            continue
        rates = found.get(sample.case)
        if rates is None:
            rates = found[sample.case] = CaseRates(case=sample.case)
        rates.add(sample)
    return found


def good_blocks(samples: Iterable[Sample]) -> dict[Case, list[Sample]]:
    """The measured samples whose figures count, by case, in the order of their making."""
    found: dict[Case, list[Sample]] = {}
    for sample in samples:
        if sample.purpose is Purpose.MEASURE and sample.status is Status.OK:
            found.setdefault(sample.case, []).append(sample)
    return found


def aligned(above: CaseRates, below: CaseRates) -> tuple[Rates, Rates]:
    """The rates of both cases, side by side for every round in which either was run."""
    keys = sorted(above.by_round.keys() | below.by_round.keys())
    return [above.by_round.get(key) for key in keys], [below.by_round.get(key) for key in keys]


def _rate(sample: Sample) -> float | None:
    if sample.case.payload_bytes:
        return sample.goodput_bit_s
    return sample.messages / sample.window_s if sample.messages and sample.window_s else None
