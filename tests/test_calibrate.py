"""Blocks sized by pilots, and how long a plan takes."""

from __future__ import annotations

import dataclasses

import pytest
from builders import make_sample
from hypothesis import given
from hypothesis import strategies as st

from orbtax import calibrate, estimate, plan
from orbtax.model import Amount, Arm, Case, Kind, Link, Options, Placement, Plan, Purpose
from orbtax.record import Sample, Status

CASE = Case(link="lo", arm=Arm.CORBA, payload_bytes=65_536, threads=4)
EMPTY = Case(link="lo", arm=Arm.EMPTY, payload_bytes=0, threads=1)


def sample(case: Case, messages: int, window_s: float, status: Status = Status.OK) -> Sample:
    return dataclasses.replace(
        make_sample(), case=case, messages=messages, window_s=window_s, status=status
    )


class Link10us:
    """A link on which each message takes 10 µs, behind a start of 2 ms."""

    def __init__(self) -> None:
        self.amounts: list[Amount] = []

    def run(self, amount: Amount) -> Sample:
        self.amounts.append(amount)
        messages = amount.empty_messages or amount.total_bytes // CASE.payload_bytes
        case = EMPTY if amount.empty_messages else CASE
        return sample(case, messages, 0.002 + 10e-6 * messages)


@pytest.mark.parametrize("case", [CASE, EMPTY])
def test_pilots_grow_until_one_is_long_enough(case: Case) -> None:
    link = Link10us()
    last = calibrate.calibrate(case, 0.3, link.run)
    assert last.window_s >= 0.25 * 0.3
    assert len(link.amounts) <= 4
    final = link.run(calibrate.sized(case, last, 0.3))
    assert final.window_s == pytest.approx(0.3, rel=0.05)


def test_a_good_guess_needs_one_pilot() -> None:
    link = Link10us()
    calibrate.calibrate(CASE, 0.3, link.run, calibrate.Guess(10e-6, seen=True))
    assert len(link.amounts) == 1


@pytest.mark.parametrize(("message_s", "messages"), [(10e-6, 64), (0.05, 4)])
def test_a_guess_that_was_not_seen_only_makes_the_first_pilot_smaller(
    message_s: float, messages: int
) -> None:
    link = Link10us()
    calibrate.calibrate(CASE, 0.3, link.run, calibrate.Guess(message_s, seen=False))
    assert link.amounts[0].total_bytes == messages * CASE.payload_bytes


def test_a_pilot_that_fails_ends_the_search() -> None:
    failed = sample(CASE, 0, 0.0, Status.FAILED)
    assert calibrate.calibrate(CASE, 0.3, lambda _: failed) is failed


@given(
    messages=st.integers(1, 10**6),
    window_s=st.floats(1e-6, 10),
    threads=st.integers(1, 64),
    size=st.integers(1, 2**20),
)
def test_a_sized_block_gives_each_thread_as_many_messages(
    messages: int, window_s: float, threads: int, size: int
) -> None:
    case = dataclasses.replace(CASE, threads=threads, payload_bytes=size)
    amount = calibrate.sized(case, sample(case, messages, window_s), 0.3)
    assert amount.total_bytes % size == 0
    assert amount.total_bytes >= threads * size
    assert amount.total_bytes <= max(8 * 10**9, threads * size)


@pytest.mark.parametrize(("message_s", "messages"), [(0.001, 50), (0.02, 10), (0.2, 5), (3.0, 1)])
def test_a_block_of_slow_messages_has_at_least_a_few_within_a_second(
    message_s: float, messages: int
) -> None:
    case = dataclasses.replace(CASE, threads=1)
    pilot = sample(case, 4, 4 * message_s)
    amount = calibrate.sized(case, pilot, 0.05, least_messages=10)
    assert amount.total_bytes == messages * case.payload_bytes


SMALL, MIDDLE, LARGE, BEYOND = (
    dataclasses.replace(CASE, payload_bytes=size) for size in (1000, 2000, 3000, 6000)
)


