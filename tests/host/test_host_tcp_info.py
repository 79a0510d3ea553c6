from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbtax.host.tcp_info import MEMBERS, difference

U8, U32, U64 = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64
FULL_BYTES = 232
# what struct tcp_info ended with in these kernels
LINUX_2_6, LINUX_4_1, LINUX_4_9, LINUX_4_10, LINUX_4_19 = 104, 136, 168, 192, 224


class KernelInfo(ctypes.Structure):
    """The kernel's structure, written down a second time so that the offsets are checked."""

    _fields_ = (
        *((name, U8) for name in ("state", "ca_state", "retransmits", "probes", "backoff")),
        *((name, U8) for name in ("options", "scales", "app_limited")),
        *((name, U32) for name in ("rto", "ato", "snd_mss", "rcv_mss")),
        *((name, U32) for name in ("unacked", "sacked", "lost", "retrans", "fackets")),
        *((f"last_{name}", U32) for name in ("data_sent", "ack_sent", "data_recv", "ack_recv")),
        *((name, U32) for name in ("pmtu", "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh")),
        *((name, U32) for name in ("snd_cwnd", "advmss", "reordering", "rcv_rtt", "rcv_space")),
        ("total_retrans", U32),
        *((name, U64) for name in ("pacing_rate", "max_pacing_rate")),
        *((name, U64) for name in ("bytes_acked", "bytes_received")),
        *((name, U32) for name in ("segs_out", "segs_in", "notsent_bytes", "min_rtt")),
        *((name, U32) for name in ("data_segs_in", "data_segs_out")),
        *((name, U64) for name in ("delivery_rate", "busy_time", "rwnd_limited")),
        ("sndbuf_limited", U64),
        *((name, U32) for name in ("delivered", "delivered_ce")),
        *((name, U64) for name in ("bytes_sent", "bytes_retrans")),
        *((name, U32) for name in ("dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd")),
    )


def make_info(length: int = FULL_BYTES, **members: int) -> bytes:
    chosen = {"state": 1, "options": 7, "scales": 0xA7, "rtt": 40, "min_rtt": 20} | members
    return bytes(KernelInfo(**chosen)).ljust(length, b"\xee")[:length]


def test_offsets_are_the_kernels() -> None:
    assert ctypes.sizeof(KernelInfo) == FULL_BYTES
    for member in MEMBERS:
        kernel = getattr(KernelInfo, member.member.removeprefix("tcpi_"))
        assert (member.offset, {"I": 4, "Q": 8}[member.code]) == (kernel.offset, kernel.size)


def test_counters_are_differences_and_the_rest_is_as_it_stands() -> None:
    before = make_info(
        bytes_acked=1_001, bytes_sent=1_000, bytes_received=50, segs_out=9, total_retrans=1,
        busy_time=2_000, rwnd_limited=100, snd_cwnd=10, rtt=900,
    )  # fmt: skip
    after = make_info(
        bytes_acked=11_001, bytes_sent=12_500, bytes_retrans=1_500, bytes_received=90, segs_out=17,
        total_retrans=3, busy_time=502_000, rwnd_limited=1_100, snd_cwnd=77, rtt=123, min_rtt=11,
        delivery_rate=125_000_000, snd_wnd=65_536, snd_mss=1_448,
    )  # fmt: skip
    change = difference(before, after)
    expected = {
        "acknowledged_bytes": 10_000,
        "received_bytes": 40,
        "retransmitted_bytes": 1_500,
        "retransmissions": 2,
        "segments_out": 8,
        "segments_in": 0,
        "data_segments_out": 0,
        "busy_s": 0.5,
        "receiver_limited_s": 0.001,
        "buffer_limited_s": 0.0,
        "congestion_window_segments": 77,
        "smoothed_rtt_us": 123,
        "min_rtt_us": 11,
        "delivery_rate_bit_s": 1_000_000_000,
        "send_window_bytes": 65_536,
        "mss_bytes": 1_448,
    }
    assert {name: change.values[name] for name in expected} == expected
    assert change.missing == {}


def test_32_bit_counters_may_start_again() -> None:
    change = difference(make_info(segs_out=2**32 - 3), make_info(segs_out=5))
    assert change.values["segments_out"] == 8


