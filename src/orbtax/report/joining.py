"""Several runs read as one, so that their links stand in one report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from orbtax import orb
from orbtax.errors import RequestError
from orbtax.model import EndName, Link
from orbtax.record import Run

_SHOWN = 5

# Belong to a link's network namespace: links differ in them on one and the same set-up.
_OF_THE_LINK = "sysctl.net."


def join_runs(runs: Sequence[Run], *, join: bool = False) -> Run:
    """One run with the links, cells and samples of all, in their order; rounds stay paired.

    Cases that several runs have in common are pooled. A single run is returned as it is.

    Args:
        runs: at least one.
        join: take runs from different set-ups too, whose figures need not be comparable.

    Raises:
        RequestError: the set-ups differ and `join` is not given; a link's name stands for two
            different links; or the runs are of different studies. The text names what differs.
    """
    first = runs[0]
    if len(runs) == 1:
        return first
    _refuse_unlike_studies(runs)
    links = _links(runs)
    if not join:
        _refuse_unlike_set_ups(runs)
    cells, samples = list(first.record.plan.cells), list(first.samples)
    done = list(first.record.done_cells)
    for run in runs[1:]:
        offset = len(cells)
        done += [cell + offset for cell in run.record.done_cells]
        cells += run.record.plan.cells
        samples += [replace(sample, cell=sample.cell + offset) for sample in run.samples]
    records = [run.record for run in runs]
    record = replace(
        first.record,
        plan=replace(first.record.plan, links=links, cells=tuple(cells)),
        command=" && ".join(dict.fromkeys(record.command for record in records)),
        done_cells=tuple(done),
        visits=tuple(visit for record in records for visit in record.visits),
        findings=tuple(finding for record in records for finding in record.findings),
    )
    return Run(folder=", ".join(run.folder for run in runs), record=record, samples=tuple(samples))


def _refuse_unlike_studies(runs: Sequence[Run]) -> None:
    studies = dict.fromkeys(run.record.plan.study for run in runs)
    if len(studies) > 1:
        raise RequestError(
            f"these runs are of different studies ({', '.join(studies)}): "
            "a report shows one study, so make one report for each"
        )


def _links(runs: Sequence[Run]) -> tuple[Link, ...]:
    links: dict[str, Link] = {}
    for run in runs:
        for link in run.record.plan.links:
            if links.setdefault(link.name, link) != link:
                raise RequestError(
                    f"link {link.name} of {run.folder} is defined otherwise than in an earlier "
                    "run: one name must stand for one link, so make one report for each"
                )
    return tuple(links.values())


def _refuse_unlike_set_ups(runs: Sequence[Run]) -> None:
    for one, other in combinations(runs, 2):
        differences = list(_differences(one, other))
        if differences:
            more = len(differences) - _SHOWN
            rest = f"; and {more} more" if more > 0 else ""
            raise RequestError(
                f"{one.folder} and {other.folder} come from different set-ups: "
                f"{'; '.join(differences[:_SHOWN])}{rest}. Their figures need not be comparable: "
                "make one report for each, or add --join to have them in one all the same"
            )


def _differences(one: Run, other: Run) -> Iterator[str]:
    """What differs, each with both values."""
    placements = one.record.plan.placement, other.record.plan.placement
    if placements[0] != placements[1]:
        yield f"placement {placements[0].name} and {placements[1].name}"
    versions = one.record.orbtax_version, other.record.orbtax_version
    if versions[0] != versions[1]:
        yield f"orbtax {versions[0]} and {versions[1]}"
    planned = _of_the_plan(one) | _of_the_plan(other)
    same_link = {link.name for link in one.record.plan.links} & {
        link.name for link in other.record.plan.links
    }
    for end in EndName:
        ours, theirs = _facts(one, end), _facts(other, end)
        for name in sorted(ours.keys() | theirs.keys()) if ours and theirs else ():
            if name in planned or (name.startswith(_OF_THE_LINK) and not same_link):
                continue
            if ours.get(name) != theirs.get(name):
                yield (
                    f"{name} of the {end} is {ours.get(name, 'unknown')} "
                    f"and {theirs.get(name, 'unknown')}"
                )


def _of_the_plan(run: Run) -> set[str]:
    """The facts that follow the case that was run first, not the set-up: the ORB's options."""
    cases = (case for cell in run.record.plan.cells for case in cell.cases)
    return {f"orb.{name}" for case in cases for name in orb.settings(case)}


def _facts(run: Run, end: EndName) -> Mapping[str, str]:
    """The facts of one end at the start of the run; none if no link was ever open."""
    if not run.record.visits:
        return {}
    visit = run.record.visits[0]
    return (visit.sender_before if end is EndName.SENDER else visit.receiver_before).facts
