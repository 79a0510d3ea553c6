"""Buffers, TCP state, latencies, costs and bottlenecks by case."""

from dataclasses import replace

from builders import make_case, make_latencies, make_run, make_sample
from builders_ends import LINKS, make_facts

from orbtax.analysis.bottleneck import Bottleneck, Evidence, Label, bottlenecks
from orbtax.analysis.cost import case_cost
from orbtax.analysis.efficiency import link_results
from orbtax.histogram import EMPTY, merge, percentile
from orbtax.model import Arm, Options
from orbtax.record import BufferRecord
from orbtax.report.causes import bottleneck_table, cost_table, evidence_text, held_back
from orbtax.report.evidence import (
    buffer_table,
    latency_table,
    merged_latencies,
    tcp_table,
)
from orbtax.report.numbers import significant

CASE = make_case(Arm.CORBA, threads=2)


def with_buffer(sample, **changes):
    buffer = BufferRecord(
        **{"requested_bytes": None, "effective_bytes": 1, "clipped": False, "autotuned": False}
        | changes
    )
    return replace(sample, client=replace(sample.client, send_buffer=buffer))


def with_states(sample, *states):
    first = sample.client.connections[0]
    made = tuple(replace(first, **state) for state in states)
    return replace(sample, client=replace(sample.client, connections=made))


def column(table, heading):
    place = [column.heading for column in table.columns].index(heading)
    return [row[place] for row in table.rows]


def test_requested_buffers_stand_beside_those_in_force():
    first = with_buffer(make_sample(CASE), requested_bytes=65536, effective_bytes=131072)
    later = with_buffer(make_sample(CASE), requested_bytes=65536, effective_bytes=262144)
    table = buffer_table("ib (emulated)", {CASE: [first, later]})
    assert column(table, "client's send buffer") == ["64 KiB → 262 kB"]


def test_clipped_and_autotuned_buffers_are_told():
    clipped = with_buffer(
        make_sample(CASE),
        requested_bytes=16 * 1024 * 1024,
        effective_bytes=425984,
        clipped=True,
        limit="net.core.wmem_max = 212992",
    )
    tuned = with_buffer(make_sample(CASE), autotuned=True, effective_bytes=4_000_000)
    told = [
        column(buffer_table("ib", {CASE: [sample]}), "client's send buffer")[0]
        for sample in (clipped, tuned)
    ]
    assert told == [
        "16 MiB → 426 kB, clipped by net.core.wmem_max = 212992",
        "kernel → 4.00 MB, autotuned",
    ]


def test_a_buffer_that_could_not_be_read_is_no_zero():
    unread = with_buffer(make_sample(CASE), effective_bytes=None)
    table = buffer_table("ib", {CASE: [unread]})
    assert column(table, "client's send buffer") == ["kernel → unknown"]


def test_tcp_state_is_summed_and_averaged_over_connections_and_rounds():
    states = (
        {"retransmissions": 3, "smoothed_rtt_us": 40, "busy_s": 1.0, "receiver_limited_s": 0.5},
        {"retransmissions": 4, "smoothed_rtt_us": 60, "busy_s": 1.0, "receiver_limited_s": 0.0},
    )
    samples = [with_states(make_sample(CASE), *states) for _ in range(2)]
    table = tcp_table("ib", {CASE: samples})
    assert column(table, "resent") == ["14"]
    assert column(table, "smoothed RTT") == ["50"]
    assert column(table, "connections") == ["2"]
    assert column(table, "stalled by peer") == ["25.0"]
    assert column(table, "control") == ["cubic"]
    assert column(table, "window scaling") == ["10, 10"]


def test_what_the_kernel_did_not_tell_is_a_dash_with_its_reason():
    state = {
        "retransmissions": None,
        "smoothed_rtt_us": None,
        "missing": {"retransmissions": "this kernel has no such field"},
    }
    table = tcp_table("ib", {CASE: [with_states(make_sample(CASE), state)]})
    assert column(table, "resent") == column(table, "smoothed RTT") == ["–"]
    assert any("retransmissions: this kernel has no such field" in note for note in table.notes)


