"""The TCP connections of this process, whoever opened them: Python, or the ORB in C++.

They are found by walking /proc/self/fd, so that every arm is seen by one and the same method.
Reading keeps what the kernel gave as it is; it is taken apart when two readings are compared,
after the clock.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from orbtax.host import tcp_info
from orbtax.record import TcpState

_NAME_ROOM_BYTES = 16  # TCP_CA_NAME_MAX
_MAPPED = "::ffff:"  # IPv4 in an IPv6 socket: both ends are to write it alike


@dataclass(frozen=True, slots=True, kw_only=True)
class RawConnection:
    """One connected TCP socket as the kernel described it at one moment."""

    inode: int  # the socket's own number: tells a connection from a later one
    local: str  # address:port
    remote: str
    info: bytes  # struct tcp_info
    congestion_control: str | None
    nodelay: bool
    send_buffer_bytes: int  # effective, as the kernel counts
    receive_buffer_bytes: int
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[int, str, str]:
        """What tells this connection from every other, one with the same addresses included."""
        return (self.inode, self.local, self.remote)


def read_connections() -> tuple[RawConnection, ...]:
    """Every connected TCP socket, v4 or v6, that this process holds, each once.

    Descriptors that are closed meanwhile are passed over. OSError when no descriptor is left to
    look at a socket with.
    """
    found: dict[int, RawConnection] = {}
    for duplicate in duplicate_sockets():
        with duplicate:
            raw = _describe(duplicate)
        if raw is not None:
            found[raw.inode] = raw
    return tuple(found.values())


def duplicate_sockets() -> Iterator[socket.socket]:
    """A duplicate of each TCP socket that this process holds, for the caller to close.

    A connection stays open until its last duplicate is closed.
    """
    with os.scandir("/proc/self/fd") as entries:
        descriptors = [int(entry.name) for entry in entries]
    for descriptor in descriptors:
        duplicate = _duplicate(descriptor)
        if duplicate is not None:
            yield duplicate


def ends(connection: socket.socket) -> tuple[str, str] | None:
    """Local and remote address:port; None for a socket that is not connected."""
    try:
        remote = connection.getpeername()
    except OSError as error:
        if error.errno in (errno.ENOTCONN, errno.EINVAL):  # listening, or shut down meanwhile
            return None
        raise
    return _written(connection.getsockname()), _written(remote)


def difference(
    before: tuple[RawConnection, ...], after: tuple[RawConnection, ...]
) -> tuple[TcpState, ...]:
    """What each connection of `after` did since `before`, if it carried payload bytes.

    A connection that was opened since counts from zero, also when it has the addresses of an
    earlier one. One that is gone in `after` cannot be told: see `closed_meanwhile`.
    """
    earlier = {raw.identity: raw for raw in before}
    states = (_state(earlier.get(raw.identity), raw) for raw in after)
    return tuple(state for state in states if _carried_payload(state))


def closed_meanwhile(
    before: tuple[RawConnection, ...], after: tuple[RawConnection, ...]
) -> tuple[RawConnection, ...]:
    """Connections of `before` that are not in `after`, whose last bytes nobody counted."""
    left = {raw.identity for raw in after}
    return tuple(raw for raw in before if raw.identity not in left)


def _duplicate(descriptor: int) -> socket.socket | None:
    """A duplicate of the socket behind a descriptor, or None: no socket, not TCP, or gone."""
    try:
        # only sockets are duplicated: closing a duplicate of a file would drop the file's locks
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return None
        duplicate = os.dup(descriptor)
    except OSError as error:
        if error.errno == errno.EBADF:  # closed since the walk
            return None
        raise
    try:
        found = socket.socket(fileno=duplicate)
    except OSError as error:
        os.close(duplicate)
        if error.errno == errno.ENOTSOCK:  # closed, and its number given to a file
            return None
        raise
    if _is_tcp(found):
        return found
    found.close()
    return None


def _is_tcp(candidate: socket.socket) -> bool:
    return (
        candidate.family in (socket.AF_INET, socket.AF_INET6)
        and candidate.type == socket.SOCK_STREAM
        and candidate.proto == socket.IPPROTO_TCP
    )


def _describe(connection: socket.socket) -> RawConnection | None:
    names = ends(connection)
    if names is None:
        return None
    missing: dict[str, str] = {}
    info = _tcp_option(connection, socket.TCP_INFO, tcp_info.ROOM_BYTES, "tcp_info", missing)
    congestion_control = _tcp_option(
        connection, socket.TCP_CONGESTION, _NAME_ROOM_BYTES, "congestion_control", missing
    )
    return RawConnection(
        inode=os.fstat(connection.fileno()).st_ino,
        local=names[0],
        remote=names[1],
        info=info,
        congestion_control=congestion_control.rstrip(b"\0").decode("ascii") or None,
        nodelay=connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0,
        send_buffer_bytes=connection.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
        receive_buffer_bytes=connection.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
        missing=missing,
    )


def _tcp_option(
    connection: socket.socket, option: int, room_bytes: int, name: str, missing: dict[str, str]
) -> bytes:
    """The option's bytes; none, with the reason in `missing`, where the kernel has no such one."""
    try:
        return connection.getsockopt(socket.IPPROTO_TCP, option, room_bytes)
    except OSError as error:
        missing[name] = f"the kernel does not tell: {error.strerror}"
        return b""


def _written(address: tuple[str, int]) -> str:
    host, port = address[:2]
    host = host.removeprefix(_MAPPED)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _state(before: RawConnection | None, after: RawConnection) -> TcpState:
    change = tcp_info.difference(before.info if before else None, after.info)
    return TcpState(
        local=after.local,
        remote=after.remote,
        congestion_control=after.congestion_control,
        send_buffer_bytes=after.send_buffer_bytes,
        receive_buffer_bytes=after.receive_buffer_bytes,
        nodelay=after.nodelay,
        missing={**after.missing, **change.missing},
        **change.values,
    )


def _carried_payload(state: TcpState) -> bool:
    """Whether payload went either way; True for a kernel too old to count it."""
    counts = (state.acknowledged_bytes, state.received_bytes, state.data_segments_out)
    return any(counts) or all(count is None for count in counts)
