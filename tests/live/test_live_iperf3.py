"""The installed iperf3 as an arm: its blocks, its refusals, and that nothing of it is left."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from links_support import needs_namespaces

from orbtax import iperf3, store
from orbtax.errors import UnavailableError
from orbtax.model import (
    Amount,
    Arm,
    Block,
    Case,
    End,
    Kind,
    Link,
    Options,
    Placement,
    Purpose,
)
from orbtax.pair import Pair
from orbtax.record import Status

HERE = End(address="127.0.0.1", interface="lo")
LO = Link(name="lo", kind=Kind.LOOPBACK, sender=HERE, receiver=HERE)
MIB = 1024**2


def _refusal() -> str | None:
    try:
        iperf3.check_installed()
    except UnavailableError as error:
        return str(error)
    return None if shutil.which("setpriv") else "setpriv is not installed"


needs_iperf3 = pytest.mark.skipif(_refusal() is not None, reason=str(_refusal()))
pytestmark = [pytest.mark.live, pytest.mark.slow]


def block(total_bytes: int = 20 * MIB, threads: int = 1, **options: object) -> Block:
    case = Case(
        link="lo",
        arm=Arm.IPERF3,
        payload_bytes=65_536,
        threads=threads,
        options=Options(**options),  # type: ignore[arg-type]
    )
    return Block(case=case, cell=0, round=0, position=0, amount=Amount(total_bytes=total_bytes))


@pytest.fixture
def pair() -> Iterator[Pair]:
    with Pair(LO, Placement(), 0, verify=False) as programs:
        yield programs


def below(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def running_iperf3(pid: int) -> list[psutil.Process]:
    return [each for each in below(pid) if each.name() == "iperf3"]


@needs_iperf3
@pytest.mark.parametrize("threads", [1, 4])
def test_a_block_has_the_receivers_rate_and_what_it_cost(pair: Pair, threads: int) -> None:
    sample = pair.run(block(threads=threads))
    assert sample.status is Status.OK, sample.reason
    assert sample.confirmed_bytes
    assert sample.window_s
    # Whole messages are written, and those still on their way at the end are not counted.
    assert sample.confirmed_bytes <= sample.asked_bytes + threads * 65_536
    assert sample.goodput_bit_s == pytest.approx(8 * sample.confirmed_bytes / sample.window_s)
    assert len(sample.thread_bytes) == sample.connections == threads
    assert sum(sample.thread_bytes) == sample.confirmed_bytes
    for end in (sample.client, sample.servant):
        assert end is not None
        assert end.processor.process_user_s + end.processor.process_system_s > 0
        assert len(end.connections) == threads
        assert end.interface is not None
        assert end.interface.received_bytes >= sample.confirmed_bytes
    assert sample.client.connections[0].retransmissions is not None


@needs_iperf3
def test_blocks_follow_each_other_on_ports_of_their_own(pair: Pair) -> None:
    ports = set()
    for _ in range(3):
        sample = pair.run(block())
        assert sample.status is Status.OK, sample.reason
        assert sample.servant is not None
        ports.add(sample.servant.connections[0].local)
    assert len(ports) > 1
    assert not running_iperf3(os.getpid())


@needs_iperf3
def test_the_ends_can_be_exchanged_and_placed() -> None:
    cores = sorted(os.sched_getaffinity(0))
    placement = Placement(name="explicit", sender_cores=(cores[0],), receiver_cores=(cores[-1],))
    with Pair(LO, placement, 0, verify=False) as programs:
        sample = programs.run(block(reverse=True))
    assert sample.status is Status.OK, sample.reason
    assert sample.client is not None
    assert sample.client.processor.allowed_cores == (cores[0],)


@needs_iperf3
def test_what_iperf3_refuses_is_the_reason_of_a_failed_sample(pair: Pair) -> None:
    refused = pair.run(block(congestion_control="nosuch"))
    assert refused.status is Status.FAILED
    assert "congestion" in (refused.reason or "")
    unlike = pair.run(block(send_buffer_bytes=65_536))
    assert unlike.status is Status.FAILED
    assert "one size" in (unlike.reason or "")
    assert pair.run(block()).status is Status.OK


def fake_iperf3(folder: Path, text: str) -> None:
    program = folder / "iperf3"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


def test_an_absent_or_old_iperf3_gives_a_failed_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with Pair(LO, Placement(), 0, verify=False) as programs:
        absent = programs.run(block())
        fake_iperf3(tmp_path, "echo iperf 3.9")
        old = programs.run(block())
    assert absent.status is old.status is Status.FAILED
    assert "not installed" in (absent.reason or "")
    assert "3.9" in (old.reason or "")


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_a_server_that_does_not_listen_is_told_by_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    words = '{"error": "unable to start listener for connections: Address already in use"}'
    fake_iperf3(tmp_path, f"[ $1 = --version ] && echo iperf 3.12 || echo '{words}'")
    with Pair(LO, Placement(), 0, verify=False) as programs:
        sample = programs.run(block())
    assert sample.status is Status.FAILED
    assert "Address already in use" in (sample.reason or "")


PARENT = """
from test_live_iperf3 import LO, Pair, Placement, block
with Pair(LO, Placement(), 0, verify=False) as programs:
    programs.run(block(10**11))
