"""The generated pages: each says what its stored run gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_builders import run_of, small_plan

from orbtax import runfiles
from orbtax.errors import RequestError
from orbtax.store import Store
from orbtax.studies.pages import PAGES, StoredPage

CHECKOUT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.file)
def test_the_page_is_current(page: StoredPage) -> None:
    assert page.is_current(CHECKOUT), f"{page.file} is out of date: make it again, `invoke docs`"


@pytest.fixture
def page(tmp_path: Path) -> StoredPage:
    """A page of its own, with its run in `tmp_path`."""
    run = run_of(small_plan("1ge"), rounds=2)
    kept = Store.create(tmp_path / "data", run.record)
    for sample in run.samples:
        kept.append(sample)
    kept.close()
    return StoredPage(file="docs/a.md", run="data", module="orbtax.studies.study_page")


def test_a_page_is_current_from_when_it_is_written_until_it_is_touched(page, tmp_path) -> None:
    assert not page.is_current(tmp_path)
    page.write(tmp_path)
    assert page.is_current(tmp_path)
    file = tmp_path / page.file
    file.write_text(file.read_text().replace("0.951", "0.950"))
    assert not page.is_current(tmp_path)


def test_a_page_changes_with_its_run(page, tmp_path) -> None:
    page.write(tmp_path)
    samples = tmp_path / "data" / runfiles.SAMPLES_FILE
    lines = samples.read_text().splitlines(keepends=True)
    samples.write_text("".join(lines[:-10]))
    assert not page.is_current(tmp_path)


def test_a_page_whose_run_is_gone_says_so(page, tmp_path) -> None:
    (tmp_path / "data" / runfiles.RUN_FILE).unlink()
    with pytest.raises(RequestError, match="no run folder"):
        page.write(tmp_path)
