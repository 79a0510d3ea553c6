"""What is printed: results on standard output, all else on standard error, in 80 columns."""

import io
import os
import re
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from builders import make_failed, make_plan, make_run, make_sample
from rich.cells import cell_len

from orbtax.errors import UnavailableError
from orbtax.model import Amount, Arm, Block, Finding
from orbtax.report import terminal
from orbtax.report.content import assemble

ALL = (Arm.STREAM, Arm.CALL, Arm.CORBA, Arm.ONEWAY, Arm.AMI)
PLAN = make_plan(("ib",), (1024,), (1, 4))
BLOCK = Block(
    case=PLAN.cells[0].cases[2], cell=0, round=0, position=0, amount=Amount(total_bytes=1)
)


@pytest.fixture(scope="module")
def report():
    return assemble([make_run(links=("ib", "1ge"), arms=ALL)])


def run_through(observer):
    """A run of one cell of three blocks, one of which fails."""
    observer.started(PLAN, [0, 1], 20.0)
    for case in PLAN.cells[0].cases:
        observer.block_started(replace(BLOCK, case=case))
        sample = make_sample(case)
        failed = case.arm is Arm.CALL
        observer.sample(make_failed(sample, "Connection reset") if failed else sample)
    observer.cell_done(0)


class Tty(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def open_screen(monkeypatch):
    """Standard error as a terminal from the call on; pytest puts its own back before a test."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")

    def open_it():
        screen = Tty()
        monkeypatch.setattr(sys, "stderr", screen)
        return screen

    return open_it


def test_a_report_in_a_pipe_has_no_colour_and_fits_eighty_columns(report, capsys):
    terminal.say_report(report)
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert all(cell_len(line) <= 80 for line in (out + err).splitlines())
    for name in ("ib", "1ge"):
        assert f"Best cases on {name} (emulated)" in out
        assert f"Goodput on {name} (emulated)" in out
        assert f"Efficiency of corba on {name} (emulated)" in out


def test_warnings_go_to_standard_error_with_their_cure(report, capsys):
    finding = Finding(code="x", text="a buffer was clipped", cure="raise wmem_max")
    serious = Finding(code="y", text="bytes are missing", serious=True)
    run = replace(report.run, record=replace(report.run.record, findings=(finding, serious)))
    terminal.say_report(assemble([run]))
    out, err = capsys.readouterr()
    assert "warning: a buffer was clipped (raise wmem_max)" in err
    assert "serious: bytes are missing" in err
    assert "clipped" not in out


def test_quiet_leaves_best_cases_and_what_is_serious(report, capsys):
    finding = Finding(code="x", text="a buffer was clipped")
    run = replace(report.run, record=replace(report.run.record, findings=(finding,)))
    terminal.say_report(assemble([run]), quiet=True)
    out, err = capsys.readouterr()
    assert "Best cases on ib (emulated)" in out
    assert "Goodput on" not in out
    assert "clipped" not in err
    assert "serious: " in err  # the refused sample of the run


def test_gaps_are_told(capsys):
    run = make_run(sizes=(1024,), threads=(1,), rounds=4)
    terminal.say_report(assemble([replace(run, samples=())]))
    _out, err = capsys.readouterr()
    assert "No block has been measured yet" in err


def test_a_stream_that_lacks_a_character_gets_another(report, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    terminal.say_report(report)
    sys.stdout.flush()
    assert b"? stream" in raw.getvalue()


@pytest.mark.parametrize("text", ["[bold]x[/bold]", ":smile: 5", "a" * 200])
def test_text_is_printed_as_it_is(text, capsys):
    terminal.say(text)
    terminal.say_error(text)
    out, err = capsys.readouterr()
    assert out == f"{text}\n"
    assert err == f"error: {text}\n"


def test_a_run_cut_short_names_how_to_go_on(capsys):
    terminal.say_cut_short(Path("results/x"), "interrupted: ")
    told = capsys.readouterr().err
    assert told.startswith("interrupted: ")
    assert "--resume results/x" in told


@pytest.fixture
def unread_pipe():
    """The writing end of a pipe that nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        yield stream


@pytest.mark.parametrize("line_buffering", [False, True])
def test_a_run_goes_on_when_its_progress_has_no_reader(monkeypatch, unread_pipe, line_buffering):
    unread_pipe.reconfigure(line_buffering=line_buffering)
    monkeypatch.setattr(sys, "stderr", unread_pipe)
    with terminal.progress(quiet=False) as observer:
        run_through(observer)
    terminal.say_error("told to nobody")
    unread_pipe.flush()  # as Python does when it ends


def test_a_result_without_a_reader_is_no_fault(report, monkeypatch, unread_pipe):
    monkeypatch.setattr(sys, "stdout", unread_pipe)
    terminal.say_report(report)
    terminal.flush_result()
    unread_pipe.flush()


@pytest.mark.parametrize("write_through", [False, True])
def test_a_result_that_a_full_disk_does_not_take_is_a_fault_at_the_end(
    report, monkeypatch, write_through
):
    with Path("/dev/full").open("w") as full:
        full.reconfigure(write_through=write_through, line_buffering=write_through)
        monkeypatch.setattr(sys, "stdout", full)
        terminal.say_report(report)
        with pytest.raises(UnavailableError, match="No space left"):
            terminal.flush_result()


def test_findings_alone_can_be_told(capsys):
    terminal.say_findings([Finding(code="x", text="one core", cure="use two", serious=True)])
    assert capsys.readouterr().out == "serious: one core (use two)\n"


def test_without_a_terminal_there_is_a_line_for_each_cell_and_failure(capsys):
    with terminal.progress(quiet=False) as observer:
        run_through(observer)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 3
    assert lines[0] == "2 cells on ib (emulated), about 20.0 s"
    assert lines[1].startswith("failed: ib (emulated), call, 1 KiB, 1 thread")
    assert lines[2].startswith("[1/2] ib (emulated) 1 KiB, 1 thread: stream ")


def test_on_a_terminal_one_line_tells_what_runs_now_and_is_gone_at_the_end(open_screen):
    screen = open_screen()
    with terminal.progress(quiet=False) as observer:
        observer.started(PLAN, [0, 1], 20.0)
        observer.block_started(BLOCK)
        shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue()).splitlines()
        before = len(screen.getvalue())
        observer.sample(make_sample(BLOCK.case))
        observer.cell_done(0)
    assert "corba, 1 KiB, 1 thread" in shown[-1]
    assert "20.0 s left" in shown[-1] or "19." in shown[-1]
    assert "\x1b[2K" in screen.getvalue()[before:]
    assert "[1/2]" not in screen.getvalue()


def test_nothing_draws_while_a_block_runs(open_screen):
    open_screen()
    threads = threading.active_count()
    with terminal.progress(quiet=False) as observer:
        observer.block_started(BLOCK)
        assert threading.active_count() == threads


def test_a_quiet_run_says_nothing(capsys, open_screen):
    screen = open_screen()
    with terminal.progress(quiet=True) as observer:
        run_through(observer)
    assert screen.getvalue() == ""
    assert capsys.readouterr().out == ""


def test_an_interruption_passes_through_a_display(open_screen):
    def interrupted():
        with terminal.progress(quiet=False) as observer:
            observer.block_started(BLOCK)
            raise KeyboardInterrupt

    screen = open_screen()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "corba" in screen.getvalue()