@pytest.mark.parametrize(
    ("length", "last", "first_missing", "release"),
    [
        (LINUX_2_6, "retransmissions", "acknowledged_bytes", "4.1"),
        (LINUX_4_1, "received_bytes", "segments_out", "4.2"),
        (LINUX_4_9, "delivery_rate_bit_s", "busy_s", "4.10"),
        (LINUX_4_10, "buffer_limited_s", "retransmitted_bytes", "4.19"),
        (LINUX_4_19, "retransmitted_bytes", "send_window_bytes", "5.4"),
    ],
)
def test_an_older_kernel_leaves_fields_out_with_the_reason(
    length: int, last: str, first_missing: str, release: str
) -> None:
    before, after = make_info(length), make_info(length, delivery_rate=1, total_retrans=4)
    change = difference(before, after)
    assert change.values[last] is not None
    assert change.values[first_missing] is None
    assert f"Linux {release}" in change.missing[first_missing]
    assert str(length) in change.missing[first_missing]


def test_a_structure_cut_inside_a_member_does_not_give_half_of_it() -> None:
    change = difference(None, make_info(LINUX_4_1 - 4, bytes_received=7))
    assert change.values["received_bytes"] is None
    assert change.values["acknowledged_bytes"] == 0


def test_nothing_at_all_is_missing_everywhere() -> None:
    change = difference(None, b"")
    assert set(change.values.values()) == {None}
    assert change.missing.keys() == change.values.keys()


def test_a_longer_structure_of_a_later_kernel_is_read_alike() -> None:
    short, longer = make_info(bytes_received=9), make_info(280, bytes_received=9)
    assert difference(None, longer) == difference(None, short)


@pytest.mark.parametrize(
    ("name", "member", "value"),
    [
        ("smoothed_rtt_us", "rtt", 0),
        ("min_rtt_us", "min_rtt", 2**32 - 1),
        ("delivery_rate_bit_s", "delivery_rate", 0),
    ],
)
def test_what_was_never_measured_is_no_value(name: str, member: str, value: int) -> None:
    change = difference(None, make_info(**{member: value}))
    assert change.values[name] is None
    assert "no measurement" in change.missing[name]


def test_syn_and_fin_are_no_payload() -> None:
    opened = make_info(bytes_acked=1)
    ended = make_info(state=8, bytes_acked=501, bytes_sent=500, bytes_received=301)
    change = difference(opened, ended)
    assert change.values["acknowledged_bytes"] == 500
    assert change.values["received_bytes"] == 300
    assert difference(None, opened).values["acknowledged_bytes"] == 0


def test_a_retransmission_that_failed_here_hides_no_payload() -> None:
    before = make_info(bytes_acked=1_000, bytes_sent=1_000)
    after = make_info(bytes_acked=1_000, bytes_sent=1_000, bytes_retrans=900)
    assert difference(None, after).values["acknowledged_bytes"] == 998
    later = make_info(bytes_acked=3_000, bytes_sent=3_900, bytes_retrans=1_800)
    assert difference(before, later).values["acknowledged_bytes"] in (1_998, 2_000)
    # the failed one takes off what was not taken off before: nothing, and no huge number
    in_flight = make_info(bytes_acked=1_000, bytes_sent=1_500)
    assert difference(in_flight, after).values["acknowledged_bytes"] == 0


def test_window_scales_are_two_halves_of_a_byte() -> None:
    values = difference(None, make_info(scales=0xA7)).values
    assert (values["window_scale_send"], values["window_scale_receive"]) == (7, 10)


def test_no_window_scaling_is_told_from_a_scale_of_zero() -> None:
    assert difference(None, make_info(scales=0)).values["window_scale_send"] == 0
    refused = difference(None, make_info(options=3, scales=0))
    assert refused.values["window_scale_send"] is None
    assert "not negotiated" in refused.missing["window_scale_receive"]


@given(st.binary(max_size=300), st.binary(max_size=300) | st.none())
def test_whatever_the_kernel_gives_every_field_has_a_value_or_a_reason(
    after: bytes, before: bytes | None
) -> None:
    change = difference(before, after)
    assert {name for name, value in change.values.items() if value is None} == set(change.missing)


@given(
    st.integers(0, 2**40), st.integers(0, 2**40), st.integers(0, 2**30), st.integers(0, 2**32 - 1)
)
def test_payload_is_what_was_sent_in_between(
    earlier: int, sent: int, repeated: int, segments: int
) -> None:
    before = make_info(bytes_acked=earlier + 1, bytes_sent=earlier, segs_out=segments)
    after = make_info(
        bytes_acked=earlier + sent + 1,
        bytes_sent=earlier + sent + repeated,
        bytes_retrans=repeated,
        segs_out=segments,
    )
    values = difference(before, after).values
    assert values["acknowledged_bytes"] == sent
    assert values["retransmitted_bytes"] == repeated
    assert values["segments_out"] == 0
