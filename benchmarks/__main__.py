"""Runs the benchmarks and prints each figure beside its target: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping

from benchmarks import loops, memory, startup, streams, volume
from benchmarks.figure import Figure, figure_table
from benchmarks.scale import FULL, SMOKE, Scale
from orbtax.errors import ExitCode, OrbtaxError, UnavailableError
from orbtax.report import terminal

Part = Callable[[Scale], Iterator[Figure]]

PARTS: Mapping[str, tuple[Callable[[Scale], str], Part]] = {
    "streams": (lambda _: streams.TITLE, streams.figures),
    "bare": (lambda _: loops.BARE_TITLE, loops.bare),
    "recording": (lambda _: loops.RECORDING_TITLE, loops.recording),
    "integrity": (lambda _: loops.INTEGRITY_TITLE, loops.integrity),
    "memory": (memory.title, memory.figures),
    "volume": (volume.title, volume.figures),
    "startup": (lambda _: startup.TITLE, startup.figures),
}


def main(argv: list[str]) -> ExitCode:
    """Prints a table for each part; the exit code says whether every target was met.

    A part that needs what is not installed here is passed over, and said to be.
    """
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="see that it runs; judge nothing")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="these parts")
    arguments = parser.parse_args(argv)
    scale = SMOKE if arguments.smoke else FULL
    missed = False
    for name in arguments.only:
        title, part = PARTS[name]
        try:
            figures = list(part(scale))
        except UnavailableError as error:
            terminal.say_error(f"{title(scale)}: not run, since {error}")
            continue
        terminal.say_table(figure_table(title(scale), figures, judged=scale.judged))
        missed |= any(figure.met is False for figure in figures)
    return ExitCode.INCOMPLETE if missed and scale.judged else ExitCode.DONE


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OrbtaxError as error:
        terminal.say_error(str(error))
        sys.exit(error.exit_code)
