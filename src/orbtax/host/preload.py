"""Libraries that this process was to be started under, and whether they are really in it."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping

VARIABLE = "LD_PRELOAD"


def preload_faults(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Why libraries that LD_PRELOAD names are not in this process, in the loader's own words.

    A library that cannot be preloaded does not keep a program from starting: the loader only
    prints a line and goes on without it (ld.so(8)).
    """
    names = re.split("[: ]+", environ.get(VARIABLE, ""))
    return tuple(fault for name in names if name and (fault := _fault(name)) is not None)


def _fault(name: str) -> str | None:
    try:
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError as error:
        return str(error) if name in str(error) else f"{name}: the loader left it out"
    return None
