"""The mailing-list study: the best of CORBA beside the best of a socket, link by link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orbtax import plan as planning
from orbtax.model import STUDY_TOTAL_BYTES, Case, Cell, Finding, Link, Placement, Plan
from orbtax.record import Run
from orbtax.report import terminal
from orbtax.report.content import Report, assemble
from orbtax.report.files import write_files
from orbtax.report.forms import Form, render
from orbtax.report.front import file_name
from orbtax.report.tables import Table
from orbtax.studies.study_front import study_front
from orbtax.studies.study_grid import FULL, QUICK, Grid, interleaved
from orbtax.studies.study_results import Outcome, Variation, outcomes, variations
from orbtax.studies.study_summary import study_csv, study_json
from orbtax.studies.study_tables import search_table, study_table, variation_table
from orbtax.studies.study_words import answer
from orbtax.studies.variations import (
    Vary,
    left_out,
    probe_of,
    varied_cases,
    varied_links,
)

NAME = "study"
FULL_ROUNDS = 4
QUICK_ROUNDS = 6
QUICK_LINK_S = 165.0
"""Time for one link with `--quick`: three links and what opening them takes in ten minutes."""
BLOCK_OVERHEAD_S = 0.13
"""Connecting, warming up, reading both ends and closing, with up to 32 connections."""
PILOT_BLOCKS = 0.75
"""What sizing the blocks of a case takes, in blocks."""
BLOCK_S = (0.1, 0.7)
"""Between these a block of `--quick` lasts. A token bucket is full when a block begins, so that
short ones look too fast: 256 KiB are 0.3 % of what 1 Gbit/s moves in 0.7 s."""
SUFFIXES = {
    Form.TEXT: "txt",
    Form.MARKDOWN: "md",
    Form.CSV: "csv",
    Form.HTML: "html",
    Form.LATEX: "tex",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user asked for; None leaves it to the study."""

    links: tuple[Link, ...]
    quick: bool = False
    sizes_bytes: tuple[int, ...] | None = None
    threads: tuple[int, ...] | None = None
    streams: tuple[int, ...] | None = None
    vary: tuple[Vary, ...] = ()
    controls: tuple[str, ...] = ()  # congestion controls that the kernel here offers
    placement: Placement

    @property
    def left_out(self) -> tuple[Finding, ...]:
        """What is to be varied and cannot be."""
        return left_out(self.links, self.vary, self.controls)


def make_plan(request: Request) -> Plan:
    """The plan of the study; RequestError if it cannot be run.

    All cases of a link are one cell: each round goes over all of them, so that the best call and
    the best socket are paired by round, whichever they turn out to be.
    """
    grid = _grid(request)
    probe = probe_of(grid)
    links: list[Link] = []
    cells: list[Cell] = []
    for link in request.links:
        extra = varied_cases(link, request.vary, probe)
        links.append(link)
        cells.append(
            _cell(interleaved(grid.calls(link.name), grid.sockets(link.name), extra), request)
        )
        for varied in varied_links(link, request.vary, request.controls):
            links.append(varied)
            cells.append(_cell(probe.base(varied.name), request))
    planning.check(cells, verify=False)
    return Plan(
        study=NAME,
        links=tuple(links),
        cells=tuple(cells),
        placement=request.placement,
        block_s=_block_s(len(grid.calls("")) + len(grid.sockets(""))),
    )


def report(runs: Sequence[Run], folder: Path, *, join: bool, quiet: bool) -> None:
    """Says the result and writes the report.

    Raises RequestError for runs that do not belong together or a folder that cannot be written.
    """
    content = assemble(runs, join=join)
    found, varied = outcomes(content), variations(content)
    _say(content, found, varied, quiet=quiet)
    paths = write_files(
        content, study_front(content, found, varied), _texts(content, found, varied), folder
    )
    if not quiet:
        terminal.say(f"report: {paths.page}")


def _texts(
    content: Report, found: Sequence[Outcome], varied: Sequence[Variation]
) -> Mapping[str, str]:
    """The files beside the page: summaries, and each table in every form."""
    tables = {"study": study_table(found)}
    tables |= {f"search-{file_name(each.report)}": search_table(each) for each in found}
    if varied:
        tables["variations"] = variation_table(varied)
    return {
        "summary.csv": study_csv(found),
        "summary.json": study_json(content, found, varied),
        **{
            f"{name}.{suffix}": render(table, form)
            for name, table in tables.items()
            for form, suffix in SUFFIXES.items()
        },
    }


def _say(
    content: Report, found: Sequence[Outcome], varied: Sequence[Variation], *, quiet: bool
) -> None:
    tables: list[Table] = [study_table(found)]
    if varied:
        tables.append(variation_table(varied))
    if not quiet:
        for each in found:
            terminal.say(f"{answer(each)}\n")
    for table in tables:
        terminal.say_table(table, keys=2)
    terminal.say_doubts(content, quiet=quiet)


def _grid(request: Request) -> Grid:
    grid = QUICK if request.quick else FULL
    streams = request.streams or grid.streams
    within = tuple(count for count in grid.window_streams if count in streams)
    return replace(
        grid,
        payloads_bytes=request.sizes_bytes or grid.payloads_bytes,
        threads=request.threads or grid.threads,
        streams=streams,
        window_streams=within or streams[:1],
    )


def _cell(cases: Sequence[Case], request: Request) -> Cell:
    if request.quick:
        return Cell(cases=tuple(cases), rounds=QUICK_ROUNDS)
    return Cell(cases=tuple(cases), rounds=FULL_ROUNDS, total_bytes=STUDY_TOTAL_BYTES)


def _block_s(cases: int) -> float:
    """How long a block may last so that all rounds of `--quick` fit into the time of a link."""
    each_s = QUICK_LINK_S / (cases * (QUICK_ROUNDS + PILOT_BLOCKS))
    shortest_s, longest_s = BLOCK_S
    return min(longest_s, max(shortest_s, each_s - BLOCK_OVERHEAD_S))
