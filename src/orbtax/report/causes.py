"""Why a case is as fast as it is: what it costs each end, and what holds it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

from orbtax.analysis.best import BestCase
from orbtax.analysis.bottleneck import Bottleneck, Evidence, Label
from orbtax.analysis.cost import CaseCost, EndCost
from orbtax.analysis.efficiency import LinkResult
from orbtax.model import Case
from orbtax.report.evidence import CASE_COLUMNS, case_cells
from orbtax.report.numbers import per_cent, significant
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.units import display_rate, display_size

_COST_COLUMNS: Mapping[Column, Callable[[EndCost], float | None]] = {
    Column("process", "µs/MiB"): lambda cost: cost.process_us_per_mib,
    Column("host", "µs/MiB"): lambda cost: cost.host_us_per_mib,
    Column("process", "µs/message"): lambda cost: cost.process_us_per_message,
    Column("switches", "per message"): lambda cost: cost.switches_per_message,
    Column("soft interrupts", "%"): lambda cost: (
        None if cost.softirq_share is None else 100 * cost.softirq_share
    ),
}


def cost_table(on: str, costs: Mapping[Case, CaseCost]) -> Table:
    """Processor time of both ends, per MiB moved and per message."""
    rows = []
    for case, cost in costs.items():
        for name, end in (("client", cost.client), ("servant", cost.servant)):
            figures = [None if end is None else pick(end) for pick in _COST_COLUMNS.values()]
            shown = (MISSING if figure is None else significant(figure) for figure in figures)
            rows.append((*case_cells(case), name, *shown))
    columns = (*CASE_COLUMNS, Column("end", align=Align.LEFT), *_COST_COLUMNS)
    notes = (
        "Service demand: processor time over all rounds, by all that was moved. `host` counts "
        "everything that ran on the machine; where both ends are on one machine, that is both. "
        "Soft interrupts: their share of the host's busy time.",
    )
    return Table(title=f"Processor cost on {on}", columns=columns, rows=tuple(rows), notes=notes)


def bottleneck_table(on: str, bottlenecks: Mapping[Case, tuple[Bottleneck, ...]]) -> Table:
    """What holds each case back, with the numbers that say so."""
    rows = [
        (
            *case_cells(case),
            str(bottleneck.label),
            "; ".join(evidence_text(evidence) for evidence in bottleneck.evidence),
        )
        for case, found in bottlenecks.items()
        for bottleneck in found
    ]
    columns = (
        *CASE_COLUMNS,
        Column("held back by", align=Align.LEFT),
        Column("since", align=Align.LEFT),
    )
    notes = (
        "Several may hold at once; the first hides those after it. In brackets: the limit that a "
        "number was held against.",
    )
    return Table(title=f"Bottlenecks on {on}", columns=columns, rows=tuple(rows), notes=notes)


def held_back(
    result: LinkResult, bottlenecks: Mapping[Case, tuple[Bottleneck, ...]]
) -> tuple[str, ...]:
    """In one sentence what holds the best case of each arm back; none if nothing shows."""
    said = []
    for best in result.best:
        found = (found for case, found in bottlenecks.items() if is_best(case, best))
        labels = [each.label for each in chain.from_iterable(found)]
        known = [str(label) for label in labels if label is not Label.UNKNOWN]
        if known:
            said.append(f"{best.arm} by {' and '.join(known)}")
    return (f"Held back: {'; '.join(said)}.",) if said else ()


def is_best(case: Case, best: BestCase) -> bool:
    """Whether a case of the same link is the best one of its arm."""
    return (case.arm, case.payload_bytes, case.threads, case.options) == (
        best.arm,
        best.payload_bytes,
        best.threads,
        best.options,
    )


def evidence_text(evidence: Evidence) -> str:
    """One number in words: `busiest core 98.0 % (95.0 %)`."""
    text = f"{evidence.name} {_with_unit(evidence.value, evidence.unit)}"
    if evidence.limit is None:
        return text
    return f"{text} ({_with_unit(evidence.limit, evidence.unit)})"


def _with_unit(value: float, unit: str) -> str:
    if unit == "bit/s":
        return display_rate(value)
    if unit == "share":
        return f"{per_cent(value)} %"
    if unit == "B":
        return display_size(value)
    return f"{value:g} {unit}" if unit == "calls" else f"{significant(value)} {unit}"
