"""The report of a run by the study that made it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from orbtax.errors import RequestError
from orbtax.record import Run

STUDIES = ("compare", "study", "buffers", "latency")
"""Each is a module of this package with a function `report(runs, folder, *, join, quiet)`."""


def write(runs: Sequence[Run], folder: Path, *, join: bool, quiet: bool) -> None:
    """Writes the report of runs of one study into `folder`, and says what it holds.

    Raises RequestError for runs of different studies, or of one that this orbtax does not know.
    """
    names = {run.record.plan.study for run in runs}
    if len(names) > 1:
        raise RequestError(
            f"runs of different studies ({', '.join(sorted(names))}) have no common report. "
            "Report each by itself."
        )
    name = names.pop()
    if name not in STUDIES:
        raise RequestError(f"study {name!r} is unknown; this orbtax knows {', '.join(STUDIES)}.")
    importlib.import_module(f"orbtax.studies.{name}").report(runs, folder, join=join, quiet=quiet)
