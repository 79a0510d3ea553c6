"""The rounds of one cell: blocks sized, run in turn, judged, until they are enough."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from orbtax import calibrate, ring
from orbtax.analysis import stability, trust
from orbtax.model import Amount, Arm, Block, Case, Finding, Kind, Link, Plan, Purpose
from orbtax.pair import Pair
from orbtax.plan import VERIFY_LIMIT_BYTES
from orbtax.record import LinkFacts, Sample, Status
from orbtax.store import Store
from orbtax.units import format_size

GIVE_UP_AFTER = 3
"""A case that fails so many times running is not tried again in its cell."""
CEILING_S = 0.2
"""What the bench reaches by itself is found as blocks of this length are sized."""


class Observer(Protocol):
    """What a progress display is told; it must return at once."""

    def started(self, plan: Plan, todo: Sequence[int], estimate_s: float) -> None:
        """The cells in `todo` will be run, which takes about `estimate_s`."""

    def block_started(self, block: Block) -> None:
        """A block begins."""

    def sample(self, sample: Sample) -> None:
        """A block has ended."""

    def cell_done(self, cell: int) -> None:
        """No more rounds for this cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """An open link with its programs."""

    link: Link
    facts: LinkFacts  # what it was when the programs were started
    pair: Pair
    alone: Pair  # both programs at the sender, with a servant that only counts


class Bench:
    """Open links with their programs, on which single blocks are run, judged and kept."""

    def __init__(self, sites: Sequence[Site], store: Store, observer: Observer) -> None:
        """`sites` are all links that the cases of a cell may be on."""
        self._sites = {site.link.name: site for site in sites}
        self._store = store
        self._observer = observer

    def run(self, block: Block) -> Sample:
        """Runs one block. A figure that cannot be true is kept as refused."""
        self._observer.block_started(block)
        site = self._sites[block.case.link]
        if block.purpose is Purpose.CEILING:
            sample = site.alone.run(block, check=False)
        else:
            sample = _judged(site.pair.run(block), site)
        self._store.append(sample)
        self._observer.sample(sample)
        return sample

    def pilot(
        self, case: Case, cell: int, purpose: Purpose = Purpose.CALIBRATION
    ) -> Callable[[Amount], Sample]:
        """Runs blocks of a case to size others by."""

        def run(amount: Amount) -> Sample:
            return self.run(
                Block(
                    case=case,
                    cell=cell,
                    round=0,
                    position=0,
                    amount=amount,
                    purpose=purpose,
                )
            )

        return run


