import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orbtax.errors import RequestError
from orbtax.units import (
    display_duration,
    display_rate,
    display_size,
    format_duration,
    format_rate,
    format_size,
    parse_count,
    parse_duration,
    parse_list,
    parse_rate,
    parse_share,
    parse_size,
)

SIZE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
RATE_UNITS = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9}


@given(st.integers(min_value=1, max_value=10**6), st.sampled_from(sorted(SIZE_UNITS)))
def test_a_size_means_what_its_unit_says(number: int, unit: str) -> None:
    assert parse_size(f"{number}{unit}") == number * SIZE_UNITS[unit]
    assert parse_size(f"{number} {unit}") == number * SIZE_UNITS[unit]


@given(st.integers(min_value=1, max_value=10**24))
def test_a_size_survives_print_and_parse(size_bytes: int) -> None:
    assert parse_size(format_size(size_bytes)) == size_bytes


@given(st.integers(min_value=1, max_value=10**18))
def test_a_rate_survives_print_and_parse(rate_bit_s: int) -> None:
    assert parse_rate(format_rate(rate_bit_s)) == rate_bit_s


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_a_duration_survives_print_and_parse(duration_s: float) -> None:
    assert parse_duration(format_duration(duration_s)) == duration_s


@given(st.integers(min_value=1, max_value=10**6))
def test_thousands_and_powers_of_two_never_meet(number: int) -> None:
    for thousand, power in (("kB", "KiB"), ("MB", "MiB"), ("GB", "GiB")):
        assert parse_size(f"{number}{thousand}") != parse_size(f"{number}{power}")
        with pytest.raises(RequestError):
            parse_size(f"{number}{power.swapcase()}")
        with pytest.raises(RequestError):
            parse_size(f"{number}{power[0]}")


@pytest.mark.parametrize(
    ("size_bytes", "written"),
    [
        (65536, "64 KiB"),
        (8_000_000_000, "8 GB"),
        (87380, "87380 B"),
        (256_000_000, "256 MB"),
        (2**20, "1 MiB"),
        (1500, "1500 B"),
    ],
)
def test_a_size_is_printed_as_people_know_it(size_bytes: int, written: str) -> None:
    assert format_size(size_bytes) == written


def test_decimals_are_taken_when_they_give_whole_bytes() -> None:
    assert parse_size("1.5KiB") == 1536
    assert parse_size("0.5 GB") == 500_000_000
    assert parse_rate("2.5Gbit/s") == 2_500_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("64K", "64KiB"),
        ("64k", "KiB, MiB, GiB"),
        ("64KB", "'KB'"),
        ("64kib", "'kib'"),
        ("64", "the unit is missing"),
        ("0", "the unit is missing"),
        ("0B", "more than zero"),
        ("0.0KiB", "more than zero"),
        ("-1KiB", "more than zero"),
        ("nan", "not a number"),
        ("nanKiB", "not a number"),
        ("infB", "not a number"),
        ("1e3B", "not a number"),
        ("KiB", "not a number"),
        ("", "not a number"),
        (".5KiB", "not a number"),
        ("1.KiB", "not a number"),
        ("٤KiB", "not a number"),
        ("9" * 5000 + "B", "not a number"),
        ("1.3B", "whole number of bytes"),
        ("0.3B", "for example 1B"),
        ("1KiB,2KiB", "not a number"),
    ],
)
def test_a_wrong_size_is_refused_with_value_and_cure(text: str, expected: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse_size(text)
    assert repr(text) in str(refused.value)
    assert expected in str(refused.value)
    assert "for example" in str(refused.value)


@given(st.text(max_size=20))
@example("0\x1f")
@example("7\x1f")
def test_any_other_text_is_refused_or_read_but_never_a_fault(text: str) -> None:
    for parse in (parse_size, parse_rate, parse_duration, parse_count, parse_share):
        try:
            value = parse(text)
        except RequestError:
            continue
        assert value > 0
        assert math.isfinite(value)


def test_zero_is_taken_only_where_it_is_allowed() -> None:
    assert parse_size("0B", allow_zero=True) == 0
    assert parse_size(format_size(0), allow_zero=True) == 0
    assert parse_duration(format_duration(0), allow_zero=True) == 0
    with pytest.raises(RequestError, match="zero or more"):
        parse_size("-1B", allow_zero=True)


@given(st.integers(min_value=1, max_value=10**6), st.sampled_from(sorted(RATE_UNITS)))
def test_a_rate_counts_in_thousands(number: int, unit: str) -> None:
    assert parse_rate(f"{number}{unit}") == number * RATE_UNITS[unit]


@pytest.mark.parametrize("text", ["10G", "10Gbps", "10gbit/s", "10", "0Gbit/s", "1.5bit/s"])
def test_a_wrong_rate_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="for example"):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "duration_s"), [("90s", 90), ("2min", 120), ("200ms", 0.2), ("1.5h", 5400)]
)
def test_a_duration_is_seconds(text: str, duration_s: float) -> None:
    assert parse_duration(text) == duration_s


