"""The stream beside iperf3, round by round: whether the baseline is as strong as it should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from orbtax.analysis.rates import CaseRates, aligned, by_case
from orbtax.analysis.ratio import geometric_mean, paired_ratio
from orbtax.model import Arm, Case
from orbtax.record import Sample
from orbtax.report.evidence import CASE_COLUMNS, case_cells
from orbtax.report.numbers import gbit_s, per_cent, with_bounds
from orbtax.report.results import INTERVALS
from orbtax.report.tables import Column, Table


def cross_check_table(on: str, samples: Mapping[Case, Sequence[Sample]]) -> Table:
    """`stream` ÷ iperf3 at every size and number of threads where both gave a figure.

    `samples` are those of one link that went well, by case.
    """
    rates = by_case(chain.from_iterable(samples.values()))
    pairs = [
        (ours, theirs)
        for case, ours in rates.items()
        if case.arm is Arm.STREAM
        and (theirs := rates.get(replace(case, arm=Arm.IPERF3))) is not None
    ]
    columns = (
        *CASE_COLUMNS[1:],
        Column("stream", "Gbit/s"),
        Column("iperf3", "Gbit/s"),
        Column("stream ÷ iperf3", "%"),
    )
    notes = (
        INTERVALS,
        "The rate of iperf3 is that of its receiver, with the same length, streams and placement, "
        "in the same rounds.",
    )
    return Table(
        title=f"The stream beside iperf3 on {on}",
        columns=columns,
        rows=tuple(_row(ours, theirs) for ours, theirs in pairs),
        notes=notes,
    )


def _row(ours: CaseRates, theirs: CaseRates) -> tuple[str, ...]:
    return (
        *case_cells(ours.case)[1:],
        with_bounds(geometric_mean(ours.in_order()), gbit_s),
        with_bounds(geometric_mean(theirs.in_order()), gbit_s),
        with_bounds(paired_ratio(*aligned(ours, theirs)), per_cent),
    )
