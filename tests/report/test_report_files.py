"""The report as files: whole, exact, the same again, and there for any run."""

import csv
import json
import math
from dataclasses import replace

import pytest
from builders import make_failed, make_run

from orbtax.analysis.efficiency import link_results
from orbtax.errors import RequestError
from orbtax.model import Arm, Purpose
from orbtax.report.files import write_report, write_whole

RUN = make_run(sizes=(1024, 65536), threads=(1, 4), rounds=4)
MEASURED = [sample for sample in RUN.samples if sample.purpose is Purpose.MEASURE]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write_report([RUN], tmp_path_factory.mktemp("report"))


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def partial(samples, **record):
    return replace(RUN, samples=tuple(samples), record=replace(RUN.record, **record))


def strict(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    def once(pairs):
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def test_the_columns_of_the_summary_are_those_of_the_design(paths):
    with paths.texts["summary.csv"].open(newline="") as file:
        header = next(csv.reader(file))
    bounds = ("", "_low", "_high")
    assert header == [
        *("link", "kind", "payload_bytes", "threads"),
        *(
            f"{arm}_{field}"
            for arm in ("stream", "call", "corba")
            for field in ("gbit_s", "low_gbit_s", "high_gbit_s", "bytes")
        ),
        *(f"efficiency_stream{bound}" for bound in bounds),
        *(f"efficiency_call{bound}" for bound in bounds),
        *("rounds", "verdict"),
    ]


def test_the_summary_holds_the_figures_of_the_analysis(paths):
    with paths.texts["summary.csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    (result,) = link_results(RUN)
    assert len(rows) == len(result.cells)
    for row, cell in zip(rows, result.cells, strict=True):
        assert (row["link"], row["kind"]) == ("ib", "emulated")
        assert int(row["payload_bytes"]) == cell.payload_bytes
        goodput = cell.arm(Arm.CORBA).goodput_bit_s
        assert float(row["corba_low_gbit_s"]) == goodput.low / 1e9
        assert int(row["corba_bytes"]) == cell.arm(Arm.CORBA).moved_bytes
        assert float(row["efficiency_stream"]) == cell.efficiency_stream.value
        assert row["verdict"] == str(cell.verdict)


def test_the_json_has_the_same_rows_and_all_the_rest(paths):
    content = strict(paths.texts["summary.json"].read_text())
    with paths.texts["summary.csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    as_text = [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in content["cells"]
    ]
    assert as_text == rows
    assert [best["arm"] for best in content["links"][0]["best"]] == ["stream", "call", "corba"]
    assert content["links"][0]["kind"] == "emulated"
    assert {finding["code"] for finding in content["findings"]} >= {"above-link-rate"}
    assert content["units"]["_bytes"] == "bytes"
    assert content["command"] == RUN.record.command


def test_missing_values_are_null_and_empty(tmp_path):
    made = write_report([partial(MEASURED[:1])], tmp_path)
    content = strict(made.texts["summary.json"].read_text())
    first = content["cells"][0]
    assert first["stream_gbit_s"] > 0
    assert first["stream_low_gbit_s"] is None
    assert first["corba_gbit_s"] is None
    with made.texts["summary.csv"].open(newline="") as file:
        assert next(csv.DictReader(file))["corba_gbit_s"] == ""
    assert content["gaps"]


def test_figures_come_as_svg_and_png(paths):
    assert sorted(path.name for path in paths.figures) == [
        f"{name}-ib.{suffix}"
        for name in ("efficiency", "goodput", "latency", "surface")
        for suffix in ("png", "svg")
    ]
    for path in paths.figures:
        start = path.read_bytes()[:8]
        assert start == b"\x89PNG\r\n\x1a\n" if path.suffix == ".png" else start == b"<?xml ve"


def test_the_same_run_gives_the_same_bytes_whatever_stood_there_before(paths, tmp_path):
    write_report([partial(MEASURED[:1])], tmp_path)
    write_report([RUN], tmp_path)
    assert contents(tmp_path) == contents(paths.page.parent)


UNVISITED = {"visits": ()}
CUT = {"visits": tuple(replace(visit, after=None) for visit in RUN.record.visits)}
PARTIAL = {
    "nothing measured": partial((), **UNVISITED),
    "only calibrated": partial([s for s in RUN.samples if s.purpose is Purpose.CALIBRATION]),
    "no cells": partial((), plan=replace(RUN.record.plan, cells=(), links=())),
    "one sample": partial(MEASURED[:1], **CUT),
    "one round": make_run(sizes=(1024,), threads=(1,), rounds=1, failed=0, refused=0),
    "stream failed": partial(
        make_failed(s) if s.case.arm is Arm.STREAM else s for s in RUN.samples
    ),
    "all failed": partial(map(make_failed, RUN.samples)),
    "corba alone": make_run(sizes=(1024,), threads=(1,), arms=(Arm.CORBA,), failed=0, refused=0),
    "stream alone": make_run(sizes=(1024,), threads=(1,), arms=(Arm.STREAM,), failed=0, refused=0),
    "no ends recorded": make_run(sizes=(1024,), threads=(1,), ends=False, latency_calls=0),
}


@pytest.mark.parametrize("run", PARTIAL.values(), ids=PARTIAL.keys())
def test_any_run_has_a_report(run, tmp_path):
    made = write_report([run], tmp_path)
    assert "</html>" in made.page.read_text()
    assert strict(made.texts["summary.json"].read_text())["schema_version"] == 1
    assert made.texts["summary.csv"].read_text().startswith("link,kind,payload_bytes,threads")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing measured", "No block has been measured yet"),
        ("only calibrated", "No block has been measured yet"),
        ("one sample", "cells have no figure yet"),
        ("one sample", "was cut short"),
        ("one round", "a single round has no interval"),
        ("stream failed", "no block of stream went well"),
        ("all failed", "no block of corba went well"),
        ("corba alone", "there is no stream to set it against"),
    ],
)
def test_a_report_of_part_of_a_run_says_what_is_missing(name, said, tmp_path):
    assert said in write_report([PARTIAL[name]], tmp_path).page.read_text()


