"""What a receiver of whole messages writes down of each, to be judged when the clock has stopped.

A call waits while its message is looked at, so that the look must cost next to nothing: whether
both ends of a message agree is seen at once, what they are is noted in one step, without a lock,
and whether the messages came in order is judged for all of them later.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from orbtax.ring import MIN_TAGGED_BYTES, TAG_BYTES, Faults

Take = Callable[[bytes | bytearray], None]
"""Notes one message."""

_UNTAGGED = b"\xff" * TAG_BYTES


class Ledger:
    """Takes the messages of all threads of a block, in the order in which they come.

    Several threads may call `take` at once. It keeps 4 bytes for each message.
    """

    def __init__(self, payload_bytes: int, *, look: bool = True) -> None:
        """Without `look`, messages are only counted."""
        self._payload_bytes = payload_bytes
        self._looks = look and payload_bytes >= MIN_TAGGED_BYTES
        self._tags = bytearray()
        self._excess_bytes: list[int] = []  # of messages that are not whole: below 0
        self._torn: list[tuple[bytes, bytes]] = []
        self.take: Take = self._looking() if self._looks else self._count

    @property
    def messages(self) -> int:
        """Messages taken since the start."""
        return len(self._tags) // TAG_BYTES

    @property
    def received_bytes(self) -> int:
        """Payload bytes taken since the start."""
        return self.messages * self._payload_bytes + sum(self._excess_bytes)

    def clear(self) -> None:
        """Starts anew."""
        self._tags.clear()
        self._excess_bytes.clear()
        self._torn.clear()

    def judge(self, threads: int, slots: int, faults: Faults, *, ordered: bool = True) -> None:
        """Notes what is wrong with the messages taken.

        The two ends of each must agree and name a thread and a slot that there are, and the slots
        of a thread must follow in turn. Where its calls may overtake each other (`ordered=False`),
        no slot may have come more often than the one before it, or less by more than one.
        """
        for head, tail in self._torn:
            faults.add(f"the two ends of a message differ: {head.hex()} and {tail.hex()}")
        if not self._looks:
            return
        tags = np.frombuffer(bytes(self._tags), "<u2").reshape(-1, 2)  # thread, slot
        tags = tags[(tags != 0xFFFF).any(axis=1)]
        strange = (tags[:, 0] >= threads) | (tags[:, 1] >= slots)
        if strange.any():
            thread, slot = tags[strange.argmax()]
            text = f"a message of thread {thread}, slot {slot}: the block has none such"
            faults.add(text, times=int(strange.sum()))
        for thread in range(threads):
            came = tags[~strange & (tags[:, 0] == thread), 1].astype(np.int32)
            if ordered:
                _judge_order(thread, came, slots, faults)
            else:
                _judge_counts(thread, came, slots, faults)

    def _looking(self) -> Take:
        """The look at a message: three steps in C, and nothing searched for on the way there."""
        both_ends = struct.Struct(f"{TAG_BYTES}s{self._payload_bytes - 2 * TAG_BYTES}x{TAG_BYTES}s")
        unpack = both_ends.unpack
        note = self._tags.extend  # one step, during which no other thread runs

        def look(message: bytes | bytearray) -> None:
            try:
                head, tail = unpack(message)
            except struct.error:  # of another length
                self._take_odd(message)
                return
            if head == tail:
                note(head)
            else:
                self._take_odd(message)

        return look

    def _take_odd(self, message: bytes | bytearray) -> None:
        """A short last message, or one that is not what was sent."""
        head, tail = bytes(message[:TAG_BYTES]), bytes(message[-TAG_BYTES:])
        if len(message) != self._payload_bytes:
            self._excess_bytes.append(len(message) - self._payload_bytes)
        tagged = len(message) >= MIN_TAGGED_BYTES
        if tagged and head != tail:
            self._torn.append((head, tail))
        self._tags.extend(head if tagged and head == tail else _UNTAGGED)

    def _count(self, message: bytes | bytearray) -> None:
        if len(message) != self._payload_bytes:
            self._excess_bytes.append(len(message) - self._payload_bytes)
        self._tags.extend(_UNTAGGED)


def _judge_order(thread: int, came: NDArray[np.int32], slots: int, faults: Faults) -> None:
    due = np.zeros_like(came)
    due[1:] = (came[:-1] + 1) % slots
    wrong = came != due
    if wrong.any():
        at = wrong.argmax()
        text = f"thread {thread}: slot {came[at]} came where {due[at]} was due"
        faults.add(text, times=int(wrong.sum()))


def _judge_counts(thread: int, came: NDArray[np.int32], slots: int, faults: Faults) -> None:
    """Slots are sent in turn, so that counts fall by one, once, from the first to the last."""
    seen = np.bincount(came, minlength=slots)
    if (np.diff(seen) > 0).any() or seen[0] - seen[-1] > 1:
        faults.add(f"thread {thread}: some messages came twice and others never")
