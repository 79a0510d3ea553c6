"""What must be known before the figures are believed: findings, failures, and what is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orbtax.analysis.efficiency import LinkResult
from orbtax.model import Finding, Purpose
from orbtax.record import Run, Sample, Status
from orbtax.report.numbers import counted
from orbtax.report.results import subject_of
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.report.wording import case_text, subject
from orbtax.units import format_size

FAILURES_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Findings of one kind: the first of them, where it was seen, and how many there are."""

    finding: Finding
    place: str
    times: int

    @property
    def text(self) -> str:
        """The finding in a line, with its place and how often it came again."""
        where = f"{self.place}: " if self.place else ""
        again = f" ({self.times - 1:,} more of this kind)" if self.times > 1 else ""
        return f"{where}{self.finding.text}{again}"


def remarks(run: Run, links: Iterable[LinkResult]) -> tuple[Remark, ...]:
    """All findings of a run by kind, serious ones first, each kind at its first place."""
    first: dict[tuple[str, bool], tuple[str, Finding]] = {}
    times: Counter[tuple[str, bool]] = Counter()
    for place, finding in _findings(run, links):
        kind = finding.code, finding.serious
        first.setdefault(kind, (place, finding))
        times[kind] += 1
    listed = [
        Remark(finding=finding, place=place, times=times[kind])
        for kind, (place, finding) in first.items()
    ]
    return tuple(sorted(listed, key=lambda remark: not remark.finding.serious))


def gaps(run: Run, links: Sequence[LinkResult]) -> tuple[str, ...]:
    """What is not in the results and why, in sentences; none if the run is whole."""
    measured = [sample for sample in run.samples if sample.purpose is Purpose.MEASURE]
    cells = [cell for link in links for cell in link.cells]
    if not measured:
        return ("No block has been measured yet, so that there is no result.",)
    said = []
    bare = sum(not cell.rounds for cell in cells)
    if bare:
        said.append(f"{bare} of {counted(len(cells), 'cell')} have no figure yet.")
    single = sum(cell.rounds == 1 for cell in cells)
    if single:
        said.append(
            f"{counted(single, 'cell')} with one round only: a single round has no interval."
        )
    said += [
        f"On {subject_of(link)} no block of {arm} went well."
        for link in links
        for arm in dict.fromkeys(
            result.arm for cell in link.cells if cell.payload_bytes for result in cell.arms
        )
        if link.best_of(arm) is None
    ]
    last_visits = {visit.before.link: visit for visit in run.record.visits}
    said += [
        f"The run on {name} was cut short: the link was not read again at its end."
        for name, visit in last_visits.items()
        if visit.after is None
    ]
    return tuple(said)


def failure_table(run: Run) -> Table:
    """The blocks that failed or were refused, with what was said; at most `FAILURES_SHOWN`."""
    failed = [sample for sample in run.samples if sample.status is not Status.OK]
    names = _names(run)
    columns = (
        Column("link", align=Align.LEFT),
        Column("case", align=Align.LEFT),
        Column("round"),
        Column("status", align=Align.LEFT),
        Column("what was said", align=Align.LEFT),
    )
    rows = [
        (
            names.get(sample.case.link, sample.case.link),
            case_text(sample.case),
            _round(sample),
            str(sample.status),
            sample.reason or MISSING,
        )
        for sample in failed[:FAILURES_SHOWN]
    ]
    hidden = len(failed) - len(rows)
    notes = (f"{hidden:,} more are in samples.jsonl.",) if hidden else ()
    title = f"{counted(len(failed), 'block')} failed or refused"
    return Table(title=title, columns=columns, rows=tuple(rows), notes=notes)


def _findings(run: Run, links: Iterable[LinkResult]) -> Iterator[tuple[str, Finding]]:
    """Each finding with its place; blocks that are no measurement are no part of the result."""
    yield from (("", finding) for finding in run.record.findings)
    for link in links:
        yield from ((subject_of(link), finding) for finding in link.findings)
        for cell in link.cells:
            place = f"{subject_of(link)}, {format_size(cell.payload_bytes)}, " + counted(
                cell.threads, "thread"
            )
            yield from ((place, finding) for finding in cell.findings)
    names = _names(run)
    for sample in run.samples:
        if sample.purpose is Purpose.MEASURE and sample.findings:
            name = names.get(sample.case.link, sample.case.link)
            place = f"{name}, {case_text(sample.case)}, round {_round(sample)}"
            yield from ((place, finding) for finding in sample.findings)


def _names(run: Run) -> dict[str, str]:
    """The plan's links with what they are."""
    return {link.name: subject(link.name, link.kind) for link in run.record.plan.links}


def _round(sample: Sample) -> str:
    """The number of the round, from 1 as people count, or what else the block was for."""
    measured = sample.purpose is Purpose.MEASURE
    return str(sample.round + 1 if measured else sample.purpose)
