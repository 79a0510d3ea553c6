"""Physical checks of one block: each is tripped by one change to a sample that passes all."""

from dataclasses import replace

import pytest
from builders import ARMS, SIZES, THREADS, make_case, make_failed, make_sample
from builders_ends import LINKS, make_facts, make_tcp
from hypothesis import given
from hypothesis import strategies as st

from orbtax.analysis.line import line_limit
from orbtax.analysis.trust import bench_limited, examine, jain_fairness
from orbtax.model import Arm, Kind, Link
from orbtax.record import BufferRecord, InterfaceCount

IB, ONE_GIGABIT, LOOPBACK = LINKS["ib"], LINKS["1ge"], LINKS["lo"]
REAL = Link(name="ib", kind=Kind.HOSTS, mtu_bytes=1500, rate_bit_s=10_000_000_000)


def look(sample, link=IB, facts=None):
    return examine(sample, link, facts or make_facts(link))


def only(sample, link=IB):
    """The one finding on a sample."""
    (finding,) = look(sample, link)
    return finding


def counting(sample, **changes):
    """`sample` with other counters of the interfaces: `client_sent_bytes=…`."""
    for end in ("client", "servant"):
        record = getattr(sample, end)
        counters = {
            name.removeprefix(f"{end}_"): value
            for name, value in changes.items()
            if name.startswith(end)
        }
        interface = replace(record.interface, **counters)
        sample = replace(sample, **{end: replace(record, interface=interface)})
    return sample


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("arm", [*ARMS, Arm.ONEWAY, Arm.AMI])
def test_a_block_that_went_as_it_should_has_no_findings(link, arm):
    for size in SIZES:
        for threads in THREADS:
            case = make_case(arm, size, threads, link=link.name)
            total_bytes = 50 * threads * size
            made = make_sample(case, link=link, total_bytes=total_bytes, latency_calls=0)
            if link.rate_bit_s:
                slower = replace(made, goodput_bit_s=0.93 * link.rate_bit_s)
                made = min(made, slower, key=lambda each: each.goodput_bit_s)
            # Small messages make short blocks here, of which the bucket may pass a good part.
            assert [each for each in look(made, link) if each.code != "burst"] == []


def test_a_failed_block_has_no_figure_to_doubt():
    assert look(replace(make_failed(make_sample()), confirmed_bytes=7)) == ()


def test_fewer_bytes_confirmed_than_asked():
    sample = make_sample()
    finding = only(replace(sample, asked_bytes=sample.asked_bytes + 1))
    assert (finding.code, finding.serious) == ("bytes-differ", True)
    assert str(sample.asked_bytes + 1) in finding.text


def test_a_checksum_that_differs():
    finding = only(make_sample(checksum=False))
    assert (finding.code, finding.serious) == ("checksum-differs", True)
    assert look(make_sample(checksum=True)) == ()


def test_more_goodput_than_the_link_can_carry():
    case = make_case(link="1ge")
    finding = only(make_sample(case, goodput_bit_s=0.99e9), ONE_GIGABIT)
    assert (finding.code, finding.serious) == ("above-link-rate", True)
    assert "990 Mbit/s" in finding.text
    assert look(make_sample(case, goodput_bit_s=0.941e9), ONE_GIGABIT) == ()


def test_a_bucket_that_was_full_lets_a_short_block_pass_faster():
    case = make_case(link="1ge")
    fast = make_sample(case, goodput_bit_s=0.96e9, total_bytes=12_000_000)
    assert (only(fast, ONE_GIGABIT).code, only(fast, ONE_GIGABIT).serious) == ("burst", False)
    long = make_sample(case, goodput_bit_s=0.96e9, total_bytes=240_000_000)
    assert only(long, ONE_GIGABIT).code == "above-link-rate"


