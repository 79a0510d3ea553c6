"""Every arm over loopback with real programs: bytes, connections, faults, restarts."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from orbtax.model import Amount, Arm, Block, Case, End, Kind, Link, Options, Placement
from orbtax.pair import Pair
from orbtax.record import Sample, Status

pytestmark = pytest.mark.live

HERE = End(address="127.0.0.1", interface="lo")
LO = Link(name="lo", kind=Kind.LOOPBACK, sender=HERE, receiver=HERE)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with Pair(LO, Placement(), 0, verify=False) as programs:
        yield programs


def block(
    arm: Arm,
    payload_bytes: int = 4096,
    threads: int = 1,
    total_bytes: int = 1_000_000,
    empty_messages: int = 0,
    **options: object,
) -> Block:
    case = Case(
        link="lo",
        arm=arm,
        payload_bytes=payload_bytes,
        threads=threads,
        options=Options(**options),  # type: ignore[arg-type]
    )
    amount = Amount(total_bytes=total_bytes, empty_messages=empty_messages)
    return Block(case=case, cell=0, round=0, position=0, amount=amount)


def whole(sample: Sample) -> Sample:
    assert sample.status is Status.OK, sample.reason
    assert sample.confirmed_bytes == sample.asked_bytes == sum(sample.thread_bytes)
    assert sample.goodput_bit_s == pytest.approx(8 * sample.asked_bytes / sample.window_s)
    return sample


ARMS = [Arm.STREAM, Arm.CALL, Arm.PINGPONG, Arm.CORBA, Arm.ONEWAY, Arm.AMI, Arm.ECHO]


@pytest.mark.parametrize("threads", [1, 3, 26])
@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_moves_its_bytes_to_the_byte(pair: Pair, arm: Arm, threads: int) -> None:
    sample = whole(pair.run(block(arm, threads=threads, total_bytes=1_000_003)))
    assert sample.asked_bytes == 1_000_003
    assert len(sample.thread_window_s) == threads
    assert sample.connections == sample.case.connections


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("payload_bytes", [1, 7, 8, 9, 8193, 16_384, 3_000_000])
def test_every_arm_carries_every_size(pair: Pair, arm: Arm, payload_bytes: int) -> None:
    whole(pair.run(block(arm, payload_bytes, total_bytes=5 * payload_bytes + payload_bytes // 2)))


def test_an_empty_call_counts_its_calls(pair: Pair) -> None:
    sample = pair.run(block(Arm.EMPTY, 0, total_bytes=0, empty_messages=100))
    assert sample.status is Status.OK, sample.reason
    assert (sample.messages, sample.confirmed_bytes) == (100, 0)
    assert sample.latencies is not None
    assert sample.latencies.calls == 100


def test_an_empty_payload_is_pushed_and_counted(pair: Pair) -> None:
    sample = pair.run(block(Arm.CORBA, 0, total_bytes=0, empty_messages=50))
    assert sample.status is Status.OK, sample.reason
    assert sample.messages == 50


@pytest.mark.parametrize("arm", ARMS)
def test_calls_that_wait_have_a_duration_each(pair: Pair, arm: Arm) -> None:
    sample = whole(pair.run(block(arm, threads=2)))
    if arm.waits:
        assert sample.latencies is not None
        assert sample.latencies.calls == sample.messages
        assert sample.latencies.max_ns <= sample.window_s * 1e9
    else:
        assert sample.latencies is None


def test_sixteen_threads_have_sixteen_connections(pair: Pair) -> None:
    assert whole(pair.run(block(Arm.CORBA, threads=16))).connections == 16


def test_a_limit_of_five_connections_holds(pair: Pair) -> None:
    limited = block(Arm.CORBA, threads=16, connections=5)
    assert whole(pair.run(limited)).connections == 5


def test_an_orb_option_that_does_not_exist_fails_with_its_name(pair: Pair) -> None:
    sample = pair.run(block(Arm.CORBA, orb=(("noSuchOption", "1"),)))
    assert sample.status is Status.FAILED
    assert "noSuchOption" in (sample.reason or "")


def test_the_exchanged_direction_works(pair: Pair) -> None:
    for arm in (Arm.STREAM, Arm.CORBA):
        whole(pair.run(block(arm, reverse=True)))


def test_both_ends_say_what_it_cost_them(pair: Pair) -> None:
    for arm in (Arm.STREAM, Arm.CORBA):
        sample = whole(pair.run(block(arm, 65_536, threads=2, total_bytes=50_000_000)))
        for end in (sample.client, sample.servant):
            assert end is not None
            spent_s = end.processor.process_user_s + end.processor.process_system_s
            assert 0 < spent_s < 4 * end.processor.window_s
            assert len(end.connections) == 2
            assert end.interface is not None
            assert end.interface.received_bytes >= sample.asked_bytes
        acknowledged = sum(state.acknowledged_bytes or 0 for state in sample.client.connections)
        assert acknowledged >= sample.asked_bytes


def test_verified_messages_have_the_same_checksum() -> None:
    with Pair(LO, Placement(), 0, verify=True) as programs:
        for arm in ARMS:
            assert whole(programs.run(block(arm, threads=2, total_bytes=100_001))).checksum is True


def children(pair: Pair) -> list[psutil.Process]:
    return [psutil.Process(pid) for pid in pair.pids]


@pytest.mark.parametrize("arm", [Arm.STREAM, Arm.CORBA])
@pytest.mark.parametrize("which", ["servant", "client"])
def test_a_program_that_dies_gives_a_failed_sample_and_is_started_again(
    arm: Arm, which: str
) -> None:
    with Pair(LO, Placement(), 0, verify=False) as programs:
        whole(programs.run(block(arm)))
        victim = next(each for each in children(programs) if which in " ".join(each.cmdline()))
        os.kill(victim.pid, signal.SIGKILL)
        failed = programs.run(block(arm))
        assert failed.status is Status.FAILED
        assert "ended" in (failed.reason or "")
        assert failed.asked_bytes == 1_000_000
        assert failed.confirmed_bytes is None
        whole(programs.run(block(arm)))


@pytest.mark.parametrize("arm", [Arm.CALL, Arm.CORBA, Arm.ONEWAY])
def test_a_servant_that_dies_in_a_block_is_told_before_what_the_client_noticed(
    arm: Arm, monkeypatch
) -> None:
    monkeypatch.setenv("PYTHONFAULTHANDLER", "1")  # it prints something as it dies
    with Pair(LO, Placement(), 0, verify=False) as programs:
        whole(programs.run(block(arm)))
        victim = next(each for each in children(programs) if "servant" in " ".join(each.cmdline()))
        kill = threading.Timer(0.3, os.kill, (victim.pid, signal.SIGABRT))
        kill.start()
        failed = programs.run(block(arm, 65_536, total_bytes=3 * 10**10))
        kill.join()
        assert failed.status is Status.FAILED
        assert re.match(
            r"orbtax\.servants\.\w+ ended in the middle \(status -6\); it printed: "
            r"Fatal Python error: Aborted",
            failed.reason or "",
        )
        assert "orbtax.clients.program" in (failed.reason or "")
        whole(programs.run(block(arm)))


def test_a_fault_of_a_program_that_goes_on_is_told_alone(pair: Pair) -> None:
    sample = pair.run(block(Arm.CORBA, orb=(("noSuchOption", "1"),)))
    assert "ended" not in (sample.reason or "")


def test_what_a_dying_program_printed_is_in_the_sample(tmp_path) -> None:
    broken = End(address="127.0.0.1", interface="lo", python="false")
    link = Link(name="lo", kind=Kind.LOOPBACK, sender=HERE, receiver=broken)
    with Pair(link, Placement(), 0, verify=False) as programs:
        sample = programs.run(block(Arm.CALL))
    assert sample.status is Status.FAILED
    assert "status 1" in (sample.reason or "")


def test_nothing_is_left_when_the_pair_is_closed() -> None:
    with Pair(LO, Placement(), 0, verify=False) as programs:
        for arm in (Arm.STREAM, Arm.CORBA):
            whole(programs.run(block(arm)))
        started = children(programs)
        assert len(started) == 3
    assert not psutil.wait_procs(started, timeout=5)[1]


def test_programs_are_placed_on_their_cores() -> None:
    cores = sorted(os.sched_getaffinity(0))
    placement = Placement(name="explicit", sender_cores=(cores[0],), receiver_cores=(cores[-1],))
    with Pair(LO, placement, 0, verify=False) as programs:
        sample = whole(programs.run(block(Arm.CALL)))
    assert sample.client is not None
    assert sample.servant is not None
    assert sample.client.processor.allowed_cores == (cores[0],)
    assert sample.servant.processor.allowed_cores == (cores[-1],)


def test_stray_orb_settings_change_nothing_and_are_named(monkeypatch) -> None:
    monkeypatch.setenv("ORBmaxGIOPConnectionPerServer", "2")
    monkeypatch.setenv("ORBendPoint", "giop:tcp:127.0.0.1:1")
    with Pair(LO, Placement(), 0, verify=False) as programs:
        assert whole(programs.run(block(Arm.CORBA, threads=8))).connections == 8
        assert any("maxGIOPConnectionPerServer" in stray for stray in programs.strays)


def test_a_program_ends_at_once_when_its_parent_closes_the_pipe_in_a_block() -> None:
    """A parent that was killed can close nothing else."""
    programs = Pair(LO, Placement(), 0, verify=False)
    whole(programs.run(block(Arm.CORBA)))
    started = children(programs)
    begun = time.monotonic()
    programs.__exit__(None, None, None)
    assert not psutil.wait_procs(started, timeout=5)[1]
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("arm", [Arm.CALL, Arm.CORBA])
def test_the_same_programs_run_blocks_with_and_without_stamps_and_checks(
    pair: Pair, arm: Arm
) -> None:
    assert whole(pair.run(block(arm))).latencies is not None
    pids = pair.pids
    assert whole(pair.run(block(arm), stamp=False)).latencies is None
    assert whole(pair.run(block(arm), check=False)).latencies is not None
    assert pair.pids == pids
