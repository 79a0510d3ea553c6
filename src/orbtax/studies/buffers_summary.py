"""The study of buffers for programs: `summary.csv`, one row a case, and `summary.json`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from orbtax.analysis.bounds import Measured
from orbtax.analysis.buffer_results import BufferResult
from orbtax.model import SCHEMA_VERSION
from orbtax.report.content import Report
from orbtax.socket_buffers import base_name
from orbtax.studies.buffers_words import answers, changes_text, reason_text

UNITS = {
    "_gbit_s": "10^9 bit per second of payload taken by the receiving application",
    "_bytes": "bytes; buffers in force as the kernel counts, twice what is asked for",
    "_us": "microseconds",
    "low_, high_": "bounds of the 95 % interval over the rounds",
}
"""What the endings and beginnings of the names stand for."""


def buffers_csv(results: Sequence[BufferResult]) -> str:
    """One row per link, arm, message size and setting; a missing value is an empty field."""
    rows = [row for result in results for row in _rows(result)]
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


def buffers_json(report: Report, results: Sequence[BufferResult]) -> str:
    """Everything in the tables as strict JSON; a missing value is null."""
    record = report.run.record
    content = {
        "schema_version": SCHEMA_VERSION,
        "study": record.plan.study,
        "runs": list(report.folders),
        "created_utc": record.created_utc,
        "orbtax_version": record.orbtax_version,
        "command": record.command,
        "units": UNITS,
        "links": [_link(result) for result in results],
        "cases": [row for result in results for row in _rows(result)],
        "gaps": list(report.gaps),
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _rows(result: BufferResult) -> Iterator[dict[str, Any]]:
    for each in result.cases.values():
        yield {
            "link": base_name(result.link.name),
            "kind": str(result.link.kind),
            "arm": str(each.case.arm),
            "payload_bytes": each.case.payload_bytes,
            "buffers": str(each.buffers),
            **_goodput(each),
            "rounds": len(each.rates.by_round),
            **_sizes(each),
            "segments_per_message": each.flow.segments_per_message,
            "rtt_us": each.flow.rtt_us,
            "least_rtt_us": each.flow.least_rtt_us,
            "bounds": "; ".join(map(str, each.labels)) or None,
            "since": reason_text(each) or None,
        }


def _goodput(each: Measured) -> dict[str, float | None]:
    mean = each.goodput_bit_s
    bounds = (mean.value, mean.low, mean.high) if mean else (None, None, None)
    value, low, high = (None if bound is None else bound / 1e9 for bound in bounds)
    return {"gbit_s": value, "low_gbit_s": low, "high_gbit_s": high}


def _sizes(each: Measured) -> dict[str, Any]:
    flow = each.flow
    return {
        "send_buffer_asked_bytes": each.buffers.send_bytes,
        "send_buffer_bytes": flow.send_buffer_bytes,
        "receive_buffer_asked_bytes": each.buffers.receive_bytes,
        "receive_buffer_bytes": flow.receive_buffer_bytes,
        "clipped": bool(each.shortfalls),
        "window_bytes": flow.window_bytes,
        "in_flight_bytes": flow.in_flight_bytes,
        "window_gbit_s": None if flow.window_bit_s is None else flow.window_bit_s / 1e9,
    }


def _link(result: BufferResult) -> dict[str, Any]:
    return {
        "link": base_name(result.link.name),
        "kind": str(result.link.kind),
        "answers": list(answers(result)),
        "best_gbit_s": None if result.best_bit_s is None else result.best_bit_s / 1e9,
        "least_rtt_us": result.least_rtt_us,
        "bandwidth_delay_product_bytes": result.delay_product_bytes,
        "caches_bytes": dict(result.caches_bytes),
        "lacking": [
            {"arm": str(arm), "buffers": str(buffers), "reason": reason}
            for (arm, buffers), reason in result.lacking.items()
        ],
        "slowdowns": [
            {
                "arm": str(slowdown.larger.case.arm),
                "payload_bytes": slowdown.larger.case.payload_bytes,
                "larger": str(slowdown.larger.buffers),
                "smaller": str(slowdown.smaller.buffers),
                "ratio": slowdown.ratio.value,
                "ratio_low": slowdown.ratio.low,
                "ratio_high": slowdown.ratio.high,
                "changed": changes_text(slowdown),
            }
            for slowdown in result.slowdowns
        ],
    }
