"""The installed iperf3, whose opinion of a link is set beside ours: started, ended, and read.

A client and a server of it run at the two ends of a link, each below a program of ours
(`clients/iperf3.py`, `servants/iperf3.py`) whose cores and network it inherits. The receiver's
bytes and seconds are taken from its JSON; what the sender counts is never the result.
"""

from __future__ import annotations

import contextlib
import dataclasses
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import psutil

from orbtax.errors import ProgramError, UnavailableError
from orbtax.host import doctor, reading, settings
from orbtax.model import Block, Options
from orbtax.record import EndRecord, TcpState

LISTEN_S = 10.0
END_S = 10.0
_POLL_S = 0.001
# Its parent may be killed, and a server that nobody calls would wait for ever.
_TETHER = ("setpriv", "--pdeathsig", "KILL", "--")
_QUIET = ("--json", "--interval", "0")
_UNTOLD = "of its connections iperf3 tells no more than this"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the receiving iperf3 took, and what either end says of its connections."""

    received_bytes: int
    window_s: float
    stream_bytes: tuple[int, ...]
    stream_window_s: tuple[float, ...]
    connections: tuple[TcpState, ...]


def check_installed() -> None:
    """Raises UnavailableError unless this host has an iperf3 that is new enough."""
    finding = settings.judge_iperf3(doctor.iperf3_version())
    if finding is not None:
        raise UnavailableError(f"{finding.text} ({finding.cure})")


def server_words(address: str, port: int) -> list[str]:
    """The command line of a server that takes one test and ends."""
    return ["iperf3", "--server", "--one-off", *_QUIET, "--bind", address, "--port", str(port)]


def client_words(block: Block, address: str, port: int) -> list[str]:
    """The command line of a client that moves a block as our own `stream` would.

    It writes whole messages, so that a short last one becomes a whole one. UnavailableError for
    buffers that iperf3 cannot set, since it has one size for both directions and both ends.
    """
    case, options = block.case, block.case.options
    words = ["iperf3", "--client", address, "--port", str(port), *_QUIET]
    words += ["--length", str(case.payload_bytes), "--parallel", str(case.threads)]
    words += ["--bytes", str(block.amount.total_bytes)]
    if options.nodelay:
        words.append("--no-delay")
    if options.congestion_control is not None:
        words += ["--congestion", options.congestion_control]
    buffer_bytes = _one_buffer_size(options)
    if buffer_bytes is not None:
        words += ["--window", str(buffer_bytes)]
    return words


def messages(block: Block, result: Result) -> int:
    """How many messages the receiver took, the last one possibly in part."""
    return -(-result.received_bytes // block.case.payload_bytes)


def read(interface: str | None) -> reading.Reading:
    """This host, the link's interface, and every iperf3 that has ended so far."""
    return reading.read(interface, whose=resource.RUSAGE_CHILDREN)


def record(
    block: Block, before: reading.Reading, after: reading.Reading, result: Result
) -> EndRecord:
    """What this end saw between two readings, with the connections as iperf3 tells them."""
    options = block.case.options
    seen = reading.difference(
        before,
        after,
        send_buffer_bytes=options.send_buffer_bytes,
        receive_buffer_bytes=options.receive_buffer_bytes,
    )
    missing = {**seen.missing, "connections": _UNTOLD}
    return dataclasses.replace(seen, connections=result.connections, missing=missing)


