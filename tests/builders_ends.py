"""Synthetic links and what their two ends are said to have seen: the lower half of `builders`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orbtax.links.side import bucket_rate_bit_s
from orbtax.model import Case, Kind, Link
from orbtax.record import (
    BufferRecord,
    EndRecord,
    Environment,
    InterfaceCount,
    InterfaceFacts,
    LinkFacts,
    ProcessorCost,
    TcpState,
)

KIB = 1024
LINKS = {
    "lo": Link(name="lo", kind=Kind.LOOPBACK, mtu_bytes=65536),
    "ib": Link(name="ib", kind=Kind.EMULATED, mtu_bytes=2044),
    "10ge": Link(name="10ge", kind=Kind.EMULATED, mtu_bytes=9048, rate_bit_s=10_000_000_000),
    "1ge": Link(name="1ge", kind=Kind.EMULATED, mtu_bytes=1500, rate_bit_s=1_000_000_000),
}
SENDER = "10.0.0.1"
RECEIVER = "10.0.0.2"


def make_tcp(
    at: str, port: int, sent: int, received: int, window_s: float, mtu: int, **changes: Any
):
    """One connection as its own end, `sender` or `receiver`, saw it."""
    mss = mtu - 52
    here, there = (SENDER, RECEIVER) if at == "sender" else (RECEIVER, SENDER)
    state = TcpState(
        local=f"{here}:{port if at == 'sender' else 5000}",
        remote=f"{there}:{5000 if at == 'sender' else port}",
        congestion_control="cubic",
        retransmissions=0,
        retransmitted_bytes=0,
        segments_out=sent // mss + received // (2 * mss) + 1,
        segments_in=received // mss + sent // (2 * mss) + 1,
        data_segments_out=sent // mss + 1,
        acknowledged_bytes=sent,
        received_bytes=received,
        smoothed_rtt_us=45,
        min_rtt_us=21,
        congestion_window_segments=320,
        mss_bytes=mss,
        delivery_rate_bit_s=int(8 * max(sent, received) / window_s),
        send_window_bytes=3_145_728,
        window_scale_send=10,
        window_scale_receive=10,
        busy_s=0.9 * window_s if sent > received else 0.01 * window_s,
        receiver_limited_s=0.02 * window_s,
        buffer_limited_s=0.01 * window_s,
        send_buffer_bytes=2_626_560,
        receive_buffer_bytes=6_291_456,
        nodelay=True,
    )
    return replace(state, **changes)


def make_processor(
    window_s: float, busy_cores: float = 0.8, core: int = 0, **changes: Any
) -> ProcessorCost:
    """Processor time of one end whose process keeps `busy_cores` busy."""
    busy_s = busy_cores * window_s
    cost = ProcessorCost(
        window_s=window_s,
        process_user_s=0.2 * busy_s,
        process_system_s=0.8 * busy_s,
        voluntary_switches=int(4000 * window_s),
        involuntary_switches=int(50 * window_s),
        peak_memory_bytes=96 * KIB * KIB,
        host_user_s=0.25 * busy_s,
        host_system_s=0.85 * busy_s,
        host_softirq_s=0.1 * busy_s,
        host_steal_s=0.0,
        host_busy_s=1.2 * busy_s,
        cores=2,
        busiest_core=core,
        busiest_core_share=min(1.0, busy_cores),
        allowed_cores=(core,),
    )
    return replace(cost, **changes)


def make_end(
    at: str, case: Case, total: int, window_s: float, link: Link, messages: int
) -> EndRecord:
    """What one end saw of a block that went as it should."""
    mtu = link.mtu_bytes or 1500
    per_connection = total // case.connections
    reply = 24 * (messages // case.connections) if case.arm.waits else 0
    sent, received = (per_connection, reply) if at == "sender" else (reply, per_connection)
    headers = 66 * (total // 65_000 + 1)
    across = total + headers, case.connections * reply + 66 * (total // (2 * mtu) + 1)
    out, back = across if at == "sender" else across[::-1]
    if link.kind is Kind.LOOPBACK:
        out = back = sum(across)
    buffer = BufferRecord(
        requested_bytes=None, effective_bytes=2_626_560, clipped=False, autotuned=True
    )
    return EndRecord(
        processor=make_processor(window_s, core=0 if at == "sender" else 1),
        connections=tuple(
            make_tcp(at, 40_000 + number, sent, received, window_s, mtu)
            for number in range(case.connections)
        ),
        interface=InterfaceCount(
            interface=link.name if link.kind is Kind.LOOPBACK else f"{link.name}0",
            received_bytes=back,
            sent_bytes=out,
            received_packets=back // 1500 + 1,
            sent_packets=out // 30_000 + 1,
            dropped_packets=0,
        ),
        send_buffer=buffer,
        receive_buffer=replace(buffer, effective_bytes=6_291_456),
    )


def make_facts(link: Link) -> LinkFacts:
    """The link read back, the same at both ends and just as it was asked for."""
    mtu_bytes = link.mtu_bytes or 1500
    facts = InterfaceFacts(
        interface=link.name if link.kind is Kind.LOOPBACK else f"{link.name}0",
        mtu_bytes=mtu_bytes,
        speed_bit_s=None if link.kind is Kind.LOOPBACK else 10_000_000_000,
        driver="loopback" if link.kind is Kind.LOOPBACK else "veth",
        qdisc="tbf" if link.rate_bit_s else "noqueue",
        shaped_bit_s=link.rate_bit_s and bucket_rate_bit_s(link.rate_bit_s, mtu_bytes),
        offloads={"tx-tcp-segmentation": True, "generic-receive-offload": True},
        sysctls={"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_window_scaling": "1"},
    )
    return LinkFacts(link=link.name, sender=facts, receiver=facts)


def make_environment(**facts: str) -> Environment:
    """A host; `facts` replace or add to what identifies it."""
    usual = {
        "kernel": "Linux 6.8.0 x86_64",
        "processor": "Example CPU 3.0 GHz",
        "cores": "2",
        "governor": "performance",
        "virtualisation": "none",
        "python": "3.11.9",
        "omniorb": "4.3.3",
        "orbtax": "0.1.0",
        "orb.giopMaxMsgSize": "0",
        "net.core.wmem_max": "212992",
    }
    state = {"load": "0.05", "memory_available_bytes": "4000000000"}
    return Environment(facts=usual | facts, state=state)
