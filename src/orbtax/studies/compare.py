"""What does a call cost on this link? CORBA beside the raw socket, over sizes and threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orbtax import plan as planning
from orbtax.model import STUDY_TOTAL_BYTES, Arm, Link, Placement, Plan
from orbtax.record import Run
from orbtax.report import terminal
from orbtax.report.content import assemble
from orbtax.report.files import write_comparison

NAME = "compare"
KIB = 1024
SIZES_BYTES = (KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB)
THREADS = (1, 4, 16)
ARMS = (Arm.STREAM, Arm.CALL, Arm.CORBA)
FULL_SIZES_BYTES = tuple(KIB << step for step in range(11))
FULL_THREADS = (1, 2, 4, 8, 16, 32)
FULL_ROUNDS = 4
LINK_BUDGET_S = 115.0
"""Time for one link, shared by its cells: about two minutes with what opening it takes."""
LEAST_CELL_S = 5.0
"""A cell of three arms has to have time for the rounds that an interval needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user asked for; None leaves it to the study."""

    links: tuple[Link, ...]
    sizes_bytes: tuple[int, ...] | None = None
    threads: tuple[int, ...] | None = None
    arms: tuple[Arm, ...] | None = None
    rounds: int | None = None
    total_bytes: int | None = None
    full: bool = False
    width: float = 0.03
    placement: Placement
    verify: bool = False
    cross_check: bool = False


def make_plan(request: Request) -> Plan:
    """The plan of a comparison; RequestError if it cannot be run."""
    sizes = request.sizes_bytes or (FULL_SIZES_BYTES if request.full else SIZES_BYTES)
    threads = request.threads or (FULL_THREADS if request.full else THREADS)
    total_bytes = request.total_bytes or (STUDY_TOTAL_BYTES if request.full else None)
    rounds = request.rounds or (FULL_ROUNDS if total_bytes else None)
    arms = arms_of(request)
    each_s = max(LEAST_CELL_S, LINK_BUDGET_S / (len(sizes) * len(threads)))
    cells = tuple(
        cell
        for link in request.links
        for cell in planning.grid(
            link,
            sizes,
            threads,
            arms,
            rounds=rounds,
            total_bytes=total_bytes,
            budget_s=None if total_bytes or rounds else each_s,
        )
    )
    planning.check(cells, verify=request.verify)
    return Plan(
        study=NAME,
        links=tuple(request.links),
        cells=cells,
        placement=request.placement,
        block_s=block_s(each_s, arms),
        width=request.width,
        verify=request.verify,
        cross_check=request.cross_check,
    )


def arms_of(request: Request) -> tuple[Arm, ...]:
    """The arms that are asked for, and iperf3 beside them for a cross-check."""
    arms = request.arms or ARMS
    return (*arms, Arm.IPERF3) if request.cross_check and Arm.IPERF3 not in arms else arms


def report(runs: Sequence[Run], folder: Path, *, join: bool, quiet: bool) -> None:
    """Says the result and writes the report.

    Raises RequestError for runs that do not belong together or a folder that cannot be written.
    """
    content = assemble(runs, join=join)
    terminal.say_report(content, quiet=quiet)
    paths = write_comparison(content, folder)
    if not quiet:
        terminal.say(f"report: {paths.page}")


def block_s(cell_s: float, arms: Sequence[Arm]) -> float:
    """How long a block may last so that a cell's time is enough for eight rounds of all arms."""
    return min(0.3, max(0.1, cell_s / (8 * len(arms)) - 0.06))
