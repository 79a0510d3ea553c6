"""The pages of docs/ that are made from stored runs, so that none of their figures is typed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orbtax import store
from orbtax.errors import RequestError
from orbtax.report.files import write_whole


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

    def figures(self, checkout: Path) -> Mapping[Path, bytes]:
        """The figures of the page by their files; none if its module draws none."""
        module = importlib.import_module(self.module)
        if not hasattr(module, "figures"):
            return {}
        folder = (checkout / self.file).parent / "figures"
        drawn: Mapping[str, bytes] = module.figures(store.read(checkout / self.run))
        return {folder / name: content for name, content in drawn.items()}

    def is_current(self, checkout: Path) -> bool:
        """Whether the file says what the stored run gives, and its figures are there."""
        file = checkout / self.file
        # A figure's bytes follow matplotlib's version: that it is there has to do.
        return (
            file.exists()
            and file.read_text(encoding="utf-8") == self.render(checkout)
            and all(figure.exists() for figure in self.figures(checkout))
        )

    def write(self, checkout: Path) -> None:
        """Makes the file and its figures anew."""
        write_whole(checkout / self.file, self.render(checkout).encode())
        for figure, content in self.figures(checkout).items():
            write_whole(figure, content)


@dataclass(frozen=True, slots=True)
class StoredSection(StoredPage):
    """A section between two marks of a page that is otherwise written by hand."""

    def render(self, checkout: Path) -> str:
        """The whole page with the section as it should be; RequestError without its marks."""
        text = (checkout / self.file).read_text(encoding="utf-8")
        head, first, rest = text.partition(f"<!-- from {self.run} -->\n")
        _, last, tail = rest.partition("<!-- end -->\n")
        if not first or not last:
            raise RequestError(f"{self.file} has no marks for a section from {self.run}.")
        section: str = importlib.import_module(self.module).section(store.read(checkout / self.run))
        return f"{head}{first}{section}{last}{tail}"

    def figures(self, checkout: Path) -> Mapping[Path, bytes]:
        """None of its own: it shows those of a whole page."""
        return {}


PAGES = (
    StoredSection(
        file="README.md",
        run="docs/data/compare-ib",
        module="orbtax.studies.compare_page",
    ),
    StoredPage(
        file="docs/compare.md",
        run="docs/data/compare-ib",
        module="orbtax.studies.compare_page",
    ),
    StoredPage(
        file="docs/mailing-list-study.md",
        run="docs/data/mailing-list-study",
        module="orbtax.studies.study_page",
    ),
    StoredPage(
        file="docs/message-size.md",
        run="docs/data/message-size",
        module="orbtax.studies.latency_page",
    ),
    StoredPage(
        file="docs/buffers.md",
        run="docs/data/buffers",
        module="orbtax.studies.buffers_page",
    ),
)
