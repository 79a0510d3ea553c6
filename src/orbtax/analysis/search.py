"""The best of many settings, where an advantage that may be chance does not count.

Who picks the highest of many noisy means picks noise. Here every setting that the noise does not
tell from the fastest ties with it, and of those the simplest is taken, as by the rule of one
standard error (Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from statistics import median

from orbtax.analysis.rates import CaseRates, aligned
from orbtax.analysis.ratio import Interval, geometric_mean, independent_ratio, paired_ratio
from orbtax.model import Case, Options
from orbtax.record import BufferRecord, Sample

FEWEST_ROUNDS = 4
"""With fewer, a 95 % interval is too wide to say what is noise; the wanted width says it then."""

NO_DIFFERENCE = 0.005
"""What clocks, counters and token buckets may be off by is no advantage, however steady it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A case that moved something, beside the fastest one of the search."""

    rates: CaseRates
    rate: Interval  # bit/s, or messages per second in a case without payload
    behind: Interval | None  # the fastest's rate over its own; None: it is the fastest
    tied: bool  # whether the noise does not tell it from the fastest

    @property
    def case(self) -> Case:
        """The setting itself."""
        return self.rates.case


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The setting taken, and the others that were tried, in the order of the plan."""

    taken: Setting
    fastest: Setting
    settings: tuple[Setting, ...]

    @property
    def tied(self) -> int:
        """How many settings the noise does not tell from the fastest, that one included."""
        return sum(setting.tied for setting in self.settings)


def choose(candidates: Iterable[CaseRates], width: float, most: float = math.inf) -> Choice | None:
    """The simplest setting that ties with the fastest; None if none of them moved anything.

    The fastest has the highest geometric mean. Another one ties with it if it is within 0.5 %, or
    if the 95 % interval of their ratio holds 1, paired by round where both were run in the same
    rounds, and the settings of the search usually scatter enough for that: a single wild one does
    not tie with a steady one that is faster. Simpler is: fewer options set by hand, then fewer
    threads, smaller payloads, smaller buffers.

    Args:
        candidates: the settings, in the order of the plan.
        width: the share that counts as no difference; of fewer than four rounds, which cannot
            tell what is noise, a tie must be within it.
        most: the largest advantage, as a share, that may ever pass for chance.
    """
    measured = [
        (rates, rate)
        for rates in candidates
        if (rate := geometric_mean(rates.in_order())) is not None
    ]
    if not measured:
        return None
    top, top_rate = max(measured, key=lambda each: each[1].value)
    largest = min(most, _noise(top_rate, [rate for _, rate in measured], width))
    settings = tuple(_setting(rates, rate, top, largest) for rates, rate in measured)
    return Choice(
        taken=min((each for each in settings if each.tied), key=lambda each: simplicity(each.case)),
        fastest=next(each for each in settings if each.behind is None),
        settings=settings,
    )


def simplicity(case: Case) -> tuple[int, int, int, int]:
    """What sorts settings from simple to elaborate."""
    options, default = case.options, Options()
    by_hand = [
        field.name
        for field in fields(Options)
        if getattr(options, field.name) != getattr(default, field.name)
    ]
    buffers_bytes = (options.send_buffer_bytes or 0) + (options.receive_buffer_bytes or 0)
    return len(by_hand), case.threads, case.payload_bytes, buffers_bytes


def rate_ratio(above: CaseRates, below: CaseRates) -> tuple[Interval | None, bool]:
    """The ratio of two cases' rates, and whether it is paired by rounds that both were run in."""
    paired = paired_ratio(*aligned(above, below))
    if paired is not None:
        return paired, True
    return independent_ratio(above.in_order(), below.in_order()), False


def buffer_in_force(records: Sequence[BufferRecord | None]) -> BufferRecord | None:
    """One buffer over all blocks of a case: the largest seen, clipped if it ever was."""
    known = [record for record in records if record is not None]
    if not known:
        return None
    sizes = [record.effective_bytes for record in known if record.effective_bytes is not None]
    return BufferRecord(
        requested_bytes=known[0].requested_bytes,
        effective_bytes=max(sizes, default=None),
        clipped=any(record.clipped for record in known),
        autotuned=any(record.autotuned for record in known),
        limit=next((record.limit for record in known if record.limit is not None), None),
    )


def windows_in_force(samples: Sequence[Sample]) -> tuple[BufferRecord | None, BufferRecord | None]:
    """The send buffer at the client and the receive buffer at the servant, over all blocks."""
    return (
        buffer_in_force([sample.client.send_buffer for sample in samples if sample.client]),
        buffer_in_force([sample.servant.receive_buffer for sample in samples if sample.servant]),
    )


def _setting(rates: CaseRates, rate: Interval, top: CaseRates, largest: float) -> Setting:
    if rates is top:
        return Setting(rates=rates, rate=rate, behind=None, tied=True)
    behind, _ = rate_ratio(top, rates)
    return Setting(rates=rates, rate=rate, behind=behind, tied=_is_tie(behind, largest))


def _noise(fastest: Interval, rates: Sequence[Interval], width: float) -> float:
    """The largest advantage, as a share, that may be noise.

    It is the half-width of the ratio of two settings that scatter as the fastest does, or as the
    median of all settings if that is more.
    """
    reaches = [each.half_width for each in rates if each.half_width is not None]
    if fastest.rounds < FEWEST_ROUNDS or fastest.half_width is None:
        return width
    return math.pow(1 + max(fastest.half_width, median(reaches)), math.sqrt(2)) - 1


def _is_tie(behind: Interval | None, largest: float) -> bool:
    if behind is None:
        return False
    if behind.value <= 1 + NO_DIFFERENCE:
        return True
    return behind.value <= 1 + largest and (behind.low is None or behind.low <= 1)
