"""The results for programs: `summary.csv`, one row a cell, and `summary.json` with all the rest."""

from __future__ import annotations

import json
from typing import Any

from orbtax.analysis.best import BestCase
from orbtax.analysis.efficiency import summary_frame
from orbtax.analysis.ratio import Interval
from orbtax.model import SCHEMA_VERSION, Options
from orbtax.report.causes import is_best
from orbtax.report.content import LinkReport, Report
from orbtax.report.faults import Remark
from orbtax.report.results import answer
from orbtax.report.wording import options_text

UNITS = {
    "_gbit_s": "10^9 bit per second of payload taken by the receiving application",
    "_bytes": "bytes",
    "efficiency_": "ratio of goodputs; 1 is as fast as the baseline",
    "_low, _high": "bounds of the 95 % interval over the rounds",
}
"""What the endings and beginnings of the names in `summary.json` stand for."""


def summary_csv(report: Report) -> str:
    """One row per link, size and threads; a missing value is an empty field."""
    return summary_frame(report.results).to_csv(index=False, lineterminator="\n")


def summary_json(report: Report) -> str:
    """Answers, best cases, cells, findings and gaps as strict JSON; a missing value is null."""
    record = report.run.record
    content = {
        "schema_version": SCHEMA_VERSION,
        "study": record.plan.study,
        "runs": list(report.folders),
        "created_utc": record.created_utc,
        "orbtax_version": record.orbtax_version,
        "command": record.command,
        "units": UNITS,
        "links": [_link(link) for link in report.links],
        "cells": _cells(report),
        "findings": [_finding(remark) for remark in report.remarks],
        "gaps": list(report.gaps),
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _cells(report: Report) -> list[dict[str, Any]]:
    """The rows of `summary.csv`."""
    frame = summary_frame(report.results).astype(object)
    rows = frame.where(frame.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _link(link: LinkReport) -> dict[str, Any]:
    return {
        "link": link.link.name,
        "kind": str(link.link.kind),
        "reverse": link.result.reverse,
        "mtu_bytes": link.link.mtu_bytes,
        "rate_bit_s": link.link.rate_bit_s,
        "answer": answer(link.result),
        "best": [_best(best, link) for best in link.result.best],
    }


def _best(best: BestCase, link: LinkReport) -> dict[str, Any]:
    return {
        "arm": str(best.arm),
        "payload_bytes": best.payload_bytes,
        "threads": best.threads,
        "options": None if best.options == Options() else options_text(best.options),
        **_bounds("gbit_s", best.goodput_bit_s, 1e9),
        **_bounds("efficiency_link", best.efficiency_link, 1),
        "paired": best.paired,
        "held_back_by": [
            str(bottleneck.label)
            for case, found in link.bottlenecks.items()
            if is_best(case, best)
            for bottleneck in found
        ],
    }


def _bounds(name: str, interval: Interval | None, unit: float) -> dict[str, float | None]:
    """`x`, `x_low`, `x_high`; `low_gbit_s` where the name is a unit."""
    bounds = (interval.value, interval.low, interval.high) if interval else (None, None, None)
    value, low, high = (None if bound is None else bound / unit for bound in bounds)
    if name == "gbit_s":
        return {name: value, f"low_{name}": low, f"high_{name}": high}
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _finding(remark: Remark) -> dict[str, Any]:
    return {
        "code": remark.finding.code,
        "serious": remark.finding.serious,
        "place": remark.place or None,
        "text": remark.finding.text,
        "cure": remark.finding.cure,
        "times": remark.times,
    }
