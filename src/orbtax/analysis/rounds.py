"""The rates of each case by round: what all comparisons are made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from orbtax.model import Case, Purpose
from orbtax.record import Sample, Status

RoundKey = tuple[int, int]
"""A cell's index in the plan, and the round within it."""

Rates = list[float | None]
"""Goodput in bit/s, one per round; None where the block gave none."""


@dataclass(slots=True, kw_only=True)
class CaseRounds:
    """The measured blocks of one case.

    A round is None in `goodput_bit_s` if its block failed or was refused and no repetition of it
    went well. `moved_bytes` are the bytes confirmed in blocks that went well, `failed` and
    `refused` count the others.
    """

    case: Case
    goodput_bit_s: dict[RoundKey, float | None] = field(default_factory=dict)
    moved_bytes: int = 0
    failed: int = 0
    refused: int = 0

    def add(self, sample: Sample) -> None:
        """Take in one measured sample of this case."""
        key = sample.cell, sample.round
        if sample.status is Status.OK and sample.goodput_bit_s:
            self.goodput_bit_s[key] = sample.goodput_bit_s
            self.moved_bytes += sample.confirmed_bytes or 0
            return
        self.goodput_bit_s.setdefault(key, None)
        if sample.status is Status.REFUSED:
            self.refused += 1
        else:
            self.failed += 1

    def rates(self) -> Rates:
        """Its rates in the order of the rounds."""
        return [self.goodput_bit_s[key] for key in sorted(self.goodput_bit_s)]


def by_case(samples: Iterable[Sample], planned: Iterable[Case] = ()) -> dict[Case, CaseRounds]:
    """The measured samples sorted by case: first the planned cases, then others as they appear."""
    found = {case: CaseRounds(case=case) for case in planned}
    for sample in samples:
        if sample.purpose is not Purpose.MEASURE:
            continue
        rounds = found.get(sample.case)
        if rounds is None:
            rounds = found[sample.case] = CaseRounds(case=sample.case)
        rounds.add(sample)
    return found


def aligned(above: CaseRounds, below: CaseRounds) -> tuple[Rates, Rates]:
    """The rates of both cases, side by side for every round in which either was run."""
    keys = sorted(above.goodput_bit_s.keys() | below.goodput_bit_s.keys())
    return (
        [above.goodput_bit_s.get(key) for key in keys],
        [below.goodput_bit_s.get(key) for key in keys],
    )
