"""The page `docs/buffers.md`, made from a stored run: no figure in it is typed."""

from __future__ import annotations

from collections.abc import Iterator

from orbtax.analysis.bottleneck import LIMITED_SHARE, LINK_FULL, PROCESSOR_FULL
from orbtax.analysis.bounds import WINDOW_FULL
from orbtax.analysis.buffer_results import BufferResult, buffer_results
from orbtax.model import Kind
from orbtax.record import Run
from orbtax.report.figures import draw_chart
from orbtax.report.forms import as_markdown
from orbtax.report.front import listed
from orbtax.report.images import svg
from orbtax.report.numbers import per_cent
from orbtax.report.tables import Table
from orbtax.socket_buffers import base_name
from orbtax.studies.buffers_front import measured, speed_chart
from orbtax.studies.buffers_tables import (
    evidence_table,
    goodput_table,
    published_table,
    reason_table,
    slowdown_table,
)
from orbtax.studies.buffers_windows import in_force_table, window_table
from orbtax.studies.buffers_words import answers, subject_of

_OPENING = """\
# Message size and socket buffers

A post of 2008 measured SDP, sockets over InfiniBand, with netperf: the bandwidth at each message
size under three settings of the socket buffers. Smaller buffers were faster at nearly every size,
and the author could not say why. `invoke buffers` does the same with a plain socket that streams,
with one that waits for a reply after each message, and with a CORBA call; and it says of each
figure what bounds it, by what was seen while it was measured."""


def page(run: Run) -> str:
    """The whole page in Markdown, ending in a newline; the same run gives the same text."""
    results = buffer_results(run)
    parts = [
        _OPENING,
        "## As published",
        _text(published_table()),
        "## Ours",
        _measured(run, results),
        *(part for result in results for part in _link(result)),
        _how(),
        "## Every figure with its reasons",
        *(_folded(evidence_table(result, arm)) for result in results for arm in result.arms),
        "## How to make it again",
        _again(run),
    ]
    return "\n\n".join(parts) + "\n"


def figures(run: Run) -> dict[str, bytes]:
    """The figures of the page as SVG, by their file names."""
    return {_figure(each): svg(draw_chart(speed_chart(each))) for each in buffer_results(run)}


def _figure(result: BufferResult) -> str:
    return f"buffers-speed-{base_name(result.link.name)}.svg"


def _measured(run: Run, results: tuple[BufferResult, ...]) -> str:
    record = run.record
    host = record.visits[0].sender_before.facts if record.visits else {}
    said = [
        measured(results),
        f"Measured {record.created_utc[:10]} with orbtax {record.orbtax_version}.",
    ]
    emulated = [subject_of(each) for each in results if each.link.kind is Kind.EMULATED]
    if emulated:
        said.append(
            f"An emulated link joins two network namespaces of one machine: the figures of "
            f"{listed(emulated)} show what the software costs on a path of that shape, not what "
            "hardware of that name can do. Every socket there has its buffers from its namespace, "
            "the ORB's own included."
        )
    caches = [
        f"{name.removeprefix('cache_').upper()} {host[name]}"
        for name in ("cache_l2", "cache_l3")
        if name in host
    ]
    if caches:
        said.append(f"Caches: {listed(caches)}.")
    return " ".join(said)


def _link(result: BufferResult) -> Iterator[str]:
    yield f"### {subject_of(result)}"
    yield "\n".join(f"- {sentence}" for sentence in answers(result))
    yield f"![Goodput by message size and buffers](figures/{_figure(result)})"
    for arm in result.arms:
        yield _text(goodput_table(result, arm))
        yield _text(reason_table(result, arm))
    yield _text(in_force_table(result))
    for table in (window_table(result), slowdown_table(result)):
        if table.rows:
            yield _text(table)


def _text(table: Table) -> str:
    return as_markdown(table).rstrip()


def _folded(table: Table) -> str:
    """A long table that opens on a click."""
    return f"<details>\n<summary>{table.title}</summary>\n\n{_text(table)}\n\n</details>"


def _again(run: Run) -> str:
    return f"""\
The measurement, and this page from the stored run:

```console
{run.record.command}
invoke docs
```

`--full` makes the blocks longer and the rounds as many as the intervals ask for."""


def _how() -> str:
    stalled, full, busy = map(per_cent, (LIMITED_SHARE, WINDOW_FULL, PROCESSOR_FULL))
    return f"""\
## How a cause is told

- `link-limited`: the goodput is at least {per_cent(LINK_FULL)} % of what the link's rate leaves for
  payload. Neither window nor buffer nor waiting means anything then.
- `window-limited`: the sender stalled at the peer's window for {stalled} % of the time or more, and
  the window is smaller than the best rate of the link × the round trip under load. It comes first
  if the data in flight filled the window by {full} % on average.
- `sender-processor`, `receiver-processor`: a core of that end, or all that its process may use,
  was {busy} % busy.
- `waiting-for-reply`: calls in flight ÷ time of a call gives the rate of calls, and both ends had
  time left.
- `buffer-limited`: the size of the send buffer is fixed, and the sender slept in its write again
  and again while both ends had time left; or the kernel itself counted such stalls.
- `cache`: what is in both buffers does not fit a cache; with buffers of which it does, each MiB
  costs less processor time, and more is moved.
- `autotuning-lost`: a size is fixed, and the kernel's own choice is larger and faster.

A stream of small messages has one more cause, which is in no label but in the segments per message:
TCP merges messages that wait in the send buffer into one segment (autocorking, which
`TCP_NODELAY` does not switch off), and a merged message costs both ends a fraction. What makes
messages wait, such as a receiver that is slow for a moment and a buffer that has room for them, can
so make a stream several times as fast.

A round trip under load is not the one that a connection tells when all is over: the last segments
meet empty queues. It is looked at every 10 ms while the blocks run, and the harmonic mean is taken,
since it is window ÷ round trip whose mean over the time is a rate. In flight is that rate × the
round trip (Little's law). On a link within one machine a round trip is mostly the time that a
program takes to wake up and read, since a small window stays closed until then."""
