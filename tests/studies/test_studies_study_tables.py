"""The tables of the study: three rows a link, the search, the calls, the variations."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from study_builders import KIB, run_of, small_plan, with_windows

from orbtax.model import Arm, Options
from orbtax.published.mailing_list import published_links
from orbtax.report.content import assemble
from orbtax.report.forms import Form, render
from orbtax.report.tables import MISSING
from orbtax.studies.study_results import outcomes, variations
from orbtax.studies.study_tables import (
    STUDY_COLUMNS,
    calls_table,
    published_table,
    search_table,
    study_table,
    variation_table,
)
from orbtax.studies.variations import Vary


def rate(case, number):
    wobble = 1 + 0.01 * (number % 2)
    if case.arm.is_corba:
        return wobble * (4.0 if (case.payload_bytes, case.threads) == (256 * KIB, 26) else 3.0)
    return wobble * (8.0 if case.options == Options() and case.threads == 4 else 5.0)


@pytest.fixture
def found():
    return outcomes(assemble([with_windows(run_of(small_plan(), rate))]))


def rows_of(table):
    """The rows of the table by link and figures, each by column."""
    names = [column.name for column in table.columns]
    return {(row[0], row[1]): dict(zip(names, row, strict=True)) for row in table.rows}


def test_each_link_has_ours_published_and_the_difference(found) -> None:
    table = study_table(found)
    assert [row[:2] for row in table.rows] == [
        (link, figures)
        for link in ("ib", "10ge", "1ge")
        for figures in ("ours", "published", "difference")
    ]


def test_ours_has_the_shape_of_the_published_row(found) -> None:
    ours = rows_of(study_table(found))["ib", "ours"]
    assert ours["CORBA (Gbit/s)"].startswith("4.02 [")
    assert ours["socket (Gbit/s)"].startswith("8.03 [")
    assert ours["efficiency (%)"] == "50.0 ±0.00"
    assert (ours["MTU (B)"], ours["threads"], ours["payload"]) == ("2044", "26", "256 KiB")
    assert (ours["streams"], ours["scaling"]) == ("4", "on")
    assert ours["send window"].startswith("kernel (")


def test_the_published_row_stands_as_printed(found) -> None:
    published = rows_of(study_table(found))
    assert published["1ge", "published"]["MTU (B)"] == "63"
    assert published["ib", "published"]["send window"] == "256"
    assert published["ib", "published"]["payload"] == "256 kB"
    assert [published[link, "published"]["efficiency (%)"] for link in ("ib", "10ge", "1ge")] == [
        "19.9",
        "93.7",
        "90.9",
    ]


def test_differences_are_in_per_cent_and_in_points(found) -> None:
    difference = rows_of(study_table(found))["ib", "difference"]
    assert difference["CORBA (Gbit/s)"] == "−53.6 %"
    assert difference["socket (Gbit/s)"] == "−81.6 %"
    assert difference["efficiency (%)"] == "+30.1 points"
    assert difference["threads"] == difference["streams"] == MISSING


def test_a_link_without_a_published_one_keeps_its_three_rows(found) -> None:
    table = study_table([replace(found[0], published=None)])
    assert [row[1] for row in table.rows] == ["ours", "published", "difference"]
    assert set(table.rows[1][2:]) == set(table.rows[2][2:]) == {MISSING}
    assert any("nothing was published" in note for note in table.notes)


@pytest.mark.parametrize("form", Form)
def test_every_form_holds_every_figure(found, form) -> None:
    text = render(study_table(found), form)
    for figure in ("8.66", "43.6", "93.7", "50.0", "256 KiB"):
        assert figure in text


def test_the_csv_can_be_read_back(found) -> None:
    rows = list(csv.DictReader(io.StringIO(render(study_table(found), Form.CSV))))
    assert len(rows) == 9
    assert rows[2]["MTU (B)"] == ""


def test_the_notes_tell_the_share_of_8_gb_and_how_clear_the_choice_was(found) -> None:
    notes = "\n".join(study_table(found).notes)
    assert "ib: of 8 GB, the best call moved 16.8 % and the best socket moved 16.8 %." in notes
    assert "ib, calls: 4 settings tried, and the noise tells the fastest from all others." in notes


def test_the_search_shows_every_setting_the_fastest_first(found) -> None:
    table = search_table(found[0])
    assert len(table.rows) == 8
    assert table.rows[0][4:] == ("fastest", "taken")
    assert {row[5] for row in table.rows[1:]} == {""}
    windows = {row[1:3] for row in table.rows}
    assert ("1 MiB (2.10 MB)", "1 MiB (2.10 MB)") in windows


def test_a_clipped_window_is_flagged_with_what_clipped_it() -> None:
    run = with_windows(run_of(small_plan("ib"), rate), clipped_above=256 * KIB)
    (outcome,) = outcomes(assemble([run]))
    windows = [cell for row in search_table(outcome).rows for cell in row[1:3]]
    assert windows.count("1 MiB (524 kB, clipped)") == 3
    notes = "\n".join(study_table([outcome]).notes)
    assert "6 windows of the search clipped (net.core.wmem_max = 262144)." in notes


def test_the_calls_stand_by_threads_and_payload_with_the_best_in_brackets(found) -> None:
    table = calls_table(found[0])
    assert [column.heading for column in table.columns] == ["threads", "1 KiB", "256 KiB"]
    assert table.rows == (("8", "3.01", "3.01"), ("26", "3.01", "[4.02]"))


def test_variations_have_a_row_each_below_the_link_as_it_is() -> None:
    plan = small_plan("ib", vary=(Vary.AMI,))
    table = variation_table(variations(assemble([run_of(plan, rate)])))
    assert [row[1] for row in table.rows] == ["as it is", "ami"]
    assert table.rows[0][3] == table.rows[1][5] == MISSING


def test_the_post_alone_is_a_table_too() -> None:
    table = published_table(published_links())
    assert len(table.columns) == len(STUDY_COLUMNS) - 1
    assert [row[0] for row in table.rows] == ["ib", "10ge", "1ge"]


def test_an_empty_run_has_a_table_of_dashes() -> None:
    run = replace(run_of(small_plan("ib"), rate), samples=())
    (outcome,) = outcomes(assemble([run]))
    ours = study_table([outcome]).rows[0]
    assert ours[2] == ours[-1] == MISSING
    assert search_table(outcome).rows == ()
    assert outcome.ours.corba is None
    assert {row[1] for row in calls_table(outcome).rows} == {MISSING}
    assert Arm.CORBA in {case.arm for case in outcome.rates}
