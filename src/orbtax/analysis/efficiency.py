"""The three efficiencies of an arm: against the link, against the stream, against the call.

Each is a ratio of goodputs with a 95 % interval. A value above 1 happens and stays: a finding
`above-one` says that the baseline was the weaker of the two in that case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from orbtax.analysis.best import BestCase, best_cases
from orbtax.analysis.rates import CaseRates, aligned, by_case
from orbtax.analysis.ratio import Interval, geometric_mean, paired_ratio
from orbtax.analysis.stability import Verdict, assess
from orbtax.model import Arm, Case, Finding, Kind, Options, Plan
from orbtax.record import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """What one arm moved in one cell."""

    arm: Arm
    goodput_bit_s: Interval | None  # None: no block went well, or no payload
    moved_bytes: int
    failed: int  # blocks that did not run to their end
    refused: int  # blocks whose figure cannot be true


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """All arms at one payload size and number of threads on one link."""

    link: str
    kind: Kind
    payload_bytes: int
    threads: int
    options: Options
    arms: tuple[ArmResult, ...]
    efficiency_stream: Interval | None  # None: one of the two arms has no goodput here
    efficiency_call: Interval | None
    rounds: int  # in which at least one arm gave a rate
    verdict: Verdict
    findings: tuple[Finding, ...] = ()

    def arm(self, arm: Arm) -> ArmResult | None:
        """The result of `arm`, or None if it was not part of the cell."""
        return next((result for result in self.arms if result.arm is arm), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkResult:
    """One link in one direction: its cells and the best case of each arm."""

    link: str
    kind: Kind
    reverse: bool
    arm: Arm  # the one whose efficiencies the cells carry
    cells: tuple[CellResult, ...]
    best: tuple[BestCase, ...]  # in the order of `Arm`; arms without goodput are missing
    findings: tuple[Finding, ...] = ()

    def best_of(self, arm: Arm) -> BestCase | None:
        """The best case of `arm`, or None if it moved nothing here."""
        return next((best for best in self.best if best.arm is arm), None)


def link_results(run: Run, arm: Arm = Arm.CORBA) -> tuple[LinkResult, ...]:
    """The efficiencies of `arm` on every link of a run, links and cells in the plan's order.

    What was planned and not yet run is there too, without goodput.

    Raises KeyError for a sample whose link is not in the plan.
    """
    plan = run.record.plan
    by_link: dict[tuple[str, bool], dict[Case, CaseRates]] = {}
    planned = (case for cell in plan.cells for case in cell.cases)
    for case, rates in by_case(run.samples, planned).items():
        by_link.setdefault((case.link, case.options.reverse), {})[case] = rates
    return tuple(_link_result(rates, plan, arm) for rates in by_link.values())


def summary_frame(results: Iterable[LinkResult]) -> pd.DataFrame:
    """One row per cell with the columns of `summary.csv`: rates in Gbit/s, bytes, efficiencies.

    Columns of an arm are there if any cell has it; what a cell does not have is missing (NaN).
    """
    cells = [cell for result in results for cell in result.cells]
    present = {result.arm for cell in cells for result in cell.arms}
    arms = [arm for arm in Arm if arm in present]
    rows = [_summary_row(cell, arms) for cell in cells]
    columns = _summary_columns(arms)
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({f"{arm}_bytes": "Int64" for arm in arms})


def _link_result(rates: Mapping[Case, CaseRates], plan: Plan, arm: Arm) -> LinkResult:
    cells: dict[tuple[int, int, Options], list[Case]] = {}
    for case in rates:
        cells.setdefault((case.payload_bytes, case.threads, case.options), []).append(case)
    best = best_cases(rates.values(), plan.width)
    findings = (
        _above_one(each.efficiency_link, f"the best {each.arm}", "the best stream")
        for each in best
        if each.arm is not Arm.STREAM
    )
    first = next(iter(rates))
    return LinkResult(
        link=first.link,
        kind=plan.link(first.link).kind,
        reverse=first.options.reverse,
        arm=arm,
        cells=tuple(_cell_result(rates, cases, plan, arm) for cases in cells.values()),
        best=best,
        findings=tuple(finding for finding in findings if finding),
    )


def _cell_result(
    rates: Mapping[Case, CaseRates], cases: Sequence[Case], plan: Plan, arm: Arm
) -> CellResult:
    of_arm = {case.arm: rates[case] for case in cases}
    stream, call = (_efficiency(of_arm, arm, baseline) for baseline in (Arm.STREAM, Arm.CALL))
    assessment = assess(rates, cases, plan)
    labels = (_above_one(stream, arm, Arm.STREAM), _above_one(call, arm, Arm.CALL))
    first = cases[0]
    return CellResult(
        link=first.link,
        kind=plan.link(first.link).kind,
        payload_bytes=first.payload_bytes,
        threads=first.threads,
        options=first.options,
        arms=tuple(_arm_result(rates[case]) for case in cases),
        efficiency_stream=stream,
        efficiency_call=call,
        rounds=len(
            {
                key
                for each in of_arm.values()
                for key, rate in each.by_round.items()
                if rate is not None
            }
        ),
        verdict=assessment.verdict,
        findings=assessment.findings + tuple(label for label in labels if label),
    )


def _arm_result(rates: CaseRates) -> ArmResult:
    return ArmResult(
        arm=rates.case.arm,
        goodput_bit_s=geometric_mean(rates.in_order()) if rates.case.payload_bytes else None,
        moved_bytes=rates.moved_bytes,
        failed=rates.failed,
        refused=rates.refused,
    )


def _efficiency(of_arm: Mapping[Arm, CaseRates], arm: Arm, baseline: Arm) -> Interval | None:
    if arm is baseline or arm not in of_arm or baseline not in of_arm:
        return None
    return paired_ratio(*aligned(of_arm[arm], of_arm[baseline]))


def _above_one(efficiency: Interval | None, above: str, below: str) -> Finding | None:
    if efficiency is None or efficiency.value <= 1:
        return None
    certain = efficiency.low is not None and efficiency.low > 1
    return Finding(
        code="above-one",
        text=f"{above} moved {efficiency.value:.3f} times what {below} moved: "
        + ("the baseline was the weaker of the two here" if certain else "1 within the noise"),
    )


def _summary_columns(arms: Sequence[Arm]) -> list[str]:
    return [
        *("link", "kind", "payload_bytes", "threads"),
        *(
            f"{arm}_{field}"
            for arm in arms
            for field in ("gbit_s", "low_gbit_s", "high_gbit_s", "bytes")
        ),
        *(
            f"efficiency_{baseline}{bound}"
            for baseline in ("stream", "call")
            for bound in ("", "_low", "_high")
        ),
        *("rounds", "verdict"),
    ]


def _summary_row(cell: CellResult, arms: Sequence[Arm]) -> list[object]:
    row: list[object] = [cell.link, str(cell.kind), cell.payload_bytes, cell.threads]
    for arm in arms:
        result = cell.arm(arm)
        row += _bounds(result.goodput_bit_s if result else None, 1e9)
        row.append(result.moved_bytes if result else None)
    row += _bounds(cell.efficiency_stream, 1) + _bounds(cell.efficiency_call, 1)
    return [*row, cell.rounds, str(cell.verdict)]


def _bounds(interval: Interval | None, unit: float) -> list[float | None]:
    if interval is None:
        return [None, None, None]
    return [
        None if value is None else value / unit
        for value in (interval.value, interval.low, interval.high)
    ]
