"""Labels of what holds a case back: what earns each, and the numbers that come with it."""

from dataclasses import replace

import pytest
from builders import make_case, make_latencies, make_sample
from builders_ends import LINKS, make_facts, make_processor

from orbtax.analysis.bottleneck import Label, bottlenecks
from orbtax.model import Arm, Kind, Options

IB, ONE_GIGABIT = LINKS["ib"], LINKS["1ge"]
REAL = replace(IB, kind=Kind.HOSTS)


def quiet(arm=Arm.STREAM, **options):
    """Two blocks in which nothing is the cause."""
    sample = make_sample(make_case(arm, **options), latency_calls=0)
    return [sample, replace(sample, round=1)]


def processors(samples, client=None, servant=None):
    """`samples` with other processor times: fields of `make_processor`."""
    changed = []
    for sample in samples:
        for name, fields in (("client", client), ("servant", servant)):
            if fields is not None:
                usual = {"window_s": 1.0, "core": 0 if name == "client" else 1}
                processor = make_processor(**usual | fields)
                end = replace(getattr(sample, name), processor=processor)
                sample = replace(sample, **{name: end})
        changed.append(sample)
    return changed


def tcp(samples, **changes):
    """`samples` with other states of the client's connections."""
    return [
        replace(
            sample,
            client=replace(
                sample.client,
                connections=tuple(replace(each, **changes) for each in sample.client.connections),
            ),
        )
        for sample in samples
    ]


def found(samples, link=IB, **options):
    return bottlenecks(samples, link, make_facts(link), **options)


def labels(samples, link=IB, **options):
    return [each.label for each in found(samples, link, **options)]


def evidence(bottleneck):
    return {each.name: each for each in bottleneck.evidence}


def test_nothing_to_see_is_unknown_with_the_numbers_looked_at():
    (unknown,) = found(quiet())
    assert unknown.label is Label.UNKNOWN
    numbers = evidence(unknown)
    assert numbers["goodput"].value == pytest.approx(quiet()[0].goodput_bit_s)
    assert numbers["client busy"].value == pytest.approx(0.8)
    assert numbers["time stalled by the peer's window"].limit == 0.3


def test_no_samples_have_no_bottleneck():
    assert found([]) == ()


def test_a_full_link():
    case = make_case(Arm.STREAM, link="1ge")
    full = [make_sample(case, goodput_bit_s=0.94e9)]
    (link,) = found(full, ONE_GIGABIT)
    assert link.label is Label.LINK
    numbers = evidence(link)
    assert numbers["goodput"].value >= numbers["goodput"].limit
    assert numbers["nominal rate"].value == 1e9
    assert labels([make_sample(case, goodput_bit_s=0.88e9)], ONE_GIGABIT) == [Label.UNKNOWN]
    assert labels([make_sample(goodput_bit_s=90e9)]) == [Label.UNKNOWN]


@pytest.mark.parametrize(
    ("end", "label"), [("client", Label.SENDER_PROCESSOR), ("servant", Label.RECEIVER_PROCESSOR)]
)
def test_a_core_that_is_always_busy(end, label):
    busy = processors(quiet(), **{end: {"busiest_core_share": 0.97}})
    (processor,) = found(busy)
    assert processor.label is label
    assert evidence(processor)["busiest core"].value == pytest.approx(0.97)
    assert evidence(processor)["processor time of the process"].value == pytest.approx(0.8)
    assert labels(processors(quiet(), **{end: {"busiest_core_share": 0.94}})) == [Label.UNKNOWN]


@pytest.mark.parametrize(
    ("end", "label"), [("client", Label.SENDER_PROCESSOR), ("servant", Label.RECEIVER_PROCESSOR)]
)
def test_a_core_seen_for_less_than_ten_clock_ticks_is_no_evidence(end, label):
    short = {"busiest_core_share": 1.0, "window_s": 0.09}
    assert labels(processors(quiet(), **{end: short})) == [Label.UNKNOWN]
    assert labels(processors(quiet(), **{end: short | {"window_s": 0.1}})) == [label]


@pytest.mark.parametrize(
    ("end", "label"), [("client", Label.SENDER_PROCESSOR), ("servant", Label.RECEIVER_PROCESSOR)]
)
def test_a_process_that_fills_its_cores(end, label):
    full = {"busy_cores": 1.92, "busiest_core_share": None, "allowed_cores": (4, 5)}
    (processor,) = found(processors(quiet(), **{end: full}))
    assert processor.label is label
    assert evidence(processor)["processor time of the process"].value == pytest.approx(1.92)
    assert labels(processors(quiet(), **{end: full | {"busy_cores": 1.85}})) == [Label.UNKNOWN]


