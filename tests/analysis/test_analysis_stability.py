"""When a cell is measured long enough, and what its rounds may not look like."""

import math
from dataclasses import replace

import numpy as np
import pytest
from builders import make_case, make_cell_samples, make_failed, make_plan

from orbtax.analysis.rates import by_case
from orbtax.analysis.ratio import log_interval
from orbtax.analysis.stability import (
    Verdict,
    assess,
    comparisons,
    decide,
    first_round,
    last_half_widths,
    scatter,
    settled,
    trend,
)
from orbtax.model import Arm, Options

WIDTH = 0.03
PLAN = make_plan(sizes=(65536,), threads=(4,))
CELL = PLAN.cells[0]


def samples(rounds, **options):
    return make_cell_samples(PLAN, 0, rounds, ends=False, latency_calls=0, **options)


def slowed(made, arm, factor_of_round):
    """`made`, with the goodput of `arm` multiplied by a factor for each round."""
    return [
        replace(each, goodput_bit_s=each.goodput_bit_s * factor_of_round(each.round))
        if each.case.arm is arm
        else each
        for each in made
    ]


def codes(assessment):
    return {finding.code for finding in assessment.findings}


def judge(made):
    return assess(by_case(made), CELL.cases, PLAN)


def test_quiet_rounds_are_stable():
    assert judge(samples(8)).verdict is Verdict.STABLE
    assert judge(samples(8)).findings == ()


def test_scattered_rounds_are_not_yet_narrow():
    assert judge(samples(8, scatter=0.06)).verdict is Verdict.BUDGET


def test_a_cell_without_any_ratio_is_not_stable():
    assert judge([]).verdict is Verdict.BUDGET
    assert judge(samples(1)).verdict is Verdict.BUDGET
    broken = [make_failed(each) if each.case.arm is Arm.CORBA else each for each in samples(8)]
    assert judge(broken).verdict is Verdict.BUDGET


def test_one_wide_ratio_is_enough_to_go_on():
    noise = np.random.default_rng(1).normal(0, 0.1, 8)
    made = slowed(samples(8), Arm.CALL, lambda number: math.exp(noise[number]))
    assert judge(made).verdict is Verdict.BUDGET


def test_a_trend_of_the_ratio_makes_a_cell_unstable():
    assessment = judge(slowed(samples(12), Arm.CORBA, lambda number: 1 - 0.01 * number))
    assert assessment.verdict is Verdict.UNSTABLE
    assert "trend" in codes(assessment)
    assert "corba ÷ stream fell by 1" in assessment.findings[0].text


def test_a_drift_of_all_arms_alike_is_no_trend():
    assert judge(samples(12, drift=0.2)).verdict is Verdict.STABLE


def test_a_first_round_unlike_the_rest_makes_a_cell_unstable():
    assessment = judge(slowed(samples(12), Arm.CORBA, lambda number: 1 if number else 0.8))
    assert assessment.verdict is Verdict.UNSTABLE
    assert "first-round" in codes(assessment)


def test_scatter_beyond_what_all_rounds_could_cure_makes_a_cell_unstable():
    assessment = judge(samples(16, scatter=0.4))
    assert assessment.verdict is Verdict.UNSTABLE
    assert codes(assessment) == {"scatter"}


def test_changes_smaller_than_the_width_do_not_matter():
    steps = [0.001 * number for number in range(20)]
    assert trend("a ÷ b", steps, WIDTH) is None
    assert trend("a ÷ b", steps, 0.01).code == "trend"
    start = [0.02] + [0.0, 0.001] * 8
    assert first_round("a ÷ b", start, WIDTH) is None
    assert first_round("a ÷ b", start, 0.01).code == "first-round"


def test_too_few_rounds_say_nothing():
    for check in (trend, first_round):
        assert check("a ÷ b", [0.0, 0.5, 1.0], WIDTH) is None
    assert scatter("a ÷ b", [0.0, 5.0, -5.0], WIDTH, 200) is None


def test_a_change_without_any_scatter_is_seen():
    assert trend("a ÷ b", [0.0, 0.25, 0.5, 0.75], WIDTH).text.startswith("a ÷ b rose by 111.7%")
    assert "p = 0)" in first_round("a ÷ b", [1.0, 0.0, 0.0, 0.0], WIDTH).text
    assert trend("a ÷ b", [0.5] * 6, WIDTH) is None
    assert first_round("a ÷ b", [0.5] * 6, WIDTH) is None


@pytest.mark.parametrize("check", [trend, first_round])
@pytest.mark.parametrize("rounds", [4, 8, 30])
def test_pure_chance_is_rarely_taken_for_a_cause(check, rounds):
    noise = np.random.default_rng(rounds).normal(0, 0.5, (4000, rounds)).tolist()
    share = sum(check("a ÷ b", logs, WIDTH) is not None for logs in noise) / len(noise)
    assert 0.005 <= share <= 0.015


def test_scatter_that_could_be_cured_is_rarely_condemned():
    curable = 0.03 * math.sqrt(200) / 1.98
    noise = np.random.default_rng(4).normal(0, curable, (4000, 6)).tolist()
    assert sum(scatter("a ÷ b", logs, WIDTH, 200) is not None for logs in noise) / 4000 <= 0.015


