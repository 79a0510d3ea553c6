"""The page `docs/message-size.md`, made from a stored run: no figure in it is typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill

from orbtax.model import Kind
from orbtax.published.fibre_channel import fibre_channel_results
from orbtax.record import Run
from orbtax.report.content import Report, assemble
from orbtax.report.files import draw
from orbtax.report.forms import as_markdown
from orbtax.report.front import Drawing, listed
from orbtax.report.images import svg
from orbtax.report.numbers import significant
from orbtax.studies.latency_breaks import discontinuity_table
from orbtax.studies.latency_front import drawings, measured
from orbtax.studies.latency_published import merging_table, published_table
from orbtax.studies.latency_results import LatencyResult, latency_results
from orbtax.studies.latency_tables import empty_table, model_table
from orbtax.studies.latency_words import answers, timer_text

_WIDTH = 100

_METHOD = """\
## How it is done

- Every arm waits for the reply, so that a time is that of a message there and back: `call` sends
  the message and gets a reply of 24 bytes, `pingpong` gets the message back; `corba` is a two-way
  invocation with the payload, `echo` one that returns it, `empty` one without any.
- A size stands for the median of the calls of each repetition, and the median of the repetitions:
  what a message usually takes. A repetition goes over all sizes before the next one begins, so
  that a drift falls on no size alone and a jump is seen again or not.
- The model is fitted with relative residuals, or a large message would outweigh all small ones. A
  breakpoint is taken where the corrected Akaike criterion asks for it, and counts as three
  parameters. Sizes whose usual call met a timer are left out.
- A stall is a pile of calls at a timer of the kernel, beyond the least that a message of the size
  can take. What other settings did at the same size stands beside it.
- Without `--full`, one whole curve of every arm is measured with nothing set, and `call` and
  `corba` at fewer sizes with one setting changed at a time. `--full` has all sizes (1, 2, 5 × 10^n
  and powers of two, each with 3 bytes less and more) under all settings.
- TCP_NODELAY off is not for CORBA: omniORB always sets it. Of the buffers it has an option for the
  send buffer alone."""


def page(run: Run) -> str:
    """The whole page in Markdown, ending in a newline; the same run gives the same text."""
    content = assemble([run])
    results = latency_results(content.run)
    parts = [
        _opening(),
        _measured(content, results),
        *(part for result in results for part in _link(result)),
        _METHOD,
        "## How to make it again",
        _again(run),
    ]
    return "\n\n".join(parts) + "\n"


def figures(run: Run) -> dict[str, bytes]:
    """The figures of the page as SVG, by their file names."""
    return {
        _figure_name(drawing): svg(draw(drawing))
        for result in latency_results(run)
        for drawing in drawings(result)
    }


def _figure_name(drawing: Drawing) -> str:
    return f"message-size-{drawing.name}.svg"


def _opening() -> str:
    published = fibre_channel_results()
    overheads = listed(sorted({f"{each.overhead_us:g}" for each in published}))
    peaks = sorted(each.peak_mbyte_s for each in published)
    text = (
        "A report of 1994 on a Fibre Channel fabric asked how the time of a message depends on its "
        f"size. It found an overhead of {overheads} µs and {peaks[0]:.1f} to {peaks[-1]:.1f} MB/s, "
        "and in one direction a curve that was not continuous, every time, which it could only "
        "suspect a timer to be the cause of. It also warned that a protocol which merges small "
        "messages makes the overhead look small. `invoke latency` asks the same of sockets and of "
        "CORBA, and names what it finds."
    )
    return f"# The time of a message by its size\n\n{fill(text, _WIDTH)}"


def _measured(content: Report, results: Sequence[LatencyResult]) -> str:
    record = content.run.record
    host = record.visits[0].sender_before.facts if record.visits else {}
    said = f"Measured {record.created_utc[:10]} with orbtax {record.orbtax_version}. "
    said += measured(results)
    if "cores" in host and any(result.link.kind is not Kind.HOSTS for result in results):
        said += f" Both ends share one machine of {host['cores']} cores."
    return fill(said, _WIDTH)


def _link(result: LatencyResult) -> Iterator[str]:
    shown = {
        drawing.content.name: f"![{drawing.content.title}](figures/{_figure_name(drawing)})"
        for drawing in drawings(result)
    }
    yield f"## On {result.name}"
    yield "\n".join(fill(f"- {said}", _WIDTH, subsequent_indent="  ") for said in answers(result))
    yield from _those(shown, "time")
    yield "### Overhead and speed"
    yield as_markdown(model_table(result)).rstrip()
    yield from _those(shown, "model", "residuals")
    if result.empty_calls:
        yield as_markdown(empty_table(result)).rstrip()
    yield "### Beside the report of 1994"
    yield as_markdown(published_table(result)).rstrip()
    yield "### Where it is not continuous"
    if any(each.stalls or each.jumps or each.splits for each in result.sweeps):
        yield as_markdown(discontinuity_table(result)).rstrip()
    else:
        timers = listed(map(timer_text, result.timers))
        yield fill(
            f"Nowhere: no call piled up at a timer ({timers}), no size jumped beyond the noise, "
            "and all repetitions agree.",
            _WIDTH,
        )
    yield from _those(shown, "stalls")
    if result.merged:
        yield "### Merged messages"
        yield fill(_merging(result), _WIDTH)
        yield as_markdown(merging_table(result)).rstrip()
        yield from _those(shown, "merging")


def _those(shown: Mapping[str, str], *names: str) -> Iterator[str]:
    """The figures of those names that there are."""
    return (shown[name] for name in names if name in shown)


def _merging(result: LatencyResult) -> str:
    """What merging makes of the smallest message, beside what a call of it takes."""
    smallest = [each for each in result.merged if each.payload_bytes == 1]
    said = listed(
        f"{significant(each.message_us)} µs with TCP_NODELAY "
        f"{'on' if each.options.nodelay else 'off'} "
        f"({significant(each.messages_per_segment)} messages per segment)"
        for each in smallest
        if each.messages_per_segment is not None
    )
    if not said:
        return "How many messages a stream puts into a segment."
    return (
        f"A stream of 1 byte messages takes {said} for each. That is not the overhead of a "
        "message: it is what is left of it where nothing is waited for and many go together."
    )


def _again(run: Run) -> str:
    return f"""\
The measurement, and this page from the stored run:

```console
{run.record.command}
invoke docs
```"""
