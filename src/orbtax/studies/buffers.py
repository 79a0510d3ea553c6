"""How does speed depend on socket buffers and message size, and why? The post of 2008, done again.

Every arm sends messages of every size under every setting of the buffers. On an emulated link a
setting makes a link of its own, `ib~16KiB-87380B`, whose settings are run one after the other; on
other links the settings of one message size are run side by side, round by round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbtax import plan as planning
from orbtax.analysis.buffer_results import BufferResult, buffer_results
from orbtax.errors import RequestError
from orbtax.model import Arm, Case, Cell, Kind, Link, Placement, Plan
from orbtax.record import Run
from orbtax.report import terminal
from orbtax.report.content import Report, assemble
from orbtax.report.files import write_files
from orbtax.report.forms import Form, render
from orbtax.socket_buffers import Buffers, base_name, why_not, with_buffers
from orbtax.studies.buffers_front import buffers_front, main_tables
from orbtax.studies.buffers_summary import buffers_csv, buffers_json
from orbtax.studies.buffers_tables import goodput_table, slowdown_table
from orbtax.studies.buffers_words import answers

NAME = "buffers"
KIB = 1024
SIZES_BYTES = tuple(128 << step for step in range(11))  # 128 B to 128 KiB, as in the post
SETTINGS = (
    Buffers(),
    Buffers(16 * KIB, 87_380),
    Buffers(256 * KIB, 256 * KIB),
    Buffers(16 * KIB**2, 8 * KIB**2),
)
"""The three of the post, and the kernel's own choice beside them."""
ARMS = (Arm.STREAM, Arm.CALL, Arm.CORBA)

ROUNDS = 4
BLOCK_S = 0.12
"""So that a link of 4 settings, 11 sizes and 3 arms takes about two minutes."""
FULL_BUDGET_S = 5.0  # for each case, until the intervals are narrow
FULL_BLOCK_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user asked for; None leaves it to the study."""

    links: tuple[Link, ...]
    sizes_bytes: tuple[int, ...] | None = None
    settings: tuple[Buffers, ...] | None = None
    arms: tuple[Arm, ...] | None = None
    rounds: int | None = None
    full: bool = False
    width: float = 0.03
    placement: Placement


def make_plan(request: Request) -> Plan:
    """The plan of the study.

    Raises RequestError if it cannot be run, or if no arm can have any of the settings.
    """
    settings = request.settings or SETTINGS
    places = [place for link in request.links for place in _places(link, settings)]
    cells = tuple(cell for link, here in places for cell in _cells(request, link, here))
    if not cells:
        raise RequestError(
            f"nothing can be measured: {why_not(request.links[0], Arm.CORBA, settings[0])}. "
            "Take an emulated link, or a setting such as `16KiB/kernel`."
        )
    planning.check(cells, verify=False)
    used = {case.link for cell in cells for case in cell.cases}
    return Plan(
        study=NAME,
        links=tuple(link for link, _ in places if link.name in used),
        cells=cells,
        placement=request.placement,
        block_s=FULL_BLOCK_S if request.full else BLOCK_S,
        width=request.width,
        watch=True,
    )


def _places(link: Link, settings: Sequence[Buffers]) -> Iterator[tuple[Link, tuple[Buffers, ...]]]:
    """Each link to open, with the settings that its cases ask for themselves."""
    if link.kind is Kind.EMULATED:
        yield from ((with_buffers(link, setting), (Buffers(),)) for setting in settings)
    else:
        yield link, tuple(settings)


def _cells(request: Request, link: Link, settings: Sequence[Buffers]) -> Iterator[Cell]:
    arms = request.arms or ARMS
    for size_bytes in request.sizes_bytes or SIZES_BYTES:
        cases = tuple(
            Case(
                link=link.name,
                arm=arm,
                payload_bytes=size_bytes,
                threads=1,
                options=setting.options,
            )
            for setting in settings
            for arm in arms
            if why_not(link, arm, setting) is None
        )
        if cases:
            until_narrow = request.full and request.rounds is None
            yield Cell(
                cases=cases,
                rounds=None if until_narrow else request.rounds or ROUNDS,
                budget_s=FULL_BUDGET_S * len(cases) if until_narrow else None,
            )


def report(runs: Sequence[Run], folder: Path, *, join: bool, quiet: bool) -> None:
    """Says the result and writes the report.

    Raises RequestError for runs that do not belong together or a folder that cannot be written.
    """
    content = assemble(runs, join=join)
    results = buffer_results(content.run)
    for result in results:
        for sentence in () if quiet else answers(result):
            terminal.say(sentence)
        for table in main_tables(result):
            terminal.say_table(table)
        if result.slowdowns and not quiet:
            terminal.say_table(slowdown_table(result), keys=2)
    terminal.say_doubts(content, quiet=quiet)
    paths = write_files(content, buffers_front(results), _texts(content, results), folder)
    if not quiet:
        terminal.say(f"report: {paths.page}")


def _texts(content: Report, results: Sequence[BufferResult]) -> Mapping[str, str]:
    """The files beside the page: summaries, and the tables of goodput in every form."""
    texts = {
        "summary.csv": buffers_csv(results),
        "summary.json": buffers_json(content, results),
    }
    for result in results:
        for arm in result.arms:
            name = f"goodput-{base_name(result.link.name)}-{arm}"
            for form in Form:
                texts[f"tables/{name}.{form.suffix}"] = render(goodput_table(result, arm), form)
    return texts
