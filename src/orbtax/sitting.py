"""From a plan to a report: measured, kept, reported, and an exit code that says how it went."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import FrameType

from orbtax import conduct, store
from orbtax.collector import without_collector
from orbtax.errors import ExitCode, OrbtaxError
from orbtax.model import Arm, Finding, Plan, Purpose
from orbtax.record import Run, RunRecord, Sample, Status
from orbtax.report import terminal
from orbtax.store import Store
from orbtax.studies import reporting


def measure(
    plan: Plan,
    command: str,
    out: Path | None,
    *,
    quiet: bool,
    findings: Sequence[Finding] = (),
) -> ExitCode:
    """Runs a new plan in a new folder and reports it, with what is known of it beforehand."""
    now = datetime.now(UTC)
    folder = out or store.new_folder(plan.study, tuple(link.name for link in plan.links), now)
    record = RunRecord(
        plan=plan,
        created_utc=now.isoformat(timespec="seconds"),
        orbtax_version=version("orbtax"),
        command=command,
        findings=tuple(findings),
    )
    run = Run(folder=str(folder), record=record, samples=())
    return _carry_out(run, lambda: Store.create(folder, record), quiet)


def resume(folder: Path, *, quiet: bool) -> ExitCode:
    """Goes on with an earlier run: what is missing is run, the rest is kept as it is."""
    with without_collector():
        kept, run = Store.resume(folder)
    try:
        return _carry_out(run, lambda: kept, quiet)
    finally:
        kept.close()


@without_collector()
def report(folders: list[Path], *, salvage: bool, join: bool, out: Path | None) -> ExitCode:
    """Makes the report of stored runs again."""
    runs = [store.read(folder, salvage=salvage) for folder in folders]
    return _report(runs, out or Path(runs[0].folder) / "report", join=join, quiet=False)


def _carry_out(run: Run, keep: Callable[[], Store], quiet: bool) -> ExitCode:
    """Measures and reports; what was measured before a fault is reported like a whole run."""
    folder = Path(run.folder)
    kept: list[Store] = []

    def keep_once() -> Store:
        kept.append(keep())
        return kept[0]

    with _terminated_like_interrupted():
        end = _measure(run, keep_once, quiet)
        if end is not None and not kept:
            if isinstance(end, OrbtaxError):
                raise end
            return ExitCode.INTERRUPTED
        try:
            code = _report_measured(folder, end, quiet)
        except KeyboardInterrupt as interruption:
            end = interruption
        except OrbtaxError as fault:
            if end is None or fault is end:
                raise
            terminal.say_error(str(fault))
    return code if end is None else _cut_short(end, folder)


def _measure(
    run: Run, keep: Callable[[], Store], quiet: bool
) -> OrbtaxError | KeyboardInterrupt | None:
    """What ended the run before its time, if anything did."""
    with terminal.progress(quiet=quiet) as observer:
        try:
            conduct.conduct(run, keep, observer)
        except (OrbtaxError, KeyboardInterrupt) as end:
            return end
    return None


@without_collector()
def _report_measured(
    folder: Path, end: OrbtaxError | KeyboardInterrupt | None, quiet: bool
) -> ExitCode:
    """Reports what is on the disk; raises `end`, a fault, if it left nothing."""
    # A full disk takes half a sample.
    run = store.read(folder, salvage=end is not None)
    if isinstance(end, OrbtaxError) and not run.samples:
        raise end
    return _report([run], folder / "report", join=False, quiet=quiet)


def _cut_short(end: OrbtaxError | KeyboardInterrupt, folder: Path) -> ExitCode:
    """Says why a run ended before its time and how to go on with it."""
    if isinstance(end, OrbtaxError):
        terminal.say_error(str(end))
        terminal.say_cut_short(folder)
        return end.exit_code
    terminal.say_cut_short(folder, "interrupted: ")
    return ExitCode.INTERRUPTED


def _report(runs: list[Run], folder: Path, *, join: bool, quiet: bool) -> ExitCode:
    reporting.write(runs, folder, join=join, quiet=quiet)
    return ExitCode.DONE if all(map(_is_sound, runs)) else ExitCode.INCOMPLETE


def _is_sound(run: Run) -> bool:
    """Whether every measured block went well and no check spoke against the run."""
    return all(
        sample.status is Status.OK for sample in run.samples if _counts(sample, run.record.plan)
    ) and not any(finding.serious for finding in run.record.findings)


def _counts(sample: Sample, plan: Plan) -> bool:
    looks_on = plan.cross_check and sample.case.arm is Arm.IPERF3
    return sample.purpose is Purpose.MEASURE and not looks_on


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP end a run as Ctrl-C does: kept, reported, nothing left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