def test_a_real_link_has_no_bucket_that_could_be_full():
    limit = line_limit(REAL, make_facts(REAL))
    assert limit.payload_share == pytest.approx(1448 / 1538)
    emulated = line_limit(ONE_GIGABIT, make_facts(ONE_GIGABIT))
    assert emulated.payload_share == pytest.approx(1448 / 1538)
    fast = make_sample(goodput_bit_s=9.55e9, total_bytes=2_000_000_000, link=REAL)
    assert only(fast, REAL).code == "above-link-rate"


def test_the_slowest_of_what_is_known_of_a_real_link_counts():
    facts = make_facts(REAL)
    slower = replace(facts, receiver=replace(facts.receiver, speed_bit_s=1_000_000_000))
    assert line_limit(REAL, slower).nominal_bit_s == 1_000_000_000
    assert line_limit(replace(REAL, rate_bit_s=500_000_000), facts).nominal_bit_s == 500_000_000
    assert line_limit(REAL, facts, mss_bytes=1460).payload_share == pytest.approx(1460 / 1538)
    half = line_limit(REAL, facts, mss_bytes=724)  # a window of 1448 bytes is sent in two parts
    assert half.payload_share == pytest.approx(724 / (724 + 52 + 38))


def test_a_link_without_a_rate_has_no_limit():
    assert line_limit(IB, make_facts(IB)) is None  # a veth's own 10 Gbit/s mean nothing
    assert line_limit(LOOPBACK, make_facts(LOOPBACK)) is None
    assert look(make_sample(goodput_bit_s=80e9)) == ()


def test_a_block_of_a_few_clock_ticks():
    finding = only(make_sample(clock_tick_s=0.02, goodput_bit_s=2e9))
    assert (finding.code, finding.serious) == ("short-block", True)
    assert look(make_sample(clock_tick_s=0.01, goodput_bit_s=2e9)) == ()


@pytest.mark.parametrize("counter", ["client_sent_bytes", "servant_received_bytes"])
def test_traffic_on_another_link(counter):
    finding = only(counting(make_sample(), **{counter: 20_000}))
    assert (finding.code, finding.serious) == ("wrong_link", True)
    assert "took another way" in finding.cure
    assert "20.0 kB" in finding.text


@pytest.mark.parametrize("counter", ["client_sent_bytes", "servant_received_bytes"])
def test_other_traffic_on_the_link(counter):
    sample = make_sample()
    finding = only(counting(sample, **{counter: 2 * sample.asked_bytes}))
    assert (finding.code, finding.serious) == ("wrong_link", True)
    assert "something else" in finding.cure


def test_the_way_back_counts_where_it_has_payload():
    sample = make_sample(make_case(Arm.ECHO))
    total = sample.client.interface.sent_bytes
    there_and_back = counting(sample, client_received_bytes=total, servant_sent_bytes=total)
    assert look(there_and_back) == ()
    assert [finding.code for finding in look(sample)] == ["wrong_link", "wrong_link"]


