"""The study of a message's time for programs: `summary.csv`, one row a size, `summary.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from orbtax.analysis.costmodel import CostModel, Estimate
from orbtax.histogram import percentile
from orbtax.model import SCHEMA_VERSION, Options
from orbtax.report.content import Report
from orbtax.studies.latency_results import EmptyCall, LatencyResult, SweepResult
from orbtax.studies.latency_words import answers, setting_text

UNITS = {
    "_us": "microseconds of a whole message, there and back",
    "_ns": "nanoseconds",
    "_bytes": "bytes",
    "_bytes_s": "payload bytes per second, of one way",
    "_low, _high": "bounds of the 95 % interval; of usual_us the lowest and the highest round",
}
"""What the endings of the names stand for."""

Row = dict[str, Any]


def latency_csv(results: Sequence[LatencyResult]) -> str:
    """Every size of every sweep; a missing value is an empty field."""
    rows = [row for result in results for each in result.sweeps for row in _rows(result, each)]
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")


def latency_json(report: Report, results: Sequence[LatencyResult]) -> str:
    """Models, stalls, jumps, merging and answers of each link, as strict JSON."""
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
        "gaps": list(report.gaps),
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _rows(result: LatencyResult, each: SweepResult) -> Iterator[Row]:
    for point in each.sweep.points:
        rounds = point.medians_us.values()
        p99 = percentile(point.calls, 0.99)
        stalls = each.stalls_at(point.payload_bytes)
        yield {
            "link": result.link.name,
            "kind": str(result.link.kind),
            "arm": str(each.sweep.arm),
            **_options(each.sweep.options),
            "payload_bytes": point.payload_bytes,
            "rounds": len(rounds),
            "calls": point.calls.calls,
            "fastest_us": point.calls.min_ns / 1000,
            "usual_us": point.usual_us,
            "usual_us_low": min(rounds),
            "usual_us_high": max(rounds),
            "p99_us": None if p99 is None else p99 / 1000,
            "slowest_us": point.calls.max_ns / 1000,
            "model_us": each.model.time_us(point.payload_bytes) if each.model else None,
            "stalled_calls": sum(stall.stalled for stall in stalls),
            "stall": "; ".join(stall.timer.name for stall in stalls) or None,
        }


def _link(result: LatencyResult) -> Row:
    return {
        "link": result.link.name,
        "kind": str(result.link.kind),
        "answers": list(answers(result)),
        "timers": [asdict(timer) for timer in result.timers],
        "empty_calls": [_empty_call(each) for each in result.empty_calls],
        "sweeps": [_sweep(result, each) for each in result.sweeps],
        "merged": [
            {
                "payload_bytes": each.payload_bytes,
                "nodelay": each.options.nodelay,
                "messages": each.messages,
                "segments": each.segments,
                "messages_per_segment": each.messages_per_segment,
                "message_us": each.message_us,
            }
            for each in result.merged
        ],
    }


def _empty_call(each: EmptyCall) -> Row:
    return {
        **_options(each.options),
        "usual_us": each.time_us,
        "usual_us_low": min(each.point.medians_us.values()),
        "usual_us_high": max(each.point.medians_us.values()),
        "overhead_us": each.overhead_us,
    }


def _sweep(result: LatencyResult, each: SweepResult) -> Row:
    speed, size = each.peak
    return {
        "arm": str(each.sweep.arm),
        **_options(each.sweep.options),
        "peak_bytes_s": speed,
        "peak_payload_bytes": size,
        "model": None if each.model is None else _model(each.model),
        "left_out_bytes": list(each.left_out_bytes),
        "stalls": [
            {
                **asdict(stall),
                "share": stall.share,
                "remedies": [
                    {"setting": setting_text(remedy.options), "removes": remedy.removes}
                    for remedy in result.remedies(stall, each.sweep)
                ],
            }
            for stall in each.stalls
        ],
        "jumps": [asdict(jump) for jump in each.jumps],
        "splits": [asdict(split) for split in each.splits],
    }


def _model(model: CostModel) -> Row:
    return {
        "shape": str(model.shape),
        "segments": [asdict(segment) for segment in model.segments],
        **_estimate("overhead_us", model.overhead_us),
        **_estimate("byte_ns", model.byte_ns),
        **_estimate("asymptotic_bytes_s", model.asymptotic_bytes_s),
        **_estimate("half_speed_bytes", model.half_speed_bytes),
        **_estimate("breakpoint_bytes", model.breakpoint_bytes),
        "aicc": {str(shape): value for shape, value in model.aicc.items()},
        "residuals": dict(zip(map(str, model.sizes_bytes), model.residuals, strict=True)),
    }


def _options(options: Options) -> Row:
    return {
        "reverse": options.reverse,
        "nodelay": options.nodelay,
        "send_buffer_bytes": options.send_buffer_bytes,
        "receive_buffer_bytes": options.receive_buffer_bytes,
    }


def _estimate(name: str, estimate: Estimate | None) -> Row:
    value, low, high = (
        (None,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
    )
    return {name: value, f"{name}_low": low, f"{name}_high": high}
