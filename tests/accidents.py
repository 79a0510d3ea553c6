"""What can happen to messages on their way, for the tests of those that must notice."""

from __future__ import annotations

from orbtax.ring import Geometry, Ring


def geometry(payload_bytes: int, total_bytes: int, slots: int = 4) -> Geometry:
    return Geometry(payload_bytes=payload_bytes, slots=slots, total_bytes=total_bytes)


def cut(messages: list[bytes]) -> list[bytes]:
    return [*messages[:3], messages[3][:-1], *messages[4:]]


def dropped(messages: list[bytes]) -> list[bytes]:
    return [*messages[:1], *messages[2:]]


def repeated(messages: list[bytes]) -> list[bytes]:
    return [*messages[:3], messages[2], *messages[3:]]


def swapped(messages: list[bytes]) -> list[bytes]:
    return [*messages[:3], messages[4], messages[3], *messages[5:]]


def flipped_at_the_end(messages: list[bytes]) -> list[bytes]:
    return [*messages[:3], messages[3][:-1] + bytes([messages[3][-1] ^ 1]), *messages[4:]]


def of_another_thread(messages: list[bytes]) -> list[bytes]:
    return [*messages[:3], next(iter(Ring(9, geometry(64, 64)))), *messages[3:]]


ACCIDENTS = (cut, dropped, repeated, swapped, flipped_at_the_end, of_another_thread)
