"""The processor's caches at both ends, as their environments tell of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from orbtax.record import Environment, LinkVisit

LEVELS = {"cache_l2": "second-level cache", "cache_l3": "third-level cache"}
"""Fact of an environment → what the cache is called; socket buffers never fit the first level."""

_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def cache_sizes_bytes(visits: Iterable[LinkVisit]) -> Mapping[str, int]:
    """Name → size of each cache, smallest first; of two ends the smaller one counts."""
    environments = [
        environment
        for visit in visits
        for environment in (visit.sender_before, visit.receiver_before)
    ]
    sizes = {
        name: min(known)
        for fact, name in LEVELS.items()
        if (known := list(_known(environments, fact)))
    }
    return dict(sorted(sizes.items(), key=lambda item: item[1]))


def _known(environments: Iterable[Environment], fact: str) -> Iterable[int]:
    for environment in environments:
        written = re.fullmatch(r"(\d+)([KMG]?)", environment.facts.get(fact, ""))
        if written:
            yield int(written[1]) * _UNITS[written[2]]
