"""What the live tests of links share: who can build them here, and what is left of them."""

import os
import select
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from orbtax.model import End, Link


def _refusal_of_namespaces() -> str | None:
    """Asked of the system and not of orbtax, so that a fault of orbtax fails and does not skip."""
    said = []
    for flags in ("-Urn", "-n"):
        try:
            done = subprocess.run(["unshare", flags, "true"], capture_output=True, text=True)
        except FileNotFoundError:
            return "unshare is not installed"
        if done.returncode == 0:
            return None
        said.append(done.stderr.strip())
    return "; ".join(said)


_REFUSAL = _refusal_of_namespaces()
needs_namespaces = pytest.mark.skipif(
    _REFUSAL is not None, reason=f"no network namespaces here: {_REFUSAL}"
)


def holder_pids(link: Link) -> tuple[int, int]:
    return int(link.sender.prefix[-1]), int(link.receiver.prefix[-1])


def namespace(pid: int | str, kind: str) -> str:
    """What names the network (`net`) or user (`user`) namespace of a process."""
    return str(Path(f"/proc/{pid}/ns/{kind}").readlink())


def inhabitants(pids: Iterable[int]) -> list[psutil.Process]:
    """All processes that keep the network namespaces of these alive; there are at least these."""
    spaces = {namespace(pid, "net") for pid in pids} - {namespace("self", "net")}
    found = []
    for process in psutil.process_iter():
        with suppress(OSError, psutil.NoSuchProcess):  # it ended meanwhile, or is another user's
            if namespace(process.pid, "net") in spaces:
                found.append(process)
    assert {process.pid for process in found} >= set(pids)
    return found


def assert_gone(processes: Iterable[psutil.Process]) -> None:
    """None runs any more; one that has ended and waits to be collected does not count."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            assert process.status() == psutil.STATUS_ZOMBIE


def wait_for_end(processes: Iterable[psutil.Process]) -> None:
    """Wait until processes that are not our children have ended."""
    for process in processes:
        try:
            handle = os.pidfd_open(process.pid)
        except ProcessLookupError:
            continue
        ended, _, _ = select.select([handle], [], [], 20)
        os.close(handle)
        assert ended, f"process {process.pid} lives on"


_SERVE = """
import socket, sys
listener = socket.create_server((sys.argv[1], 0))
print(listener.getsockname()[1], flush=True)
channel, peer = listener.accept()
words = b""
while part := channel.recv(65536):
    words += part
print(peer[0], words.decode(), flush=True)
"""
_SEND = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10) as channel:
    channel.sendall(sys.argv[3].encode())
    print(channel.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\\0").decode())
"""


def send_over(sender: End, receiver: End, words: str) -> tuple[str, str, str]:
    """Send words by TCP from one end to the other.

    Returns the sender's address as the receiver saw it, the words that arrived, and the congestion
    control of the sender's socket.
    """
    with subprocess.Popen(
        [*receiver.prefix, str(receiver.python), "-c", _SERVE, str(receiver.address)],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        client = [*sender.prefix, str(sender.python), "-c", _SEND]
        try:
            done = subprocess.run(
                [*client, str(receiver.address), port, words],
                capture_output=True,
                text=True,
                check=True,
            )
            peer, arrived = server.stdout.readline().strip().split(" ", 1)
        finally:
            server.kill()
    return peer, arrived, done.stdout.strip()
