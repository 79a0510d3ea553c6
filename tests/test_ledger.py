"""What a receiver of whole messages writes down, and what it finds in it afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest
from accidents import ACCIDENTS, cut, dropped, geometry, of_another_thread, repeated, swapped
from hypothesis import given
from hypothesis import strategies as st

from orbtax.ledger import Ledger
from orbtax.ring import Faults, Ring


def judged(
    messages: Iterable[bytes], threads: int = 1, *, ordered: bool = True, look: bool = True
) -> Faults:
    ledger, faults = Ledger(64, look=look), Faults()
    for message in messages:
        ledger.take(message)
    ledger.judge(threads, 4, faults, ordered=ordered)
    return faults


@given(
    payload_bytes=st.integers(0, 40),
    total_bytes=st.integers(0, 900),
    slots=st.integers(2, 9),
    look=st.booleans(),
)
def test_what_was_sent_is_counted_to_the_byte_and_has_no_faults(
    payload_bytes: int, total_bytes: int, slots: int, look: bool
) -> None:
    share = geometry(payload_bytes, total_bytes if payload_bytes else 0, slots)
    ledger, faults = Ledger(payload_bytes, look=look), Faults()
    for message in Ring(0, share):
        ledger.take(message)
    assert ledger.received_bytes == share.total_bytes
    assert ledger.messages == share.messages
    ledger.judge(1, slots, faults)
    assert faults.count == 0


def test_a_cleared_ledger_starts_anew() -> None:
    ledger, faults = Ledger(64), Faults()
    for message in [*list(Ring(0, geometry(64, 200)))[1:], b"warm-up"]:
        ledger.take(message)
    ledger.clear()
    assert (ledger.messages, ledger.received_bytes) == (0, 0)
    for message in Ring(0, geometry(64, 200)):
        ledger.take(message)
    ledger.judge(1, 4, faults)
    assert (ledger.messages, ledger.received_bytes, faults.count) == (4, 200, 0)


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_every_accident_is_noticed(accident) -> None:
    messages = list(Ring(0, geometry(64, 64 * 10 + 20)))
    assert judged(messages).count == 0
    assert judged(accident(messages)).count > 0


@pytest.mark.parametrize("accident", [cut, dropped, repeated, of_another_thread])
def test_without_order_all_but_order_is_noticed(accident) -> None:
    messages = list(Ring(0, geometry(64, 64 * 12)))
    assert judged(messages, ordered=False).count == 0
    assert judged(swapped(messages), ordered=False).count == 0
    assert judged(accident(messages), ordered=False).count > 0


@given(st.data())
def test_threads_may_be_interleaved_in_any_way(data: st.DataObject) -> None:
    left = [iter(Ring(thread, geometry(64, 64 * 9))) for thread in range(3)]
    mixed = []
    while left:
        turn = data.draw(st.sampled_from(left))
        message = next(turn, None)
        if message is None:
            left.remove(turn)
        else:
            mixed.append(message)
    assert judged(mixed, threads=3).count == 0
    missing = data.draw(st.integers(0, len(mixed) - 1))
    last_of_thread = mixed[missing] not in mixed[missing + 1 :]
    faults = judged([*mixed[:missing], *mixed[missing + 1 :]], threads=3)
    # Without its last message a thread's slots still follow in turn: the count tells of it.
    assert faults.count > 0 or last_of_thread


def test_a_dropped_message_is_one_fault_with_what_was_due() -> None:
    messages = list(Ring(0, geometry(64, 64 * 12)))
    faults = judged([*messages[:5], *messages[6:]])
    assert faults.count == 1
    assert faults.first == ["thread 0: slot 2 came where 1 was due"]


def test_a_torn_message_is_told_by_both_its_ends() -> None:
    messages = list(Ring(0, geometry(64, 64 * 4)))
    torn = messages[1][:32] + messages[2][32:]
    faults = judged([messages[0], torn, *messages[2:]])
    assert faults.first[0] == "the two ends of a message differ: 00000100 and 00000200"


def test_a_message_that_the_block_has_not_is_strange() -> None:
    faults = judged([*Ring(0, geometry(64, 64)), *Ring(7, geometry(64, 64))], threads=2)
    assert faults.first == ["a message of thread 7, slot 0: the block has none such"]


def test_a_short_message_in_the_middle_is_a_fault() -> None:
    short = list(Ring(0, geometry(64, 64 * 2 + 20)))
    assert judged([short[0], short[2], short[1]]).count > 0


def test_without_a_look_nothing_is_judged() -> None:
    messages = list(Ring(0, geometry(64, 64 * 10)))
    assert judged(dropped(messages), look=False).count == 0


def test_no_message_is_lost_when_threads_take_at_once() -> None:
    rings = [Ring(thread, geometry(64, 64 * 20_000)) for thread in range(4)]
    ledger, faults = Ledger(64), Faults()

    def take_all(ring: Ring) -> None:
        for message in ring:
            ledger.take(message)

    threads = [threading.Thread(target=take_all, args=(ring,)) for ring in rings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger.judge(4, 4, faults)
    assert (ledger.messages, ledger.received_bytes) == (80_000, 80_000 * 64)
    assert faults.count == 0
