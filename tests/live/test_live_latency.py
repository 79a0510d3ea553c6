"""`latency` from the command line on lo: every arm and setting, the report, and merged messages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orbtax import store
from orbtax.model import Arm
from orbtax.record import Run, Status

pytestmark = [pytest.mark.live, pytest.mark.slow]

ORBTAX = str(Path(sys.executable).parent / "orbtax")
SIZES = (1, 1000, 4096, 65_536, 100_000)


def latency(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ORBTAX, "latency", "--link", "lo", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=180,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a small run, and what the terminal showed."""
    folder = tmp_path_factory.mktemp("latency")
    sizes = ",".join(f"{size}B" for size in SIZES)
    done = latency(folder, "--sizes", sizes, "--rounds", "2", "--out", "run")
    assert done.returncode == 0, done.stderr
    return folder / "run", done.stdout


@pytest.fixture(scope="module")
def run(finished: tuple[Path, str]) -> Run:
    return store.read(finished[0])


def test_every_case_was_measured_in_every_round(run: Run) -> None:
    planned = {case for cell in run.record.plan.cells for case in cell.cases}
    for number in range(2):
        good = {
            sample.case
            for sample in run.samples
            if sample.purpose == "measure" and sample.status is Status.OK and sample.round == number
        }
        assert good == planned


def test_blocks_have_at_least_ten_calls_unless_they_take_a_second(run: Run) -> None:
    for sample in run.samples:
        if sample.purpose == "measure" and sample.case.arm.waits:
            assert sample.latencies is not None
            assert sample.latencies.calls == sample.messages
            assert sample.messages >= 10 or sample.window_s > 0.5


def test_each_setting_is_in_force_where_it_was_asked_for(run: Run) -> None:
    for sample in run.samples:
        options = sample.case.options
        if sample.client is None or sample.case.arm is Arm.EMPTY:
            continue
        (state,) = sample.client.connections
        assert state.nodelay is options.nodelay
        if options.send_buffer_bytes is not None:
            assert state.send_buffer_bytes == 2 * options.send_buffer_bytes


def test_a_stream_without_nodelay_puts_more_messages_into_a_segment(run: Run) -> None:
    segments = {True: 0, False: 0}
    for sample in run.samples:
        case = sample.case
        if case.arm is Arm.STREAM and case.payload_bytes == 16 and sample.purpose == "measure":
            (state,) = sample.client.connections
            segments[case.options.nodelay] += state.data_segments_out
    assert 0 < 5 * segments[False] < segments[True]


def test_the_report_has_every_sweep_and_says_what_the_orb_was_not_given(
    finished: tuple[Path, str],
) -> None:
    folder, said = finished
    summary = json.loads((folder / "report" / "summary.json").read_text())
    (link,) = summary["links"]
    assert {(each["arm"], each["nodelay"]) for each in link["sweeps"]} >= {
        ("call", False),
        ("pingpong", True),
        ("corba", True),
        ("echo", True),
    }
    corba = [each for each in link["sweeps"] if each["arm"] == "corba"]
    assert all(each["nodelay"] and each["receive_buffer_bytes"] is None for each in corba)
    assert {each["reverse"] for each in corba} == {False, True}
    assert all(each["model"]["overhead_us"] for each in link["sweeps"])
    assert len(link["empty_calls"]) == 4
    assert "Overhead and speed on lo (loopback)" in said
    assert "omniORB has no option for the receive buffer" in " ".join(said.split())
    assert (folder / "report" / "index.html").exists()


def test_a_finished_run_is_reported_again_to_the_byte(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    page = (folder / "report" / "index.html").read_bytes()
    again = subprocess.run(
        [ORBTAX, "report", "run"], cwd=folder.parent, capture_output=True, text=True, timeout=120
    )
    assert again.returncode == 0, again.stderr
    assert (folder / "report" / "index.html").read_bytes() == page


def test_an_empty_message_over_a_raw_socket_is_refused_by_its_size(tmp_path: Path) -> None:
    done = latency(tmp_path, "--sizes", "0B")
    assert done.returncode == 2
    assert "must be more than zero" in done.stderr
    assert not list(tmp_path.iterdir())
