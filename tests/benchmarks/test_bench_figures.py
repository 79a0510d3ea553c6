"""Figures of `invoke bench` beside their targets, and how two cases are run in turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from benchmarks.figure import Figure, figure_table
from benchmarks.lane import Rates, in_turn
from benchmarks.scale import FULL, SMOKE, Scale
from benchmarks.volume import keep, large_run

from orbtax import store


@pytest.mark.parametrize(
    ("target", "value", "met"),
    [
        ({"at_least": 1.0}, 1.0, True),
        ({"at_least": 1.0}, 0.999, False),
        ({"at_most": 5.0}, 5.0, True),
        ({"at_most": 5.0}, 5.1, False),
        ({}, 5.0, None),
    ],
)
def test_a_target_is_met_or_not(target: dict[str, float], value: float, met: bool | None) -> None:
    assert Figure(what="x", value=value, **target).met is met


def test_every_figure_stands_beside_its_target() -> None:
    figures = [
        Figure(what="fast", value=1.2, low=1.1, high=1.3, rounds=9, at_least=1.0),
        Figure(what="heavy", value=300.0, unit="MB", at_most=250.0),
        Figure(what="other", value=2.0, unit="s"),
        Figure(what="slow", value=0.9, low=0.8, high=1.1, rounds=9, at_least=1.0),
        Figure(what="slower", value=0.9, low=0.8, high=0.95, rounds=9, at_least=1.0),
    ]
    rows = figure_table("t", figures, judged=True).rows
    assert rows[0] == ("fast", "1.200", "1.100 to 1.300", "9", "≥ 1.000", "met")
    assert rows[1] == ("heavy", "300 MB", "–", "1", "≤ 250 MB", "NOT MET")
    assert rows[2][-2:] == ("–", "–")
    assert [row[-1] for row in rows[3:]] == ["NOT MET, or noise", "NOT MET"]
    assert {row[-1] for row in figure_table("t", figures, judged=False).rows} == {"not judged"}


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    figure = Rates(above=[[2.0, 3.0], [9.0]], below=[[1.0, 2.0], [3.0]]).ratio("x", at_least=1.0)
    assert figure.value == pytest.approx(2.0)
    assert (figure.rounds, figure.met) == (3, True)
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low < 2.0 < figure.high


def test_a_cost_is_the_share_that_is_lost() -> None:
    figure = Rates(above=[[99.0], [97.0], [98.0]], below=[[100.0]] * 3).cost("x", at_most=3.0)
    assert figure.value == pytest.approx(2.0)
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low < 2.0 < figure.high
    assert figure.met


def test_rounds_of_one_sitting_count_as_one() -> None:
    below = [[1.0] * 20] * 2
    lucky = Rates(above=[[1.0] * 20, [1.1] * 20], below=below).ratio("x", at_least=1.0)
    assert lucky.rounds == 40
    assert lucky.low is not None
    assert lucky.low < 0.9
    alone = Rates(above=[[1.0, 1.1]], below=[[1.0, 1.0]]).ratio("x", at_least=1.0)
    assert (alone.low, alone.high) == (None, None)


class FakeLane:
    def __init__(self, name: str, log: list[str]) -> None:
        self._name, self._log = name, log

    def goodput_bit_s(self) -> float:
        self._log.append(self._name)
        return 3.0 if self._name == "above" else 2.0


def test_two_lanes_are_run_in_turn_in_every_sitting() -> None:
    log: list[str] = []

    @contextmanager
    def sides() -> Iterator[tuple[FakeLane, FakeLane]]:
        log.append("start")
        yield FakeLane("above", log), FakeLane("below", log)

    scale: Scale = replace(SMOKE, sittings=2, rounds=2)
    rates = in_turn(sides, scale)  # type: ignore[arg-type]
    assert log == 2 * ["start", "above", "below", "below", "above"]
    assert rates.ratio("x", at_least=1.0).value == pytest.approx(1.5)
    assert rates.ratio("x", at_least=1.0).rounds == 4


def test_a_smoke_run_judges_nothing() -> None:
    assert FULL.judged
    assert not SMOKE.judged


def test_a_large_run_is_as_large_as_asked_and_can_be_read(tmp_path) -> None:
    run = large_run(130)
    assert len(run.samples) == 130
    assert len({(s.case, s.round) for s in run.samples}) == 130
    keep(run, tmp_path / "run")
    assert store.read(tmp_path / "run").samples == run.samples
