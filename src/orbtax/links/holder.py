"""The program that keeps one end of an emulated link alive, exactly as long as its standard input.

It is started inside a new network namespace as `python -m orbtax.links.holder` and speaks JSON
lines: it says `{"ready": PID}`, reads one `Side`, sets it up, answers `null` or a `Refusal`, and
then only waits. When its input closes, because the parent closed the link or is dead, it ends, and
the kernel takes the namespace and the veth pair away with it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

import msgspec

from orbtax.links.side import Refusal, RefusedError, Side

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Say ready, set one side up, and live until standard input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which closes us last
    # A child of the parent may have inherited the other end of our input and outlive it.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _say({"ready": os.getpid()})
    # Only now: netlink takes longer to load than all of the above, and both ends load it at once.
    from orbtax.links.wiring import wire

    line = sys.stdin.readline()
    if not line:
        return
    try:
        wire(msgspec.json.decode(line, type=Side))
        _say(None)
    except RefusedError as refused:
        _say(refused.refusal)
    sys.stdin.read()


def _say(message: dict[str, int] | Refusal | None) -> None:
    sys.stdout.write(msgspec.json.encode(message).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
