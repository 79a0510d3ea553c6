"""Messages beside the segments that carried them, over all rounds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import make_case, make_sample

from orbtax.analysis.merging import merged_messages
from orbtax.model import Arm, Options

OFF = Options(nodelay=False)


def sample(size: int, messages: int, segments: int | None, options: Options, number: int = 0):
    made = make_sample(
        make_case(Arm.STREAM, size, 1, options=options),
        total_bytes=size * messages,
        goodput_bit_s=8.0 * size * messages,  # one second
        round=number,
    )
    (state,) = made.client.connections
    state = replace(state, data_segments_out=segments)
    return replace(made, client=replace(made.client, connections=(state,)))


def test_messages_and_segments_are_summed_over_the_rounds() -> None:
    samples = [
        sample(64, 1000, 1000, Options()),
        sample(64, 1000, 10, OFF),
        sample(64, 1000, 500, Options(), 1),
        sample(64, 1000, 15, OFF, 1),
        sample(16, 100, 1, OFF),
    ]
    small, on, off = merged_messages(samples)
    assert (small.payload_bytes, small.messages_per_segment) == (16, 100)
    assert (on.messages, on.segments, on.options) == (2000, 1500, Options())
    assert off.messages_per_segment == pytest.approx(2000 / 25)
    assert off.message_us == pytest.approx(1000)


def test_segments_that_were_not_counted_in_every_round_are_not_known() -> None:
    (merged,) = merged_messages([sample(64, 1000, 10, OFF), sample(64, 1000, None, OFF, 1)])
    assert merged.segments is None
    assert merged.messages_per_segment is None


def test_arms_that_wait_merge_nothing() -> None:
    assert merged_messages([make_sample(make_case(Arm.CALL, 64, 1))]) == ()
