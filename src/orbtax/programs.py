"""The parent's side of a pipe: starts a servant or client program, asks, and ends it.

Where a program runs is only a command prefix. It is ended by closing its pipe; no signal reaches
it, no process id is kept, and a parent that dies closes the pipe as well.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from orbtax import agent
from orbtax.errors import ExitCode, ProgramError, UnavailableError
from orbtax.model import Arm, End, Link

START_S = 60.0
CLOSE_S = 10.0
LONGEST_WAIT_S = 86_400.0
"""A poll takes its timeout as milliseconds in 31 bits, and is asked again until its time is up."""
TAIL_BYTES = 4096
"""How much of what a program printed goes into an error."""

SERVANT_SOCKETS = "orbtax.servants.sockets"
SERVANT_CORBA = "orbtax.servants.corba"
SERVANT_IPERF3 = "orbtax.servants.iperf3"
CLIENT = "orbtax.clients.program"
CLIENT_IPERF3 = "orbtax.clients.iperf3"

AnswerT = TypeVar("AnswerT")


def servant_module(arm: Arm) -> str:
    """The servant program that takes an arm."""
    if arm is Arm.IPERF3:
        return SERVANT_IPERF3
    return SERVANT_CORBA if arm.is_corba else SERVANT_SOCKETS


def client_module(arm: Arm) -> str:
    """The client program that sends an arm."""
    return CLIENT_IPERF3 if arm is Arm.IPERF3 else CLIENT


def environment_of(link: Link, arm: Arm) -> Mapping[str, str]:
    """What the link adds to the environment of an arm's programs, a preloaded library included."""
    chosen = dict(link.environment.get(arm, {}))
    if arm in link.preload:
        chosen["LD_PRELOAD"] = link.preload[arm]
    return chosen


def command(
    end: End, module: str, cores: tuple[int, ...] | None, environment: Mapping[str, str]
) -> list[str]:
    """The command line that runs a program at an end of a link.

    The environment is set by `env` behind the prefix, so that it also holds on another host.
    """
    assignments = [f"{name}={value}" for name, value in environment.items()]
    words = [*end.prefix, *(["env", *assignments] if assignments else [])]
    words += [end.python or sys.executable, "-m", module]
    if cores is not None:
        words += ["--cores", ",".join(map(str, cores))]
    return words


class Program:
    """A running program that answers requests."""

    def __init__(self, words: list[str]) -> None:
        """Starts the program and waits until it says that it is ready.

        Raises UnavailableError if it says that something it needs is not there; ProgramError if
        it ends otherwise, or the loader has started it without a library that it was to preload.
        """
        self.name = words[-1] if "--cores" not in words else words[-3]
        try:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the program
        except OSError as error:
            raise UnavailableError(
                f"{self.name} could not be started, which takes a temporary file: "
                f"{error.strerror}. Make room there, or set TMPDIR to another folder."
            ) from None
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is the parent's to handle
            )
        except OSError as error:
            self._errors.close()
            raise ProgramError(f"{words[0]} could not be started: {error.strerror}") from None
        self._buffer = bytearray()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output_fd, selectors.EVENT_READ)
        try:
            self.ready = self._started()
            if faults := self.ready.preload_faults:
                raise ProgramError(
                    f"{self.name} started without a library to preload: {'; '.join(faults)}"
                )
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, request: agent.Request, answer: type[AnswerT], timeout_s: float) -> AnswerT:
        """Sends a request and waits for its answer.

        Raises ProgramError with what the program said if it failed, ended or took too long.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        return self._receive(answer, timeout_s)

    def close(self) -> None:
        """Ends the program by closing its pipe; one that does not end is killed."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # it was gone already
                    pipe.close()
        try:
            self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._selector.close()
        self._errors.close()

    def ended(self, within_s: float) -> str | None:
        """How the program ended and what it printed, if it does so in time; None if it goes on."""
        try:
            status = self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return None
        return f"{self.name} ended in the middle (status {status}){self._said()}"

    @property
    def pid(self) -> int:
        """Process id on this host: of the program, or of the prefix that carries it."""
        return self._process.pid

    @property
    def _output_fd(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _started(self) -> agent.Ready:
        first = self._hear(agent.Ready, START_S)
        if isinstance(first, agent.Ready):
            return first
        text = f"{self.name} could not start: {first.error}"
        unavailable = first.exit_code is ExitCode.UNAVAILABLE
        raise UnavailableError(text) if unavailable else ProgramError(text)

    def _receive(self, answer: type[AnswerT], timeout_s: float) -> AnswerT:
        got = self._hear(answer, timeout_s)
        if isinstance(got, agent.Failed):
            raise ProgramError(f"{self.name}: {got.error}{self._said()}")
        return got

    def _hear(self, answer: type[AnswerT], timeout_s: float) -> AnswerT | agent.Failed:
        line = self._line(time.monotonic() + timeout_s, timeout_s)
        try:
            return msgspec.json.decode(line, type=answer | agent.Failed)
        except msgspec.DecodeError:
            raise ProgramError(f"{self.name} answered {line[:200]!r}, which is no answer") from None

    def _line(self, deadline_s: float, timeout_s: float) -> bytes:
        while b"\n" not in self._buffer:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise ProgramError(
                    f"{self.name} gave no answer for {timeout_s:.0f} s{self._said()}"
                )
            if not self._selector.select(min(left_s, LONGEST_WAIT_S)):
                continue
            piece = os.read(self._output_fd, 1 << 20)
            if not piece:
                raise self._ended()
            self._buffer += piece
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        return line

    def _ended(self) -> ProgramError:
        how = self.ended(CLOSE_S)
        return ProgramError(how or f"{self.name} closed its pipe and did not end{self._said()}")

    def _said(self) -> str:
        file = self._errors.fileno()  # the program writes at the offset of the same open file
        tail = os.pread(file, TAIL_BYTES, max(0, os.fstat(file).st_size - TAIL_BYTES))
        text = tail.decode(errors="replace").strip()
        return f"; it printed: {text}" if text else ""
