"""How many bytes a block needs to last as long as it should."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from orbtax.model import STUDY_TOTAL_BYTES, Amount, Arm, Case, Purpose
from orbtax.record import Sample, Status

FIRST_PILOT_MESSAGES = 16  # for each thread
PILOT_SHARE = 0.5
"""A pilot is to last this share of a block, and half of that is long enough."""
MOST_PILOTS = 6
LEAST_MESSAGES_S = 1.0
STEEPEST = 64.0
"""A pilot may move this many times what the one before it moved."""
IPERF3_LEAST_BYTES = 4 * 1024**2
"""For each of its streams: less may fit into a send buffer, and is never counted as received."""


@dataclass(frozen=True, slots=True)
class Guess:
    """Seconds per message to expect of a case."""

    message_s: float
    seen: bool  # a case with the same options did as much, at this payload or on both sides of it


def of_messages(case: Case, messages: int) -> Amount:
    """So many messages of a case, at least one for each thread."""
    count = max(messages, case.threads)
    if case.arm is Arm.IPERF3:
        count = max(count, case.threads * -(-IPERF3_LEAST_BYTES // case.payload_bytes))
    if case.payload_bytes == 0:
        return Amount(total_bytes=0, empty_messages=count)
    return Amount(total_bytes=count * case.payload_bytes)


def sized(
    case: Case,
    pilot: Sample,
    block_s: float,
    *,
    least_messages: int = 1,
    limit_bytes: int | None = None,
) -> Amount:
    """The amount that lasts `block_s` at the rate of a pilot, never above the study's 8 GB.

    It is `least_messages` if those take longer than `block_s`, as many of them as fit into
    `LEAST_MESSAGES_S`.
    """
    if not pilot.messages or not pilot.window_s:
        raise ValueError("a pilot that failed says nothing about the rate")
    rate = pilot.messages / pilot.window_s
    messages = round(max(rate * block_s, min(least_messages, rate * LEAST_MESSAGES_S)))
    # Whole messages for each thread, so that all threads end together.
    messages -= messages % case.threads
    limit = min(STUDY_TOTAL_BYTES, limit_bytes or STUDY_TOTAL_BYTES)
    most = max(1, limit // max(case.payload_bytes, 1))
    return of_messages(case, min(messages, most))


def calibrate(
    case: Case,
    block_s: float,
    run: Callable[[Amount], Sample],
    guess: Guess | None = None,
) -> Sample:
    """Runs pilots that grow until one is long enough, and gives the last.

    A guess that was not seen only makes the first pilot smaller: a message that stalls on a timer
    may take a thousand times as long as one a few bytes shorter. A pilot that fails ends the
    search.
    """
    first = FIRST_PILOT_MESSAGES * case.threads
    if guess is not None:
        wanted = round(PILOT_SHARE * block_s / guess.message_s)
        first = wanted if guess.seen else min(first, wanted)
    amount = of_messages(case, first)
    for _ in range(MOST_PILOTS):
        pilot = run(amount)
        if pilot.status is not Status.OK or pilot.window_s is None or pilot.messages is None:
            return pilot
        if pilot.window_s >= PILOT_SHARE * block_s / 2:
            return pilot
        growth = min(STEEPEST, PILOT_SHARE * block_s / pilot.window_s)
        amount = of_messages(case, round(pilot.messages * growth))
    return pilot


def guess(samples: Iterable[Sample], case: Case) -> Guess | None:
    """What to expect of a case, from samples of its arm; None if there are none.

    Interpolated over the payload size, which time per message is nearly a straight line of.
    Samples of the same link and options count, or of the same link, or of any, whichever there are.
    """
    like = [
        sample
        for sample in samples
        if sample.case.arm is case.arm
        and sample.status is Status.OK
        and sample.messages
        and sample.purpose is not Purpose.CEILING
    ]
    nearby = [sample for sample in like if sample.case.link == case.link]
    same = [sample for sample in nearby if sample.case.options == case.options]
    latest = {
        sample.case.payload_bytes: sample.window_s / sample.messages
        for sample in same or nearby or like
        if sample.window_s and sample.messages
    }
    if not latest:
        return None
    sizes = sorted(latest)
    expected = float(np.interp(case.payload_bytes, sizes, [latest[size] for size in sizes]))
    return Guess(
        message_s=expected * max(1.0, case.payload_bytes / max(sizes[-1], 1)),
        seen=bool(same) and sizes[0] <= case.payload_bytes <= sizes[-1],
    )
