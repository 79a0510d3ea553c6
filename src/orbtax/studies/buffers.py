"""How does speed depend on socket buffers and message size, and why? The post of 2008, done again.

Every arm sends messages of every size under every setting of the buffers. All settings of one size
are run side by side, round by round, so that a drift of the machine falls on all of them alike. On
an emulated link a setting makes a link of its own, `ib~16KiB-87380B`, and all of these are open
together; on other links a case asks for its buffers itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbtax import plan as planning
from orbtax.analysis.buffer_results import BufferResult, buffer_results
from orbtax.errors import RequestError
from orbtax.model import Arm, Case, Cell, Kind, Link, Options, Placement, Plan
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
    """The plan of the study: a cell for each link and message size, with all settings and arms.

    Raises RequestError if it cannot be run, or if no arm can have any of the settings.
    """
    settings = request.settings or SETTINGS
    cells = tuple(
        cell
        for link in request.links
        for size_bytes in request.sizes_bytes or SIZES_BYTES
        for cell in _cells(request, link, settings, size_bytes)
    )
    if not cells:
        raise RequestError(
            f"nothing can be measured: {why_not(request.links[0], Arm.CORBA, settings[0])}. "
            "Take an emulated link, or a setting such as `16KiB/kernel`."
        )
    planning.check(cells, verify=False)
    opened = [link for base in request.links for link in _links(base, settings)]
    used = {case.link for cell in cells for case in cell.cases}
    return Plan(
        study=NAME,
        links=tuple(link for link in opened if link.name in used),
        cells=cells,
        placement=request.placement,
        block_s=FULL_BLOCK_S if request.full else BLOCK_S,
        width=request.width,
        watch=True,
    )


def _links(base: Link, settings: Sequence[Buffers]) -> tuple[Link, ...]:
    """The links to open: one for each setting where it is the link's, else the one."""
    if base.kind is not Kind.EMULATED:
        return (base,)
    return tuple(with_buffers(base, setting) for setting in settings)


def _cells(
    request: Request, base: Link, settings: Sequence[Buffers], size_bytes: int
) -> Iterator[Cell]:
    """All settings and arms at one message size, to be run side by side; none if none can be."""
    cases = tuple(
        _case(base, arm, setting, size_bytes)
        for setting in settings
        for arm in request.arms or ARMS
        if why_not(base, arm, setting) is None
    )
    if cases:
        until_narrow = request.full and request.rounds is None
        yield Cell(
            cases=cases,
            rounds=None if until_narrow else request.rounds or ROUNDS,
            budget_s=FULL_BUDGET_S * len(cases) if until_narrow else None,
        )


def _case(base: Link, arm: Arm, setting: Buffers, size_bytes: int) -> Case:
    """A case that has its buffers from its link if that is emulated, and else asks for them."""
    is_emulated = base.kind is Kind.EMULATED
    return Case(
        link=with_buffers(base, setting).name if is_emulated else base.name,
        arm=arm,
        payload_bytes=size_bytes,
        threads=1,
        options=Options() if is_emulated else setting.options,
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
