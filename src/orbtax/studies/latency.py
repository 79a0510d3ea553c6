"""How long does a message take, as a function of its size? Overhead, speed, steps and stalls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orbtax import plan as planning
from orbtax.model import Link, Placement, Plan
from orbtax.record import Run
from orbtax.report import terminal
from orbtax.report.content import Report, assemble
from orbtax.report.files import write_files
from orbtax.studies.latency_front import latency_front
from orbtax.studies.latency_grid import Pass, brief_passes, cell_of, full_passes, merging_cells
from orbtax.studies.latency_published import merging_table, published_table
from orbtax.studies.latency_results import LatencyResult, latency_results
from orbtax.studies.latency_summary import latency_csv, latency_json
from orbtax.studies.latency_tables import brief_model_table, empty_table
from orbtax.studies.latency_words import answers, breaks

NAME = "latency"
ROUNDS = 7
BLOCK_S = 0.03
"""Hundreds of calls of a small message: many short blocks tell more than few long ones."""
LEAST_CALLS = 10
"""A block of large messages takes as many, as far as a second goes: the first calls on a connection
are acknowledged at once and meet no timer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user asked for; None leaves it to the study."""

    links: tuple[Link, ...]
    sizes_bytes: tuple[int, ...] | None = None
    rounds: int | None = None
    full: bool = False
    placement: Placement


def make_plan(request: Request) -> Plan:
    """The plan of the study; RequestError if it cannot be run."""
    rounds = request.rounds or ROUNDS
    cells = tuple(
        cell
        for link in request.links
        for cell in (
            *(cell_of(link.name, each, rounds) for each in _passes(request, link)),
            *merging_cells(link.name, rounds),
        )
    )
    planning.check(cells, verify=False)
    return Plan(
        study=NAME,
        links=request.links,
        cells=cells,
        placement=request.placement,
        block_s=BLOCK_S,
        least_messages=LEAST_CALLS,
        ceilings=False,
    )


def report(runs: Sequence[Run], folder: Path, *, join: bool, quiet: bool) -> None:
    """Says the result and writes the report.

    Raises RequestError for runs that do not belong together or a folder that cannot be written.
    """
    content = assemble(runs, join=join)
    results = latency_results(content.run)
    _say(content, results, quiet=quiet)
    texts = {"summary.csv": latency_csv(results), "summary.json": latency_json(content, results)}
    paths = write_files(content, latency_front(results), texts, folder)
    if not quiet:
        terminal.say(f"report: {paths.page}")


def _passes(request: Request, link: Link) -> tuple[Pass, ...]:
    if request.full:
        return full_passes(request.sizes_bytes)
    return brief_passes(request.sizes_bytes, link.rate_bit_s)


def _say(content: Report, results: Sequence[LatencyResult], *, quiet: bool) -> None:
    for result in results:
        if not quiet:
            for sentence in answers(result):
                terminal.say(sentence)
            terminal.say("")
        terminal.say_table(brief_model_table(result), keys=2)
        if quiet:
            continue
        if result.empty_calls:
            terminal.say_table(empty_table(result))
        for line in breaks(result):
            terminal.say(line)
        terminal.say("")
        if result.merged:
            terminal.say_table(merging_table(result))
        terminal.say_table(published_table(result))
    terminal.say_doubts(content, quiet=quiet)
