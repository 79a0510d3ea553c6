"""Libraries that a link names to be preloaded under its arms, such as one for RDMA sockets.

Each arm that has one is tried with a few messages before anything is measured: a library may be
missing, and the loader would go on without it; or refuse, at the start or at the first socket.
"""

from __future__ import annotations

from collections.abc import Iterable

from orbtax.calibrate import of_messages
from orbtax.errors import UnavailableError
from orbtax.model import Arm, Block, Case, Finding, Link, Purpose
from orbtax.pair import Pair
from orbtax.programs import environment_of
from orbtax.record import Status


def try_out(pair: Pair, link: Link, cases: Iterable[Case]) -> tuple[Finding, ...]:
    """Runs a few messages of each arm that the link gives a library or variables of its own.

    Gives a finding for each such arm, so that nobody takes it for the plain one. Raises
    UnavailableError, with what was said, for an arm that does not run so.
    """
    changed: dict[Arm, Case] = {}
    for case in cases:
        if environment_of(link, case.arm):
            changed.setdefault(case.arm, case)
    for case in changed.values():
        _try(pair, link, case)
    return tuple(
        Finding(code="preloaded", text=f"{arm} on {link.name} ran under {_words(link, arm)}")
        for arm in changed
    )


def _try(pair: Pair, link: Link, case: Case) -> None:
    amount = of_messages(case, case.threads)
    block = Block(
        case=case, cell=0, round=0, position=0, amount=amount, purpose=Purpose.CALIBRATION
    )
    sample = pair.run(block)
    if sample.status is not Status.OK:
        raise UnavailableError(
            f"{case.arm} on {link.name} does not run under {_words(link, case.arm)}: "
            f"{sample.reason}. Correct the link's preload and environment in the links file"
        )


def _words(link: Link, arm: Arm) -> str:
    return " ".join(f"{name}={value}" for name, value in environment_of(link, arm).items())
