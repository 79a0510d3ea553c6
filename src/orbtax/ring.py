"""What every arm sends, and how its receiver knows that nothing was lost, repeated or mixed up.

Each sending thread has a ring of distinct messages of its own, made beforehand. Message number i
of a thread is slot i modulo the ring's size, and carries its thread and slot in its first and
last four bytes. A receiver that sees both ends agree and the slots follow in order has the
messages whole and in order, and no copy was made to tag one.
"""

from __future__ import annotations

import itertools
import mmap
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

_TAG = struct.Struct("<HH")  # thread, slot
TAG_BYTES = _TAG.size
MIN_TAGGED_BYTES = 2 * TAG_BYTES
"""A shorter message has no room for its tags, and is only counted."""
MAX_SLOTS = 4096
FAULTS_KEPT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """How one thread's share of a block is cut into messages."""

    payload_bytes: int
    slots: int
    total_bytes: int
    empty_messages: int = 0  # counts where the payload is empty

    @property
    def messages(self) -> int:
        """Messages in the share, the last one possibly short."""
        if self.payload_bytes == 0:
            return self.empty_messages
        return -(-self.total_bytes // self.payload_bytes)

    @property
    def last_bytes(self) -> int:
        """Bytes of a short last message; 0 if all are whole."""
        return self.total_bytes % self.payload_bytes if self.payload_bytes else 0


def split(total: int, threads: int) -> tuple[int, ...]:
    """Each thread's part: the parts add up to the total and differ by one at the most."""
    each, more = divmod(total, threads)
    return tuple(each + (thread < more) for thread in range(threads))


def slots_for(payload_bytes: int, threads: int, cache_bytes: int) -> int:
    """Ring size such that the rings of all threads together are twice the cache."""
    wanted = -(-2 * cache_bytes // (max(payload_bytes, 1) * threads))
    return min(max(wanted, 2), MAX_SLOTS)


Message = bytes | memoryview
"""What a socket sends as it is; an ORB takes `bytes` alone."""


class Ring:
    """One thread's messages: `payload_bytes` each, incompressible, tagged at both ends."""

    def __init__(self, thread: int, geometry: Geometry, *, in_pages: bool = False) -> None:
        """Messages are `bytes`, or with `in_pages` views that a kernel copies without waiting."""
        self.geometry = geometry
        generator = np.random.default_rng([thread, geometry.payload_bytes])
        size = geometry.payload_bytes
        messages: list[Message] = [
            _tagged(thread, slot, generator.bytes(size)) for slot in range(geometry.slots)
        ]
        if body := generator.bytes(geometry.last_bytes):
            messages.append(_tagged(thread, (geometry.messages - 1) % geometry.slots, body))
        if in_pages:
            messages = _packed(messages)
        self._messages = messages[: geometry.slots]
        self._last = messages[geometry.slots :]

    def __iter__(self) -> Iterator[Message]:
        """The messages of the share, in the order in which they are sent."""
        whole = self.geometry.messages - len(self._last)
        return itertools.chain(itertools.islice(itertools.cycle(self._messages), whole), self._last)

    def checksum(self) -> int:
        """Sum of the CRC-32 of every message of the share, modulo 2^64."""
        whole = self.geometry.messages - len(self._last)
        turns, rest = divmod(whole, self.geometry.slots)
        each = [zlib.crc32(message) for message in self._messages]
        total = turns * sum(each) + sum(each[:rest]) + sum(map(zlib.crc32, self._last))
        return total % 2**64


def checksum(messages: Sequence[Message]) -> int:
    """The receiver's counterpart of `Ring.checksum`, whatever the order."""
    return sum(zlib.crc32(message) for message in messages) % 2**64


def _packed(messages: Sequence[Message]) -> list[Message]:
    """The same messages as views of one stretch of memory that starts at half a page.

    The kernel copies a stream into pages of its own, from the start of a page on, where a large
    `bytes` object starts, too. Both would run through their pages in step, and a processor that
    compares the low 12 bits of addresses first takes each load for one of the stores just made
    ("4 KiB aliasing") and waits.
    """
    ends = list(itertools.accumulate(map(len, messages), initial=mmap.PAGESIZE // 2))
    room = memoryview(mmap.mmap(-1, ends[-1], mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for message, (start, end) in zip(messages, itertools.pairwise(ends), strict=True):
        room[start:end] = message
    return [room[start:end] for start, end in itertools.pairwise(ends)]


def _tagged(thread: int, slot: int, body: bytes) -> bytes:
    if len(body) < MIN_TAGGED_BYTES:
        return body
    tag = _TAG.pack(thread, slot)
    return b"".join((tag, body[TAG_BYTES:-TAG_BYTES], tag))


class Faults:
    """Messages that were not what they must be: how many, and what the first ones were."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []
        self._lock = threading.Lock()

    def add(self, text: str, times: int = 1) -> None:
        """Notes a fault, or the first of so many of its kind."""
        with self._lock:
            self.count += times
            if len(self.first) < FAULTS_KEPT:
                self.first.append(text)


class StreamCheck:
    """Checks the message boundaries in a buffer that holds whole messages of one thread."""

    def __init__(self, buffer: bytearray, thread: int, geometry: Geometry, faults: Faults) -> None:
        self._faults = faults
        self._thread = thread
        self._slots = geometry.slots
        self._phase = 0
        self._checked = geometry.payload_bytes >= MIN_TAGGED_BYTES
        if not self._checked:
            return
        size = geometry.payload_bytes
        messages = len(buffer) // size
        shape, strides = (messages,), (size,)
        self._heads = np.ndarray(shape, "<u4", buffer, 0, strides)
        self._tails = np.ndarray(shape, "<u4", buffer, size - TAG_BYTES, strides)
        turn = np.array([_tag_number(thread, slot) for slot in range(geometry.slots)], "<u4")
        self._expected = np.tile(turn, 1 + -(-messages // geometry.slots))

    def take(self, messages: int) -> None:
        """Checks the first `messages` whole messages in the buffer."""
        if not self._checked or not messages:
            return
        expected = self._expected[self._phase : self._phase + messages]
        wrong = self._heads[:messages] != expected
        wrong |= self._tails[:messages] != expected
        if wrong.any():
            at = int(wrong.argmax())
            self._faults.add(
                f"thread {self._thread}: a message is not slot {(self._phase + at) % self._slots}"
                f" at both ends ({int(self._heads[at]):08x} and {int(self._tails[at]):08x})"
            )
        self._phase = (self._phase + messages) % self._slots

    def take_last(self, message: memoryview) -> None:
        """Checks a short last message."""
        if len(message) < MIN_TAGGED_BYTES:
            return
        due = _TAG.pack(self._thread, self._phase)
        if message[:TAG_BYTES] != due or message[-TAG_BYTES:] != due:
            self._faults.add(
                f"thread {self._thread}: the short last message is not slot {self._phase}"
            )


def _tag_number(thread: int, slot: int) -> int:
    return int.from_bytes(_TAG.pack(thread, slot), "little")
