"""What a pair asks of its programs, and how long it waits: never less than a link needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbtax import agent, pair, programs
from orbtax.model import Amount, Arm, Block, Case, End, Kind, Link, Placement


def block(payload_bytes: int, total_bytes: int, empty_messages: int = 0) -> Block:
    case = Case(link="slow", arm=Arm.STREAM, payload_bytes=payload_bytes, threads=1)
    amount = Amount(total_bytes=total_bytes, empty_messages=empty_messages)
    return Block(case=case, cell=0, round=0, position=0, amount=amount)


class Silent:
    """A program that gets ready and never answers that it is done."""

    def __init__(self, requests: list[tuple[agent.Request, float]]) -> None:
        self._requests = requests

    def ask(self, request: agent.Request, answer: type, timeout_s: float = 0) -> object:
        self._requests.append((request, timeout_s))
        if isinstance(request, agent.Go):
            raise programs.ProgramError("no answer")
        return agent.Prepared(target="")

    def ended(self, within_s: float) -> None:
        return None

    def close(self) -> None:
        pass


def requests_of(
    link: Link, asked: Block, monkeypatch: pytest.MonkeyPatch, *, cache_bytes: int | None = None
) -> list[tuple[agent.Request, float]]:
    """What a pair asks of its programs for a block, and how long in s it waits for an answer."""
    requests: list[tuple[agent.Request, float]] = []
    monkeypatch.setattr(pair, "Program", lambda words: Silent(requests))
    with pair.Pair(link, Placement(), 0, verify=False, cache_bytes=cache_bytes) as programs_of_link:
        programs_of_link.run(asked)
    return requests


def patience_s(link: Link, asked: Block, monkeypatch: pytest.MonkeyPatch) -> float:
    """How long the pair waits for a client that has been told to go."""
    requests = requests_of(link, asked, monkeypatch)
    (patience,) = (waited_s for request, waited_s in requests if isinstance(request, agent.Go))
    return patience


def slow(rate_bit_s: int | None) -> Link:
    return Link(name="slow", kind=Kind.HOSTS, rate_bit_s=rate_bit_s, sender=End(), receiver=End())


@given(
    rate_bit_s=st.integers(8_000, 10**11),
    payload_bytes=st.integers(1, 10**8),
    messages=st.integers(1, 10**4),
)
def test_a_block_has_several_times_what_its_link_needs(
    rate_bit_s: int, payload_bytes: int, messages: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        asked = block(payload_bytes, payload_bytes * messages)
        patience = patience_s(slow(rate_bit_s), asked, patch)
    assert patience > 3 * 8 * (payload_bytes + 100) * messages / rate_bit_s


def test_a_megabit_link_carries_100_mb(monkeypatch) -> None:
    assert patience_s(slow(10**6), block(65_536, 10**8), monkeypatch) > 2 * 800


def test_a_fast_link_gives_no_less_than_an_unknown_one(monkeypatch) -> None:
    for asked in (block(65_536, 10**8), block(0, 0, empty_messages=10_000)):
        known = patience_s(slow(10**10), asked, monkeypatch)
        assert known == patience_s(slow(None), asked, monkeypatch)


@pytest.mark.parametrize(("cache_bytes", "slots"), [(0, 2), (2**20, 32)])
def test_messages_that_take_turns_exceed_the_cache_that_is_given(
    cache_bytes: int, slots: int, monkeypatch
) -> None:
    asked = block(65_536, 10**8)
    requests = requests_of(slow(None), asked, monkeypatch, cache_bytes=cache_bytes)
    prepared = [request for request, _ in requests if isinstance(request, agent.Prepare)]
    assert {request.slots for request in prepared} == {slots}
