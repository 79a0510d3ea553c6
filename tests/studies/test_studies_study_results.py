"""The best call, the best socket, their efficiency, and what a variation changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from study_builders import KIB, run_of, small_plan, with_windows

from orbtax.model import Arm, Options
from orbtax.published.mailing_list import published_links
from orbtax.report.content import assemble
from orbtax.studies.study_results import Pair, outcomes, published_pair, variations
from orbtax.studies.variations import Vary


@pytest.mark.parametrize(("link", "efficiency"), [("ib", 0.199), ("10ge", 0.937), ("1ge", 0.909)])
def test_the_published_efficiencies_come_out_of_the_code_that_makes_ours(link, efficiency) -> None:
    (published,) = (each for each in published_links() if each.link == link)
    pair = published_pair(published)
    assert isinstance(pair, Pair)
    assert round(pair.efficiency.value, 3) == efficiency
    assert (pair.efficiency.low, pair.efficiency.high, pair.efficiency.rounds) == (None, None, 1)
    assert pair.corba_bit_s.value == pytest.approx(1e9 * published.corba_gbit_s)


def by_setting(case, number):
    weather = 1 + 0.5 * number
    if case.arm is Arm.CORBA:
        return weather * (6.0 if (case.payload_bytes, case.threads) == (256 * KIB, 26) else 3.0)
    return weather * (8.0 if case.options == Options() and case.threads == 4 else 5.0)


def only(run):
    (outcome,) = outcomes(assemble([run]))
    return outcome


def test_the_best_of_both_are_found_and_paired_so_that_the_weather_falls_out() -> None:
    outcome = only(run_of(small_plan("ib"), by_setting))
    call, stream = outcome.ours.corba.case, outcome.ours.socket.case
    assert (call.payload_bytes, call.threads) == (256 * KIB, 26)
    assert (stream.threads, stream.options) == (4, Options())
    efficiency = outcome.ours.efficiency
    assert efficiency.value == pytest.approx(0.75)
    assert efficiency.half_width == pytest.approx(0, abs=1e-9)
    assert outcome.ours.socket_bit_s.half_width > 0.5


def test_a_window_whose_advantage_is_noise_is_not_preferred() -> None:
    def rate(case, number):
        if case.arm is Arm.CORBA:
            return 4.0
        lucky = case.options == Options(
            send_buffer_bytes=1024 * KIB, receive_buffer_bytes=1024 * KIB
        )
        wobble = [0.0, 0.9, -0.5, 0.6, -0.8][(number + case.threads) % 5]
        return 8.0 + (0.1 if lucky else 0.0) + wobble

    outcome = only(run_of(small_plan("ib"), rate))
    assert outcome.socket.fastest.case.options != Options()
    assert outcome.ours.socket.case.options == Options()
    assert outcome.ours.socket.case.threads == 1


def test_every_case_has_an_efficiency_against_the_best_socket() -> None:
    outcome = only(run_of(small_plan("ib"), by_setting))
    slow = next(case for case in outcome.rates if case.payload_bytes == KIB)
    assert outcome.against_link(slow).value == pytest.approx(3 / 8)


def test_windows_are_reported_as_in_force() -> None:
    outcome = only(with_windows(run_of(small_plan("ib"), by_setting), clipped_above=256 * KIB))
    case = next(c for c in outcome.rates if c.options.send_buffer_bytes == 1024 * KIB)
    send, receive = outcome.windows_of(case)
    assert send.clipped
    assert send.effective_bytes == receive.effective_bytes == 512 * KIB
    assert outcome.windows[0].autotuned


def test_what_the_link_is_comes_from_what_was_read_back() -> None:
    run = run_of(small_plan("ib"), by_setting)
    assert only(run).mtu_bytes == 2044
    assert only(run).window_scaling is True
    (visit,) = run.record.visits
    off = replace(visit.before.sender, sysctls={"net.ipv4.tcp_window_scaling": "0"})
    visit = replace(visit, before=replace(visit.before, sender=off))
    varied = replace(run, record=replace(run.record, visits=(visit,)))
    assert only(varied).window_scaling is False
    unseen = only(replace(run, record=replace(run.record, visits=())))
    assert (unseen.window_scaling, unseen.mtu_bytes) == (None, 2044)


def test_what_gave_no_figure_is_there_without_one() -> None:
    run = run_of(small_plan("ib"), by_setting)
    outcome = only(replace(run, samples=()))
    assert outcome.ours.efficiency is outcome.ours.corba_bit_s is None
    assert outcome.windows == (None, None)
    assert outcome.corba_causes == ()
    assert outcome.published.link == "ib"


def test_a_link_of_another_name_has_nothing_published() -> None:
    plan = small_plan("ib")
    renamed = replace(
        plan,
        links=(replace(plan.links[0], name="lab"),),
        cells=tuple(
            replace(cell, cases=tuple(replace(case, link="lab") for case in cell.cases))
            for cell in plan.cells
        ),
    )
    # The builders know the links of the catalogue alone.
    samples = tuple(
        replace(sample, case=replace(sample.case, link="lab"))
        for sample in run_of(plan, by_setting).samples
    )
    run = run_of(plan, by_setting)
    run = replace(run, record=replace(run.record, plan=renamed, visits=()), samples=samples)
    assert only(run).published is None


def varied_rate(case, number):
    if case.arm is Arm.ONEWAY:
        return 9.0
    if case.arm is Arm.CORBA:
        base = 6.0 if case.options.connections is None else 3.0
        return base * (0.5 if "scaling-off" in case.link else 1.0)
    return 8.0 * (0.25 if "scaling-off" in case.link else 1.0)


def test_variations_stand_beside_the_same_cases_as_they_are() -> None:
    plan = small_plan("ib", vary=(Vary.SCALING, Vary.CONNECTIONS, Vary.ONEWAY))
    report = assemble([run_of(plan, varied_rate)])
    rows = {row.name: row for row in variations(report)}
    assert list(rows) == ["", "connections-5", "oneway", "scaling-off"]
    assert rows[""].corba_change is None
    assert rows[""].pair.efficiency.value == pytest.approx(0.75)
    assert rows["oneway"].corba_change.value == pytest.approx(1.5)
    assert rows["oneway"].socket_change is None
    assert rows["oneway"].pair.efficiency.value == pytest.approx(9 / 8)
    assert rows["connections-5"].corba_change.value == pytest.approx(0.5)
    assert rows["scaling-off"].corba_change.value == pytest.approx(0.5)
    assert rows["scaling-off"].socket_change.value == pytest.approx(0.25)
    assert rows["scaling-off"].pair.efficiency.value == pytest.approx(1.5)


def test_varied_cases_never_become_the_best_of_the_study() -> None:
    plan = small_plan("ib", vary=(Vary.ONEWAY, Vary.SCALING))
    outcome = only(run_of(plan, varied_rate))
    assert outcome.ours.corba.case.arm is Arm.CORBA
    assert outcome.ours.corba_bit_s.value == pytest.approx(6e9)


def test_nothing_varied_gives_no_rows() -> None:
    assert variations(assemble([run_of(small_plan("ib"), by_setting)])) == ()
