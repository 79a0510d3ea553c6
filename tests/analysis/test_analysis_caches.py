from dataclasses import replace

import pytest
from buffer_builders import run_of
from builders_ends import make_environment

from orbtax.analysis.caches import cache_sizes_bytes


def sizes(**facts: str):
    visit = run_of({}).record.visits[0]
    host = make_environment(**facts)
    return dict(cache_sizes_bytes([replace(visit, sender_before=host)]))


@pytest.mark.parametrize(
    ("written", "size_bytes"), [("512K", 512 * 1024), ("1M", 1024**2), ("64", 64)]
)
def test_sizes_are_read_as_the_kernel_writes_them(written: str, size_bytes: int) -> None:
    assert sizes(cache_l2=written)["second-level cache"] == size_bytes


def test_the_smaller_of_two_ends_counts_and_the_smallest_cache_comes_first() -> None:
    assert list(sizes(cache_l2="256K").items()) == [
        ("second-level cache", 256 * 1024),
        ("third-level cache", 32768 * 1024),
    ]
    assert sizes(cache_l2="9M")["second-level cache"] == 2048 * 1024


def test_what_is_not_told_or_not_understood_is_left_out() -> None:
    assert sizes(cache_l2="large", cache_l3="")["second-level cache"] == 2048 * 1024
    assert dict(cache_sizes_bytes([])) == {}