def test_a_header_for_every_packet_and_what_was_sent_again_are_no_other_traffic():
    sample = make_sample()
    segments = sample.asked_bytes // (2044 - 52)
    cut_up = sample.asked_bytes + 66 * segments
    assert look(counting(sample, client_sent_bytes=cut_up, servant_received_bytes=cut_up)) == ()

    again = 40_000_000
    resent = counting(sample, client_sent_bytes=sample.asked_bytes + again)
    assert only(resent).code == "wrong_link"
    first, *rest = resent.client.connections
    lossy = replace(first, retransmitted_bytes=again)
    resent = replace(resent, client=replace(resent.client, connections=(lossy, *rest)))
    assert look(resent) == ()
    lossy = replace(first, retransmitted_bytes=None, retransmissions=again // 1992)
    resent = replace(resent, client=replace(resent.client, connections=(lossy, *rest)))
    assert "wrong_link" not in {finding.code for finding in look(resent)}


def test_loopback_counts_both_directions_on_one_interface():
    case = make_case(link="lo")
    sample = make_sample(case, link=LOOPBACK)
    twice = int(1.9 * sample.asked_bytes)
    both = counting(sample, client_sent_bytes=twice, servant_received_bytes=twice)
    assert look(both, LOOPBACK) == ()
    none = counting(sample, client_sent_bytes=5_000)
    assert only(none, LOOPBACK).code == "wrong_link"


def test_the_counters_of_a_real_card_may_lag_but_not_for_ever():
    short = make_sample(link=REAL, goodput_bit_s=8e9, total_bytes=200_000_000)
    late = only(counting(short, client_sent_bytes=0), REAL)
    assert (late.code, late.serious) == ("link-unproven", False)
    long = make_sample(link=REAL, goodput_bit_s=8e9, total_bytes=2_000_000_000)
    elsewhere = only(counting(long, client_sent_bytes=0), REAL)
    assert (elsewhere.code, elsewhere.serious) == ("wrong_link", True)


def test_more_or_fewer_connections_than_asked_for():
    for counted in (3, 5):
        finding = only(make_sample(connections=counted))
        assert (finding.code, finding.serious) == ("connections-differ", True)
        assert f"counted {counted}" in finding.text


def test_a_thread_that_began_late():
    sample = make_sample(goodput_bit_s=2e9)
    finding = only(replace(sample, start_skew_s=0.2))
    assert (finding.code, finding.serious) == ("start-skew", False)
    assert "200 ms" in finding.text
    assert look(replace(sample, start_skew_s=0.04)) == ()


def test_threads_that_were_served_unequally():
    sample = make_sample(make_case(threads=4))
    finding = only(replace(sample, thread_bytes=(9_000_000, 1_000_000, 1_000_000, 1_000_000)))
    assert (finding.code, finding.serious) == ("unfair", False)
    assert "0.43" in finding.text
    slow = (sample.window_s, sample.window_s, sample.window_s, sample.window_s / 9)
    assert only(replace(sample, thread_window_s=slow)).code == "unfair"


def test_threads_without_a_message_are_no_sign_of_unfairness():
    idle = replace(make_sample(make_case(threads=4)), thread_bytes=(65536, 65536, 0, 0))
    assert look(idle) == ()


@pytest.mark.parametrize("end", ["client", "servant"])
@pytest.mark.parametrize("direction", ["send_buffer", "receive_buffer"])
def test_a_buffer_that_the_kernel_clipped(end, direction):
    sample = make_sample()
    clipped = BufferRecord(
        requested_bytes=4_000_000,
        effective_bytes=425_984,
        clipped=True,
        autotuned=False,
        limit="net.core.wmem_max = 212992",
    )
    record = replace(getattr(sample, end), **{direction: clipped})
    finding = only(replace(sample, **{end: record}))
    assert (finding.code, finding.serious) == ("buffer-clipped", False)
    assert "4 MB" in finding.text
    assert "net.core.wmem_max" in finding.cure
    unmarked = replace(clipped, clipped=False)
    record = replace(getattr(sample, end), **{direction: unmarked})
    assert only(replace(sample, **{end: record})).code == "buffer-clipped"
    granted = replace(clipped, effective_bytes=8_000_000, clipped=False)
    record = replace(getattr(sample, end), **{direction: granted})
    assert look(replace(sample, **{end: record})) == ()


def test_many_segments_sent_again():
    sample = make_sample()
    lossy = make_tcp("sender", 40_000, 1992 * 999, 0, 1.0, 2044, retransmissions=30)
    client = replace(sample.client, connections=(lossy,))
    finding = only(replace(sample, client=client))
    assert (finding.code, finding.serious) == ("retransmissions", False)
    assert "30 of 1000 segments (3.0%)" in finding.text
    fewer = replace(client, connections=(replace(lossy, retransmissions=9),))
    assert look(replace(sample, client=fewer)) == ()


def test_what_was_not_recorded_is_said_to_be_unchecked():
    bare = make_sample(ends=False, clock_tick_s=None, start_skew_s=None, connections=None)
    finding = only(bare)
    assert (finding.code, finding.serious) == ("unchecked", False)
    for name in ("tick", "skew", "connections"):
        assert name in finding.text
    sample = make_sample()
    blind = replace(sample, client=replace(sample.client, interface=None))
    assert "at the client" in only(blind).text
    assert look(replace(bare, case=make_case(Arm.IPERF3))) == ()


def test_iperf3_may_confirm_less_than_it_put_on_the_link():
    """Its receiver stops counting with the sender; another way is still found out."""
    sent = make_sample(make_case(Arm.IPERF3))
    part = replace(sent, confirmed_bytes=int(0.9 * sent.asked_bytes))
    assert look(part) == ()
    twice = counting(part, client_sent_bytes=2 * sent.asked_bytes)
    assert [finding.code for finding in look(twice)] == ["wrong_link"]
    assert [finding.code for finding in look(counting(part, servant_received_bytes=0))] == [
        "wrong_link"
    ]


def test_one_block_may_break_several_rules():
    sample = make_sample(asked_bytes=1, connections=1, start_skew_s=9.0)
    assert [finding.code for finding in look(sample)] == [
        "bytes-differ",
        "connections-differ",
        "start-skew",
    ]


rates = st.lists(st.floats(1e-3, 1e12), min_size=1, max_size=40)


@given(rates, st.floats(1e-3, 1e3))
def test_fairness_lies_between_one_share_and_one_and_knows_no_unit(values, factor):
    fairness = jain_fairness(values)
    assert 1 / len(values) - 1e-9 <= fairness <= 1 + 1e-9
    assert jain_fairness([value * factor for value in values]) == pytest.approx(fairness)


def test_fairness_of_the_extremes():
    assert jain_fairness([3.0, 3.0, 3.0]) == pytest.approx(1.0)
    assert jain_fairness([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="above 0"):
        jain_fairness([0.0, 0.0])


def test_within_ten_percent_of_loopback_is_the_bench_itself():
    assert bench_limited(9.1e9, 10e9)
    assert bench_limited(12e9, 10e9)
    assert not bench_limited(8.9e9, 10e9)


def test_an_interface_record_is_compared_whatever_it_is_called():
    sample = make_sample()
    count = InterfaceCount(
        interface="eth7",
        received_bytes=0,
        sent_bytes=0,
        received_packets=0,
        sent_packets=0,
        dropped_packets=0,
    )
    moved = replace(sample, client=replace(sample.client, interface=count))
    assert only(moved).text.startswith("eth7, sending at the client, counted 0 B")


def test_a_preloaded_library_may_carry_a_block_beside_what_the_kernel_counts():
    under = replace(IB, preload={Arm.STREAM: "librspreload.so"})
    sample = make_sample(make_case(Arm.STREAM), connections=0)
    sample = counting(sample, client_sent_bytes=0, servant_received_bytes=0)
    found = look(sample, under)
    assert {finding.code for finding in found} == {"unseen-connections", "beside-the-interface"}
    assert not any(finding.serious for finding in found)
    assert all("librspreload.so" in finding.text for finding in found)


def test_an_arm_without_the_library_must_be_seen_as_ever():
    under = replace(IB, preload={Arm.CALL: "librspreload.so"})
    sample = make_sample(make_case(Arm.STREAM), connections=0)
    sample = counting(sample, client_sent_bytes=0)
    assert all(finding.serious for finding in look(sample, under))


def test_a_preloaded_library_that_leaves_tcp_to_the_kernel_is_held_to_it():
    under = replace(IB, preload={Arm.STREAM: "libcount.so"})
    case = make_case(Arm.STREAM)
    assert look(make_sample(case), under) == ()
    assert only(make_sample(case, connections=case.connections + 1), under).serious