def test_time_per_message_lies_on_a_line_between_sizes() -> None:
    known = [sample(SMALL, 10, 1.0), sample(LARGE, 10, 3.0)]
    between, further = calibrate.guess(known, MIDDLE), calibrate.guess(known, BEYOND)
    assert between == calibrate.Guess(pytest.approx(0.2), seen=True)
    assert further == calibrate.Guess(pytest.approx(0.6), seen=False)
    assert calibrate.guess(known, dataclasses.replace(CASE, arm=Arm.STREAM)) is None


def test_samples_with_other_options_count_only_where_there_are_none_with_the_same() -> None:
    stalling = Options(send_buffer_bytes=32_768)
    other = dataclasses.replace(MIDDLE, options=stalling)
    known = [sample(SMALL, 10, 1.0), sample(LARGE, 10, 3.0)]
    assert calibrate.guess(known, other) == calibrate.Guess(pytest.approx(0.2), seen=False)
    known.append(sample(dataclasses.replace(SMALL, options=stalling), 10, 400.0))
    assert calibrate.guess(known, other) == calibrate.Guess(pytest.approx(80.0), seen=False)


LINK = Link(name="lo", kind=Kind.LOOPBACK)
SLOW = Link(name="slow", kind=Kind.EMULATED, rate_bit_s=8_000_000)


def fixed_plan(*links: Link) -> Plan:
    cells = [
        cell
        for link in links
        for cell in plan.grid(
            link, [1000, 2000], [1, 4], [Arm.STREAM], rounds=2, total_bytes=1_000_000
        )
    ]
    return Plan(study="compare", links=links, cells=tuple(cells), placement=Placement())


def test_scouts_are_the_smallest_and_the_largest_payload_of_each_arm() -> None:
    tried = estimate.scouts(fixed_plan(LINK), range(4), LINK)
    assert [(cell, case.payload_bytes, case.threads) for cell, case in tried] == [
        (0, 1000, 1),
        (2, 2000, 1),
    ]


def test_cells_with_a_budget_need_no_scouts_and_take_their_budget() -> None:
    cells = plan.grid(LINK, [1000], [1, 4], [Arm.STREAM], budget_s=5.0)
    made = Plan(study="compare", links=(LINK,), cells=cells)
    assert estimate.scouts(made, range(2), LINK) == ()
    assert 10 < estimate.estimate_s(made, range(2), []) < 12


def test_a_total_takes_what_the_scouts_took_and_never_less_than_the_link_allows() -> None:
    known = [
        sample(Case(link="lo", arm=Arm.STREAM, payload_bytes=size, threads=1), 1000, 1.0)
        for size in (1000, 2000)
    ]
    # 1 ms for each message: 1000 and 500 messages, twice each.
    on_lo = estimate.estimate_s(fixed_plan(LINK), range(4), known)
    assert on_lo == pytest.approx(3.0 + 8 * estimate.BLOCK_OVERHEAD_S, rel=0.01)
    # The slow link moves one megabyte a second.
    assert estimate.estimate_s(fixed_plan(SLOW), range(4), known) > 4.0


@pytest.mark.parametrize("threads", [1, 4])
def test_iperf3_is_given_more_than_its_send_buffers_take(threads: int) -> None:
    case = Case(link="lo", arm=Arm.IPERF3, payload_bytes=3000, threads=threads)
    least_bytes = threads * calibrate.IPERF3_LEAST_BYTES
    assert 0 <= calibrate.of_messages(case, 1).total_bytes - least_bytes < threads * 3000
    assert calibrate.of_messages(case, 10**6).total_bytes == 3 * 10**9


def test_what_was_reached_without_the_link_is_no_guess_for_it() -> None:
    case = Case(link="ib", arm=Arm.CALL, payload_bytes=1000, threads=1)
    known = sample(case, 1000, 1.0)
    assert calibrate.guess([known], case) is not None
    alone = dataclasses.replace(known, purpose=Purpose.CEILING)
    assert calibrate.guess([alone], case) is None
