"""A report as files: page, summaries and figures, each written whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from orbtax.errors import RequestError
from orbtax.record import Run
from orbtax.report.content import LinkReport, Report, assemble
from orbtax.report.figures import draw_chart
from orbtax.report.heatmap import draw_heat_map
from orbtax.report.images import png, svg
from orbtax.report.page import render_page
from orbtax.report.plots import has_surface, link_charts, surface
from orbtax.report.summary import summary_csv, summary_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPaths:
    """Where the files of a report are, and what they tell."""

    report: Report
    page: Path
    summary_csv: Path
    summary_json: Path
    figures: tuple[Path, ...]


def write_report(runs: Sequence[Run], folder: Path, *, join: bool = False) -> ReportPaths:
    """Analyse at least one run and write its report below `folder`.

    The same runs give the same bytes. Files of an earlier report are replaced, each at once, so
    that a reader never meets half a file.

    Args:
        runs: one run, or those of several links that belong together.
        folder: made if it is not there.
        join: put runs from different set-ups into one report.

    Raises:
        RequestError: the runs do not belong together, or the folder cannot be written.
    """
    report = assemble(runs, join=join)
    try:
        figures = tuple(
            write_whole(folder / "figures" / f"{name}{suffix}", content)
            for name, figure in _figures(report)
            for suffix, content in ((".svg", svg(figure)), (".png", png(figure)))
        )
        return ReportPaths(
            report=report,
            page=write_whole(folder / "index.html", render_page(report).encode()),
            summary_csv=write_whole(folder / "summary.csv", summary_csv(report).encode()),
            summary_json=write_whole(folder / "summary.json", summary_json(report).encode()),
            figures=figures,
        )
    except OSError as error:
        raise RequestError(
            f"the report cannot be written below {folder}: {error.strerror}. "
            "Name a folder that can be written with --out"
        ) from None


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file under a temporary name and rename it; gives `path` back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp keeps others out; a report is as readable as any other file.
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _figures(report: Report) -> Iterator[tuple[str, Figure]]:
    """Every figure with the name of its files."""
    for link in report.links:
        name = _file_name(link)
        for chart in link_charts(link.result, link.link, link.latencies):
            yield f"{chart.name}-{name}", draw_chart(chart)
        if has_surface(link.result):
            heat_map = surface(link.result, link.result.arm)
            yield f"{heat_map.name}-{name}", draw_heat_map(heat_map)


def _file_name(link: LinkReport) -> str:
    """The link's name in characters that every file system takes."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", link.link.name)
    return f"{name}-reverse" if link.result.reverse else name
