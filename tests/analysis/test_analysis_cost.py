"""Processor time per MiB and per message, as sums over blocks."""

from dataclasses import replace

import pytest
from builders import make_case, make_sample
from builders_ends import make_processor
from hypothesis import given
from hypothesis import strategies as st

from orbtax.analysis.cost import case_cost
from orbtax.model import Arm

MIB = 1024 * 1024


def costing(total_mib=64, **changes):
    """A block of 64 KiB messages whose client needed what `changes` say."""
    sample = make_sample(make_case(payload_bytes=65536), total_bytes=total_mib * MIB)
    processor = replace(make_processor(1.0), **changes)
    return replace(sample, client=replace(sample.client, processor=processor))


def test_time_is_divided_by_work():
    cost = case_cost(
        [
            costing(
                process_user_s=0.016,
                process_system_s=0.048,
                host_busy_s=0.128,
                host_softirq_s=0.032,
                voluntary_switches=2000,
                involuntary_switches=48,
            )
        ]
    ).client
    assert cost.process_us_per_mib == pytest.approx(1000)
    assert cost.host_us_per_mib == pytest.approx(2000)
    assert cost.process_us_per_message == pytest.approx(62.5)
    assert cost.switches_per_message == pytest.approx(2.0)
    assert cost.softirq_share == pytest.approx(0.25)


def test_larger_blocks_weigh_more():
    blocks = [
        costing(total_mib=1, process_user_s=1.0, process_system_s=0.0),
        costing(total_mib=99, process_user_s=1.0, process_system_s=0.0),
    ]
    assert case_cost(blocks).client.process_us_per_mib == pytest.approx(20_000)


@given(st.integers(1, 6))
def test_more_of_the_same_blocks_cost_the_same(count):
    one, many = case_cost([costing()]), case_cost([costing()] * count)
    assert many.blocks == count
    assert many.client.process_us_per_mib == pytest.approx(one.client.process_us_per_mib)
    assert many.client.softirq_share == pytest.approx(one.client.softirq_share)


def test_ends_are_kept_apart():
    sample = make_sample()
    busier = replace(sample.servant, processor=make_processor(sample.window_s, busy_cores=1.6))
    cost = case_cost([replace(sample, servant=busier)])
    assert cost.servant.process_us_per_mib == pytest.approx(2 * cost.client.process_us_per_mib)


def test_what_the_host_does_not_tell_is_missing():
    unreadable = costing(host_busy_s=None, host_softirq_s=None)
    for blocks in ([unreadable], [costing(), unreadable]):
        cost = case_cost(blocks).client
        assert cost.host_us_per_mib is cost.softirq_share is None
        assert cost.process_us_per_mib > 0


def test_a_few_clock_ticks_tell_nothing_of_the_host():
    short = costing(window_s=0.1)
    cost = case_cost([short] * 4).client
    assert cost.host_us_per_mib is cost.softirq_share is None
    assert cost.process_us_per_mib > 0
    assert case_cost([short] * 5).client.softirq_share is not None


def test_a_case_without_payload_has_a_cost_per_message_alone():
    empty = replace(make_sample(), case=make_case(Arm.EMPTY, 1), confirmed_bytes=0)
    cost = case_cost([empty]).client
    assert cost.process_us_per_mib is cost.host_us_per_mib is None
    assert cost.process_us_per_message > 0


def test_blocks_without_records_or_messages_have_no_cost():
    assert case_cost([]).client is None
    assert case_cost([make_sample(ends=False)]).servant is None
    assert case_cost([replace(make_sample(), messages=None)]).blocks == 0
