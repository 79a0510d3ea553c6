"""The report as one page that needs no network: text, tables, figures and styles in one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from orbtax.model import Arm
from orbtax.report.causes import bottleneck_table, cost_table, held_back
from orbtax.report.charts import Chart, describe_heat_map, describe_panel
from orbtax.report.content import LinkReport, Report
from orbtax.report.evidence import buffer_table, latency_table, tcp_table
from orbtax.report.faults import failure_table
from orbtax.report.figures import draw_panel
from orbtax.report.forms import as_html
from orbtax.report.heatmap import draw_heat_map
from orbtax.report.images import inline_svg
from orbtax.report.numbers import counted
from orbtax.report.plots import has_surface, link_charts, surface
from orbtax.report.results import answer, best_table, cells_table
from orbtax.report.surroundings import host_table, link_table, state_table
from orbtax.report.tables import Table
from orbtax.units import format_size

_CONTENTS = (
    ("best", "Best cases"),
    ("figures", "Figures"),
    ("cells", "All cells"),
    ("trust", "How far to trust it"),
    ("again", "How to make it again"),
)


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table ready for the page, under its title."""

    title: str
    html: Markup


@dataclass(frozen=True, slots=True)
class PageFigure:
    """The panels of a chart, each an `<svg>`."""

    heading: str
    panels: tuple[Markup, ...]


@dataclass(frozen=True, slots=True)
class PageSection:
    """Evidence of one sort: what it says, and a table for each link."""

    id: str
    heading: str
    about: str
    tables: tuple[PageTable, ...]


def render_page(report: Report) -> str:
    """The whole page as HTML; the same report gives the same text."""
    templates = PackageLoader("orbtax.report")
    environment = Environment(
        loader=templates,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    style, _, _ = templates.get_source(environment, "style.css")
    serious = sum(remark.times for remark in report.remarks if remark.finding.serious)
    failures = failure_table(report.run)
    evidence = tuple(_evidence(report))
    record = report.run.record
    return environment.get_template("index.html").render(
        title=_title(report),
        style=Markup(style),
        measured=measured(report),
        answers=[_unbroken(answer(result)) for result in report.results],
        emulated=_emulated(report),
        gaps=report.gaps,
        serious=f"{counted(serious, 'serious finding')}." if serious else "",
        contents=_CONTENTS,
        best=[
            _html(best_table(link.result, held_back(link.result, link.bottlenecks)))
            for link in report.links
        ],
        figures=tuple(_figures(report)),
        cells=[_html(cells_table(result)) for result in report.results],
        remarks=report.remarks,
        failures=_html(failures) if failures.rows else "",
        evidence=evidence,
        command=record.command,
        report_command=report_command(report),
        provenance=f"orbtax {record.orbtax_version}, run of {record.created_utc}, "
        f"{counted(len(report.run.samples), 'sample')}.",
    )


def measured(report: Report) -> str:
    """What was measured, in a sentence."""
    cells = [cell for cell in report.run.record.plan.cells if cell.cases]
    if not cells or not report.links:
        return "Nothing was planned in this run."
    cases = [case for cell in cells for case in cell.cases]
    arms = [str(arm) for arm in Arm if any(case.arm is arm for case in cases)]
    sizes = sorted({case.payload_bytes for case in cases})
    threads = sorted({case.threads for case in cases})
    size_range = " to ".join(dict.fromkeys(format_size(size) for size in (sizes[0], sizes[-1])))
    thread_range = " to ".join(dict.fromkeys(str(count) for count in threads[:1] + threads[-1:]))
    return (
        f"The goodput of {_listed(arms)} with messages of {size_range} and {thread_range} "
        f"{'thread' if threads == [1] else 'threads'}, in rounds one after the other, "
        f"on {_listed(link.name for link in report.links)}."
    )


def report_command(report: Report) -> str:
    """The command that makes this report again."""
    return f"invoke report {','.join(f'results/{folder}' for folder in report.folders)}"


def _title(report: Report) -> str:
    names = _listed(link.name for link in report.links) or "no link"
    return f"{report.run.record.plan.study}: what CORBA costs on {names}"


def _emulated(report: Report) -> str:
    names = report.emulated
    return f"{_listed(names)} {'is a path' if len(names) == 1 else 'are paths'}" if names else ""


def _figures(report: Report) -> Iterator[PageFigure]:
    for number, link in enumerate(report.links):
        for chart in link_charts(link.result, link.link, link.latencies):
            panels = tuple(_panels(chart, f"{chart.name}-{number}"))
            yield PageFigure(f"{chart.title} on {chart.subject}", panels)
        if not has_surface(link.result):
            continue
        heat_map = surface(link.result, link.result.arm)
        svg = inline_svg(draw_heat_map(heat_map), f"surface-{number}", describe_heat_map(heat_map))
        yield PageFigure(f"{heat_map.title} by payload and threads on {link.name}", (Markup(svg),))


def _panels(chart: Chart, name: str) -> Iterator[Markup]:
    for number, panel in enumerate(chart.panels):
        drawn = draw_panel(chart, panel)
        yield Markup(inline_svg(drawn, f"{name}-{number}", describe_panel(chart, panel)))


def _evidence(report: Report) -> Iterator[PageSection]:
    def section(
        name: str, heading: str, about: str, *makers: Callable[[LinkReport], Table]
    ) -> PageSection:
        made = [maker(link) for link in report.links for maker in makers]
        tables = tuple(PageTable(table.title, _html(table)) for table in made if table.rows)
        return PageSection(name, heading, about if tables else "Nothing was recorded.", tables)

    yield section(
        "links",
        "The links",
        "What each link really is, read back at both ends before the first block and after the "
        "last one.",
        lambda link: link_table(link.name, link.visits),
    )
    yield section(
        "hosts",
        "The hosts",
        "What the machines at both ends are, and how they and the ORB were set.",
        lambda link: host_table(link.name, link.visits),
        lambda link: state_table(link.name, link.visits),
    )
    yield section(
        "buffers",
        "Socket buffers",
        "What was asked for beside what the kernel gave.",
        lambda link: buffer_table(link.name, link.samples),
    )
    yield section(
        "tcp",
        "TCP",
        "The state of the connections, the ORB's own among them.",
        lambda link: tcp_table(link.name, link.samples),
    )
    yield section(
        "processor",
        "Processor cost",
        "What each MiB and each message cost the processors at both ends.",
        lambda link: cost_table(link.name, link.costs),
    )
    yield section(
        "latency",
        "Time per call",
        "How long a call took, from handing over the payload to having the reply.",
        lambda link: latency_table(link.name, link.latencies),
    )
    yield section(
        "bottlenecks",
        "Bottlenecks",
        "What holds each case back, as far as the measurements show it.",
        lambda link: bottleneck_table(link.name, link.bottlenecks),
    )


def _html(table: Table) -> Markup:
    return Markup(as_html(table))


def _unbroken(sentence: str) -> str:
    """The sentence with its numbers and their units kept on one line."""
    return re.sub(r"(?<=\d) (?=±|%|[KM]iB|Gbit/s|thread)", "\N{NO-BREAK SPACE}", sentence)


def _listed(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *firsts, last = [*words] or [""]
    return f"{', '.join(firsts)} and {last}" if firsts else last
