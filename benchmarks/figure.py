"""A figure with its target, as it stands in the tables of `invoke bench`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orbtax.report.numbers import significant
from orbtax.report.tables import MISSING, Align, Column, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One thing that was found out, in `unit`, and what it is to be."""

    what: str
    value: float  # the median of the rounds
    unit: str = ""
    low: float | None = None  # of the 95 % interval
    high: float | None = None
    rounds: int = 1
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.at_least is not None:
            return self.value >= self.at_least
        return None if self.at_most is None else self.value <= self.at_most

    @property
    def in_noise(self) -> bool:
        """Whether the interval holds the target, so that the rounds do not tell on which side."""
        target = self.at_most if self.at_least is None else self.at_least
        if target is None or self.low is None or self.high is None:
            return False
        return self.low <= target <= self.high


def figure_table(title: str, figures: Sequence[Figure], *, judged: bool) -> Table:
    """Figures beside their targets; those that are not `judged` come from too little work."""
    rows = [
        (
            figure.what,
            _with_unit(figure.value, figure),
            _interval(figure),
            str(figure.rounds),
            _target(figure),
            _verdict(figure) if judged else "not judged",
        )
        for figure in figures
    ]
    columns = (
        Column("what", align=Align.LEFT),
        Column("median"),
        Column("95 % interval"),
        Column("rounds"),
        Column("target"),
        Column("verdict", align=Align.LEFT),
    )
    return Table(title=title, columns=columns, rows=tuple(rows))


def _with_unit(value: float, figure: Figure) -> str:
    number = f"{value:.3f}" if not figure.unit else significant(value)
    return f"{number} {figure.unit}".rstrip()


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return MISSING
    return f"{_with_unit(figure.low, figure)} to {_with_unit(figure.high, figure)}"


def _target(figure: Figure) -> str:
    if figure.at_least is not None:
        return f"≥ {_with_unit(figure.at_least, figure)}"
    return MISSING if figure.at_most is None else f"≤ {_with_unit(figure.at_most, figure)}"


def _verdict(figure: Figure) -> str:
    if figure.met is None:
        return MISSING
    if figure.met:
        return "met"
    return "NOT MET, or noise" if figure.in_noise else "NOT MET"
