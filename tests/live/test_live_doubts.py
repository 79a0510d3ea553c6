"""Blocks that went wrong in earnest, and the checks that have to notice."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Iterator
from dataclasses import replace

import pytest
from links_support import needs_namespaces

from orbtax.analysis import trust
from orbtax.clients.load import Load
from orbtax.links.catalogue import load_catalogue
from orbtax.links.opened import OpenLink, open_link
from orbtax.model import Amount, Arm, Block, Case, End, Link, Placement
from orbtax.pair import Pair
from orbtax.record import Sample, Status
from orbtax.ring import Geometry, Ring

pytestmark = pytest.mark.live

OTHER = "other0"
MAKE_ANOTHER_PAIR = f"""
from pyroute2 import IPRoute
with IPRoute() as ip:
    ip.link("add", ifname="{OTHER}", kind="veth", peer="other1")
    for name in ("{OTHER}", "other1"):
        ip.link("set", index=ip.link_lookup(ifname=name)[0], state="up")
"""
MAKE_IT_LOSE = """
from pyroute2 import IPRoute, NetlinkError
with IPRoute() as ip:
    index = ip.link_lookup(ifname="orbtax0")[0]
    try:
        ip.tc("replace", "netem", index, handle="1:", loss=2)
    except NetlinkError as error:
        print(error)
"""


@pytest.fixture
def opened() -> Iterator[OpenLink]:
    with open_link(load_catalogue()["1ge"]) as link:
        yield link


def inside(end: End, program: str) -> str:
    words = [*end.prefix, sys.executable, "-c", program]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def stream_over(link: Link, total_bytes: int = 8_000_000) -> Sample:
    case = Case(link=link.name, arm=Arm.STREAM, payload_bytes=65_536, threads=2)
    amount = Amount(total_bytes=total_bytes)
    with Pair(link, Placement(), 0, verify=False) as pair:
        sample = pair.run(Block(case=case, cell=0, round=0, position=0, amount=amount))
    assert sample.status is Status.OK, sample.reason
    return sample


@needs_namespaces
def test_payload_that_crossed_another_link_is_refused(opened: OpenLink) -> None:
    for end in (opened.link.sender, opened.link.receiver):
        inside(end, MAKE_ANOTHER_PAIR)
    taken = replace(
        opened.link,
        sender=replace(opened.link.sender, interface=OTHER),
        receiver=replace(opened.link.receiver, interface=OTHER),
    )
    facts = opened.facts()
    found = trust.examine(stream_over(taken), taken, facts)
    assert {each.code for each in found if each.serious} == {"wrong_link"}
    right = trust.examine(stream_over(opened.link), opened.link, facts)
    assert not [each for each in right if each.serious]


@needs_namespaces
def test_a_link_that_loses_packets_shows_in_the_retransmissions(opened: OpenLink) -> None:
    if refused := inside(opened.link.sender, MAKE_IT_LOSE):
        pytest.skip(f"this kernel cannot lose packets: netem gives {refused}")
    sample = stream_over(opened.link, total_bytes=20_000_000)
    assert sample.client is not None
    assert sum(state.retransmissions or 0 for state in sample.client.connections) > 0
    assert "retransmissions" in {
        each.code for each in trust.examine(sample, opened.link, opened.facts())
    }


class InstantCaller:
    """Moves messages by doing nothing with them for a moment."""

    def connect(self) -> None:
        pass

    def send(self, _message: bytes) -> None:
        time.sleep(0.001)

    def finish(self) -> None:
        pass

    def close(self) -> None:
        pass

    def durations_ns(self) -> array[int] | None:
        return None


class InstantTransport:
    def caller(self, _thread: int) -> InstantCaller:
        return InstantCaller()

    def settle(self, total_bytes: int) -> int:
        return total_bytes

    def close(self) -> None:
        pass


class LateGate:
    """A gate that lets its thread through 200 ms after the others."""

    def __init__(self, gate: threading.Barrier) -> None:
        self._gate = gate

    def wait(self, timeout: float | None = None) -> int:
        place = self._gate.wait(timeout)
        if timeout is None:  # the release, not the meeting before it
            time.sleep(0.2)
        return place


@pytest.mark.parametrize("late", [False, True])
def test_a_thread_that_starts_200_ms_late_is_told(late: bool, monkeypatch) -> None:
    made = iter(range(9))
    worker = "orbtax.clients.load.Worker"
    real = __import__("orbtax.clients.load", fromlist=["Worker"]).Worker

    def one_is_late(caller, ring, gate, stamps):
        return real(caller, ring, LateGate(gate) if late and next(made) == 1 else gate, stamps)

    monkeypatch.setattr(worker, one_is_late)
    share = Geometry(payload_bytes=64, slots=2, total_bytes=64 * 200)
    load = Load(
        InstantTransport(),
        [Ring(thread, share) for thread in range(4)],
        stamped=False,
        counted_late=False,
    )
    timing = load.run(lambda: None, lambda: None)
    load.close()
    assert (timing.start_skew_s >= 0.2) is late
    link = load_catalogue()["ib"]
    sample = replace(
        stream_sample(),
        window_s=timing.window_s,
        start_skew_s=timing.start_skew_s,
        thread_window_s=timing.thread_window_s,
    )
    codes = {each.code for each in trust.examine(sample, link, facts_of(link))}
    assert ("start-skew" in codes) is late


def stream_sample() -> Sample:
    from builders import make_sample

    return make_sample()


def facts_of(link: Link):
    from builders_ends import make_facts

    return make_facts(link)
