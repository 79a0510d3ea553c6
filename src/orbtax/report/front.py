"""What a report shows before its evidence: each study fills it in its own way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from orbtax.model import Arm
from orbtax.report.causes import held_back
from orbtax.report.charts import Chart, HeatMap
from orbtax.report.content import LinkReport, Report
from orbtax.report.plots import has_surface, link_charts, surface
from orbtax.report.results import answer, best_table, cells_table
from orbtax.report.tables import Table
from orbtax.units import format_size


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure before it is drawn, and what its files are called."""

    name: str  # `goodput-ib`
    content: Chart | HeatMap


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """The upper part of a page: the answers, the tables and the figures that they rest on."""

    title: str
    measured: str  # what was measured, in a sentence
    answers: tuple[str, ...]
    best: tuple[Table, ...]
    drawings: tuple[Drawing, ...]
    cells: tuple[Table, ...]
    best_heading: str = "Best cases"
    cells_heading: str = "All cells"


def front_of(report: Report) -> Front:
    """The front of a comparison: best cases, goodput and efficiency, every cell."""
    names = listed(link.name for link in report.links) or "no link"
    return Front(
        title=f"{report.run.record.plan.study}: what CORBA costs on {names}",
        measured=measured(report),
        answers=tuple(answer(result) for result in report.results),
        best=tuple(
            best_table(link.result, held_back(link.result, link.bottlenecks))
            for link in report.links
        ),
        drawings=tuple(_drawings(report)),
        cells=tuple(cells_table(result) for result in report.results),
    )


def measured(report: Report) -> str:
    """What was measured, in a sentence."""
    cells = [cell for cell in report.run.record.plan.cells if cell.cases]
    if not cells or not report.links:
        return "Nothing was planned in this run."
    cases = [case for cell in cells for case in cell.cases]
    arms = [str(arm) for arm in Arm if any(case.arm is arm for case in cases)]
    sizes = sorted({case.payload_bytes for case in cases})
    threads = sorted({case.threads for case in cases})
    size_range = " to ".join(dict.fromkeys(format_size(size) for size in (sizes[0], sizes[-1])))
    thread_range = " to ".join(dict.fromkeys(str(count) for count in threads[:1] + threads[-1:]))
    return (
        f"The goodput of {listed(arms)} with messages of {size_range} and {thread_range} "
        f"{'thread' if threads == [1] else 'threads'}, in rounds one after the other, "
        f"on {listed(link.name for link in report.links)}."
    )


def file_name(link: LinkReport) -> str:
    """The link's name in characters that every file system takes."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", link.link.name)
    return f"{name}-reverse" if link.result.reverse else name


def listed(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *firsts, last = [*words] or [""]
    return f"{', '.join(firsts)} and {last}" if firsts else last


def _drawings(report: Report) -> Iterator[Drawing]:
    for link in report.links:
        name = file_name(link)
        for chart in link_charts(link.result, link.link, link.latencies):
            yield Drawing(f"{chart.name}-{name}", chart)
        if has_surface(link.result):
            heat_map = surface(link.result, link.result.arm)
            yield Drawing(f"{heat_map.name}-{name}", heat_map)