def test_samples_without_either_end_give_dashes():
    bare = make_sample(CASE, ends=False)
    (row,) = tcp_table("ib", {CASE: [bare]}).rows
    assert set(row[3:]) == {"–"}
    assert set(buffer_table("ib", {CASE: [bare]}).rows[0][3:]) == {"–"}


def test_latencies_of_all_rounds_are_merged():
    parts = [make_latencies(300, 70.0, seed) for seed in range(2)]
    samples = [replace(make_sample(CASE), latencies=part) for part in parts]
    latencies = merged_latencies({CASE: samples})
    whole = merge(parts)
    table = latency_table("ib", latencies)
    assert column(table, "calls") == ["600"]
    assert column(table, "p50") == [significant(percentile(whole, 0.5) / 1000)]
    assert column(table, "max") == [significant(whole.max_ns / 1000)]


def test_a_percentile_with_too_few_calls_beyond_it_is_not_shown():
    samples = [replace(make_sample(CASE), latencies=make_latencies(600, 70.0))]
    table = latency_table("ib", merged_latencies({CASE: samples}))
    assert column(table, "p90") != ["–"]
    assert column(table, "p99") == column(table, "p99.9") == ["–"]


def test_cases_without_calls_have_no_row():
    samples = [replace(make_sample(CASE), latencies=EMPTY)]
    assert merged_latencies({CASE: samples}) == {}


def test_options_that_are_not_default_stand_with_the_arm():
    case = replace(CASE, options=Options(nodelay=False))
    table = tcp_table("ib", {case: [make_sample(case)]})
    assert column(table, "arm") == ["corba (TCP_NODELAY off)"]


def test_costs_of_both_ends_are_those_of_the_analysis():
    samples = [make_sample(CASE), make_sample(CASE)]
    cost = case_cost(samples)
    table = cost_table("ib", {CASE: cost})
    assert column(table, "end") == ["client", "servant"]
    assert table.rows[0][4] == significant(cost.client.process_us_per_mib)
    assert table.rows[1][6] == significant(cost.servant.process_us_per_message)


def test_an_end_without_a_record_costs_a_dash():
    table = cost_table("ib", {CASE: case_cost([make_sample(CASE, ends=False)])})
    assert set(table.rows[0][4:]) == {"–"}


def test_bottlenecks_come_with_the_numbers_that_they_rest_on():
    found = bottlenecks([make_sample(CASE)], LINKS["ib"], make_facts(LINKS["ib"]))
    table = bottleneck_table("ib", {CASE: found})
    assert column(table, "held back by") == [str(each.label) for each in found]
    assert all(
        evidence.name in row[4]
        for row, each in zip(table.rows, found, strict=True)
        for evidence in each.evidence
    )


def test_evidence_names_value_unit_and_limit():
    assert evidence_text(Evidence("busiest core", 0.98, "share", 0.95)) == (
        "busiest core 98.0 % (95.0 %)"
    )
    assert evidence_text(Evidence("goodput", 9.5e9, "bit/s")) == "goodput 9.50 Gbit/s"
    assert evidence_text(Evidence("calls in flight", 16, "calls")) == "calls in flight 16 calls"
    assert evidence_text(Evidence("time of a call", 71.25, "µs")) == "time of a call 71.2 µs"


def test_what_holds_the_best_cases_back_is_one_sentence():
    run = make_run(sizes=(1024,), threads=(1,), failed=0, refused=0)
    result = link_results(run)[0]
    cases = {case.arm: case for case in run.record.plan.cells[0].cases}
    found = {
        cases[Arm.STREAM]: (Bottleneck(Label.UNKNOWN, ()),),
        cases[Arm.CORBA]: (Bottleneck(Label.WAITING, ()), Bottleneck(Label.WINDOW, ())),
    }
    assert held_back(result, found) == (
        "Held back: corba by waiting-for-reply and window-limited.",
    )
    assert held_back(result, {cases[Arm.STREAM]: found[cases[Arm.STREAM]]}) == ()
