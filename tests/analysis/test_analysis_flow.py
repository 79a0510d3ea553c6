from dataclasses import replace

import pytest
from buffer_builders import KIB, Seen, blocks, case_with
from hypothesis import given
from hypothesis import strategies as st

from orbtax.analysis.flow import case_flow
from orbtax.model import Arm
from orbtax.socket_buffers import Buffers

PLAIN = case_with(Buffers())


def flow_of(seen: Seen, **changes):
    samples = blocks(*PLAIN, seen)
    for name, value in changes.items():
        samples = [_with_state(sample, name, value) for sample in samples]
    return case_flow(samples)


def _with_state(sample, name, value):
    states = tuple(replace(state, **{name: value}) for state in sample.client.connections)
    return replace(sample, client=replace(sample.client, connections=states))


@given(gbit_s=st.floats(0.1, 90), rtt_us=st.floats(1, 5000), busy_share=st.floats(0.1, 1.0))
def test_in_flight_is_rate_times_round_trip_while_there_is_data(gbit_s, rtt_us, busy_share) -> None:
    flow = flow_of(Seen(gbit_s=gbit_s, rtt_us=rtt_us, busy_share=busy_share))
    expected_bytes = gbit_s * 1e9 / busy_share / 8 * rtt_us / 1e6
    assert flow.in_flight_bytes == pytest.approx(expected_bytes, rel=0.05)
    assert flow.busy_share == pytest.approx(busy_share)


def test_window_over_round_trip_is_a_rate() -> None:
    flow = flow_of(Seen(window_bytes=4096, rtt_us=8.0))
    assert flow.window_bit_s == pytest.approx(4096 * 8 / 8e-6)


def test_round_trips_are_taken_as_the_mean_of_rates_asks_for() -> None:
    link, case = PLAIN
    slow, fast = (blocks(link, case, Seen(rtt_us=rtt_us), rounds=2) for rtt_us in (30.0, 10.0))
    assert case_flow(slow + fast).rtt_us == pytest.approx(15.0)  # not 20


def test_buffers_are_the_largest_seen_at_the_ends_that_use_them() -> None:
    flow = flow_of(Seen(send_buffer_bytes=100_000, receive_buffer_bytes=400_000))
    assert (flow.send_buffer_bytes, flow.receive_buffer_bytes) == (100_000, 400_000)
    assert flow.buffers_bytes == 500_000


def test_segments_sent_again_are_counted_over_all_blocks() -> None:
    assert flow_of(Seen(resent_of_1000=20)).resent_per_1000 == pytest.approx(20, rel=0.05)
    assert flow_of(Seen()).resent_per_1000 == 0


def test_messages_that_tcp_merged_show_in_the_segments() -> None:
    link, case = case_with(Buffers(), payload_bytes=128)
    merged = case_flow(blocks(link, case, Seen(gbit_s=1.0, segments_per_message=0.125)))
    assert merged.segments_per_message == pytest.approx(0.125, rel=0.01)
    assert flow_of(Seen(), data_segments_out=None).segments_per_message is None


@pytest.mark.parametrize("name", ["loaded_rtt_us", "busy_s"])
def test_what_the_kernel_does_not_tell_is_not_made_up(name: str) -> None:
    flow = flow_of(Seen(), **{name: None})
    assert flow.in_flight_bytes is None


def test_without_blocks_nothing_is_known() -> None:
    flow = case_flow([])
    assert flow.busy_bit_s is None
    assert flow.buffers_bytes is None
    assert flow.window_bit_s is None
    assert flow.delay_product_bytes(1e9) is None


def test_the_delay_product_is_that_of_the_round_trip_under_load() -> None:
    flow = flow_of(Seen(rtt_us=100.0))
    assert flow.delay_product_bytes(8e9) == pytest.approx(100_000)
    assert flow.delay_product_bytes(None) is None


def test_a_calls_waiting_is_no_time_with_data() -> None:
    link, case = case_with(Buffers(), Arm.CALL, KIB)
    flow = case_flow(blocks(link, case, Seen(gbit_s=0.1, busy_share=0.5, rtt_us=20.0)))
    assert flow.busy_bit_s == pytest.approx(0.2e9, rel=0.02)
