"""What `invoke` offers in this checkout: the commands of orbtax, and the developer's own."""

from __future__ import annotations

import sys
from pathlib import Path

from invoke import Collection, Context, task

from orbtax import commands


@task(help={"slow": "only the tests that start programs", "fast": "only those that do not"})
def test(context: Context, slow: bool = False, fast: bool = False) -> None:
    """Run the tests."""
    chosen = " -m live" if slow else " -m 'not live'" if fast else ""
    context.run(f"{sys.executable} -m pytest{chosen}")


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


namespace = Collection.from_module(commands)
for each in (test, lint, docs):
    namespace.add_task(each)
