from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from orbtax.host import buffers, reading, tcp
from orbtax.record import TcpState

pytestmark = pytest.mark.live

Pair = tuple[socket.socket, socket.socket]
LIMIT_S = 10

# A servant that answers the ORB's own `_non_existent` and needs no stub of ours.
SERVANT = """\
import sys
from omniORB import CORBA
import CosNaming__POA
orb = CORBA.ORB_init(["servant", "-ORBendPoint", "giop:tcp:127.0.0.1:0"], CORBA.ORB_ID)
poa = orb.resolve_initial_references("RootPOA")
poa._get_the_POAManager().activate()
servant = CosNaming__POA.BindingIterator()
print(orb.object_to_string(servant._this()), flush=True)
sys.stdin.read()
"""
CLIENT = """\
import sys
from omniORB import CORBA
from orbtax.host import tcp
orb = CORBA.ORB_init(["client"], CORBA.ORB_ID)
target = orb.string_to_object(sys.argv[1])
before = tcp.read_connections()
assert not target._non_existent()
for state in tcp.difference(before, tcp.read_connections()):
    print(state.remote, state.acknowledged_bytes, state.received_bytes, state.nodelay)
"""


def connect(family: socket.AddressFamily, host: str) -> Pair:
    with socket.create_server((host, 0), family=family) as listener:
        near = socket.create_connection(listener.getsockname()[:2])
        far, _ = listener.accept()
    return near, far


@pytest.fixture
def pair() -> Iterator[Pair]:
    near, far = connect(socket.AF_INET, "127.0.0.1")
    with near, far:
        yield near, far


def send(near: socket.socket, far: socket.socket, total_bytes: int) -> None:
    """Sends so many bytes and waits until the peer has acknowledged them."""
    chunk = bytes(32_768)
    for start in range(0, total_bytes, len(chunk)):
        near.sendall(chunk[: total_bytes - start])
        left = min(len(chunk), total_bytes - start)
        while left:
            left -= len(far.recv(left))
    deadline_s = time.monotonic() + LIMIT_S
    while any(unacknowledged(near)) and time.monotonic() < deadline_s:
        time.sleep(0.001)


def unacknowledged(near: socket.socket) -> bytes:
    """tcpi_unacked of the socket."""
    return near.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 28)[24:28]


def address(end: tuple[str, int]) -> str:
    return f"{end[0]}:{end[1]}"


def by_local(states: tuple[TcpState, ...]) -> dict[str, TcpState]:
    return {state.local: state for state in states}


def test_bytes_acknowledged_and_received_are_the_bytes_sent(pair: Pair) -> None:
    near, far = pair
    send(near, far, 5_000)  # before the block: must not count
    before = tcp.read_connections()
    send(near, far, 1_000_000)
    states = by_local(tcp.difference(before, tcp.read_connections()))
    sender, receiver = states[address(near.getsockname())], states[address(far.getsockname())]
    assert (sender.acknowledged_bytes, sender.received_bytes) == (1_000_000, 0)
    assert (receiver.acknowledged_bytes, receiver.received_bytes) == (0, 1_000_000)
    assert (sender.retransmissions, sender.retransmitted_bytes) == (0, 0)
    assert sender.remote == receiver.local
    assert sender.data_segments_out is not None
    assert sender.data_segments_out >= 1_000_000 // 65_536
    assert sender.congestion_control == near.getsockopt(
        socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16
    ).rstrip(b"\0").decode("ascii")
    assert sender.missing == {}


def test_connections_opened_in_the_block_count_from_zero_without_syn_and_fin() -> None:
    before = tcp.read_connections()
    near, far = connect(socket.AF_INET, "127.0.0.1")
    idle_near, idle_far = connect(socket.AF_INET, "127.0.0.1")
    with near, far, idle_near, idle_far:
        send(near, far, 4_321)
        near.shutdown(socket.SHUT_WR)
        assert far.recv(1) == b""
        states = by_local(tcp.difference(before, tcp.read_connections()))
        ends = {address(near.getsockname()), address(far.getsockname())}
    assert states.keys() == ends
    assert {state.acknowledged_bytes for state in states.values()} == {4_321, 0}
    assert {state.received_bytes for state in states.values()} == {4_321, 0}


def test_only_connected_tcp_sockets_are_read_and_each_once(tmp_path: Path, pair: Pair) -> None:
    near, far = pair
    with ExitStack() as stack:
        stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        for local in socket.socketpair():
            stack.enter_context(local)
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.connect(("127.0.0.1", 9))
        stack.enter_context((tmp_path / "file").open("w"))
        again = os.dup(near.fileno())
        stack.callback(os.close, again)
        found = [raw.local for raw in tcp.read_connections()]
        mine = [address(near.getsockname()), address(far.getsockname())]
        assert sorted(found) == sorted(mine)
    near.sendall(b"still open")
    assert far.recv(10) == b"still open"


