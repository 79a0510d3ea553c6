"""A servant and a client at the two ends of an open link, and one block between them.

The order of one block: the servant listens, the client connects and warms up, the servant counts
from zero, the client runs the block, the servant says what came in, both close.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from orbtax import accounts, agent, programs
from orbtax.errors import ProgramError, UnavailableError
from orbtax.model import Arm, Block, End, EndName, Link, Placement
from orbtax.programs import Program
from orbtax.record import Environment, Sample
from orbtax.ring import slots_for

ANSWER_S = 60.0
PARTING_S = 0.5
"""How long a program may take to end after a fault that its end has caused at the other."""
SLOWEST_BYTE_S = 200_000
"""A block that moves fewer bytes per second than this is given up as hung."""
SLOWEST_MESSAGE_S = 200
"""Likewise for messages, each of which may wait 5 ms."""
SLOW_FACTOR = 4
"""A link of a known rate may take so many times as long as its bytes need."""
MESSAGE_ROOM_BYTES = 512
"""What a message takes on the link beside its payload, its reply included."""
_DEFAULT_CACHE_BYTES = 4 * 1024**2


@dataclass(frozen=True, slots=True)
class _Key:
    """Blocks of the same key can use the same program."""

    module: str
    role: EndName  # of the payload: the client is its sender
    reverse: bool
    environment: tuple[tuple[str, str], ...]


class Pair:
    """The programs of an open link: started when first needed, again after a fault."""

    def __init__(
        self,
        link: Link,
        placement: Placement,
        session: int,
        verify: bool,
        *,
        watch: bool = False,
        client_module: Callable[[Arm], str] = programs.client_module,
        cache_bytes: int | None = None,
    ) -> None:
        """`link` is resolved: both ends have a prefix, an address and an interface.

        `client_module` names the client program of an arm.
        The messages that a client sends in turn are larger together than `cache_bytes`, this
        machine's second-level cache where it is not given.
        """
        self._link = link
        self._placement = placement
        self._session = session
        self._verify = verify
        self._watch = watch
        self._client_module = client_module
        self._cache_bytes = second_level_cache_bytes() if cache_bytes is None else cache_bytes
        self._programs: dict[_Key, Program] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop(list(self._programs))

    @property
    def strays(self) -> tuple[str, ...]:
        """ORB settings that the programs found around them and shut out."""
        found = (stray for program in self._programs.values() for stray in program.ready.strays)
        return tuple(sorted(set(found)))

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids on this host of the programs that run now."""
        return tuple(program.pid for program in self._programs.values())

    def describe(
        self, arm: Arm, orb_settings: Mapping[str, str]
    ) -> tuple[Environment, Environment]:
        """The environments of the sender and of the receiver.

        Raises UnavailableError for an end whose program does not start or cannot answer.
        """
        sender, receiver = self._ends(reverse=False)
        return (
            self._describe(self._client_key(arm, reverse=False), sender, orb_settings),
            self._describe(self._servant_key(arm, reverse=False), receiver, orb_settings),
        )

    def run(self, block: Block, *, check: bool = True, stamp: bool = True) -> Sample:
        """Runs one block. A block that fails gives a failed sample, and new programs next time.

        Without `check` the servant only counts; without `stamp` no call is timed for itself.
        Raises UnavailableError for a program that lacks what it cannot start without.
        """
        started_utc = datetime.now(UTC).isoformat(timespec="milliseconds")
        failed = functools.partial(accounts.failed, block, self._session, started_utc)
        try:
            return accounts.measured(failed, *self._run(block, check, stamp))
        except ProgramError as error:
            arm, reverse = block.case.arm, block.case.options.reverse
            keys = [self._servant_key(arm, reverse), self._client_key(arm, reverse)]
            reason = self._reason(error, keys)
            self._stop(keys)
            return failed(reason)

    def _run(self, block: Block, check: bool, stamp: bool) -> tuple[agent.Outcome, agent.Receipt]:
        case = block.case
        sender, receiver = self._ends(case.options.reverse)
        servant = self._program(self._servant_key(case.arm, case.options.reverse))
        client = self._program(self._client_key(case.arm, case.options.reverse))
        slots = slots_for(case.payload_bytes, case.threads, self._cache_bytes)
        prepared = servant.ask(
            agent.Prepare(
                block=block,
                slots=slots,
                address=receiver.address,
                interface=receiver.interface,
                verify=self._verify,
                check=check,
            ),
            agent.Prepared,
            ANSWER_S,
        )
        client.ask(
            agent.Prepare(
                block=block,
                slots=slots,
                target=prepared.target,
                interface=sender.interface,
                verify=self._verify,
                watch=self._watch,
                stamp=stamp,
            ),
            agent.Done,
            ANSWER_S,
        )
        servant.ask(agent.Begin(), agent.Done, ANSWER_S)
        outcome = client.ask(agent.Go(), agent.Outcome, _patience_s(block, self._link.rate_bit_s))
        receipt = servant.ask(agent.Finish(), agent.Receipt, ANSWER_S)
        client.ask(agent.Close(), agent.Done, ANSWER_S)
        servant.ask(agent.Close(), agent.Done, ANSWER_S)
        return outcome, receipt

    def _describe(self, key: _Key, end: End, orb_settings: Mapping[str, str]) -> Environment:
        request = agent.Describe(end.interface, orb_settings)
        try:
            return self._program(key).ask(request, agent.Described, ANSWER_S).environment
        except ProgramError as error:
            raise UnavailableError(f"link {self._link.name}, {key.role}: {error}") from error

    def _reason(self, error: ProgramError, keys: list[_Key]) -> str:
        """The programs that have ended, which the other one only notices, then the error itself."""
        deadline_s = time.monotonic() + PARTING_S
        ends = [
            program.ended(max(0.0, deadline_s - time.monotonic()))
            for key in keys
            if (program := self._programs.get(key)) is not None
        ]
        return "; ".join(dict.fromkeys([*filter(None, ends), str(error)]))

    def _ends(self, reverse: bool) -> tuple[End, End]:
        ends = self._link.sender, self._link.receiver
        return ends[::-1] if reverse else ends

    def _client_key(self, arm: Arm, reverse: bool) -> _Key:
        module = self._client_module(arm)
        return _Key(module, EndName.SENDER, reverse, self._environment(arm))

    def _servant_key(self, arm: Arm, reverse: bool) -> _Key:
        module = programs.servant_module(arm)
        return _Key(module, EndName.RECEIVER, reverse, self._environment(arm))

    def _environment(self, arm: Arm) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(programs.environment_of(self._link, arm).items()))

    def _program(self, key: _Key) -> Program:
        if key not in self._programs:
            sender, receiver = self._ends(key.reverse)
            is_client = key.role is EndName.SENDER
            cores = self._placement.sender_cores if is_client else self._placement.receiver_cores
            end = sender if is_client else receiver
            words = programs.command(end, key.module, cores, dict(key.environment))
            self._programs[key] = Program(words)
        return self._programs[key]

    def _stop(self, keys: list[_Key]) -> None:
        with contextlib.ExitStack() as stack:
            for key in keys:
                if (program := self._programs.pop(key, None)) is not None:
                    stack.callback(program.close)


def second_level_cache_bytes() -> int:
    """Size of this machine's second-level cache; 4 MiB where it cannot be read."""
    try:
        text = Path("/sys/devices/system/cpu/cpu0/cache/index2/size").read_text().strip()
        return int(text.removesuffix("K")) * 1024
    except (OSError, ValueError):
        return _DEFAULT_CACHE_BYTES


def _patience_s(block: Block, rate_bit_s: int | None) -> float:
    """How long a block may take before it counts as hung, on a link of that rate if it is known."""
    size = block.case.payload_bytes
    amount = block.amount
    messages = -(-amount.total_bytes // size) if size else amount.empty_messages
    moving_s = amount.total_bytes / SLOWEST_BYTE_S + messages / SLOWEST_MESSAGE_S
    if rate_bit_s is not None:
        link_bytes = amount.total_bytes + messages * MESSAGE_ROOM_BYTES
        moving_s = max(moving_s, SLOW_FACTOR * 8 * link_bytes / rate_bit_s)
    return ANSWER_S + moving_s
