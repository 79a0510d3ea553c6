"""The pages of docs/ that are made from stored runs, so that none of their figures is typed."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from orbtax import store


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page, the stored run that it is made from, and the module whose `page(run)` makes it.

    Both paths are relative to the checkout.
    """

    file: str
    run: str
    module: str

    def render(self, checkout: Path) -> str:
        """The page as it should be; RequestError if the stored run cannot be read."""
        run = store.read(checkout / self.run)
        text: str = importlib.import_module(self.module).page(run)
        return text

    def is_current(self, checkout: Path) -> bool:
        """Whether the file says what the stored run gives."""
        file = checkout / self.file
        return file.exists() and file.read_text(encoding="utf-8") == self.render(checkout)

    def write(self, checkout: Path) -> None:
        """Makes the file anew."""
        file = checkout / self.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.render(checkout), encoding="utf-8")


PAGES = (
    StoredPage(
        file="docs/mailing-list-study.md",
        run="docs/data/mailing-list-study",
        module="orbtax.studies.study_page",
    ),
)