def test_links_of_several_runs_stand_in_one_report(tmp_path):
    runs = [make_run(links=(link,), sizes=(1024,), threads=(1,)) for link in ("ib", "1ge")]
    made = write_report(runs, tmp_path)
    assert [link["link"] for link in strict(made.texts["summary.json"].read_text())["links"]] == [
        "ib",
        "1ge",
    ]
    assert {path.stem for path in made.figures} >= {"goodput-ib", "goodput-1ge"}


def test_an_unwritable_folder_is_a_request_that_names_it(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match=r"file/report.*--out"):
        write_report([partial(MEASURED[:1])], tmp_path / "file" / "report")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    target = write_whole(tmp_path / "page", b"old")
    monkeypatch.setattr(
        "pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
    )
    with pytest.raises(OSError, match="full"):
        write_whole(target, b"new")
    assert contents(tmp_path) == {target.relative_to(tmp_path): b"old"}


def test_a_link_named_like_a_path_stays_in_the_folder(tmp_path):
    name = "../up/<b>&ib"
    link = replace(RUN.record.plan.links[0], name=name)
    plan = replace(
        RUN.record.plan,
        links=(link,),
        cells=tuple(
            replace(cell, cases=tuple(replace(case, link=name) for case in cell.cases))
            for cell in RUN.record.plan.cells
        ),
    )
    samples = (replace(s, case=replace(s.case, link=name)) for s in RUN.samples)
    made = write_report([partial(samples, plan=plan)], tmp_path / "report")
    assert all(tmp_path / "report" in path.resolve().parents for path in made.figures)
    assert list(tmp_path.iterdir()) == [tmp_path / "report"]
    assert "&lt;b&gt;&amp;ib" in made.page.read_text()
    assert "<b>&ib" not in made.page.read_text()


def test_a_goodput_is_a_number_in_every_row(paths):
    rows = strict(paths.texts["summary.json"].read_text())["cells"]
    assert all(math.isfinite(row[f"{arm}_gbit_s"]) for row in rows for arm in ("stream", "corba"))
