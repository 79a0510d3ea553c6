"""How far a run has come, in words: what runs now, what each cell gave, how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from orbtax.analysis.ratio import geometric_mean
from orbtax.model import Block, Case, Plan, Purpose
from orbtax.record import Sample, Status
from orbtax.report.numbers import counted, gbit_s
from orbtax.report.wording import case_text, subject
from orbtax.units import display_duration, display_rate, format_size

_CASES_SHOWN = 9
_PREPARATIONS = {
    Purpose.CALIBRATION: "sizing the blocks",
    Purpose.CEILING: "what the bench reaches without the link",
}


class Tally:
    """Counts along with a run. Told of every step, it holds what a display shows.

    Blocks may come before `started`: those by which the duration is estimated.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._plan: Plan | None = None
        self._cells = 0
        self._done = 0
        self._estimate_s = 0.0
        self._started_s = clock()
        self._goodputs: dict[Case, list[float | None]] = {}
        self._rate = ""
        self._share = 0.0  # of the cell that runs now, where its rounds are counted beforehand

    def started(self, plan: Plan, todo: Sequence[int], estimate_s: float) -> str:
        """What lies ahead: `18 cells on ib (emulated), about 2 min 05 s`."""
        self._plan = plan
        self._cells = len(todo)
        self._estimate_s = estimate_s
        self._started_s = self._clock()
        names = dict.fromkeys(case.link for cell in todo for case in plan.cells[cell].cases)
        links = ", ".join(subject(name, plan.link(name).kind) for name in names)
        return (
            f"{counted(len(todo), 'cell')} on {links or 'no link'}, "
            f"about {display_duration(estimate_s)}"
        )

    def block_started(self, block: Block) -> str:
        """What runs now, the rate of the block before, and the time left."""
        parts = [block.case.link, case_text(block.case)]
        if block.purpose is Purpose.MEASURE:
            parts.append(f"round {block.round + 1}")
        else:
            parts.append(_PREPARATIONS[block.purpose])
        if self._rate:
            parts.append(self._rate)
        if self._plan is not None:
            parts += [f"{self._done}/{self._cells}", f"{display_duration(self.left_s())} left"]
        return "  ".join(parts)

    def sample(self, sample: Sample) -> str | None:
        """Take in what a block left; the words for one that failed or ended a long round."""
        if sample.status is not Status.OK:
            return (
                f"{sample.status}: {self._name(sample.case)}, {case_text(sample.case)}, "
                f"round {sample.round + 1}: {sample.reason or 'no reason was given'}"
            )
        if sample.goodput_bit_s:
            self._rate = display_rate(sample.goodput_bit_s)
        if sample.purpose is Purpose.MEASURE:
            self._goodputs.setdefault(sample.case, []).append(sample.goodput_bit_s)
            return self._round_done(sample)
        return None

    def cell_done(self) -> str:
        """What the cell gave: its arms with their goodput, its rounds, and the time left."""
        self._done += 1
        self._share = 0.0
        goodputs, self._goodputs = self._goodputs, {}
        place = f"[{self._done}/{self._cells}]"
        if not goodputs:
            return f"{place} no block went well, {display_duration(self.left_s())} left"
        case = next(iter(goodputs))
        size = " to ".join(map(format_size, _ends(each.payload_bytes for each in goodputs)))
        *fewest, most = _ends(each.threads for each in goodputs)
        threads = "".join(f"{count} to " for count in fewest) + counted(most, "thread")
        rounds = counted(max(map(len, goodputs.values())), "round")
        return (
            f"{place} {self._name(case)} {size}, {threads}: "
            f"{_moved(goodputs)} in {rounds}, {display_duration(self.left_s())} left"
        )

    def left_s(self) -> float:
        """The time left: at first by the estimate, then by the pace of the cells that are done."""
        spent_s = self._clock() - self._started_s
        total_s = self._estimate_s
        done = self._done + self._share
        if done:
            # The estimate counts as one cell among those measured, so that a quick first cell
            # does not promise too much.
            pace_s = (spent_s + total_s / self._cells) / (done + 1)
            total_s = spent_s + pace_s * (self._cells - done)
        return max(0.0, total_s - spent_s)

    def _round_done(self, sample: Sample) -> str | None:
        """How far a cell of many cases has come, after each of its rounds but the last."""
        cell = self._plan.cells[sample.cell] if self._plan else None
        if cell is None or cell.rounds is None:
            return None
        blocks = sum(map(len, self._goodputs.values()))
        self._share = min(1.0, blocks / (cell.rounds * len(cell.cases)))
        is_last = sample.position == len(cell.cases) - 1
        if len(cell.cases) <= _CASES_SHOWN or not is_last or sample.round + 1 == cell.rounds:
            return None
        return (
            f"{self._name(sample.case)}: round {sample.round + 1} of {cell.rounds}, "
            f"{display_duration(self.left_s())} left"
        )

    def _name(self, case: Case) -> str:
        """The link with what it is, once the plan is known."""
        if self._plan is None:
            return case.link
        return subject(case.link, self._plan.link(case.link).kind)


def _ends(values: Iterable[int]) -> list[int]:
    """The smallest and the largest value; one where both are the same."""
    ordered = sorted(set(values))
    return list(dict.fromkeys((ordered[0], ordered[-1])))


def _moved(goodputs: Mapping[Case, Sequence[float | None]]) -> str:
    """The goodput of each case; of many, only their number."""
    if len(goodputs) > _CASES_SHOWN:
        return counted(len(goodputs), "case")
    arms = ", ".join(
        f"{case.arm} {gbit_s(mean.value)}"
        for case, rates in goodputs.items()
        if (mean := geometric_mean(rates))
    )
    return f"{arms} Gbit/s"
