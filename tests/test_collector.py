"""The collector of cycles is off in between, and afterwards as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from orbtax.collector import without_collector


@pytest.fixture(autouse=True)
def collector_as_before() -> Iterator[None]:
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


def test_it_is_off_inside_and_on_again_after_an_error() -> None:
    seen = []

    @without_collector()
    def failing() -> None:
        seen.append(gc.isenabled())
        raise ValueError("inside")

    gc.enable()
    with pytest.raises(ValueError, match="inside"):
        failing()
    assert seen == [False]
    assert gc.isenabled()


def test_one_inside_another_does_not_turn_it_on() -> None:
    gc.enable()

    @without_collector()
    def inner() -> bool:
        return gc.isenabled()

    with without_collector():
        assert not inner()
        assert not gc.isenabled()


def test_what_was_off_stays_off() -> None:
    gc.disable()
    with without_collector():
        pass
    assert not gc.isenabled()
