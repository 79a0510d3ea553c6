"""The front of the study's report: the published table's shape, surfaces, and efficiency curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from orbtax.analysis.ratio import Interval
from orbtax.model import Arm, Options
from orbtax.report.charts import Chart, HeatMap, Line, Mark, Panel, Reference
from orbtax.report.content import Report
from orbtax.report.front import Drawing, Front, file_name, listed, measured
from orbtax.report.numbers import counted, per_cent
from orbtax.report.plots import surface
from orbtax.report.results import cells_table
from orbtax.report.style import BLUE, GREEN, INK, ORANGE, PURPLE, VERMILION, Look
from orbtax.studies.study_results import Outcome, Variation, published_pair
from orbtax.studies.study_tables import search_table, study_table, variation_table
from orbtax.studies.study_words import answer

_LOOKS = (
    Look(INK, "o"),
    Look(BLUE, "s"),
    Look(GREEN, "^"),
    Look(ORANGE, "v"),
    Look(VERMILION, "D"),
    Look(PURPLE, "P"),
)
_CURVES = (1, 2, 8, 16, 26, 32)
"""Numbers of threads that get a curve where more were measured than could be told apart."""


def study_front(
    report: Report, outcomes: Sequence[Outcome], variations: Sequence[Variation]
) -> Front:
    """What the page shows first; the rest of it is the evidence that every report has."""
    varied = (variation_table(variations),) if variations else ()
    return Front(
        title="The mailing-list study on "
        + (listed(outcome.report.name for outcome in outcomes) or "no link"),
        measured=measured(report),
        answers=tuple(map(answer, outcomes)),
        best=(study_table(outcomes), *varied),
        drawings=tuple(drawing for outcome in outcomes for drawing in drawings(outcome)),
        cells=(*map(search_table, outcomes), *(cells_table(each) for each in report.results)),
    )


def drawings(outcome: Outcome) -> tuple[Drawing, ...]:
    """The figures of one link: the surface of the calls and their efficiency."""
    name = file_name(outcome.report)
    contents = calls_surface(outcome), efficiency_curves(outcome)
    return tuple(Drawing(f"{content.name}-{name}", content) for content in contents)


def calls_surface(outcome: Outcome) -> HeatMap:
    """Goodput of the calls by payload and threads, with the published optimum as a ring."""
    result = outcome.report.result
    calls = tuple(
        cell for cell in result.cells if cell.options == Options() and cell.arm(Arm.CORBA)
    )
    heat_map = surface(replace(result, cells=calls), Arm.CORBA, marks=tuple(_marks(outcome)))
    best = outcome.ours.corba
    return replace(heat_map, taken=(best.case.threads, best.case.payload_bytes) if best else None)


def efficiency_curves(outcome: Outcome) -> Chart:
    """The calls against the best socket over the payload, a line for each number of threads."""
    counts = sorted({case.threads for case in outcome.rates if case.arm is Arm.CORBA})
    if len(counts) > len(_LOOKS):
        counts = [count for count in _CURVES if count in counts] or counts[: len(_LOOKS)]
    lines = tuple(_line(outcome, count, look) for count, look in zip(counts, _LOOKS, strict=False))
    return Chart(
        name="efficiency",
        title="Efficiency against the link",
        subject=outcome.report.name,
        y_label="CORBA ÷ best socket",
        panels=(Panel("by threads", lines),),
        per_cent=True,
        reference=_published_level(outcome),
    )


def _marks(outcome: Outcome) -> Iterator[Mark]:
    if outcome.published is not None:
        threads, size = outcome.published.corba_threads, outcome.published.corba_kb_per_call
        yield Mark(
            outcome.published.corba_payload_bytes,
            threads,
            f"published optimum, {counted(threads, 'thread')} and {size} kB",
        )


def _published_level(outcome: Outcome) -> Reference | None:
    if outcome.published is None:
        return None
    efficiency = published_pair(outcome.published).efficiency
    if efficiency is None:
        return None
    return Reference(efficiency.value, f"published, {per_cent(efficiency.value)} % at its best")


def _line(outcome: Outcome, threads: int, look: Look) -> Line:
    cases = sorted(
        (case for case in outcome.rates if case.arm is Arm.CORBA and case.threads == threads),
        key=lambda case: case.payload_bytes,
    )
    bounds = [_bounds(outcome.against_link(case)) for case in cases]
    return Line(
        label=counted(threads, "thread"),
        look=look,
        x_bytes=[case.payload_bytes for case in cases],
        y=[value for value, _, _ in bounds],
        low=[low for _, low, _ in bounds],
        high=[high for _, _, high in bounds],
    )


def _bounds(interval: Interval | None) -> tuple[float, float, float]:
    if interval is None:
        return math.nan, math.nan, math.nan
    if interval.low is None or interval.high is None:
        return interval.value, math.nan, math.nan
    return interval.value, interval.low, interval.high
