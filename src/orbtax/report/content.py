"""All that a report tells, worked out once: terminal, page and files only lay it out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from orbtax.analysis.bottleneck import Bottleneck, bottlenecks
from orbtax.analysis.cost import CaseCost, case_cost
from orbtax.analysis.efficiency import LinkResult, link_results
from orbtax.analysis.rates import good_blocks
from orbtax.analysis.ratio import geometric_mean
from orbtax.model import Case, Kind, Link, Purpose
from orbtax.record import Latencies, LinkVisit, Run, Sample, Status
from orbtax.report.evidence import merged_latencies
from orbtax.report.faults import Remark, gaps, remarks
from orbtax.report.joining import join_runs
from orbtax.report.results import subject_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkReport:
    """One link in one direction, with what its samples and visits left behind."""

    link: Link
    result: LinkResult
    samples: Mapping[Case, Sequence[Sample]]  # those that went well
    latencies: Mapping[Case, Latencies]
    costs: Mapping[Case, CaseCost]
    bottlenecks: Mapping[Case, tuple[Bottleneck, ...]]
    visits: tuple[LinkVisit, ...]

    @property
    def name(self) -> str:
        """The link with what it is: `ib (emulated)`."""
        return subject_of(self.result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run, or several joined, with the results and what speaks against them."""

    run: Run
    folders: tuple[str, ...]
    links: tuple[LinkReport, ...]
    remarks: tuple[Remark, ...]
    gaps: tuple[str, ...]

    @property
    def results(self) -> tuple[LinkResult, ...]:
        """The results alone, in the order of the links."""
        return tuple(link.result for link in self.links)

    @property
    def emulated(self) -> tuple[str, ...]:
        """The names of the links that are emulated."""
        return tuple(link.link.name for link in self.links if link.link.kind is Kind.EMULATED)


def assemble(runs: Sequence[Run], *, join: bool = False) -> Report:
    """Analyse at least one run, whole or not, for a report.

    Raises RequestError as `join_runs` does, for runs that do not belong in one report.
    """
    run = join_runs(runs, join=join)
    results = link_results(run)
    of_case = good_blocks(run.samples)
    ceilings = _ceilings(run.samples)
    return Report(
        run=run,
        folders=tuple(PurePath(run.folder).name for run in runs),
        links=tuple(_link_report(run, result, of_case, ceilings) for result in results),
        remarks=remarks(run, results),
        gaps=gaps(run, results),
    )


def _link_report(
    run: Run,
    result: LinkResult,
    of_case: Mapping[Case, Sequence[Sample]],
    ceilings: Mapping[Case, float],
) -> LinkReport:
    link = run.record.plan.link(result.link)
    visits = tuple(visit for visit in run.record.visits if visit.before.link == link.name)
    planned = (case for cell in run.record.plan.cells for case in cell.cases)
    samples = {
        case: of_case[case]
        for case in dict.fromkeys((*planned, *of_case))
        if case in of_case and (case.link, case.options.reverse) == (result.link, result.reverse)
    }
    return LinkReport(
        link=link,
        result=result,
        samples=samples,
        latencies=merged_latencies(samples),
        costs={case: case_cost(samples) for case, samples in samples.items()},
        bottlenecks={
            case: bottlenecks(samples, link, visits[0].before, ceilings.get(_anywhere(case)))
            for case, samples in samples.items()
            if visits
        },
        visits=visits,
    )


def _ceilings(samples: Iterable[Sample]) -> dict[Case, float]:
    """What this bench reaches without a link, in bit/s, by case without the link's name."""
    rates: dict[Case, list[float | None]] = {}
    for sample in samples:
        if sample.purpose is Purpose.CEILING and sample.status is Status.OK:
            rates.setdefault(_anywhere(sample.case), []).append(sample.goodput_bit_s)
    means = {case: geometric_mean(seen) for case, seen in rates.items()}
    return {case: mean.value for case, mean in means.items() if mean}


def _anywhere(case: Case) -> Case:
    return replace(case, link="")
