"""Sizes, rates, durations, counts and shares as people write them, parsed and printed exactly.

A size takes KiB MiB GiB (1024) or kB MB GB (1000) or B, a rate bit/s kbit/s Mbit/s Gbit/s (1000),
a duration us ms s min h. Letter case matters and a bare number or letter is refused, so that 10^3
and 2^10 never meet. `format_*` is exact (parsing it gives the same value back), `display_*` rounds
to three significant digits for people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from orbtax.errors import RequestError

T = TypeVar("T")

_WRITTEN = re.compile(r"(?P<sign>[-+]?)(?P<number>[0-9]{1,40}(\.[0-9]{1,40})?) *(?P<unit>[^0-9.]*)")


@dataclass(frozen=True, slots=True)
class _Quantity:
    """What can be written with a unit, and how a refusal explains it."""

    name: str
    units: Mapping[str, Fraction]
    base: str
    example_unit: str
    rule: str


_SIZE = _Quantity(
    name="size",
    units={
        "B": Fraction(1),
        "kB": Fraction(1000),
        "KiB": Fraction(1024),
        "MB": Fraction(1000**2),
        "MiB": Fraction(1024**2),
        "GB": Fraction(1000**3),
        "GiB": Fraction(1024**3),
    },
    base="B",
    example_unit="KiB",
    rule="a size ends in KiB, MiB, GiB (1024), kB, MB, GB (1000) or B",
)
_RATE = _Quantity(
    name="rate",
    units={
        "bit/s": Fraction(1),
        "kbit/s": Fraction(1000),
        "Mbit/s": Fraction(1000**2),
        "Gbit/s": Fraction(1000**3),
    },
    base="bit/s",
    example_unit="Gbit/s",
    rule="a rate ends in bit/s, kbit/s, Mbit/s or Gbit/s (1000)",
)
_DURATION = _Quantity(
    name="duration",
    units={
        "us": Fraction(1, 1000**2),
        "ms": Fraction(1, 1000),
        "s": Fraction(1),
        "min": Fraction(60),
        "h": Fraction(3600),
    },
    base="s",
    example_unit="s",
    rule="a duration ends in us, ms, s, min or h",
)
_SHARE = _Quantity(
    name="share",
    units={"%": Fraction(1, 100)},
    base="%",
    example_unit="%",
    rule="a share is written in per cent",
)


def parse_size(text: str, *, allow_zero: bool = False) -> int:
    """Bytes of a written size such as `64KiB` or `8 GB`; RequestError says what is wrong."""
    return _whole(text, _parse(text, _SIZE, allow_zero), _SIZE, "bytes")


def format_size(size_bytes: int) -> str:
    """The shortest exact writing of a size: `64 KiB`, `8 GB`, `87380 B`."""
    return _format(Fraction(size_bytes), _SIZE)


def display_size(size_bytes: float) -> str:
    """A size for people, in units of 1000: `256 MB`, `1.23 GB`."""
    return _display(size_bytes, {"GB": 9, "MB": 6, "kB": 3, "B": 0})


def parse_rate(text: str) -> int:
    """Bits per second of a written rate such as `10Gbit/s`; RequestError says what is wrong."""
    return _whole(text, _parse(text, _RATE), _RATE, "bits per second")


def format_rate(rate_bit_s: int) -> str:
    """The shortest exact writing of a rate: `10 Gbit/s`, `2500 Mbit/s`."""
    return _format(Fraction(rate_bit_s), _RATE)


def display_rate(rate_bit_s: float) -> str:
    """A rate for people: `8.76 Gbit/s`."""
    return _display(rate_bit_s, {"Gbit/s": 9, "Mbit/s": 6, "kbit/s": 3, "bit/s": 0})


def parse_duration(text: str, *, allow_zero: bool = False) -> float:
    """Seconds of a written duration such as `200ms` or `2min`; RequestError if it is none."""
    return float(_parse(text, _DURATION, allow_zero))


def format_duration(duration_s: float) -> str:
    """An exact writing of a duration between 1 ns and 10^15 s: `200 ms`, `2 min`, `0.1234567 s`."""
    return _format(Fraction(repr(float(duration_s))), _DURATION)


def display_duration(duration_s: float) -> str:
    """A duration for people: `1.23 ms`, `8.76 s`, `1 min 34 s`, `2 h 05 min`."""
    whole_s = round(duration_s)
    if whole_s >= 3600:
        whole_min = round(duration_s / 60)
        return f"{whole_min // 60} h {whole_min % 60:02} min"
    if whole_s >= 60:
        return f"{whole_s // 60} min {whole_s % 60:02} s"
    return _display(duration_s, {"s": 0, "ms": -3, "µs": -6, "ns": -9})


def parse_count(text: str) -> int:
    """A whole number of at least 1, such as a number of threads; RequestError if it is none."""
    digits = text.strip()  # of more than `int` takes away: "\x1f", for one
    if not re.fullmatch(r"[0-9]{1,18}", digits) or int(digits) == 0:
        raise RequestError(f"{text!r} is no count: write a whole number from 1 up, for example 4")
    return int(digits)


def parse_share(text: str) -> float:
    """A share from a written one such as `3%` → 0.03: above 0 %, at most 100 %."""
    share = _parse(text, _SHARE)
    if share > 1:
        raise RequestError(f"share {text!r} is more than the whole: write at most 100%")
    return float(share)


def parse_list(text: str, parse: Callable[[str], T]) -> tuple[T, ...]:
    """The items of a list such as `1,4,16`, each read by `parse`.

    An empty item and a value given twice are a RequestError, as is what `parse` refuses.
    """
    written = text.split(",")
    if not all(item.strip() for item in written):
        raise RequestError(
            f"list {text!r} has an empty item: write values with one comma between, for example 1,4"
        )
    items: list[T] = []
    for item in written:
        value = parse(item.strip())
        if value in items:
            raise RequestError(f"list {text!r} has {item.strip()} twice: give each value once")
        items.append(value)
    return tuple(items)


def _parse(text: str, quantity: _Quantity, allow_zero: bool = False) -> Fraction:
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        raise RequestError(
            f"{quantity.name} {text!r} is not a number with a unit: {quantity.rule}, "
            f"for example 64{quantity.example_unit}"
        )
    number, unit = written["number"], written["unit"]
    if unit not in quantity.units:
        fault = f"the unit {unit!r} is unknown" if unit else "the unit is missing"
        # A bare number most likely counts the base unit.
        likely = quantity.example_unit if unit or quantity is not _SIZE else quantity.base
        example = f"{number}{likely}" if Fraction(number) else f"1{quantity.example_unit}"
        raise RequestError(
            f"{quantity.name} {text!r}: {fault}; {quantity.rule}, for example {example}"
        )
    value = Fraction(number) * quantity.units[unit]
    if written["sign"] == "-" or (value == 0 and not allow_zero):
        least = "zero or more" if allow_zero else "more than zero"
        raise RequestError(
            f"{quantity.name} {text!r}: it must be {least}, for example 1{quantity.example_unit}"
        )
    return value


def _whole(text: str, value: Fraction, quantity: _Quantity, of_what: str) -> int:
    if value.denominator != 1:
        raise RequestError(
            f"{quantity.name} {text!r} is not a whole number of {of_what}: "
            f"round it, for example {max(1, round(value))}{quantity.base}"
        )
    return value.numerator


def _format(value: Fraction, quantity: _Quantity) -> str:
    """The unit that leaves the smallest whole number; the base unit with decimals if none does."""
    whole = [
        (value / factor, unit)
        for unit, factor in quantity.units.items()
        if (value / factor).denominator == 1
    ]
    if value == 0:
        return f"0 {quantity.base}"
    if whole:
        number, unit = min(whole)
        return f"{number} {unit}"
    return f"{Decimal(value.numerator) / Decimal(value.denominator):f} {quantity.base}"


def _display(value: float, exponents: Mapping[str, int]) -> str:
    """Three significant digits in the largest unit (of a falling list) that the value reaches."""
    rounded = Decimal(f"{value:.2e}")
    if rounded == 0:
        return f"0 {next(unit for unit, exponent in exponents.items() if exponent == 0)}"
    reached = (
        unit for unit, exponent in exponents.items() if abs(rounded) >= Decimal(1).scaleb(exponent)
    )
    unit = next(reached, list(exponents)[-1])
    return f"{rounded.scaleb(-exponents[unit]):f} {unit}"
