"""The program at the other end of a pipe: what servants and clients have in common.

A program speaks JSON lines on its standard input and output. Its first line says that it is
ready; then each request has one answer; it ends when its input closes, at once and whatever it is
doing, so that nothing is left behind when the parent dies.
"""

from __future__ import annotations

import argparse
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NoReturn

import msgspec

from orbtax import orb
from orbtax.errors import ExitCode, OrbtaxError, UnavailableError
from orbtax.host import environment
from orbtax.host.preload import preload_faults
from orbtax.model import Block, Finding
from orbtax.record import EndRecord, Environment, Latencies


class Prepare(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Open what the block needs. A servant answers Prepared with its target, a client connects."""

    block: Block
    slots: int  # messages in each thread's ring
    address: str | None = None  # servant: where to listen
    target: str | None = None  # client: what the servant answered
    interface: str | None = None  # the link's, whose bytes are counted
    verify: bool = False
    watch: bool = False  # client: look at the connections while the block runs
    stamp: bool = True  # client: time each call of an arm that waits
    check: bool = True  # servant: look at each message; without, its body only counts them


class Begin(msgspec.Struct, frozen=True, tag=True):
    """Servant: every connection is open and warm; count from zero."""


class Go(msgspec.Struct, frozen=True, tag=True):
    """Client: run the block."""


class Finish(msgspec.Struct, frozen=True, tag=True):
    """Servant: the client is done; say what came in."""


class Close(msgspec.Struct, frozen=True, tag=True):
    """Close the block's connections; the program stays."""


class Describe(msgspec.Struct, frozen=True, tag=True):
    """Say what this host is and how it is set."""

    interface: str | None = None
    orb_settings: Mapping[str, str] = {}


class Examine(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Say what there is on this host that spoils a measurement on one of its interfaces."""

    interface: str | None
    rate_bit_s: int | None  # of the link


Request = Prepare | Begin | Go | Finish | Close | Describe | Examine


class Prepared(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """A servant's answer to Prepare: where it listens (address:port or a reference)."""

    target: str = ""


class Outcome(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """A client's answer to Go."""

    window_s: float
    confirmed_bytes: int
    messages: int
    start_skew_s: float | None  # None: a program that is not ours does not tell
    clock_tick_s: float | None
    thread_bytes: tuple[int, ...]
    thread_window_s: tuple[float, ...]
    latencies: Latencies | None
    checksum: int | None
    record: EndRecord


class Receipt(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """A servant's answer to Finish: what it took since Begin."""

    received_bytes: int
    messages: int
    connections: int
    faults: int
    first_faults: tuple[str, ...]
    checksum: int | None
    record: EndRecord


class Described(msgspec.Struct, frozen=True, tag=True):
    """The answer to Describe."""

    environment: Environment


class Examined(msgspec.Struct, frozen=True, tag=True):
    """The answer to Examine."""

    findings: tuple[Finding, ...]


class Done(msgspec.Struct, frozen=True, tag=True):
    """The answer to a request that has nothing else to say."""


class Failed(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """The answer to a request that failed; as a first line: the program cannot start."""

    error: str
    trace: str
    exit_code: ExitCode = ExitCode.FAULT


class Ready(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """A program's first line."""

    program: str
    pid: int
    strays: tuple[str, ...] = ()  # ORB settings found in the environment or a file, shut out
    preload_faults: tuple[str, ...] = ()  # why libraries that it was to run under are not there


Answer = Prepared | Outcome | Receipt | Described | Examined | Done
Handler = Callable[[Request], Answer]

_request_decoder = msgspec.json.Decoder(Request)


def parse_cores(argv: list[str], program: str) -> tuple[int, ...] | None:
    """The `--cores 0,1` of a program's command line; None if it is not given."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--cores", default="", help="cores that this program may use: 0,1")
    text = parser.parse_args(argv).cores
    return tuple(int(core) for core in text.split(",")) if text else None


def run(program: str, handler: Handler, load: Callable[[], object] | None = None) -> NoReturn:
    """Places this process, says that it is ready and answers requests until the input closes.

    `load` gets what the program cannot do without; an OrbtaxError of it is told to the parent.
    """
    cores = parse_cores(sys.argv[1:], program)
    # Ctrl-C reaches the whole foreground group; the parent decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    strays = environment.stray_orb_settings(os.environ, orb.CONFIGURATION_FILE)
    orb.shut_out_strays()
    answers = _private_output()
    try:
        _place(cores)
        if load is not None:
            load()
    except OrbtaxError as error:
        _write(answers, Failed(error=str(error), trace="", exit_code=error.exit_code))
        os._exit(error.exit_code)
    ready = Ready(
        program=program,
        pid=os.getpid(),
        strays=strays,
        preload_faults=preload_faults(os.environ),
    )
    _write(answers, ready)
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    while True:
        _write(answers, _answer(handler, requests.get()))


def _place(cores: tuple[int, ...] | None) -> None:
    try:
        if cores is not None:
            os.sched_setaffinity(0, cores)
    except OSError as error:
        raise UnavailableError(
            f"the cores {', '.join(map(str, cores or ()))} cannot be used here: {error.strerror}. "
            "Name others with --placement."
        ) from None


def _answer(handler: Handler, line: bytes) -> Answer | Failed:
    try:
        request = _request_decoder.decode(line)
        if isinstance(request, Describe):
            return Described(_describe(request))
        if isinstance(request, Examine):
            return Examined(_examine(request))
        return handler(request)
    except OrbtaxError as error:
        return Failed(error=str(error), trace="", exit_code=error.exit_code)
    except Exception as error:  # whatever it was, the parent is told and the program goes on
        return Failed(error=f"{type(error).__name__}: {error}", trace=traceback.format_exc())


def _describe(request: Describe) -> Environment:
    arguments = orb.arguments(request.orb_settings)
    return environment.read_environment(
        interface=request.interface,
        orb_configuration=environment.dump_orb_configuration(arguments),
    )


def _examine(request: Examine) -> tuple[Finding, ...]:
    from orbtax.host import doctor  # heavier than all that a block needs

    rate_bit_s = request.rate_bit_s or doctor.USUAL_RATE_BIT_S
    # Settings of the ORB were shut out and told at the start of this program.
    return doctor.examine(
        interface=request.interface,
        rate_bit_s=rate_bit_s,
        environ={},
        config_path=Path(os.devnull),
    )


def _read(requests: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)  # the parent is gone or has closed the pipe: end in the middle of anything


def _private_output() -> BinaryIO:
    """Standard output for answers alone: what else prints to it goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return answers


def _write(answers: BinaryIO, answer: Answer | Failed | Ready) -> None:
    answers.write(msgspec.json.encode(answer) + b"\n")
