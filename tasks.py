"""What `invoke` offers in this checkout: the commands of orbtax, and the developer's own."""

from __future__ import annotations

import sys

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


namespace = Collection.from_module(commands)
for each in (test, lint):
    namespace.add_task(each)
