"""A run that does not fit together is refused by what is wrong with it."""

from __future__ import annotations

import dataclasses

import pytest
from builders import make_run

from orbtax.consistency import consistent
from orbtax.errors import RequestError
from orbtax.record import Latencies, Run

RUN = make_run()


def with_sample(**changes: object) -> Run:
    spoilt = dataclasses.replace(RUN.samples[1], **changes)  # type: ignore[arg-type]
    return dataclasses.replace(RUN, samples=(RUN.samples[0], spoilt))


def with_plan(**changes: object) -> Run:
    plan = dataclasses.replace(RUN.record.plan, **changes)  # type: ignore[arg-type]
    return dataclasses.replace(RUN, record=dataclasses.replace(RUN.record, plan=plan))


def test_a_run_that_fits_is_given_back() -> None:
    assert consistent(RUN) is RUN


CASE = RUN.samples[1].case
ONE_CALL = Latencies(calls=1, min_ns=1, max_ns=1, sum_ns=1, bins=(1,), counts=(1,))


@pytest.mark.parametrize(
    ("spoilt", "named"),
    [
        (with_plan(links=()), "which the plan lacks"),
        (
            with_plan(cells=(dataclasses.replace(RUN.record.plan.cells[0], cases=()),)),
            "cell 0 of the plan has no cases",
        ),
        (with_sample(cell=999), "sample 2 is of cell 999"),
        (with_sample(cell=-1), "sample 2 is of cell -1"),
        (with_sample(case=dataclasses.replace(CASE, link="elsewhere")), "'elsewhere'"),
        (with_sample(goodput_bit_s=-1.0), "below what it can be"),
        (with_sample(case=dataclasses.replace(CASE, threads=0)), "below what it can be"),
        (with_sample(latencies=dataclasses.replace(ONE_CALL, bins=(-1,))), "no histogram"),
        (with_sample(latencies=dataclasses.replace(ONE_CALL, counts=(1, 2))), "no histogram"),
        (with_sample(latencies=dataclasses.replace(ONE_CALL, calls=2)), "no histogram"),
    ],
)
def test_what_cannot_be_is_named(spoilt: Run, named: str) -> None:
    with pytest.raises(RequestError, match=named):
        consistent(spoilt)