"""


@needs_iperf3
def test_nothing_is_left_when_the_parent_is_killed_in_a_block() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], cwd=Path(__file__).parent)
    deadline_s = time.monotonic() + 20
    while len(running_iperf3(parent.pid)) < 2:  # server and client
        assert time.monotonic() < deadline_s
        assert parent.poll() is None
        time.sleep(0.01)
    started = below(parent.pid)
    parent.kill()
    parent.wait()
    assert not psutil.wait_procs(started, timeout=5)[1]


@needs_iperf3
def test_nothing_is_left_when_a_server_was_never_called() -> None:
    words = iperf3.server_words("127.0.0.1", 0)
    child = iperf3.Child(words)
    child.close()
    assert not running_iperf3(os.getpid())


def compare(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    orbtax = Path(sys.executable).parent / "orbtax"
    small = ["--sizes", "64KiB", "--threads", "1", "--rounds", "2"]
    return subprocess.run(
        [str(orbtax), "compare", *small, *words, "--out", "run"],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


@needs_iperf3
def test_a_cross_check_stands_in_the_report(tmp_path: Path) -> None:
    done = compare("--link", "lo", "--arms", "stream,call", "--cross-check", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "stream ÷ iperf3" in done.stdout
    run = store.read(tmp_path / "run")
    assert {sample.case.arm for sample in run.samples} == {Arm.STREAM, Arm.CALL, Arm.IPERF3}
    assert "stream ÷ iperf3" in (tmp_path / "run/report/index.html").read_text()


def test_a_cross_check_without_iperf3_is_said_and_changes_no_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_iperf3(tmp_path, "echo iperf 3.9")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = compare("--link", "lo", "--arms", "stream,call", "--cross-check", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "iperf3 is version 3.9" in done.stderr
    shutil.rmtree(tmp_path / "run")
    asked = compare("--link", "lo", "--arms", "stream,iperf3", cwd=tmp_path)
    assert asked.returncode == 4
    assert "iperf3 is version 3.9" in asked.stderr


@needs_namespaces
def test_the_report_tells_where_the_bench_is_narrower_than_the_link(tmp_path: Path) -> None:
    done = compare("--link", "1ge", "--arms", "stream", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = store.read(tmp_path / "run")
    *_, ceiling = (sample for sample in run.samples if sample.purpose is Purpose.CEILING)
    assert ceiling.status is Status.OK, ceiling.reason
    assert ceiling.client is not None
    assert ceiling.client.interface is not None
    assert ceiling.client.interface.interface == "lo"
    link_bit_s = run.record.plan.link("1ge").rate_bit_s
    assert (ceiling.goodput_bit_s or 0) > 2 * link_bit_s
