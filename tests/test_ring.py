"""What is sent adds up to the byte, and a receiver notices whatever happens to it on the way."""

from __future__ import annotations

import mmap

import numpy as np
import pytest
from accidents import ACCIDENTS, geometry
from hypothesis import given
from hypothesis import strategies as st

from orbtax import ring
from orbtax.ring import Faults, Geometry, Ring, StreamCheck

sizes = st.integers(1, 300)
totals = st.integers(0, 5000)


@given(total=st.integers(0, 10**10), threads=st.integers(1, 200))
def test_the_parts_of_a_total_add_up_and_differ_by_one_at_most(total: int, threads: int) -> None:
    parts = ring.split(total, threads)
    assert sum(parts) == total
    assert len(parts) == threads
    assert max(parts) - min(parts) <= 1


@given(payload_bytes=sizes, total_bytes=totals, slots=st.integers(2, 9))
def test_a_ring_sends_exactly_its_share(payload_bytes: int, total_bytes: int, slots: int) -> None:
    share = geometry(payload_bytes, total_bytes, slots)
    messages = list(Ring(3, share))
    assert sum(map(len, messages)) == total_bytes
    assert len(messages) == share.messages
    assert all(len(message) == payload_bytes for message in messages[:-1])


def test_empty_messages_are_counted_since_their_bytes_say_nothing() -> None:
    share = Geometry(payload_bytes=0, slots=2, total_bytes=0, empty_messages=7)
    assert list(Ring(0, share)) == [b""] * 7


def test_the_rings_of_all_threads_are_larger_than_the_cache_together() -> None:
    for threads in (1, 4, 32):
        slots = ring.slots_for(65_536, threads, 4 * 1024**2)
        assert threads * slots * 65_536 >= 4 * 1024**2
    assert ring.slots_for(1024**2, 32, 4 * 1024**2) == 2
    assert ring.slots_for(1, 1, 4 * 1024**2) == ring.MAX_SLOTS


@given(payload_bytes=sizes, total_bytes=totals, slots=st.integers(2, 9))
def test_a_ring_in_pages_sends_the_same_from_half_a_page_on(
    payload_bytes: int, total_bytes: int, slots: int
) -> None:
    share = geometry(payload_bytes, total_bytes, slots)
    in_pages = list(Ring(3, share, in_pages=True))
    assert [bytes(message) for message in in_pages] == list(Ring(3, share))
    assert Ring(3, share, in_pages=True).checksum() == Ring(3, share).checksum()
    if total_bytes >= payload_bytes:
        first = np.frombuffer(in_pages[0], np.uint8)
        assert first.ctypes.data % mmap.PAGESIZE == mmap.PAGESIZE // 2


def test_a_ring_in_pages_can_send_empty_messages() -> None:
    share = Geometry(payload_bytes=0, slots=2, total_bytes=0, empty_messages=7)
    assert [bytes(message) for message in Ring(0, share, in_pages=True)] == [b""] * 7


def test_messages_of_a_ring_are_distinct_and_do_not_compress() -> None:
    import zlib

    messages = list(Ring(0, geometry(4096, 4 * 4096)))
    assert len(set(messages)) == 4
    assert len(zlib.compress(b"".join(messages))) > 0.99 * 4 * 4096


@given(payload_bytes=sizes, total_bytes=totals)
def test_sender_and_receiver_make_the_same_checksum(payload_bytes: int, total_bytes: int) -> None:
    sender = Ring(1, geometry(payload_bytes, total_bytes))
    assert ring.checksum(list(sender)) == sender.checksum()
    assert ring.checksum(list(sender)[::-1]) == sender.checksum()


def flipped_in_the_middle(messages: list[bytes]) -> list[bytes]:
    changed = bytearray(messages[2])
    changed[len(changed) // 2] ^= 1
    return [*messages[:2], bytes(changed), *messages[3:]]


def test_only_the_checksum_sees_a_flip_between_the_ends() -> None:
    sender = Ring(0, geometry(64, 640))
    assert ring.checksum(flipped_in_the_middle(list(sender))) != sender.checksum()


def check_stream(stream: bytes, share: Geometry, room: int) -> Faults:
    """Takes a byte stream as the servant does: whole messages at a time, then a short one."""
    faults = Faults()
    buffer = bytearray(room * share.payload_bytes)
    check = StreamCheck(buffer, 0, share, faults)
    for at in range(0, len(stream), len(buffer)):
        piece = stream[at : at + len(buffer)]
        buffer[: len(piece)] = piece
        whole = len(piece) // share.payload_bytes
        check.take(whole)
        if len(piece) % share.payload_bytes:
            check.take_last(memoryview(buffer)[whole * share.payload_bytes : len(piece)])
    return faults


@given(
    payload_bytes=st.integers(8, 100),
    total_bytes=totals,
    slots=st.integers(2, 9),
    room=st.integers(1, 20),
)
def test_a_whole_stream_has_no_faults(
    payload_bytes: int, total_bytes: int, slots: int, room: int
) -> None:
    share = geometry(payload_bytes, total_bytes, slots)
    assert check_stream(b"".join(Ring(0, share)), share, room).count == 0


@pytest.mark.parametrize("room", [1, 3, 16])
@pytest.mark.parametrize("accident", ACCIDENTS)
def test_a_receiver_of_a_stream_notices(accident, room: int) -> None:
    share = geometry(64, 64 * 11 + 20)
    assert check_stream(b"".join(accident(list(Ring(0, share)))), share, room).count > 0


def test_faults_keep_the_first_texts_and_count_all() -> None:
    faults = Faults()
    for number in range(20):
        faults.add(f"fault {number}")
    assert faults.count == 20
    assert faults.first == [f"fault {number}" for number in range(ring.FAULTS_KEPT)]
