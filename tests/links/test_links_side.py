from hypothesis import given
from hypothesis import strategies as st

from orbtax.links.side import burst_bytes

KIB = 1024


def test_the_burst_is_what_held_the_rate() -> None:
    assert burst_bytes(10**9) == 256 * KIB
    assert burst_bytes(10**10) == 1024 * KIB


@given(st.integers(min_value=1, max_value=34 * 10**9), st.integers(min_value=0, max_value=10**9))
def test_a_faster_bucket_never_holds_less(rate_bit_s: int, more_bit_s: int) -> None:
    burst = burst_bytes(rate_bit_s)
    assert burst <= burst_bytes(rate_bit_s + more_bit_s)
    assert burst >= 2 * 65536 - 1
    assert burst <= 4 * 1024 * KIB
