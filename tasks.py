"""What `invoke` offers in this checkout: the commands of orbtax, and the developer's own."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from invoke import Collection, Context, task

from orbtax import commands


@task(
    help={
        "fast": "only the tests that start no programs",
        "slow": "only those that run whole studies or other programs",
        "whole": "all of them",
    }
)
def test(context: Context, fast: bool = False, slow: bool = False, whole: bool = False) -> None:
    """Run the tests, but for those that run whole studies."""
    marks = "not live" if fast else "slow" if slow else "not slow"
    chosen = "" if whole else f" -m '{marks}'"
    # A file to a worker: no test measures anything, so that they may run side by side.
    context.run(f"{sys.executable} -m pytest -n auto --dist loadfile{chosen}")


@task
def lint(context: Context) -> None:
    """Check style and types."""
    context.run(f"{sys.executable} -m ruff check .")
    context.run(f"{sys.executable} -m ruff format --check .")
    context.run(f"{sys.executable} -m mypy")


@task
def docs(_context: Context) -> None:
    """Make the pages of docs/ again that come from stored runs."""
    from orbtax.report import terminal
    from orbtax.studies.pages import PAGES

    checkout = Path(__file__).parent
    for page in PAGES:
        page.write(checkout)
        terminal.say(page.file)


@task(
    help={
        "smoke": "see that every benchmark runs, and judge nothing",
        "only": "streams, bare, recording, integrity, memory, volume, startup: these alone",
    }
)
def bench(context: Context, smoke: bool = False, only: str | None = None) -> None:
    """Set orbtax beside iperf3 and bare loops, and print each figure with its target."""
    checkout = Path(__file__).parent
    words = [sys.executable, "-m", "benchmarks", *(["--smoke"] if smoke else [])]
    if only is not None:
        words += ["--only", *only.split(",")]
    # The clients of the benchmarks are started by name, and large runs are made by the tests.
    places = os.pathsep.join((str(checkout), str(checkout / "tests")))
    context.run(shlex.join(words), env={"PYTHONPATH": places})


namespace = Collection.from_module(commands)
for each in (test, lint, docs, bench):
    namespace.add_task(each)
