"""The page `docs/mailing-list-study.md`, made from a stored run: no figure in it is typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import fill

from orbtax.model import Arm, Case, Kind
from orbtax.published.mailing_list import published_links
from orbtax.record import Run
from orbtax.report.content import Report, assemble
from orbtax.report.files import draw
from orbtax.report.forms import as_markdown
from orbtax.report.front import Drawing, listed
from orbtax.report.images import svg
from orbtax.report.numbers import gbit_s, per_cent, with_bounds
from orbtax.studies.study_front import drawings
from orbtax.studies.study_method import method_table
from orbtax.studies.study_results import Outcome, Pair, outcomes, published_pair, variations
from orbtax.studies.study_tables import (
    SEARCH_NOTE,
    calls_table,
    published_table,
    search_table,
    study_table,
    variation_table,
)
from orbtax.studies.study_words import answer, evidence

AGREEMENT_POINTS = 0.05
"""Efficiencies that lie within five percentage points of each other are said to agree."""

_WIDTH = 100

_UNCLEAR = """\
## What the post leaves unclear

- `MTU:63` on 1 Gbit/s Ethernet and `Send.Window:256`, without a unit, on InfiniBand stand here as
  they were printed. Neither can be meant literally.
- The sizes go from 1 kB to 1 MB in powers of two, so that 1 kB is taken as 1024 bytes here.
- Servant and clients ran on different systems (Windows Server and RHEL). Which end was busy, and
  how the processors were shared out, is not told; it is what the causes above are about.
- omniORB opens at most five connections to a server unless told otherwise
  (`maxGIOPConnectionPerServer`). Whether the 26 and 32 threads of the post had a connection each
  is not told. Here they have; `--vary connections` shows what the limit does.
- The post names no scatter and no number of repetitions, so that nobody can say which of its
  settings were really better than their neighbours.
- Windows were searched for the socket alone. The windows of the ORB's sockets are left to the
  system in both, here and as far as the post tells there."""


def page(run: Run) -> str:
    """The whole page in Markdown, ending in a newline; the same run gives the same text."""
    content = assemble([run])
    found = outcomes(content)
    varied = variations(content)
    parts = [
        _opening(),
        "## As published",
        as_markdown(published_table(published_links())).rstrip(),
        "## Ours beside it",
        _measured(content, found),
        as_markdown(study_table(found)).rstrip(),
        "## What agrees, what does not, and why",
        *(_judgement(outcome) for outcome in found),
        "## The method side by side",
        as_markdown(method_table(run.record.plan)).rstrip(),
        "## The calls",
        *(part for outcome in found for part in _calls(outcome)),
        "## The search for the best socket",
        _paragraph(SEARCH_NOTE),
        *(as_markdown(replace(search_table(each), notes=())).rstrip() for each in found),
        *(_varied(as_markdown(variation_table(varied))) if varied else ()),
        _UNCLEAR,
        "## How to make it again",
        _again(run),
    ]
    return "\n\n".join(parts) + "\n"


def figures(run: Run) -> dict[str, bytes]:
    """The figures of the page as SVG, by their file names."""
    return {
        _figure_name(drawing): svg(draw(drawing))
        for outcome in outcomes(assemble([run]))
        for drawing in drawings(outcome)
    }


def _figure_name(drawing: Drawing) -> str:
    return f"study-{drawing.name}.svg"


def _opening() -> str:
    links = {each.link: each for each in published_links()}
    ib, others = links.pop("ib"), links.values()
    beside = listed(
        f"{each.corba_gbit_s:g} of {each.socket_gbit_s:g} on {each.nominal_gbit_s:g} Gbit/s "
        "Ethernet"
        for each in others
    )
    text = (
        "A post on a mailing list set the question of this project: CORBA calls with an octet "
        f"sequence moved {ib.corba_gbit_s:g} Gbit/s on InfiniBand where iperf moved "
        f"{ib.socket_gbit_s:g}, but {beside}. It asks what causes the overhead on InfiniBand, and "
        "whether CORBA can replace a socket with hand-written serialisation on a fast network. "
        "`invoke study` does the same on whatever links there are, and sets the results beside "
        "the published ones."
    )
    return f"# The mailing-list study\n\n{_paragraph(text)}"


def _measured(content: Report, found: Sequence[Outcome]) -> str:
    record = content.run.record
    links = listed(outcome.report.name for outcome in found)
    host = record.visits[0].sender_before.facts if record.visits else {}
    said = f"Measured {record.created_utc[:10]} with orbtax {record.orbtax_version} on {links}."
    if any(outcome.report.link.kind is Kind.EMULATED for outcome in found):
        said += (
            " An emulated link joins two network namespaces of one machine: the figures show what "
            "the software costs on a path of that shape, not what the hardware of that name can "
            "do. Both ends share the processor of that machine"
        )
        said += f" ({host['cores']} cores)." if "cores" in host else "."
    return _paragraph(said)


def _judgement(outcome: Outcome) -> str:
    """The answer on one link, whether it agrees with the post, and the evidence for its causes."""
    lines = [
        f"### {outcome.report.name}",
        "",
        _paragraph(" ".join((answer(outcome), *_agreement(outcome)))),
        "",
        *(f"- The call: {text}." for text in evidence(outcome.corba_causes)),
        *(f"- The socket: {text}." for text in evidence(outcome.socket_causes)),
    ]
    return "\n".join(lines).rstrip()


def _agreement(outcome: Outcome) -> Iterator[str]:
    ours = outcome.ours.efficiency
    theirs = published_pair(outcome.published).efficiency if outcome.published else None
    if ours is None or theirs is None:
        return
    apart = ours.value - theirs.value
    if abs(apart) <= AGREEMENT_POINTS:
        yield "The efficiencies agree within five percentage points."
    else:
        side = "above" if apart > 0 else "below"
        yield f"Ours lies {100 * abs(apart):.1f} percentage points {side} the published one."


def _calls(outcome: Outcome) -> Iterator[str]:
    for drawing in drawings(outcome):
        content = drawing.content
        yield f"![{content.title} on {content.subject}](figures/{_figure_name(drawing)})"
    yield as_markdown(calls_table(outcome)).rstrip()
    published = outcome.published
    best = outcome.ours.corba_bit_s
    if published is None or best is None:
        return
    place = Case(
        link=outcome.report.link.name,
        arm=Arm.CORBA,
        payload_bytes=published.corba_payload_bytes,
        threads=published.corba_threads,
    )
    where = f"{place.threads} threads and {published.corba_kb_per_call} kB"
    there = Pair(outcome.rates[place], None).corba_bit_s if place in outcome.rates else None
    if there is None:
        yield f"The published optimum, {where}, was not measured here."
    else:
        yield (
            f"At the published optimum, {where}, CORBA moved {with_bounds(there, gbit_s)} Gbit/s "
            f"here, {per_cent(there.value / best.value)} % of the best."
        )


def _varied(table: str) -> tuple[str, str]:
    return "## What the post leaves open, varied", table.rstrip()


def _paragraph(text: str) -> str:
    """The text in lines; a label such as `receiver-processor` is not cut."""
    return fill(text, _WIDTH, break_on_hyphens=False)


def _again(run: Run) -> str:
    return f"""\
The measurement, and this page from the stored run:

```console
{run.record.command}
invoke docs
```

`invoke study` without `--quick` moves 8 GB in each of all combinations. It says beforehand how long
that takes (days, with every number of threads; hours with `--threads 1,8,16,26,32`), and
`--resume FOLDER` goes on after an interruption."""
