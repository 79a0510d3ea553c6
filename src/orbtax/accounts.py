"""The accounts that both ends give of one block, put together into its sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from orbtax import agent
from orbtax.model import Block
from orbtax.record import Sample, Status


def failed(block: Block, session: int, started_utc: str, reason: str) -> Sample:
    """The sample of a block that did not run to its end."""
    return Sample(
        case=block.case,
        cell=block.cell,
        round=block.round,
        position=block.position,
        purpose=block.purpose,
        session=session,
        started_utc=started_utc,
        status=Status.FAILED,
        asked_bytes=block.amount.total_bytes,
        reason=reason,
    )


def measured(
    failed_as: Callable[[str], Sample], outcome: agent.Outcome, receipt: agent.Receipt
) -> Sample:
    """The sample of a block that ran to its end; still failed if the two accounts disagree."""
    sample = failed_as(_disagreement(outcome, receipt) or "")
    whole = not sample.reason
    received_bytes = receipt.received_bytes
    return dataclasses.replace(
        sample,
        status=Status.OK if whole else Status.FAILED,
        reason=sample.reason or None,
        confirmed_bytes=received_bytes,
        messages=receipt.messages,
        window_s=outcome.window_s,
        goodput_bit_s=8 * received_bytes / outcome.window_s if whole else None,
        clock_tick_s=outcome.clock_tick_s,
        start_skew_s=outcome.start_skew_s,
        thread_bytes=outcome.thread_bytes,
        thread_window_s=outcome.thread_window_s,
        connections=receipt.connections,
        latencies=outcome.latencies,
        checksum=None if receipt.checksum is None else receipt.checksum == outcome.checksum,
        client=outcome.record,
        servant=receipt.record,
    )


def _disagreement(outcome: agent.Outcome, receipt: agent.Receipt) -> str | None:
    """Why the two ends' accounts do not fit together; None if they do."""
    asked = sum(outcome.thread_bytes)
    if receipt.faults:
        return f"{receipt.faults} faults at the receiver, first: {'; '.join(receipt.first_faults)}"
    if not asked == receipt.received_bytes == outcome.confirmed_bytes:
        return (
            f"{asked} bytes were asked, the receiver took {receipt.received_bytes} "
            f"and confirmed {outcome.confirmed_bytes}"
        )
    if receipt.messages != outcome.messages:
        return f"{outcome.messages} messages were sent and {receipt.messages} came"
    if receipt.checksum != outcome.checksum:
        return "the checksums of the messages sent and received differ"
    return None
