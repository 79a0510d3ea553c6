"""The framing of the raw arms: what is sent is what is read, and a stranger is refused."""

from __future__ import annotations

import socket
import threading

import pytest

from orbtax import wire
from orbtax.model import Arm, Options


@pytest.fixture
def pair():
    left, right = socket.socketpair()
    with left, right:
        yield left, right


def hello(arm: Arm = Arm.CALL) -> wire.Hello:
    return wire.Hello(arm=arm, thread=31, slots=4096, payload_bytes=65_536, total_bytes=2**40 + 1)


@pytest.mark.parametrize("arm", [Arm.STREAM, Arm.CALL, Arm.PINGPONG])
def test_a_greeting_is_read_as_it_was_sent(pair, arm: Arm) -> None:
    left, right = pair
    left.sendall(hello(arm).pack())
    assert wire.Hello.receive(right) == hello(arm)


def test_a_stranger_is_refused(pair) -> None:
    left, right = pair
    left.sendall(b"GET / HTTP/1.1\r\nHost: example\r\n\r\n")
    with pytest.raises(wire.WireError, match="not as orbtax does"):
        wire.Hello.receive(right)


def test_a_greeting_cut_short_says_how_far_it_came(pair) -> None:
    left, right = pair
    left.sendall(hello().pack()[:10])
    left.close()
    with pytest.raises(wire.WireError, match="closed after 10 of 28 bytes"):
        wire.Hello.receive(right)


def test_a_reply_has_as_many_bytes_as_the_orbs_and_carries_the_count(pair) -> None:
    left, right = pair
    left.sendall(wire.reply(2**40))
    buffer = memoryview(bytearray(wire.REPLY_BYTES))
    assert wire.receive_reply(right, buffer) == 2**40
    assert wire.REPLY_BYTES == 24


def test_bytes_that_come_in_pieces_are_put_together(pair) -> None:
    left, right = pair
    message = bytes(range(256)) * 400

    def send() -> None:
        for at in range(0, len(message), 999):
            left.sendall(message[at : at + 999])

    sender = threading.Thread(target=send)
    sender.start()
    got = bytearray(len(message))
    wire.receive_exactly(right, memoryview(got))
    sender.join()
    assert got == message


def test_a_socket_gets_what_the_options_ask_for() -> None:
    options = Options(nodelay=False, send_buffer_bytes=32_768, receive_buffer_bytes=65_536)
    with socket.socket() as one, socket.socket() as other:
        wire.prepare(one, options)
        reno = Options(congestion_control="reno")
        wire.prepare(other, reno)
        wire.choose_congestion_control(other, reno)
        assert one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0
        assert one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == 2 * 32_768
        assert one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 2 * 65_536
        assert other.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
        name = other.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        assert name.rstrip(b"\0") == b"reno"
        assert one.gettimeout() is None  # blocking, so that no call is doubled by a poll
