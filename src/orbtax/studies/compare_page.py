"""The page `docs/compare.md`: one real comparison, read line by line, with its figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orbtax.record import Run
from orbtax.report.content import LinkReport, assemble
from orbtax.report.figures import draw_chart
from orbtax.report.forms import as_markdown
from orbtax.report.images import svg
from orbtax.report.plots import efficiency_chart, goodput_chart
from orbtax.report.results import answer, best_table, cells_table
from orbtax.units import display_size

_READING = """\
## How to read it

- **Start with the best cases.** `against the link` is the figure that studies quote: the best that
  CORBA reached over the best that a TCP stream reached, each wherever it was best.
- **÷ stream** compares CORBA with a stream of the same size and threads, paired round by round. It
  contains the waiting: a stream never waits for a reply, a call always does.
- **÷ call** compares CORBA with a raw socket that waits as well. What is missing from 100 % there
  is the ORB's own cost: marshalling, headers, its system calls, its threads.
- **Held back** names what each arm ran into, from evidence: a processor that was full at one end,
  the reply that was waited for, the link, a window. The page of a run shows the numbers behind it.
- **Brackets** are 95 % intervals over the rounds. Two figures whose intervals overlap widely do not
  differ, whatever their last digits say. A verdict other than `stable` asks for more rounds or a
  quieter machine (`invoke doctor` tells what disturbs it).
- **Emulated** means that both ends were namespaces of one machine. Such a link shows what the
  software costs on a path of that shape, and says nothing of a network card."""


def page(run: Run) -> str:
    """The whole page in Markdown, ending in a newline; the same run gives the same text."""
    parts = ["# A comparison, read line by line"]
    for link in assemble([run]).links:
        parts += [*_measured(run, link), as_markdown(best_table(link.result)).rstrip()]
        parts += [f"![{name}](figures/{name})" for name in _names(link)]
        parts += [as_markdown(cells_table(link.result)).rstrip()]
    parts += [_READING, _again(run)]
    return "\n\n".join(parts) + "\n"


def section(run: Run) -> str:
    """What README.md shows of the run: the command, its answer, the best cases, one figure."""
    (link,) = assemble([run]).links
    table = replace(best_table(link.result), notes=())
    return (
        "\n\n".join(
            [
                f"```console\n$ {run.record.command}\n```",
                answer(link.result),
                as_markdown(table).rstrip(),
                f"![Goodput on {link.name}](docs/figures/{_names(link)[0]})",
            ]
        )
        + "\n"
    )


def figures(run: Run) -> dict[str, bytes]:
    """The figures of the page as SVG, by their file names."""
    drawn: dict[str, bytes] = {}
    for link in assemble([run]).links:
        charts = goodput_chart(link.result, link.link), efficiency_chart(link.result)
        drawn |= {
            name: svg(draw_chart(chart)) for name, chart in zip(_names(link), charts, strict=True)
        }
    return drawn


def _names(link: LinkReport) -> tuple[str, str]:
    return f"compare-{link.link.name}-goodput.svg", f"compare-{link.link.name}-efficiency.svg"


def _measured(run: Run, link: LinkReport) -> list[str]:
    moved = sum(sample.confirmed_bytes or 0 for each in link.samples.values() for sample in each)
    facts = link.visits[0].sender_before.facts
    machine = (
        f"{facts.get('processor', 'unknown processor')}, {facts.get('cores', '?')} cores, "
        f"{facts.get('kernel', 'unknown kernel')}, {facts.get('python', 'Python')}, "
        f"omniORB {facts.get('version.omniORB', '?')}"
    )
    return [
        answer(link.result),
        f"{len(run.samples)} blocks moved {display_size(moved)}. Machine: {machine}.",
    ]


def _again(run: Run) -> str:
    return (
        "## How to make it again\n\n```console\n"
        f"{run.record.command}\n```\n\n"
        f"The run is stored in `docs/data/{Path(run.folder).name}`; `invoke docs` makes this page "
        "from it."
    )
