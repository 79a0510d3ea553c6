from __future__ import annotations

import struct
from dataclasses import replace

from orbtax.host import tcp

INFO_BYTES = 232


def make_raw(
    *, inode: int = 7, remote: str = "10.0.0.2:5000", acknowledged: int = 0, received: int = 0
) -> tcp.RawConnection:
    info = bytearray(INFO_BYTES)
    info[0] = 1
    struct.pack_into("=QQ", info, 120, acknowledged, received)
    struct.pack_into("=Q", info, 200, acknowledged)
    return tcp.RawConnection(
        inode=inode,
        local="10.0.0.1:40000",
        remote=remote,
        info=bytes(info),
        congestion_control="cubic",
        nodelay=True,
        send_buffer_bytes=87_040,
        receive_buffer_bytes=131_072,
    )


def test_a_connection_is_counted_from_where_it_stood() -> None:
    (state,) = tcp.difference((make_raw(acknowledged=500),), (make_raw(acknowledged=1_700),))
    assert state.acknowledged_bytes == 1_200
    assert (state.local, state.remote) == ("10.0.0.1:40000", "10.0.0.2:5000")
    assert (state.congestion_control, state.nodelay) == ("cubic", True)
    assert (state.send_buffer_bytes, state.receive_buffer_bytes) == (87_040, 131_072)


def test_a_connection_opened_since_counts_from_zero() -> None:
    (state,) = tcp.difference((), (make_raw(received=300),))
    assert state.received_bytes == 300


def test_the_same_addresses_on_another_socket_are_another_connection() -> None:
    before, after = make_raw(inode=7, received=5_000), make_raw(inode=8, received=6_000)
    (state,) = tcp.difference((before,), (after,))
    assert state.received_bytes == 6_000
    assert tcp.closed_meanwhile((before,), (after,)) == (before,)


def test_idle_connections_are_left_out() -> None:
    busy = make_raw(inode=1, received=10)
    idle = make_raw(inode=2, remote="10.0.0.2:5001", received=44)
    states = tcp.difference((idle,), (idle, busy))
    assert [state.remote for state in states] == ["10.0.0.2:5000"]


def test_a_kernel_that_counts_no_bytes_hides_no_connection() -> None:
    old = replace(make_raw(), info=bytes(104))
    (state,) = tcp.difference((old,), (old,))
    assert state.acknowledged_bytes is None
    assert "4.1" in state.missing["acknowledged_bytes"]


def test_reasons_of_the_reading_are_kept() -> None:
    raw = replace(make_raw(received=1), congestion_control=None, missing={"tcp_info": "no"})
    (state,) = tcp.difference((), (raw,))
    assert state.missing["tcp_info"] == "no"


def test_what_stays_open_is_not_closed() -> None:
    raw = make_raw()
    assert tcp.closed_meanwhile((raw,), (make_raw(received=9),)) == ()
