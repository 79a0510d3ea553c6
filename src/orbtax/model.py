"""The words of orbtax as frozen records: links, arms, cases, blocks, plans.

What a block left behind is in `orbtax.record`. Every field name ends in its unit. Sizes are bytes,
rates bit/s with 1000, times seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SCHEMA_VERSION = 1
STUDY_TOTAL_BYTES = 8_000_000_000
"""What the mailing-list study moved in every combination: 8 GB."""


class Arm(StrEnum):
    """One way to move the payload (docs/method.md says what one message of each is)."""

    STREAM = "stream"
    CALL = "call"
    CORBA = "corba"
    ONEWAY = "oneway"
    AMI = "ami"
    PINGPONG = "pingpong"  # n bytes each way over a raw socket
    EMPTY = "empty"  # a two-way invocation without a payload
    ECHO = "echo"  # a two-way invocation that returns its payload
    IPERF3 = "iperf3"  # the installed iperf3, for cross-checks

    @property
    def is_corba(self) -> bool:
        """Whether the arm goes through the ORB."""
        return self in (Arm.CORBA, Arm.ONEWAY, Arm.AMI, Arm.EMPTY, Arm.ECHO)

    @property
    def waits(self) -> bool:
        """Whether a message waits for a reply, so that a latency per call exists."""
        return self not in (Arm.STREAM, Arm.ONEWAY, Arm.IPERF3)


class Kind(StrEnum):
    """How a link is had."""

    LOOPBACK = "loopback"
    EMULATED = "emulated"  # network namespaces on this machine
    HOSTS = "hosts"  # real machines


class EndName(StrEnum):
    """The two ends of a link: the client runs at the sender, the servant at the receiver."""

    SENDER = "sender"
    RECEIVER = "receiver"


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a link: where its programs run is only a command prefix."""

    address: str | None = None
    prefix: tuple[str, ...] = ()
    python: str | None = None  # None: the interpreter that runs orbtax
    interface: str | None = None  # None: the one that carries the address


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A named network path from a sending host to a receiving host."""

    name: str
    kind: Kind
    sender: End = field(default_factory=End)
    receiver: End = field(default_factory=End)
    mtu_bytes: int | None = None
    rate_bit_s: int | None = None  # None: no rate is known or set
    sysctls: Mapping[str, str] = field(default_factory=dict)  # emulated links only
    preload: Mapping[Arm, str] = field(default_factory=dict)  # arm → library to preload
    environment: Mapping[Arm, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What else changes a result; part of a case."""

    nodelay: bool = True
    send_buffer_bytes: int | None = None  # None: left to the kernel
    receive_buffer_bytes: int | None = None
    connections: int | None = None  # None: one per thread (ami: one per outstanding call)
    depth: int = 4  # outstanding calls per thread, ami only
    congestion_control: str | None = None  # None: the system's
    reverse: bool = False  # sender and receiver exchanged
    orb: tuple[tuple[str, str], ...] = ()  # further omniORB options, at both ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Link, arm, payload size, threads, and the options that change the result."""

    link: str
    arm: Arm
    payload_bytes: int
    threads: int
    options: Options = field(default_factory=Options)

    @property
    def connections(self) -> int:
        """TCP connections that the arm is to use."""
        if self.options.connections is not None:
            return self.options.connections
        return self.threads * (self.options.depth if self.arm is Arm.AMI else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Cases that are run together, round by round, so that their ratios can be paired.

    Either `total_bytes` with `rounds` is fixed, or blocks are sized by a calibration and rounds
    go on until the intervals are narrow enough or `budget_s` is spent.
    """

    cases: tuple[Case, ...]
    rounds: int | None = None  # None: as many as the intervals ask for
    total_bytes: int | None = None  # per case, spread over the rounds; None: calibrated
    budget_s: float | None = None


class Purpose(StrEnum):
    """Why a block is run."""

    CALIBRATION = "calibration"  # to size the blocks; never in a result
    CEILING = "ceiling"  # what this bench reaches without the link; never in a result
    MEASURE = "measure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """What a block moves: bytes, or messages where the payload is empty and bytes say nothing."""

    total_bytes: int
    empty_messages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One timed stretch of one case, with an exact number of bytes."""

    case: Case
    cell: int  # index into the plan's cells
    round: int  # from 0; calibration counts for itself
    position: int  # place in its round, from 0
    amount: Amount
    purpose: Purpose = Purpose.MEASURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Which cores each end may use; None leaves it to the scheduler."""

    name: str = "free"  # split, free or explicit
    sender_cores: tuple[int, ...] | None = None
    receiver_cores: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured, in which order, and when it is enough."""

    study: str
    links: tuple[Link, ...]
    cells: tuple[Cell, ...]
    placement: Placement = field(default_factory=Placement)
    block_s: float = 0.3  # how long a calibrated block is to last
    min_rounds: int = 4
    max_rounds: int = 200
    width: float = 0.03  # half-width of the 95 % interval at which a ratio is good enough
    least_messages: int = 1  # of a calibrated block, unless they take more than a second
    ceilings: bool = True  # find what this bench reaches without the link, to hold cases against
    verify: bool = False  # checksum every message, after the clock
    watch: bool = False  # look at connections while blocks run: round-trip times and windows
    cross_check: bool = False  # iperf3 only looks on: where it fails, the run is as good as before

    def link(self, name: str) -> Link:
        """The plan's link called `name`; KeyError if it has none."""
        for link in self.links:
            if link.name == name:
                return link
        raise KeyError(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A warning or check as a value: what was seen, how much it may matter, what to do."""

    code: str  # stable, kebab-case: `buffer-clipped`, `unstable`
    text: str
    cure: str | None = None
    serious: bool = False  # True: the result must not be used as it is; exit code 4
