"""The commands of orbtax, as invoke tasks: `invoke compare …` here, `orbtax compare …` anywhere.

Each import of a heavier part stands inside its command, so that `invoke --list` answers at once.
"""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from invoke import Collection, Context, Exit, Program, task
from invoke.exceptions import ParseError

from orbtax.errors import ExitCode, OrbtaxError

if TYPE_CHECKING:
    from orbtax.model import Link

_LINKS = {
    "link": "link to measure: lo, ib, 10ge, 1ge or one of links.toml (repeat, or use commas)",
    "links": "file with links of the site; without it, links.toml here",
}
_RUN = {
    "out": "folder for the run, which must not exist yet; without it, one below results/",
    "resume": "folder of an earlier run: run what is missing there",
    "quiet": "no progress, only the result",
    "placement": "cores: split, free, or SENDER/RECEIVER such as 0/1 or 0,1/2,3",
    "width": "stop when the 95 % interval is this narrow on either side, such as 3%",
}


def command(body: Callable[..., ExitCode]) -> Callable[..., None]:
    """A task body whose result is the exit code, and whose errors are a message and a code."""

    @functools.wraps(body)
    def run(*args: Any, **flags: Any) -> None:
        try:
            code = body(*args, **flags)
        except OrbtaxError as error:
            _fail(str(error), error.exit_code)
        except KeyboardInterrupt:
            _fail("interrupted", ExitCode.INTERRUPTED)
        if code:
            raise Exit(code=int(code))

    return run


def _fail(text: str, code: ExitCode) -> NoReturn:
    from orbtax.report import terminal

    terminal.say_error(text)
    raise Exit(code=int(code))


@task(
    iterable=["link"],
    help={
        **_LINKS,
        **_RUN,
        "sizes": "payload sizes: 1KiB,64KiB,1MiB",
        "threads": "client threads: 1,4,16",
        "arms": "stream, call, corba, oneway, ami",
        "rounds": "exactly so many rounds; without it, until the intervals are narrow",
        "total": "bytes for each case, spread over the rounds: 256MB",
        "full": "1 KiB to 1 MiB in powers of two, 1 to 32 threads, 8 GB for each case",
        "verify": "checksum every message, after the clock",
    },
)
@command
def compare(
    _context: Context,
    link: list[str] | None = None,
    links: str | None = None,
    sizes: str | None = None,
    threads: str | None = None,
    arms: str | None = None,
    rounds: str | None = None,
    total: str | None = None,
    full: bool = False,
    out: str | None = None,
    resume: str | None = None,
    quiet: bool = False,
    placement: str | None = None,
    width: str = "3%",
    verify: bool = False,
) -> ExitCode:
    """Compare CORBA with the raw socket on a link, over payload sizes and threads."""
    from orbtax import plan, sitting, units
    from orbtax.studies import compare as study

    if resume is not None:
        return sitting.resume(Path(resume), quiet=quiet)
    chosen = _links(link, links, default="ib")
    request = study.Request(
        links=chosen,
        sizes_bytes=_if_given(plan.parse_sizes, sizes),
        threads=_if_given(plan.parse_threads, threads),
        arms=_if_given(plan.parse_arms, arms),
        rounds=_if_given(units.parse_count, rounds),
        total_bytes=_if_given(units.parse_size, total),
        full=full,
        width=units.parse_share(width),
        placement=plan.parse_placement(placement, chosen),
        verify=verify,
    )
    return sitting.measure(study.make_plan(request), _command_line(), _path(out), quiet=quiet)


@task(
    positional=["run"],
    help={
        "run": "run folder; several, with commas between them, are reported together",
        "out": "folder for the report; without it, report/ in the (first) run",
        "join": "report runs of different set-ups together",
        "salvage": "report a run whose last line is damaged without that line",
    },
)
@command
def report(
    _context: Context,
    run: str,
    out: str | None = None,
    join: bool = False,
    salvage: bool = False,
) -> ExitCode:
    """Make the report of one or several stored runs again."""
    from orbtax import sitting

    folders = [Path(folder) for folder in run.split(",")]
    return sitting.report(folders, salvage=salvage, join=join, out=_path(out))


@task
@command
def idl(_context: Context) -> ExitCode:
    """Print where the IDL and its generated stubs are."""
    from orbtax import stubs
    from orbtax.report import terminal

    terminal.say(f"contract  {stubs.idl_file()}")
    terminal.say(f"stubs     {stubs.folder()}")
    return ExitCode.DONE


def _links(names: list[str] | None, file: str | None, default: str) -> tuple[Link, ...]:
    from orbtax.links import catalogue

    wanted = [name.strip() for text in names or [default] for name in text.split(",")]
    return catalogue.pick(catalogue.load_catalogue(_path(file)), wanted)


def _if_given(parse: Callable[[str], Any], text: str | None) -> Any:
    return None if text is None else parse(text)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _command_line() -> str:
    """The command line without the folders that the program was started from."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


class _Orbtax(Program):
    """invoke's own program, but an unknown flag is a wrong request: exit code 2."""

    def parse_tasks(self) -> None:
        try:
            super().parse_tasks()
        except ParseError as error:
            _fail(str(error), ExitCode.REQUEST)


def main() -> None:
    """The console script `orbtax`."""
    from importlib.metadata import version

    namespace = Collection.from_module(sys.modules[__name__])
    _Orbtax(name="orbtax", binary="orbtax", namespace=namespace, version=version("orbtax")).run()
