"""The report as one page that needs no network: text, tables, figures and styles in one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from orbtax.model import Arm
from orbtax.report.causes import bottleneck_table, cost_table
from orbtax.report.charts import Chart, HeatMap, describe_heat_map, describe_panel
from orbtax.report.content import LinkReport, Report
from orbtax.report.crosscheck import cross_check_table
from orbtax.report.evidence import buffer_table, latency_table, tcp_table
from orbtax.report.faults import failure_table
from orbtax.report.figures import draw_panel
from orbtax.report.forms import as_html
from orbtax.report.front import Drawing, Front, listed
from orbtax.report.heatmap import draw_heat_map
from orbtax.report.images import inline_svg
from orbtax.report.numbers import counted
from orbtax.report.surroundings import host_table, link_table, state_table
from orbtax.report.tables import Table, printable


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


def render_page(report: Report, front: Front) -> str:
    """The whole page as HTML: a study's front and the evidence; the same report, the same text."""
    templates = PackageLoader("orbtax.report")
    environment = Environment(
        loader=templates,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    style, _, _ = templates.get_source(environment, "style.css")
    serious = sum(remark.times for remark in report.remarks if remark.finding.serious)
    failures = failure_table(report.run)
    evidence = tuple(_evidence(report))
    record = report.run.record
    return environment.get_template("index.html").render(
        title=front.title,
        style=Markup(style),
        measured=front.measured,
        answers=[_unbroken(sentence) for sentence in front.answers],
        emulated=_emulated(report),
        gaps=report.gaps,
        serious=f"{counted(serious, 'serious finding')}." if serious else "",
        contents=_contents(front),
        best_heading=front.best_heading,
        cells_heading=front.cells_heading,
        best=[_html(table) for table in front.best],
        figures=[_figure(drawing, number) for number, drawing in enumerate(front.drawings)],
        cells=[_html(table) for table in front.cells],
        remarks=report.remarks,
        failures=_html(failures) if failures.rows else "",
        evidence=evidence,
        command=record.command,
        report_command=report_command(report),
        provenance=f"orbtax {record.orbtax_version}, run of {record.created_utc}, "
        f"{counted(len(report.run.samples), 'sample')}.",
    )


def report_command(report: Report) -> str:
    """The command that makes this report again."""
    return f"invoke report {','.join(f'results/{folder}' for folder in report.folders)}"


def _emulated(report: Report) -> str:
    names = report.emulated
    return f"{listed(names)} {'is a path' if len(names) == 1 else 'are paths'}" if names else ""


def _contents(front: Front) -> tuple[tuple[str, str], ...]:
    """Places of the page by their id, with their headings."""
    return (
        ("best", front.best_heading),
        ("figures", "Figures"),
        ("cells", front.cells_heading),
        ("trust", "How far to trust it"),
        ("again", "How to make it again"),
    )


def _figure(drawing: Drawing, number: int) -> PageFigure:
    """`number` keeps the names inside the figures of one page apart."""
    content, name = drawing.content, f"{drawing.content.name}-{number}"
    if isinstance(content, HeatMap):
        svg = inline_svg(draw_heat_map(content), name, describe_heat_map(content))
        heading = f"{content.title} by payload and threads on {content.subject}"
        return PageFigure(heading, (Markup(svg),))
    return PageFigure(f"{content.title} on {content.subject}", tuple(_panels(content, name)))


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

    if any(case.arm is Arm.IPERF3 for link in report.links for case in link.samples):
        yield section(
            "iperf3",
            "Beside iperf3",
            "Whether the socket that the ORB is measured against is as good as the tool that most "
            "people trust.",
            lambda link: cross_check_table(link.name, link.samples),
        )
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


def _harmless(value: object) -> object:
    """What goes into the page, without control characters; escaping comes after this."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _html(table: Table) -> Markup:
    return Markup(as_html(table))


def _unbroken(sentence: str) -> str:
    """The sentence with its numbers and their units kept on one line."""
    return re.sub(r"(?<=\d) (?=±|%|[KM]iB|Gbit/s|thread)", "\N{NO-BREAK SPACE}", sentence)
