"""Whether a stored run fits together, so that nothing after it has to doubt that."""

from __future__ import annotations

from collections.abc import Iterator

from orbtax.errors import RequestError
from orbtax.record import Latencies, Run, Sample


def consistent(run: Run) -> Run:
    """The run itself; RequestError names the first thing in it that cannot be."""
    fault = next(_faults(run), None)
    if fault is not None:
        raise RequestError(
            f"{run.folder} does not hold a run as orbtax writes it: {fault}. "
            "Restore it from a copy."
        )
    return run


def _faults(run: Run) -> Iterator[str]:
    plan = run.record.plan
    links = {link.name for link in plan.links}
    for index, cell in enumerate(plan.cells):
        if not cell.cases:
            yield f"cell {index} of the plan has no cases"
        for case in cell.cases:
            if case.link not in links:
                yield f"cell {index} of the plan is on the link {case.link!r}, which the plan lacks"
            if case.payload_bytes < 0 or case.threads < 1:
                yield f"cell {index} of the plan has a payload below 0 or no threads"
    for number, sample in enumerate(run.samples, start=1):
        for fault in _sample_faults(sample, len(plan.cells), links):
            yield f"sample {number} {fault}"


def _sample_faults(sample: Sample, cells: int, links: set[str]) -> Iterator[str]:
    if not 0 <= sample.cell < cells:
        yield f"is of cell {sample.cell}, and the plan has {cells}"
    if sample.case.link not in links:
        yield f"is of the link {sample.case.link!r}, which the plan lacks"
    numbers = (sample.goodput_bit_s, sample.window_s, sample.messages, sample.confirmed_bytes)
    sizes = (sample.asked_bytes, sample.case.payload_bytes, sample.round, sample.case.threads - 1)
    if any(number is not None and number < 0 for number in (*numbers, *sizes)):
        yield "has a number below what it can be"
    if sample.latencies is not None and not _is_histogram(sample.latencies):
        yield "has latencies that are no histogram"


def _is_histogram(latencies: Latencies) -> bool:
    return (
        len(latencies.bins) == len(latencies.counts)
        and sum(latencies.counts) == latencies.calls
        and min(latencies.bins, default=0) >= 0
        and min(latencies.counts, default=1) > 0
    )
