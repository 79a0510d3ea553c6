"""The study in sentences: the answer on each link, and what must be known beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orbtax.analysis.bottleneck import Bottleneck, Label
from orbtax.analysis.search import Choice
from orbtax.model import STUDY_TOTAL_BYTES, Case, Options
from orbtax.record import BufferRecord
from orbtax.report.causes import evidence_text
from orbtax.report.front import listed
from orbtax.report.numbers import counted, gbit_s, per_cent, with_bounds, with_half_width
from orbtax.report.tables import MISSING
from orbtax.report.wording import case_text, options_text
from orbtax.studies.study_results import Outcome, published_pair
from orbtax.units import display_size, format_size


def answer(outcome: Outcome) -> str:
    """What was found on one link, what was published for it, and what holds the call back."""
    return " ".join((_measured(outcome), *_published(outcome), *_held_back(outcome)))


def notes(outcome: Outcome) -> Iterator[str]:
    """What must be known of one link to read its figures right."""
    name = outcome.report.link.name
    moved = [
        f"the best {what} moved {per_cent(rates.moved_bytes / STUDY_TOTAL_BYTES)} %"
        for what, rates in (("call", outcome.ours.corba), ("socket", outcome.ours.socket))
        if rates is not None
    ]
    if moved:
        yield f"{name}: of 8 GB, {listed(moved)}."
    for what, choice in (("calls", outcome.corba), ("sockets", outcome.socket)):
        if choice is not None:
            yield f"{name}, {what}: {_chosen(choice)}"
    if clipped := _clipped(outcome):
        yield f"{name}: {clipped}"
    if outcome.published is None:
        yield f"{name}: nothing was published for a link of this name."


def window_text(window: BufferRecord | None) -> str:
    """A window as asked for and as in force: `256 KiB (524 kB)`, `kernel (6.29 MB)`."""
    if window is None:
        return MISSING
    asked = "kernel" if window.requested_bytes is None else format_size(window.requested_bytes)
    in_force = "?" if window.effective_bytes is None else display_size(window.effective_bytes)
    return f"{asked} ({in_force}{', clipped' if window.clipped else ''})"


def evidence(causes: Iterable[Bottleneck]) -> tuple[str, ...]:
    """Each cause with the numbers that it rests on."""
    return tuple(
        f"{_cause_text(cause)} ({'; '.join(map(evidence_text, cause.evidence))})"
        for cause in causes
    )


def _measured(outcome: Outcome) -> str:
    name, ours = outcome.report.name, outcome.ours
    if ours.corba is None or ours.corba_bit_s is None:
        return f"On {name} no call gave a figure."
    call = ours.corba.case
    moved = (
        f"On {name} CORBA moved {gbit_s(ours.corba_bit_s.value)} Gbit/s at its best "
        f"({format_size(call.payload_bytes)}, {counted(call.threads, 'thread')})"
    )
    if ours.socket is None or ours.socket_bit_s is None:
        return f"{moved}; no socket gave a figure."
    return (
        f"{moved}: {with_half_width(ours.efficiency)} % of the "
        f"{gbit_s(ours.socket_bit_s.value)} Gbit/s of the best socket "
        f"({_socket_text(ours.socket.case)})."
    )


def _published(outcome: Outcome) -> Iterator[str]:
    if outcome.published is not None:
        efficiency = published_pair(outcome.published).efficiency
        yield (
            f"The post has {outcome.published.corba_gbit_s:g} of "
            f"{outcome.published.socket_gbit_s:g} Gbit/s, {with_half_width(efficiency)} %."
        )


def _held_back(outcome: Outcome) -> Iterator[str]:
    said = [
        f"the best {what} by {listed(map(_cause_text, causes))}"
        for what, causes in (("call", outcome.corba_causes), ("socket", outcome.socket_causes))
        if any(cause.label is not Label.UNKNOWN for cause in causes)
    ]
    if said:
        yield f"Held back: {', '.join(said)}."


def _cause_text(cause: Bottleneck) -> str:
    return "no cause shows" if cause.label is Label.UNKNOWN else str(cause.label)


def _socket_text(case: Case) -> str:
    windows = "windows left to the kernel"
    if case.options != Options():
        windows = options_text(case.options)
    return f"{counted(case.threads, 'stream')}, {windows}"


def _chosen(choice: Choice) -> str:
    """How the setting taken stands among all that were tried."""
    tried = f"{counted(len(choice.settings), 'setting')} tried"
    if choice.tied == 1:
        return f"{tried}, and the noise tells the fastest from all others."
    ties = f"{tried}, {choice.tied} of which the noise does not tell apart"
    if choice.taken is choice.fastest:
        return f"{ties}; the fastest is also the simplest of them."
    return (
        f"{ties}; the simplest of them is taken. The fastest ({case_text(choice.fastest.case)}) "
        f"moved {with_bounds(choice.taken.behind, per_cent)} % of it."
    )


def _clipped(outcome: Outcome) -> str:
    """The windows of the search that the kernel cut, with the limits that cut them."""
    if outcome.socket is None:
        return ""
    windows = [
        window
        for setting in outcome.socket.settings
        for window in outcome.windows_of(setting.case)
        if window is not None and window.clipped
    ]
    limits = sorted({window.limit for window in windows if window.limit})
    return (
        f"{counted(len(windows), 'window')} of the search clipped ({'; '.join(limits)})."
        if windows
        else ""
    )
