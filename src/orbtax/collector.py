"""Python's collector of cycles, kept out of the way of work on very many objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Looks for no cycles meanwhile; a decorator, too.

    Samples hold none, and to look for some among 100,000 of them, again and again, doubles the
    time of reading and reporting a run. Once more for all of them takes place at the end of every
    stretch without it, so that one stretch is better than several.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