def test_a_busy_core_that_may_be_the_other_ends_is_no_evidence():
    shared = {"busiest_core_share": 1.0, "allowed_cores": (0, 1)}
    both = processors(quiet(), client=shared, servant=shared)
    both = [replace(each, goodput_bit_s=5e9) for each in both]
    assert labels(both) == [Label.UNKNOWN]
    assert labels(both, REAL) == [Label.SENDER_PROCESSOR, Label.RECEIVER_PROCESSOR]
    elsewhere = processors(quiet(), client={"busiest_core_share": 1.0, "busiest_core": 1})
    assert labels(elsewhere) == [Label.UNKNOWN]


def waiting(arm=Arm.CORBA, mean_us=None, threads=4, busy_cores=0.4, depth=4):
    case = make_case(arm, 65536, threads, options=Options(depth=depth))
    sample = make_sample(case, latency_calls=0)
    in_flight = threads * (depth if arm is Arm.AMI else 1)
    each_us = mean_us or 1e6 * sample.window_s * in_flight / sample.messages
    timed = replace(sample, latencies=make_latencies(2000, each_us))
    idle = {"busy_cores": busy_cores, "busiest_core_share": busy_cores}
    return processors([timed], client=idle, servant=idle)


@pytest.mark.parametrize("arm", [Arm.CALL, Arm.CORBA, Arm.AMI])
def test_waiting_for_the_reply_with_both_ends_idle(arm):
    (bottleneck,) = found(waiting(arm))
    assert bottleneck.label is Label.WAITING
    numbers = evidence(bottleneck)
    assert numbers["calls"].value == pytest.approx(
        numbers["calls in flight ÷ time of a call"].value, rel=0.1
    )
    assert numbers["client busy"].value == pytest.approx(0.4)
    assert numbers["client busy"].limit == numbers["servant busy"].limit == 0.7


def test_behind_a_full_link_every_caller_waits():
    callers = waiting()
    assert labels(callers) == [Label.WAITING]
    callers = tcp(callers, mss_bytes=1448)
    full = [replace(sample, goodput_bit_s=0.94e9) for sample in callers]
    assert labels(full, ONE_GIGABIT) == [Label.LINK]


def test_busy_ends_do_not_wait():
    assert labels(waiting(busy_cores=0.8)) == [Label.UNKNOWN]


def test_a_rate_that_the_time_of_a_call_does_not_explain_is_no_waiting():
    assert labels(waiting(mean_us=20.0)) == [Label.UNKNOWN]


def test_arms_that_do_not_wait_are_never_waiting():
    idle = {"busy_cores": 0.1, "busiest_core_share": 0.1}
    assert labels(processors(quiet(Arm.ONEWAY), client=idle, servant=idle)) == [Label.UNKNOWN]


@pytest.mark.parametrize(
    ("field", "label"),
    [("receiver_limited_s", Label.WINDOW), ("buffer_limited_s", Label.BUFFER)],
)
def test_connections_that_are_stalled_a_good_part_of_their_busy_time(field, label):
    (stalled,) = found(tcp(quiet(), busy_s=0.1, **{field: 0.04}))
    assert stalled.label is label
    assert stalled.evidence[0].value == pytest.approx(0.4)
    assert labels(tcp(quiet(), busy_s=0.1, **{field: 0.02})) == [Label.UNKNOWN]
    assert labels(tcp(quiet(), busy_s=None, **{field: 0.04})) == [Label.UNKNOWN]


def test_near_what_loopback_reaches_it_is_the_bench():
    samples = quiet()
    goodput = samples[0].goodput_bit_s
    (bench,) = found(samples, lo_goodput_bit_s=goodput / 0.95)
    assert bench.label is Label.BENCH
    assert bench.evidence[0].value >= bench.evidence[0].limit
    assert labels(samples, lo_goodput_bit_s=goodput / 0.85) == [Label.UNKNOWN]


def test_causes_come_before_what_they_cause():
    samples = tcp(
        processors(quiet(), servant={"busiest_core_share": 1.0}),
        busy_s=0.1,
        receiver_limited_s=0.09,
    )
    assert labels(samples) == [Label.RECEIVER_PROCESSOR, Label.WINDOW]


def test_samples_without_records_of_the_ends_are_unknown():
    bare = make_sample(make_case(Arm.STREAM), ends=False)
    (unknown,) = found([bare])
    assert unknown.label is Label.UNKNOWN
    assert [each.name for each in unknown.evidence] == ["goodput"]
