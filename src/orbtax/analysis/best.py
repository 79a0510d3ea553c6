"""The best case of each arm on a link, and its goodput over that of the best `stream`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orbtax.analysis.rates import CaseRates
from orbtax.analysis.ratio import Interval
from orbtax.analysis.search import Setting, choose, rate_ratio
from orbtax.model import Arm, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class BestCase:
    """The case of one arm that moved most on a link.

    It is chosen after the fact, so that it is a little flattered by chance, for all arms alike.
    """

    arm: Arm
    payload_bytes: int
    threads: int
    options: Options
    goodput_bit_s: Interval
    efficiency_link: Interval | None  # over the best case of `stream`; None without one
    paired: bool  # whether both were measured in the same rounds


def best_cases(rates: Iterable[CaseRates], width: float) -> tuple[BestCase, ...]:
    """The best case of every arm that moved something, in the order of `Arm`.

    `rates` are those of one link. Of the cases that the noise does not tell from the fastest and
    whose mean is within `width` of it the simplest is taken (`orbtax.analysis.search.choose`).
    """
    candidates: dict[Arm, list[CaseRates]] = {}
    for each in rates:
        if each.case.payload_bytes:
            candidates.setdefault(each.case.arm, []).append(each)
    chosen = {arm: choose(candidates[arm], width, most=width) for arm in Arm if arm in candidates}
    best = {arm: choice.taken for arm, choice in chosen.items() if choice is not None}
    return tuple(_best_case(each, best.get(Arm.STREAM)) for each in best.values())


def _best_case(best: Setting, stream: Setting | None) -> BestCase:
    efficiency, paired = None, False
    if stream is not None and best is not stream:
        efficiency, paired = rate_ratio(best.rates, stream.rates)
    return BestCase(
        arm=best.case.arm,
        payload_bytes=best.case.payload_bytes,
        threads=best.case.threads,
        options=best.case.options,
        goodput_bit_s=best.rate,
        efficiency_link=efficiency,
        paired=paired,
    )
