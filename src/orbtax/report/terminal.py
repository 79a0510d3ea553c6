"""Everything that orbtax prints. Results go to standard output, all else to standard error."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast
from weakref import WeakKeyDictionary

from rich.console import Console
from rich.live import Live
from rich.text import Text

from orbtax.errors import UnavailableError
from orbtax.model import Block, Finding, Plan
from orbtax.record import Sample
from orbtax.report.progress import Tally
from orbtax.report.tables import Table, fold, grid_lines, one_line

if TYPE_CHECKING:
    from orbtax.report.content import Report
    from orbtax.rounds import Observer

NARROWEST = 80
"""Columns that every terminal is taken to have."""

_REMARKS_SHOWN = 12

_losses: WeakKeyDictionary[TextIO, OSError] = WeakKeyDictionary()
"""Streams that could not be written any more, until `flush_result` tells of it."""


def say(text: str) -> None:
    """A line of a result."""
    _console(sys.stdout).print(Text(text), soft_wrap=True)


def flush_result() -> None:
    """Hand out what is left of a result. Nobody has to read it to its end.

    Raises UnavailableError if standard output cannot take it, as on a full disk.
    """
    _console(sys.stdout).file.flush()
    loss = _losses.pop(sys.stdout, None) if sys.stdout else None
    if loss is not None and not isinstance(loss, BrokenPipeError):
        raise UnavailableError(
            f"standard output cannot be written ({loss.strerror}), so that the result was not "
            "told in full. Its files are written; `invoke report RUN` tells it again."
        )


def say_error(text: str) -> None:
    """What went wrong."""
    line = Text.assemble(("error: ", "bold red"), text)
    _console(sys.stderr).print(line, soft_wrap=True)


def say_cut_short(folder: Path, label: str = "") -> None:
    """A run did not come to its end and can be gone on with; `label` may say why."""
    line = Text(f"{label}what was measured is kept; go on with `--resume {folder}`")
    _console(sys.stderr).print(line, soft_wrap=True)


def say_table(table: Table, keys: int = 1) -> None:
    """A table of a result; where it is too wide, in parts that repeat its first `keys` columns."""
    console = _console(sys.stdout)
    for part in fold(table, max(NARROWEST, console.width), keys):
        console.print(Text(one_line(part.title)), soft_wrap=True)
        console.print(Text("\n".join(grid_lines(part))), soft_wrap=True)
        for note in part.notes:
            console.print(Text(note, style="dim"))
        console.print()


def say_findings(findings: Sequence[Finding]) -> None:
    """Findings that are the result asked for, each with its cure."""
    for finding in findings:
        _say_warning(finding.text, finding, sys.stdout)


def say_report(report: Report, *, quiet: bool = False) -> None:
    """The result: answers, best cases, cells, and what speaks against them.

    `quiet` leaves it at the best cases and at what is serious.
    """
    from orbtax.report.causes import held_back
    from orbtax.report.crosscheck import cross_check_table
    from orbtax.report.results import answer, best_table, brief_tables

    for link in report.links:
        result = link.result
        if not quiet:
            _console(sys.stdout).print(Text(f"{answer(result)}\n", style="bold"))
        say_table(best_table(result, held_back(result, link.bottlenecks)))
        if not quiet:
            for table in brief_tables(result):
                say_table(table, keys=2)
            beside_iperf3 = cross_check_table(link.name, link.samples)
            if beside_iperf3.rows:
                say_table(beside_iperf3, keys=2)
    say_doubts(report, quiet=quiet)


def say_doubts(report: Report, *, quiet: bool = False) -> None:
    """What is not in the results and what speaks against them; `quiet`: only what is serious."""
    serious = [remark for remark in report.remarks if remark.finding.serious]
    shown = serious if quiet else report.remarks[: max(_REMARKS_SHOWN, len(serious))]
    for gap in report.gaps:
        _say_warning(gap)
    for remark in shown:
        _say_warning(remark.text, remark.finding)
    if not quiet and len(shown) < len(report.remarks):
        _say_warning(f"{len(report.remarks) - len(shown)} more kinds of findings are on the page")


@contextmanager
def progress(*, quiet: bool) -> Iterator[Observer]:
    """A display of a run on standard error: one live line on a terminal, else a line a cell."""
    console = _console(sys.stderr)
    if quiet:
        yield _Silent()
    elif console.is_terminal:
        # Redrawn at the steps of a run alone: a thread that draws would disturb the blocks.
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield _LiveLine(console, live)
    else:
        yield _Lines(console)


class _Silent:
    """No display."""

    def started(self, plan: Plan, todo: Sequence[int], estimate_s: float) -> None:
        pass

    def block_started(self, block: Block) -> None:
        pass

    def sample(self, sample: Sample) -> None:
        pass

    def cell_done(self, cell: int) -> None:
        pass


class _Lines:
    """A line for each cell, and for each block that failed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tally = Tally()

    def started(self, plan: Plan, todo: Sequence[int], estimate_s: float) -> None:
        self._say(self._tally.started(plan, todo, estimate_s))

    def block_started(self, block: Block) -> None:
        pass

    def sample(self, sample: Sample) -> None:
        fault = self._tally.sample(sample)
        if fault is not None:
            self._say(fault)

    def cell_done(self, cell: int) -> None:
        self._say(self._tally.cell_done())

    def _say(self, text: str) -> None:
        self._console.print(Text(one_line(text)), soft_wrap=True)


class _LiveLine(_Lines):
    """One line that always tells what runs now; failures stay above it."""

    def __init__(self, console: Console, live: Live) -> None:
        super().__init__(console)
        self._live = live

    def block_started(self, block: Block) -> None:
        line = Text(self._tally.block_started(block), no_wrap=True, overflow="ellipsis")
        self._live.update(line, refresh=True)

    def cell_done(self, cell: int) -> None:
        self._tally.cell_done()


def _say_warning(text: str, finding: Finding | None = None, stream: TextIO | None = None) -> None:
    serious = finding is not None and finding.serious
    label = ("serious: ", "bold red") if serious else ("warning: ", "yellow")
    cure = f" ({finding.cure})" if finding is not None and finding.cure else ""
    _console(stream or sys.stderr).print(Text.assemble(label, one_line(text) + cure))


def _console(stream: TextIO) -> Console:
    """A console that writes what it is given, and a `?` for what the stream cannot write."""
    if isinstance(stream, io.TextIOWrapper):
        stream = cast(TextIO, _Lasting(stream))
    return Console(file=stream, highlight=False, markup=False, emoji=False)


class _Lasting:
    """A stream whose loss stops nothing: a run goes on and its files are written all the same."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream
        with self._survived():
            stream.reconfigure(errors="replace")  # which flushes it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._survived():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._survived():
            self._stream.flush()

    @contextmanager
    def _survived(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            _losses[self._stream] = error
            _discard(self._stream)


def _discard(stream: TextIO) -> None:
    """Send what is written to a lost stream nowhere; Python flushes it once more as it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
