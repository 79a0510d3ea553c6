"""The best case of each arm on a link, and its goodput over that of the best `stream`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orbtax.analysis.rates import CaseRates, aligned
from orbtax.analysis.ratio import Interval, geometric_mean, independent_ratio, paired_ratio
from orbtax.model import Arm, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class BestCase:
    """The case of one arm that moved most on a link.

    The highest geometric mean is chosen after the fact, so that it is a little flattered by
    chance, for all arms alike.
    """

    arm: Arm
    payload_bytes: int
    threads: int
    options: Options
    goodput_bit_s: Interval
    efficiency_link: Interval | None  # over the best case of `stream`; None without one
    paired: bool  # whether both were measured in the same rounds


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A case that moved something, with its goodput in bit/s."""

    rates: CaseRates
    goodput: Interval

    @property
    def simplicity(self) -> tuple[int, int]:
        return self.rates.case.threads, self.rates.case.payload_bytes

    def ties(self, fastest: _Candidate, width: float) -> bool:
        if self.goodput.value == fastest.goodput.value:
            return True
        ratio = independent_ratio(fastest.rates.in_order(), self.rates.in_order())
        return ratio is not None and ratio.value <= 1 + width and ratio.covers(1.0)


def best_cases(rates: Iterable[CaseRates], width: float) -> tuple[BestCase, ...]:
    """The best case of every arm that moved something, in the order of `Arm`.

    `rates` are those of one link. A case ties with the fastest if its mean is within
    `width` of it and the interval of their ratio holds 1; of those that tie, fewer threads are
    better, then smaller payloads.
    """
    candidates: dict[Arm, list[_Candidate]] = {}
    for each in rates:
        goodput = geometric_mean(each.in_order())
        if goodput is not None and each.case.payload_bytes:
            candidates.setdefault(each.case.arm, []).append(_Candidate(each, goodput))
    best = {arm: _simplest_fastest(candidates[arm], width) for arm in Arm if arm in candidates}
    return tuple(_best_case(each, best.get(Arm.STREAM)) for each in best.values())


def _simplest_fastest(candidates: Iterable[_Candidate], width: float) -> _Candidate:
    listed = list(candidates)
    fastest = max(listed, key=lambda each: each.goodput.value)
    return min(
        (each for each in listed if each.ties(fastest, width)), key=lambda each: each.simplicity
    )


def _best_case(best: _Candidate, stream: _Candidate | None) -> BestCase:
    case = best.rates.case
    efficiency, paired = None, False
    if stream is not None and case.arm is not Arm.STREAM:
        efficiency = paired_ratio(*aligned(best.rates, stream.rates))
        paired = efficiency is not None
        if not paired:
            efficiency = independent_ratio(best.rates.in_order(), stream.rates.in_order())
    return BestCase(
        arm=case.arm,
        payload_bytes=case.payload_bytes,
        threads=case.threads,
        options=case.options,
        goodput_bit_s=best.goodput,
        efficiency_link=efficiency,
        paired=paired,
    )
