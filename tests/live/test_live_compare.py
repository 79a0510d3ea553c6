"""`compare` from the command line to the exit code: kept, resumed, interrupted, refused."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from orbtax import runfiles, store
from orbtax.record import Status

pytestmark = pytest.mark.live

ORBTAX = [str(Path(sys.executable).parent / "orbtax")]
SMALL = ["--link", "lo", "--sizes", "64KiB", "--threads", "1,4", "--total", "8MB", "--rounds", "2"]
LONG = ["--link", "lo", "--sizes", "64KiB", "--threads", "1", "--total", "2GB", "--rounds", "40"]


def orbtax(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ORBTAX, *words],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def started(cwd: Path, *words: str) -> subprocess.Popen[str]:
    """A run in a session of its own, as a shell would have it in the foreground."""
    return subprocess.Popen(
        [*ORBTAX, *words],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_samples(folder: Path, count: int) -> None:
    file = folder / runfiles.SAMPLES_FILE
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if file.exists() and file.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"{folder} did not have {count} samples within 30 s")


def family(parent: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(parent.pid).children(recursive=True)


def all_gone(processes: Sequence[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=10)[1]


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """One small run that went to its end."""
    place = tmp_path_factory.mktemp("finished")
    return place / "run", orbtax("compare", *SMALL, "--out", "run", cwd=place)


def test_a_run_leaves_its_folder_with_every_byte_confirmed(finished) -> None:
    folder, done = finished
    assert done.returncode == 0, done.stderr
    assert {each.name for each in folder.iterdir()} == {"run.json", "samples.jsonl", "report"}
    samples = store.read(folder).samples
    measured = [sample for sample in samples if sample.purpose == "measure"]
    assert len(measured) == 2 * 3 * 2
    assert all(sample.status is Status.OK for sample in measured)
    assert all(sample.confirmed_bytes == sample.asked_bytes == 4_000_000 for sample in measured)


def test_the_order_of_the_arms_alternates(finished) -> None:
    samples = [s for s in store.read(finished[0]).samples if s.purpose == "measure" and s.cell == 0]
    by_round = [[s.case.arm for s in samples if s.round == number] for number in (0, 1)]
    assert by_round == [["stream", "call", "corba"], ["corba", "call", "stream"]]


def test_the_summary_has_the_columns_of_the_contract(finished) -> None:
    with (finished[0] / "report" / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    arms = [
        f"{arm}_{column}"
        for arm in ("stream", "call", "corba")
        for column in ("gbit_s", "low_gbit_s", "high_gbit_s", "bytes")
    ]
    ratios = [
        f"efficiency_{baseline}{bound}"
        for baseline in ("stream", "call")
        for bound in ("", "_low", "_high")
    ]
    assert list(rows[0]) == [
        *("link", "kind", "payload_bytes", "threads"),
        *arms,
        *ratios,
        *("rounds", "verdict"),
    ]
    assert [(row["link"], row["threads"], row["corba_bytes"]) for row in rows] == [
        ("lo", "1", "8000000"),
        ("lo", "4", "8000000"),
    ]


def test_the_report_can_be_made_again_and_is_the_same(finished, tmp_path: Path) -> None:
    folder, _ = finished
    again = orbtax("report", str(folder), "--out", str(tmp_path / "again"), cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    for name in ("summary.csv", "summary.json", "index.html"):
        assert (folder / "report" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_an_earlier_run_is_never_overwritten(finished) -> None:
    folder, _ = finished
    again = orbtax("compare", *SMALL, "--out", str(folder), cwd=folder.parent)
    assert again.returncode == 2
    assert "not empty" in again.stderr


def test_a_finished_run_has_nothing_to_resume(finished) -> None:
    folder, _ = finished
    before = (folder / "samples.jsonl").read_bytes()
    again = orbtax("compare", "--resume", str(folder), cwd=folder.parent)
    assert again.returncode == 0, again.stderr
    assert (folder / "samples.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--link", "nowhere"], "nowhere"),
        (["--sizes", "0"], "0"),
        (["--sizes", "64K"], "64K"),
        (["--threads", "0"], "0"),
        (["--threads", "1,,4"], "1,,4"),
        (["--arms", "stream,smoke"], "smoke"),
        (["--sizes", "1MiB", "--total", "10kB"], "1 MiB"),
        (["--rounds", "none"], "none"),
        (["--total", "8"], "8"),
        (["--width", "0%"], "0%"),
        (["--placement", "7"], "7"),
        (["--links", "missing.toml"], "missing.toml"),
        (["--out", "file/below"], "file/below"),
        (["--resume", "missing"], "missing"),
        (["--link", "lo,lo"], "lo"),
    ],
)
def test_a_wrong_request_is_named_and_exits_2(words: list[str], named: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    base = [] if words[0] in ("--link", "--resume") else ["--link", "lo"]
    done = orbtax("compare", *base, *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_an_unknown_flag_exits_2(tmp_path: Path) -> None:
    done = orbtax("compare", "--speed", "fast", cwd=tmp_path)
    assert done.returncode == 2
    assert "--speed" in done.stderr


def test_a_newer_schema_is_refused_by_report_and_resume(finished, tmp_path: Path) -> None:
    content = json.loads((finished[0] / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**content, "schema_version": 77}))
    for words in (["report", "."], ["compare", "--resume", "."]):
        done = orbtax(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert "77" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_damaged_last_line_is_named_salvaged_and_measured_again(finished, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    content = json.loads((finished[0] / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(content))
    whole = (finished[0] / "samples.jsonl").read_bytes()
    (folder / "samples.jsonl").write_bytes(whole[:-500])
    refused = orbtax("report", "run", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    assert orbtax("report", "run", "--salvage", cwd=tmp_path).returncode == 0
    resumed = orbtax("compare", "--resume", "run", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    measured = [sample for sample in store.read(folder).samples if sample.purpose == "measure"]
    keys = [(sample.cell, sample.round, sample.case.arm) for sample in measured]
    assert len(keys) == len(set(keys)) == 2 * 3 * 2
    assert "samples.damaged" in " ".join(each.text for each in store.read(folder).record.findings)


def test_a_payload_above_the_orbs_limit_is_carried(tmp_path: Path) -> None:
    words = ["--link", "lo", "--sizes", "3MiB", "--threads", "1", "--total", "12MiB"]
    done = orbtax("compare", *words, "--rounds", "2", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_stray_orb_setting_changes_nothing_and_is_named(tmp_path: Path) -> None:
    done = orbtax(
        *("compare", *SMALL, "--out", "run"), cwd=tmp_path, ORBmaxGIOPConnectionPerServer="1"
    )
    assert done.returncode == 0, done.stderr
    assert "maxGIOPConnectionPerServer" in done.stderr
    run = store.read(tmp_path / "run")
    assert any("maxGIOPConnectionPerServer" in each.text for each in run.record.findings)
    assert max(sample.connections or 0 for sample in run.samples) == 4


def test_quiet_says_the_result_alone(tmp_path: Path) -> None:
    done = orbtax("compare", *SMALL, "--quiet", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0
    assert "corba" in done.stdout
    assert "left" not in done.stderr


def test_without_out_the_run_is_below_results(tmp_path: Path) -> None:
    done = orbtax("compare", *SMALL, "--quiet", cwd=tmp_path)
    assert done.returncode == 0
    (folder,) = (tmp_path / "results").iterdir()
    assert "-compare-lo-" in folder.name


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_an_interrupted_run_is_kept_reported_and_resumed(number: int, tmp_path: Path) -> None:
    running = started(tmp_path, "compare", *LONG, "--out", "run")
    wait_for_samples(tmp_path / "run", 12)
    programs = family(running)
    os.killpg(running.pid, number)
    said, warned = running.communicate(timeout=30)
    assert running.returncode == 130, warned
    assert "--resume run" in warned
    assert "Traceback" not in warned
    assert "corba" in said
    assert (tmp_path / "run" / "report" / "index.html").exists()
    assert all_gone(programs)
    before = store.read(tmp_path / "run").samples

    # The plan asks for 80 GB; what remains of a smaller one is enough to see it resumed.
    file = tmp_path / "run" / "run.json"
    content = json.loads(file.read_text())
    for cell in content["plan"]["cells"]:
        cell["rounds"] = 8
        cell["total_bytes"] = 8 * 50_000_000
    file.write_text(json.dumps(content))
    resumed = orbtax("compare", "--resume", "run", "--quiet", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    after = store.read(tmp_path / "run").samples
    assert after[: len(before)] == before
    keys = [(s.cell, s.round, s.case.arm) for s in after if s.purpose == "measure"]
    assert len(keys) == len(set(keys)) == 8 * 3
    assert {sample.session for sample in after} == {0, 1}


def test_nothing_is_left_when_the_main_process_is_killed(tmp_path: Path) -> None:
    running = started(tmp_path, "compare", *LONG, "--out", "run")
    wait_for_samples(tmp_path / "run", 8)
    programs = family(running)
    assert len(programs) >= 3
    running.kill()
    running.communicate()
    assert all_gone(programs)
    samples = store.read(tmp_path / "run").samples  # every finished sample is readable
    assert len(samples) >= 8


@pytest.mark.parametrize(
    "which", ["servants.corba", pytest.param("clients.program", marks=pytest.mark.slow)]
)
def test_a_program_that_dies_fails_its_sample_and_the_run_goes_on(
    which: str, tmp_path: Path
) -> None:
    words = [*LONG[:-4], "--total", "240MB", "--rounds", "12"]
    running = started(tmp_path, "compare", *words, "--out", "run")
    wait_for_samples(tmp_path / "run", 8)
    victim = next(each for each in family(running) if which in " ".join(each.cmdline()))
    victim.kill()
    _, warned = running.communicate(timeout=60)
    assert running.returncode == 4, warned
    samples = [s for s in store.read(tmp_path / "run").samples if s.purpose == "measure"]
    failed = [sample for sample in samples if sample.status is Status.FAILED]
    assert len(failed) == 1
    assert "ended" in (failed[0].reason or "")
    assert len(samples) == 12 * 3
    assert samples[-1].status is Status.OK


def test_two_runs_at_once_do_not_meet(tmp_path: Path) -> None:
    runs = [started(tmp_path, "compare", *SMALL) for _ in range(2)]
    codes = {run.wait(timeout=60) for run in runs}
    for run in runs:
        run.communicate()
    assert codes == {0}
    assert len(list((tmp_path / "results").iterdir())) == 2
