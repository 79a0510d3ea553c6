import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from orbtax.host import reading, tcp
from orbtax.host.watch import Watch
from orbtax.model import Amount, Arm, Block, Case, End, Kind, Link, Placement
from orbtax.pair import Pair
from orbtax.record import Status

pytestmark = pytest.mark.live

HERE = End(address="127.0.0.1", interface="lo")
LO = Link(name="lo", kind=Kind.LOOPBACK, sender=HERE, receiver=HERE)


@pytest.fixture
def connection() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        served, _ = listener.accept()
    with client, served:
        yield client, served


def exchange(client: socket.socket, served: socket.socket) -> None:
    client.sendall(b"there")
    served.recv(16)
    served.sendall(b"back")
    client.recv(16)


def record_between(before: reading.Reading):
    return reading.difference(
        before, reading.read("lo"), send_buffer_bytes=None, receive_buffer_bytes=None
    )


def test_what_was_seen_goes_to_its_connection(connection) -> None:
    client, served = connection
    before = reading.read("lo")
    with closing(Watch(tcp.duplicate_sockets())) as watch:
        for _ in range(5):
            exchange(client, served)
            watch.look()
    record = watch.added_to(record_between(before))
    assert len(record.connections) == 2
    for state in record.connections:
        assert state.loaded_rtt_us is not None
        assert state.loaded_rtt_us >= (state.min_rtt_us or 0)
        assert state.loaded_window_bytes is not None
        assert state.loaded_window_bytes >= 4096


def test_without_a_look_nothing_is_said(connection) -> None:
    client, served = connection
    before = reading.read("lo")
    with closing(Watch(tcp.duplicate_sockets())) as watch:
        exchange(client, served)
    record = watch.added_to(record_between(before))
    assert [state.loaded_rtt_us for state in record.connections] == [None, None]


def test_a_connection_can_be_closed_as_soon_as_it_is_let_go(connection) -> None:
    client, served = connection
    with closing(Watch(tcp.duplicate_sockets())) as watch:
        watch.look()
    client.close()
    assert served.recv(1) == b""


def test_a_listening_socket_is_passed_over() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)),
        closing(Watch(tcp.duplicate_sockets())) as watch,
    ):
        watch.look()


@pytest.mark.parametrize("arm", [Arm.STREAM, Arm.CALL, Arm.CORBA])
@pytest.mark.parametrize("watched", [True, False])
def test_a_block_is_watched_if_asked(arm: Arm, watched: bool) -> None:
    case = Case(link="lo", arm=arm, payload_bytes=65536, threads=2)
    block = Block(case=case, cell=0, round=0, position=0, amount=Amount(total_bytes=400_000_000))
    with Pair(LO, Placement(), 0, verify=False, watch=watched) as pair:
        sample = pair.run(block)
    assert sample.status is Status.OK, sample.reason
    assert sample.client is not None
    states = sample.client.connections
    assert len(states) == 2
    assert all((state.loaded_rtt_us is not None) == watched for state in states)
    assert all((state.loaded_window_bytes is not None) == watched for state in states)