class Child:
    """A running iperf3 that dies with this program."""

    def __init__(self, words: Sequence[str]) -> None:
        """Starts it; UnavailableError if that is not possible here."""
        try:
            self._process = subprocess.Popen(
                [*_TETHER, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise UnavailableError(
                f"{error.filename}: {error.strerror}; install util-linux, whose {_TETHER[0]} ends "
                "iperf3 together with the program that started it"
            ) from None

    def await_listening(self) -> None:
        """Returns once it listens; ProgramError with its reason if it does not."""
        deadline_s = time.monotonic() + LISTEN_S
        while not self._listens():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLL_S)
                self.result()
                raise ProgramError("iperf3 ended before it had listened")
            if time.monotonic() > deadline_s:
                raise ProgramError(f"iperf3 did not listen within {LISTEN_S:.0f} s")

    def result(self, timeout_s: float | None = None) -> Result:
        """What it said when it had ended; ProgramError if it failed or does not end in time."""
        try:
            said, complaint = self._process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"iperf3 did not end within {timeout_s:.0f} s") from None
        return parse(said, complaint)

    def close(self) -> None:
        """Ends it, whatever it is doing."""
        self._process.kill()
        self._process.communicate()

    def _listens(self) -> bool:
        try:
            connections = psutil.Process(self._process.pid).net_connections(kind="tcp")
        except psutil.Error:  # it has just ended
            return False
        return any(connection.status == psutil.CONN_LISTEN for connection in connections)


class _Place(msgspec.Struct, frozen=True):
    local_host: str
    local_port: int
    remote_host: str
    remote_port: int


class _Start(msgspec.Struct, frozen=True):
    connected: tuple[_Place, ...]
    tcp_mss_default: int = 0


class _Sum(msgspec.Struct, frozen=True):
    bytes: int
    seconds: float
    retransmits: int | None = None


class _Stream(msgspec.Struct, frozen=True):
    sender: _Sum
    receiver: _Sum


class _End(msgspec.Struct, frozen=True):
    streams: tuple[_Stream, ...]
    sum_received: _Sum
    sender_tcp_congestion: str | None = None
    receiver_tcp_congestion: str | None = None


class _Said(msgspec.Struct, frozen=True):
    """The parts of iperf3's JSON that are used; the same at client and server."""

    start: _Start
    end: _End


def parse(said: bytes, complaint: bytes = b"") -> Result:
    """The result in the JSON that a client or a server printed.

    Raises ProgramError with iperf3's own words for a test that failed, and for text that is no
    result.
    """
    try:
        content = msgspec.json.decode(said)
        if error := content.get("error"):
            raise ProgramError(f"iperf3: {error}")
        return _result(msgspec.convert(content, _Said))
    except (msgspec.DecodeError, AttributeError, UnicodeDecodeError) as error:
        words = complaint.decode(errors="replace").strip() or f"its answer is no result: {error}"
        raise ProgramError(f"iperf3: {words.splitlines()[0].removeprefix('iperf3: ')}") from None


def _result(said: _Said) -> Result:
    end = said.end
    control = end.sender_tcp_congestion or end.receiver_tcp_congestion
    if not end.sum_received.bytes or end.sum_received.seconds <= 0:
        raise ProgramError(
            "iperf3: its receiver had taken nothing when the sender stopped; move more bytes in "
            "each block"
        )
    return Result(
        received_bytes=end.sum_received.bytes,
        window_s=end.sum_received.seconds,
        stream_bytes=tuple(stream.receiver.bytes for stream in end.streams),
        stream_window_s=tuple(stream.receiver.seconds for stream in end.streams),
        connections=tuple(
            _state(place, stream, control, said.start.tcp_mss_default)
            for place, stream in zip(said.start.connected, end.streams, strict=False)
        ),
    )


def _state(place: _Place, stream: _Stream, control: str | None, mss_bytes: int) -> TcpState:
    return TcpState(
        local=_written(place.local_host, place.local_port),
        remote=_written(place.remote_host, place.remote_port),
        congestion_control=control,
        retransmissions=stream.sender.retransmits,
        mss_bytes=mss_bytes or None,
    )


def _written(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _one_buffer_size(options: Options) -> int | None:
    sizes = {options.send_buffer_bytes, options.receive_buffer_bytes}
    if len(sizes) > 1:
        raise UnavailableError(
            "iperf3 sets send and receive buffers to one size: ask for the same for both, "
            "or for none"
        )
    return sizes.pop()