def test_reading_leaves_no_descriptor_behind(pair: Pair) -> None:
    before = sorted(path.name for path in Path("/proc/self/fd").iterdir())
    tcp.read_connections()
    assert sorted(path.name for path in Path("/proc/self/fd").iterdir()) == before


@pytest.mark.skipif(not socket.has_ipv6, reason="this Python has no IPv6")
def test_ipv6_is_written_with_brackets_and_mapped_ipv4_as_ipv4() -> None:
    try:
        near, far = connect(socket.AF_INET6, "::1")
    except OSError as error:
        pytest.skip(f"no IPv6 loopback: {error}")
    with near, far:
        assert f"[::1]:{far.getsockname()[1]}" in {raw.local for raw in tcp.read_connections()}
    listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    with listener, socket.create_connection(("127.0.0.1", listener.getsockname()[1])) as near:
        far, _ = listener.accept()
        with far:
            ends = {(raw.local, raw.remote) for raw in tcp.read_connections()}
    assert len(ends) == 2
    assert {(remote, local) for local, remote in ends} == ends


def test_sockets_that_other_threads_open_and_close_do_no_harm(pair: Pair) -> None:
    near, _ = pair
    local = address(near.getsockname())
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            for end in (*socket.socketpair(), *connect(socket.AF_INET, "127.0.0.1")):
                end.close()

    threads = [threading.Thread(target=churn) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(100):
            assert local in {raw.local for raw in tcp.read_connections()}
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_connection_that_the_orb_opened_is_seen_like_any_other() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVANT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as servant:
        assert servant.stdout is not None
        reference = servant.stdout.readline().strip()
        client = subprocess.run(
            [sys.executable, "-c", CLIENT, reference],
            capture_output=True,
            text=True,
            check=True,
            timeout=6 * LIMIT_S,
        )
        assert servant.stdin is not None
        servant.stdin.close()
    (line,) = client.stdout.splitlines()
    remote, acknowledged, received, nodelay = line.split()
    assert remote.startswith("127.0.0.1:")
    assert int(acknowledged) > 12  # more than a GIOP header each way
    assert int(received) > 12
    assert nodelay == "True"


@pytest.mark.parametrize("which", ["send", "receive"])
def test_a_small_buffer_is_granted_and_one_above_the_limit_is_clipped(which: str) -> None:
    option = socket.SO_SNDBUF if which == "send" else socket.SO_RCVBUF
    sysctl = f"net.core.{'wmem' if which == 'send' else 'rmem'}_max"
    limit_bytes = int(Path("/proc/sys", *sysctl.split(".")).read_text())
    for requested_bytes, clipped in ((16_384, False), (2 * limit_bytes, True)):
        near, far = connect(socket.AF_INET, "127.0.0.1")
        with near, far:
            near.setsockopt(socket.SOL_SOCKET, option, requested_bytes)
            states = tcp.difference((), tcp.read_connections())
            assert states == ()
            near.sendall(b"x")
            far.recv(1)
            local = address(near.getsockname())
            state = by_local(tcp.difference((), tcp.read_connections()))[local]
        record = buffers.judge(requested_bytes, [state], which)
        assert record.clipped is clipped
        assert record.limit == (f"{sysctl} = {limit_bytes}" if clipped else None)
        assert record.effective_bytes == 2 * min(requested_bytes, limit_bytes)


def test_a_block_seen_from_one_end(pair: Pair) -> None:
    near, far = pair
    before = reading.read("lo")
    send(near, far, 500_000)
    after = reading.read("lo")
    record = reading.difference(before, after, send_buffer_bytes=None, receive_buffer_bytes=None)
    assert len(record.connections) == 2
    assert record.missing == {}
    assert record.interface is not None
    assert record.interface.sent_bytes >= 500_000
    assert record.processor.window_s > 0
    assert record.processor.process_user_s + record.processor.process_system_s > 0
    assert record.send_buffer is not None
    assert record.send_buffer.autotuned
    assert record.send_buffer.effective_bytes == max(
        state.send_buffer_bytes or 0 for state in record.connections
    )


def test_a_connection_closed_in_the_block_is_named() -> None:
    near, far = connect(socket.AF_INET, "127.0.0.1")
    local = address(near.getsockname())
    with far:
        with near:
            before = reading.read("lo")
        record = reading.difference(
            before, reading.read("lo"), send_buffer_bytes=None, receive_buffer_bytes=None
        )
    assert local in record.missing["connections"]
