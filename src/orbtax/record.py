"""What a block left behind, as frozen records: samples, what each end saw, runs.

These are the shapes of `run.json` and of the lines of `samples.jsonl`. A value that could not be
had is None, and `missing` says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from orbtax.model import SCHEMA_VERSION, Case, Finding, Plan, Purpose


class Status(StrEnum):
    """What became of a block."""

    OK = "ok"
    FAILED = "failed"  # it did not run to its end, or the counts differ
    REFUSED = "refused"  # it ran, but a check says that the figure cannot be true


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpState:
    """One connection as its own end saw it.

    `*_start`-less counters are differences over the block; `smoothed_rtt_us`, `min_rtt_us`,
    `congestion_window_segments`, `mss_bytes`, `delivery_rate_bit_s`, window and buffers are as
    they stood at its end. Source: Linux `struct tcp_info`, SO_SNDBUF, SO_RCVBUF.
    """

    local: str  # address:port
    remote: str
    congestion_control: str | None = None
    retransmissions: int | None = None
    retransmitted_bytes: int | None = None
    segments_out: int | None = None
    segments_in: int | None = None
    data_segments_out: int | None = None
    acknowledged_bytes: int | None = None
    received_bytes: int | None = None
    smoothed_rtt_us: int | None = None
    min_rtt_us: int | None = None
    loaded_rtt_us: float | None = None  # harmonic mean of the smoothed one while the block ran
    loaded_window_bytes: float | None = None  # mean of the peer's window while the block ran
    congestion_window_segments: int | None = None
    mss_bytes: int | None = None
    delivery_rate_bit_s: int | None = None
    send_window_bytes: int | None = None  # the peer's advertised window
    window_scale_send: int | None = None
    window_scale_receive: int | None = None
    busy_s: float | None = None  # time with data to send
    receiver_limited_s: float | None = None  # of it, stalled by the peer's window
    buffer_limited_s: float | None = None  # of it, stalled by the send buffer
    send_buffer_bytes: int | None = None  # effective, as the kernel counts (twice the request)
    receive_buffer_bytes: int | None = None
    nodelay: bool | None = None
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferRecord:
    """A socket buffer asked for beside the one in force."""

    requested_bytes: int | None  # None: left to the kernel
    effective_bytes: int | None  # largest over the connections, at the end of the block
    clipped: bool
    autotuned: bool
    limit: str | None = None  # the sysctl that clipped it, with its value


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorCost:
    """Processor time over the block at one end, of the process and of the whole host."""

    window_s: float  # between the two readings of this end
    process_user_s: float
    process_system_s: float
    voluntary_switches: int
    involuntary_switches: int
    peak_memory_bytes: int
    host_user_s: float | None = None
    host_system_s: float | None = None
    host_softirq_s: float | None = None
    host_steal_s: float | None = None
    host_busy_s: float | None = None
    cores: int | None = None
    busiest_core: int | None = None
    busiest_core_share: float | None = None  # 0 to 1
    allowed_cores: tuple[int, ...] | None = None
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceCount:
    """Bytes and packets that crossed the link's interface during the block, at one end."""

    interface: str
    received_bytes: int
    sent_bytes: int
    received_packets: int
    sent_packets: int
    dropped_packets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRecord:
    """What one end of the link saw of a block."""

    processor: ProcessorCost
    connections: tuple[TcpState, ...]  # those that carried bytes
    interface: InterfaceCount | None
    send_buffer: BufferRecord | None = None
    receive_buffer: BufferRecord | None = None
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """Times per call as a log-linear histogram that can be added over threads and rounds.

    `bins[i]` is a bin index and `counts[i]` its calls; `orbtax.histogram` turns an index into
    nanoseconds (relative error below 1 %). `min_ns` and `max_ns` are exact.
    """

    calls: int
    min_ns: int
    max_ns: int
    sum_ns: int
    bins: tuple[int, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The record of one block: one line of `samples.jsonl`."""

    case: Case
    cell: int
    round: int
    position: int
    purpose: Purpose
    session: int  # 0, and one more for each time that the run was resumed
    started_utc: str
    status: Status
    asked_bytes: int
    reason: str | None = None  # why it failed or was refused
    confirmed_bytes: int | None = None  # by the receiver
    messages: int | None = None
    window_s: float | None = None  # common start → the receiver's last confirmation
    goodput_bit_s: float | None = None
    clock_tick_s: float | None = None  # smallest step seen of the clock that timed it
    start_skew_s: float | None = None  # between the first thread's start and the last one's
    thread_bytes: tuple[int, ...] = ()
    thread_window_s: tuple[float, ...] = ()
    connections: int | None = None  # counted at the servant
    latencies: Latencies | None = None
    checksum: bool | None = None  # with --verify: whether all messages agreed
    client: EndRecord | None = None
    servant: EndRecord | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceFacts:
    """What the link's interface at one end really is, read back."""

    interface: str
    mtu_bytes: int
    speed_bit_s: int | None = None  # as the driver reports it
    driver: str | None = None
    qdisc: str | None = None
    shaped_bit_s: int | None = None  # of a token bucket on the interface
    congestion_control: str | None = None  # of new connections: the route's, else the sysctl's
    offloads: Mapping[str, bool] = field(default_factory=dict)
    sysctls: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFacts:
    """A link read back at both ends."""

    link: str
    sender: InterfaceFacts
    receiver: InterfaceFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What a host is and how it is set, in named facts; equal environments compare equal.

    `facts` hold what identifies a set-up (kernel, processor, versions, ORB options, sysctls);
    `state` what moves by itself (load, free memory, clock frequency).
    """

    facts: Mapping[str, str]
    state: Mapping[str, str]
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkVisit:
    """One stretch during which a link was open: facts before and after."""

    session: int
    before: LinkFacts
    sender_before: Environment
    receiver_before: Environment
    after: LinkFacts | None = None  # None: the run was cut short
    sender_after: Environment | None = None
    receiver_after: Environment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """The content of `run.json`."""

    plan: Plan
    created_utc: str
    orbtax_version: str
    command: str  # the command line that made it
    visits: tuple[LinkVisit, ...] = ()
    findings: tuple[Finding, ...] = ()
    done_cells: tuple[int, ...] = ()  # cells that need no further round
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A stored run, read: its record and its samples in the order in which they were made."""

    folder: str
    record: RunRecord
    samples: tuple[Sample, ...]