@pytest.mark.parametrize("text", ["90", "2m", "0s", "-1s", "1day"])
def test_a_wrong_duration_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="for example"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("rate_bit_s", "shown"),
    [
        (8.7649e9, "8.76 Gbit/s"),
        (999.6e6, "1.00 Gbit/s"),
        (54e9, "54.0 Gbit/s"),
        (1.234e12, "1230 Gbit/s"),
        (100, "100 bit/s"),
        (0, "0 bit/s"),
    ],
)
def test_a_rate_is_shown_with_three_digits(rate_bit_s: float, shown: str) -> None:
    assert display_rate(rate_bit_s) == shown


@given(st.floats(min_value=1, max_value=9.99e11))
def test_a_shown_rate_is_within_half_a_per_cent(rate_bit_s: float) -> None:
    number, unit = display_rate(rate_bit_s).split(" ")
    assert float(number) * RATE_UNITS[unit] == pytest.approx(rate_bit_s, rel=0.005001)
    assert 1 <= float(number) < 1000


@pytest.mark.parametrize(
    ("duration_s", "shown"),
    [
        (94, "1 min 34 s"),
        (59.7, "1 min 00 s"),
        (7500, "2 h 05 min"),
        (3599.9, "1 h 00 min"),
        (8.761, "8.76 s"),
        (0.34, "340 ms"),
        (78.1e-6, "78.1 µs"),
        (85e-9, "85.0 ns"),
        (0, "0 s"),
    ],
)
def test_a_duration_is_shown_as_people_say_it(duration_s: float, shown: str) -> None:
    assert display_duration(duration_s) == shown


def test_a_size_is_shown_in_thousands() -> None:
    assert display_size(256_000_000) == "256 MB"
    assert display_size(1_234_567_890) == "1.23 GB"


@pytest.mark.parametrize("text", ["0", "-1", "+4", "4.0", "four", "", "٤", "9" * 5000])
def test_a_wrong_count_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="from 1 up"):
        parse_count(text)


def test_a_count_is_a_whole_number() -> None:
    assert parse_count("26") == 26


def test_a_share_is_read_in_per_cent() -> None:
    assert parse_share("3%") == 0.03
    assert parse_share("0.5 %") == 0.005


@pytest.mark.parametrize("text", ["0.03", "0%", "-3%", "101%", "3", "three%"])
def test_a_wrong_share_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="%"):
        parse_share(text)


def test_a_list_keeps_its_order() -> None:
    assert parse_list("16, 1,4", parse_count) == (16, 1, 4)
    assert parse_list("64KiB,1MiB", parse_size) == (65536, 1048576)


@pytest.mark.parametrize("text", ["1,,4", "1,4,", ",1", "", " ", "1, ,4"])
def test_an_empty_item_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="empty item") as refused:
        parse_list(text, parse_count)
    assert repr(text) in str(refused.value)


def test_a_value_given_twice_is_refused() -> None:
    with pytest.raises(RequestError, match="1024B twice"):
        parse_list("1KiB,1024B", parse_size)


def test_a_wrong_item_is_refused_by_its_parser() -> None:
    with pytest.raises(RequestError, match="'64K'"):
        parse_list("1KiB,64K", parse_size)
