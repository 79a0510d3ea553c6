"""The study for programs: `summary.csv`, one row a case, and `summary.json` with the answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from orbtax.analysis.rates import CaseRates
from orbtax.analysis.ratio import Interval, geometric_mean
from orbtax.model import SCHEMA_VERSION, STUDY_TOTAL_BYTES
from orbtax.record import BufferRecord
from orbtax.report.content import Report
from orbtax.studies.study_results import Outcome, Pair, Variation, published_pair
from orbtax.studies.study_words import answer

Row = dict[str, Any]


def study_csv(outcomes: Sequence[Outcome]) -> str:
    """Every call and every socket of the study; a missing value is an empty field."""
    rows = [_case_row(outcome, rates) for outcome in outcomes for rates in outcome.rates.values()]
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")


def study_json(report: Report, outcomes: Sequence[Outcome], variations: Sequence[Variation]) -> str:
    """Each link's answer with ours and published, and the variations, as strict JSON."""
    record = report.run.record
    content = {
        "schema_version": SCHEMA_VERSION,
        "study": record.plan.study,
        "runs": list(report.folders),
        "created_utc": record.created_utc,
        "orbtax_version": record.orbtax_version,
        "command": record.command,
        "links": [_link(outcome) for outcome in outcomes],
        "variations": [_variation(row) for row in variations],
        "gaps": list(report.gaps),
        "findings": [
            {
                "code": remark.finding.code,
                "serious": remark.finding.serious,
                "text": remark.text,
                "cure": remark.finding.cure,
            }
            for remark in report.remarks
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _case_row(outcome: Outcome, rates: CaseRates) -> Row:
    case = rates.case
    settings = [
        setting
        for choice in (outcome.corba, outcome.socket)
        if choice is not None
        for setting in choice.settings
        if setting.case == case
    ]
    send, receive = outcome.windows_of(case)
    taken = (outcome.ours.corba, outcome.ours.socket)
    return {
        "link": case.link,
        "kind": str(outcome.report.link.kind),
        "arm": str(case.arm),
        "payload_bytes": case.payload_bytes,
        "threads": case.threads,
        "send_window_bytes": case.options.send_buffer_bytes,
        "receive_window_bytes": case.options.receive_buffer_bytes,
        **_windows(send, receive),
        **_bounds("goodput_bit_s", geometric_mean(rates.in_order())),
        **_bounds("efficiency_link", outcome.against_link(case)),
        "rounds": len(rates.by_round),
        "moved_bytes": rates.moved_bytes,
        "of_8_gb": rates.moved_bytes / STUDY_TOTAL_BYTES,
        "ties": any(setting.tied for setting in settings),
        "taken": any(rates is each for each in taken),
    }


def _windows(send: BufferRecord | None, receive: BufferRecord | None) -> Row:
    return {
        "send_window_in_force_bytes": send.effective_bytes if send else None,
        "receive_window_in_force_bytes": receive.effective_bytes if receive else None,
        "clipped": any(window.clipped for window in (send, receive) if window),
    }


def _link(outcome: Outcome) -> Row:
    send, receive = outcome.windows
    published = published_pair(outcome.published) if outcome.published else None
    return {
        "link": outcome.report.link.name,
        "kind": str(outcome.report.link.kind),
        "answer": answer(outcome),
        "ours": {
            **_pair(outcome.ours),
            "mtu_bytes": outcome.mtu_bytes,
            "window_scaling": outcome.window_scaling,
            **_windows(send, receive),
        },
        "published": None if published is None else _pair(published),
        "corba_held_back_by": [str(cause.label) for cause in outcome.corba_causes],
        "socket_held_back_by": [str(cause.label) for cause in outcome.socket_causes],
    }


def _variation(row: Variation) -> Row:
    return {
        "link": row.link,
        "varied": row.name or None,
        **_pair(row.pair),
        **_bounds("corba_change", row.corba_change),
        **_bounds("socket_change", row.socket_change),
    }


def _pair(pair: Pair) -> Row:
    """Both goodputs with their settings, and the efficiency."""
    row: Row = {}
    for name, rates, goodput in (
        ("corba", pair.corba, pair.corba_bit_s),
        ("socket", pair.socket, pair.socket_bit_s),
    ):
        case = rates.case if rates else None
        row |= _bounds(f"{name}_bit_s", goodput)
        row[f"{name}_threads"] = case.threads if case else None
        row[f"{name}_payload_bytes"] = case.payload_bytes if case else None
        row[f"{name}_send_window_bytes"] = case.options.send_buffer_bytes if case else None
        row[f"{name}_receive_window_bytes"] = case.options.receive_buffer_bytes if case else None
    return row | _bounds("efficiency_link", pair.efficiency)


def _bounds(name: str, interval: Interval | None) -> Row:
    return {
        name: interval.value if interval else None,
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }
