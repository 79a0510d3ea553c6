"""A report as files: page, summaries and figures, each written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from orbtax.errors import RequestError
from orbtax.record import Run
from orbtax.report.charts import HeatMap
from orbtax.report.content import Report, assemble
from orbtax.report.figures import draw_chart
from orbtax.report.front import Drawing, Front, front_of
from orbtax.report.heatmap import draw_heat_map
from orbtax.report.images import png, svg
from orbtax.report.page import render_page
from orbtax.report.summary import summary_csv, summary_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPaths:
    """Where the files of a report are, and what they tell."""

    report: Report
    page: Path
    texts: Mapping[str, Path]  # by name: `summary.csv`, …
    figures: tuple[Path, ...]


def write_report(runs: Sequence[Run], folder: Path, *, join: bool = False) -> ReportPaths:
    """Analyse at least one run and write the report of a comparison below `folder`.

    Args:
        runs: one run, or those of several links that belong together.
        folder: made if it is not there.
        join: put runs from different set-ups into one report.

    Raises:
        RequestError: the runs do not belong together, or the folder cannot be written.
    """
    return write_comparison(assemble(runs, join=join), folder)


def write_comparison(report: Report, folder: Path) -> ReportPaths:
    """Write what is worked out already; RequestError if the folder cannot be written."""
    texts = {"summary.csv": summary_csv(report), "summary.json": summary_json(report)}
    return write_files(report, front_of(report), texts, folder)


def write_files(
    report: Report, front: Front, texts: Mapping[str, str], folder: Path
) -> ReportPaths:
    """Write the page with a study's front, its figures, and further files by their names.

    The same report gives the same bytes. Files of an earlier report are replaced, each at once,
    so that a reader never meets half a file.

    Raises:
        RequestError: the folder cannot be written.
    """
    page = render_page(report, front)
    try:
        return ReportPaths(
            report=report,
            page=write_whole(folder / "index.html", page.encode()),
            texts={name: write_whole(folder / name, text.encode()) for name, text in texts.items()},
            figures=tuple(
                path for drawing in front.drawings for path in _write_figure(drawing, folder)
            ),
        )
    except OSError as error:
        raise RequestError(
            f"the report's files cannot be written below {folder}: {error.strerror}. To have them "
            f"elsewhere: `invoke report {report.run.folder} --out FOLDER`."
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


def draw(drawing: Drawing) -> Figure:
    """The figure as matplotlib draws it."""
    content = drawing.content
    return draw_heat_map(content) if isinstance(content, HeatMap) else draw_chart(content)


def _write_figure(drawing: Drawing, folder: Path) -> tuple[Path, Path]:
    """The figure as SVG and as PNG."""
    figure = draw(drawing)
    stem = folder / "figures" / drawing.name
    return (
        write_whole(stem.with_name(f"{drawing.name}.svg"), svg(figure)),
        write_whole(stem.with_name(f"{drawing.name}.png"), png(figure)),
    )
