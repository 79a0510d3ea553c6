"""The commands of orbtax, as invoke tasks: `invoke compare …` here, `orbtax compare …` anywhere.

Each import of a heavier part stands inside its command, so that `invoke --list` answers at once.
"""

from __future__ import annotations

import sys

from invoke import Collection, Context

from orbtax.commandline import (
    LINK_HELP,
    RUN_HELP,
    Orbtax,
    chosen_links,
    command,
    command_line,
    if_given,
    path,
    task,
)
from orbtax.errors import ExitCode


@task(
    iterable=["link"],
    help={
        **LINK_HELP,
        **RUN_HELP,
        "width": "stop when the 95 % interval is this narrow on either side, such as 3%",
        "sizes": "payload sizes: 1KiB,64KiB,1MiB",
        "threads": "client threads: 1,4,16",
        "arms": "stream, call, corba, oneway, ami",
        "rounds": "exactly so many rounds; without it, until the intervals are narrow",
        "total": "bytes for each case, spread over the rounds: 256MB",
        "full": "1 KiB to 1 MiB in powers of two, 1 to 32 threads, 8 GB for each case",
        "verify": "checksum every message, after the clock",
        "cross-check": "run the installed iperf3 in the same rounds, beside the stream",
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
    cross_check: bool = False,
) -> ExitCode:
    """Compare CORBA with the raw socket on a link, over payload sizes and threads."""
    from orbtax import plan, sitting, units
    from orbtax.studies import compare as study

    if (earlier := path(resume)) is not None:
        return sitting.resume(earlier, quiet=quiet)
    chosen = chosen_links(link, links, default="ib")
    request = study.Request(
        links=chosen,
        sizes_bytes=if_given(plan.parse_sizes, sizes),
        threads=if_given(plan.parse_threads, threads),
        arms=if_given(plan.parse_arms, arms),
        rounds=if_given(units.parse_count, rounds),
        total_bytes=if_given(units.parse_size, total),
        full=full,
        width=units.parse_share(width),
        placement=plan.parse_placement(placement, chosen),
        verify=verify,
        cross_check=cross_check,
    )
    return sitting.measure(study.make_plan(request), command_line(), path(out), quiet=quiet)


@task(
    iterable=["link"],
    optional=["vary"],
    help={
        **LINK_HELP,
        **RUN_HELP,
        "quick": "a coarser grid and a share of the 8 GB: three links in under ten minutes",
        "vary": "further rows: scaling, mtu, congestion, connections, oneway, ami; bare: all",
        "sizes": "payload sizes of the calls: 1KiB,64KiB,1MiB",
        "threads": "client threads: 1,4,16",
        "streams": "streams of the socket: 1,4,16",
    },
)
@command
def study(
    _context: Context,
    link: list[str] | None = None,
    links: str | None = None,
    quick: bool = False,
    vary: str | None = None,
    sizes: str | None = None,
    threads: str | None = None,
    streams: str | None = None,
    out: str | None = None,
    resume: str | None = None,
    quiet: bool = False,
    placement: str | None = None,
) -> ExitCode:
    """Repeat the mailing-list study: the best of CORBA beside the best of a socket."""
    from orbtax import plan, sitting
    from orbtax.studies import study, variations

    if (earlier := path(resume)) is not None:
        return sitting.resume(earlier, quiet=quiet)
    chosen = chosen_links(link, links, default="ib,10ge,1ge")
    request = study.Request(
        links=chosen,
        quick=quick,
        sizes_bytes=if_given(plan.parse_sizes, sizes),
        threads=if_given(plan.parse_threads, threads),
        streams=if_given(plan.parse_threads, streams),
        vary=variations.parse_vary(vary),
        controls=variations.offered_controls(),
        placement=plan.parse_placement(placement, chosen),
    )
    return sitting.measure(
        study.make_plan(request),
        command_line(),
        path(out),
        quiet=quiet,
        findings=request.left_out,
    )


@task(
    iterable=["link"],
    help={
        **LINK_HELP,
        **RUN_HELP,
        "sizes": "message sizes: 1KiB,64KiB; without it, 128 B to 128 KiB",
        "buffers": "sender's/receiver's socket buffers: kernel,16KiB/87380B,kernel/4KiB",
        "arms": "stream, call, corba, oneway, ami",
        "rounds": "exactly so many rounds",
        "full": "longer blocks, and rounds until the intervals are narrow",
    },
)
@command
def buffers(
    _context: Context,
    link: list[str] | None = None,
    links: str | None = None,
    sizes: str | None = None,
    buffers: str | None = None,
    arms: str | None = None,
    rounds: str | None = None,
    full: bool = False,
    out: str | None = None,
    resume: str | None = None,
    quiet: bool = False,
    placement: str | None = None,
) -> ExitCode:
    """Measure speed by socket buffers and message size on a link, and say what bounds it."""
    from orbtax import plan, sitting, units
    from orbtax.socket_buffers import parse_buffers
    from orbtax.studies import buffers as study

    if (earlier := path(resume)) is not None:
        return sitting.resume(earlier, quiet=quiet)
    chosen = chosen_links(link, links, default="ib")
    request = study.Request(
        links=chosen,
        sizes_bytes=if_given(plan.parse_sizes, sizes),
        settings=None if buffers is None else units.parse_list(buffers, parse_buffers),
        arms=if_given(plan.parse_arms, arms),
        rounds=if_given(units.parse_count, rounds),
        full=full,
        placement=plan.parse_placement(placement, chosen),
    )
    return sitting.measure(study.make_plan(request), command_line(), path(out), quiet=quiet)


@task(
    iterable=["link"],
    help={
        **LINK_HELP,
        **RUN_HELP,
        "sizes": "message sizes: 1B,1kB,1MiB; without it, up to 10 MB. CORBA has 0 as well",
        "rounds": "repetitions of every curve",
        "full": "all sizes under all settings: directions, buffers, TCP_NODELAY",
    },
)
@command
def latency(
    _context: Context,
    link: list[str] | None = None,
    links: str | None = None,
    sizes: str | None = None,
    rounds: str | None = None,
    full: bool = False,
    out: str | None = None,
    resume: str | None = None,
    quiet: bool = False,
    placement: str | None = None,
) -> ExitCode:
    """Measure the time of a message by its size on a link: overhead, speed, steps, stalls."""
    from orbtax import plan, sitting, units
    from orbtax.studies import latency as study

    if (earlier := path(resume)) is not None:
        return sitting.resume(earlier, quiet=quiet)
    chosen = chosen_links(link, links, default="ib")
    request = study.Request(
        links=chosen,
        sizes_bytes=if_given(plan.parse_sizes, sizes),
        rounds=if_given(units.parse_count, rounds),
        full=full,
        placement=plan.parse_placement(placement, chosen),
    )
    return sitting.measure(study.make_plan(request), command_line(), path(out), quiet=quiet)


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

    folders = [folder for text in run.split(",") if (folder := path(text)) is not None]
    return sitting.report(folders, salvage=salvage, join=join, out=path(out))


@task(iterable=["link"], help=LINK_HELP)
@command
def doctor(_context: Context, link: list[str] | None = None, links: str | None = None) -> ExitCode:
    """Look for what spoils a measurement here, or at both ends of a link; change nothing."""
    from orbtax import checkup

    return checkup.tell(chosen_links(link, links, default="lo") if link else ())


@task
@command
def idl(_context: Context) -> ExitCode:
    """Print where the IDL and its generated stubs are."""
    from orbtax import stubs
    from orbtax.report import terminal

    terminal.say(f"contract  {stubs.idl_file()}")
    terminal.say(f"stubs     {stubs.folder()}")
    return ExitCode.DONE


def main() -> None:
    """Runs the command that the command line asks for, and ends the program."""
    from importlib.metadata import version

    namespace = Collection.from_module(sys.modules[__name__])
    Orbtax(name="orbtax", binary="orbtax", namespace=namespace, version=version("orbtax")).run()