def test_half_widths_are_those_of_the_interval_after_each_round():
    logs = [0.1, 0.3, 0.2, 0.25]
    told = last_half_widths(logs, 2)
    assert told == pytest.approx(
        [math.log1p(log_interval(logs[:count]).half_width) for count in (3, 4)]
    )
    assert len(last_half_widths(logs, 9)) == 3
    assert last_half_widths(logs[:1], 5) == []


def stopped_coverage(rule, scattered, campaigns=1500, rounds=200):
    """The share of A-against-A campaigns covering 1 when `rule` says when to stop."""
    draw = np.random.default_rng(8)
    covered = 0
    for _ in range(campaigns):
        logs = draw.normal(0, scattered, rounds).tolist()
        count = next((n for n in range(4, rounds) if rule(logs[:n])), rounds)
        covered += log_interval(logs[:count]).covers(1.0)
    return covered / campaigns


@pytest.mark.parametrize("scattered", [0.01, 0.03, 0.06])
def test_stopping_when_it_is_enough_leaves_95_percent_intervals(scattered):
    assert 0.93 <= stopped_coverage(lambda logs: settled(logs, WIDTH), scattered) <= 0.97


def test_stopping_at_the_first_narrow_interval_would_not():
    def narrow(logs):
        return last_half_widths(logs, 1)[0] <= math.log1p(WIDTH)

    assert stopped_coverage(narrow, 0.06) < 0.93


def rounds_until_enough(made, cell=CELL, plan=PLAN, spent_s_per_round=0.5):
    rounds = 1 + max(each.round for each in made)
    for done in range(1, rounds + 1):
        decision = decide(
            [each for each in made if each.round < done], cell, plan, done * spent_s_per_round
        )
        if decision.enough:
            return done, decision.verdict
    return None, decision.verdict


def test_a_quiet_cell_is_enough_after_five_narrow_rounds():
    assert rounds_until_enough(samples(12, scatter=0.0001)) == (6, Verdict.STABLE)


def test_no_fewer_rounds_than_the_plan_asks_for():
    plan = replace(PLAN, min_rounds=9)
    assert rounds_until_enough(samples(12, scatter=0.0001), plan=plan) == (9, Verdict.STABLE)


def test_a_noisy_cell_ends_with_its_budget():
    made = samples(30, scatter=0.06)
    assert rounds_until_enough(made) == (14, Verdict.BUDGET)
    assert rounds_until_enough(made, cell=replace(CELL, budget_s=None))[0] is None


def test_a_trend_is_not_left_before_the_budget_is_spent():
    made = slowed(samples(30, scatter=0.001), Arm.CORBA, lambda number: 1 - 0.006 * number)
    assert rounds_until_enough(made) == (14, Verdict.UNSTABLE)


def test_hopeless_scatter_is_left_early():
    done, verdict = rounds_until_enough(samples(14, scatter=1.5))
    assert verdict is Verdict.UNSTABLE
    assert done < 14


def test_given_rounds_are_run_to_the_last_and_no_further():
    cell = replace(CELL, rounds=7, budget_s=1.0)
    assert rounds_until_enough(samples(12, scatter=0.0001), cell=cell) == (7, Verdict.STABLE)
    assert rounds_until_enough(samples(12, scatter=0.06, seed=2), cell=cell) == (7, Verdict.BUDGET)


def test_rounds_end_at_the_most_that_the_plan_allows_even_if_all_fail():
    plan = replace(PLAN, max_rounds=9)
    made = [make_failed(each) for each in samples(12)]
    cell = replace(CELL, budget_s=None)
    assert rounds_until_enough(made, cell=cell, plan=plan) == (9, Verdict.BUDGET)


@pytest.mark.parametrize(
    ("arms", "names"),
    [
        (("stream", "call", "corba"), ["corba ÷ stream", "corba ÷ call"]),
        (("corba", "stream", "ami"), ["corba ÷ stream", "ami ÷ stream"]),
        (("stream", "call", "iperf3"), ["call ÷ stream", "iperf3 ÷ stream"]),
        (("pingpong", "echo"), ["echo ÷ pingpong"]),
        (("empty",), ["empty"]),
    ],
)
def test_the_ratios_that_must_become_stable(arms, names):
    cases = make_plan(sizes=(1024,), threads=(1,), arms=tuple(map(Arm, arms))).cells[0].cases
    assert [str(each) for each in comparisons(cases)] == names


def test_a_baseline_has_the_same_options():
    nagle = Options(nodelay=False)
    cases = tuple(
        replace(case, options=options) for options in (Options(), nagle) for case in CELL.cases
    )
    for each in comparisons(cases):
        assert each.above.options == each.below.options
    assert len(comparisons(cases)) == 4


def test_a_single_case_is_judged_by_its_goodput():
    cell = replace(CELL, cases=CELL.cases[:1])
    quiet = [each for each in samples(8) if each.case in cell.cases]
    assert decide(quiet, cell, PLAN, 1.0).verdict is Verdict.STABLE
    loud = [each for each in samples(8, scatter=0.2) if each.case in cell.cases]
    assert decide(loud, cell, PLAN, 1.0).verdict is Verdict.BUDGET


def test_arms_on_different_links_are_not_compared():
    cases = [
        make_case(arm, link=link) for link in ("ib", "10ge") for arm in (Arm.STREAM, Arm.CORBA)
    ]
    assert [(each.above.link, each.below.link) for each in comparisons(cases)] == [
        ("ib", "ib"),
        ("10ge", "10ge"),
    ]