class CellRun:
    """What is known of one cell while it runs."""

    def __init__(
        self,
        index: int,
        plan: Plan,
        bench: Bench,
        earlier: Sequence[Sample],
    ) -> None:
        """`earlier` are the cell's samples of sessions before this one."""
        self._index = index
        self._plan = plan
        self._cell = plan.cells[index]
        self._bench = bench
        self.samples = list(earlier)
        self._amounts: dict[Case, Amount] = {}
        self._failures: Counter[Case] = Counter()  # running, of this session

    def run(self, similar: Sequence[Sample]) -> None:
        """Runs what is missing; `similar` samples give a first guess of each case's rate."""
        started_s = time.monotonic() - sum(sample.window_s or 0.0 for sample in self.samples)
        if self._cell.total_bytes is None:
            for case in self._cell.cases:
                self._size(case, similar)
        if self._plan.ceilings:
            self._find_ceilings(similar)
        for number in itertools.count():
            if self._is_enough(number, time.monotonic() - started_s):
                return
            self._round(number)

    def given_up(self) -> tuple[Finding, ...]:
        """The cases that failed too often to be tried again."""
        return tuple(map(self._given_up, filter(self._is_given_up, self._cell.cases)))

    def _given_up(self, case: Case) -> Finding:
        where = (
            f"{case.arm}, {format_size(case.payload_bytes)} × {case.threads} threads on {case.link}"
        )
        if case.arm is Arm.IPERF3 and self._plan.cross_check:
            said = [sample.reason for sample in self.samples if sample.case == case]
            return Finding(
                code="no-cross-check",
                text=f"{where} gave nothing to set beside our own stream: {said[-1]}",
            )
        return Finding(
            code="given-up",
            text=f"{where} failed {GIVE_UP_AFTER} times running and was given up",
            cure="see what the failed samples said",
            serious=True,
        )

    def _is_enough(self, number: int, spent_s: float) -> bool:
        """Whether round `number` is not needed. One that was begun is completed."""
        if any(sample.round >= number for sample in self._measured()):
            return False
        if all(map(self._is_given_up, self._cell.cases)):
            return True
        if self._cell.rounds is not None:
            return number >= self._cell.rounds
        if not number:
            return False
        before = [sample for sample in self._measured() if sample.round < number]
        return stability.decide(before, self._cell, self._plan, spent_s).enough

    def _round(self, number: int) -> None:
        """One block of every arm that this round still lacks."""
        had = {sample.case for sample in self._measured() if sample.round == number}
        order = self._cell.cases[:: -1 if number % 2 else 1]
        for position, case in enumerate(order):
            if case not in had and not self._is_given_up(case):
                block = Block(
                    case=case,
                    cell=self._index,
                    round=number,
                    position=position,
                    amount=self._amount(case, number),
                )
                sample = self._bench.run(block)
                self.samples.append(sample)
                failed = sample.status is Status.FAILED
                self._failures[case] = self._failures[case] + 1 if failed else 0

    def _amount(self, case: Case, number: int) -> Amount:
        if self._cell.total_bytes is None:
            return self._amounts[case]
        parts = ring.split(self._cell.total_bytes, self._cell.rounds or 1)
        return Amount(total_bytes=parts[number])

    def _size(self, case: Case, similar: Sequence[Sample]) -> None:
        """Decides what a block of a case moves: as in earlier sessions, or by pilots."""
        known = [sample for sample in self._measured() if sample.case == case and sample.messages]
        if known:
            messages = known[0].messages or 0
            empty = messages if case.payload_bytes == 0 else 0
            self._amounts[case] = Amount(total_bytes=known[0].asked_bytes, empty_messages=empty)
            return
        block_s = self._plan.block_s
        pilot = self._bench.pilot(case, self._index)
        guess = calibrate.guess([*similar, *self.samples], case)
        while not self._is_given_up(case):
            last = calibrate.calibrate(case, block_s, pilot, guess)
            self.samples.append(last)
            if last.status is Status.OK:
                self._failures[case] = 0
                self._amounts[case] = calibrate.sized(
                    case,
                    last,
                    block_s,
                    least_messages=self._plan.least_messages,
                    limit_bytes=VERIFY_LIMIT_BYTES if self._plan.verify else None,
                )
                return
            self._failures[case] += 1

    def _find_ceilings(self, similar: Sequence[Sample]) -> None:
        """Finds what the bench reaches without the link, to know where it is the narrower one."""
        known = {sample.case for sample in self.samples if sample.purpose is Purpose.CEILING}
        for case in self._cell.cases:
            on_link = self._plan.link(case.link).kind is not Kind.LOOPBACK
            ours = case.arm is not Arm.IPERF3 and case.payload_bytes > 0
            if on_link and ours and case not in known and not self._is_given_up(case):
                pilot = self._bench.pilot(case, self._index, Purpose.CEILING)
                guess = calibrate.guess(similar, case)
                self.samples.append(calibrate.calibrate(case, CEILING_S, pilot, guess))

    def _measured(self) -> list[Sample]:
        return [sample for sample in self.samples if sample.purpose is Purpose.MEASURE]

    def _is_given_up(self, case: Case) -> bool:
        return self._failures[case] >= GIVE_UP_AFTER


def _judged(sample: Sample, site: Site) -> Sample:
    """The sample with what speaks against it; refused if its figure cannot be true."""
    findings = trust.examine(sample, site.link, site.facts)
    serious = [finding for finding in findings if finding.serious]
    if sample.status is not Status.OK or not serious:
        return dataclasses.replace(sample, findings=findings)
    return dataclasses.replace(
        sample,
        findings=findings,
        status=Status.REFUSED,
        reason=f"{serious[0].code}: {serious[0].text}",
    )
