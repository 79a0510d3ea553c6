"""The study in sentences."""

from __future__ import annotations

from dataclasses import replace

from builders_ends import make_processor
from study_builders import KIB, run_of, small_plan

from orbtax.model import Arm, Options
from orbtax.record import BufferRecord
from orbtax.report.content import assemble
from orbtax.studies.study_results import outcomes
from orbtax.studies.study_words import answer, evidence, notes, window_text


def only(run):
    (outcome,) = outcomes(assemble([run]))
    return outcome


def rate(case, number):
    if case.arm is Arm.CORBA:
        return 4.0 + 0.02 * (number % 2)
    return 8.0 if case.options == Options() and case.threads == 4 else 5.0


def busy(sample):
    """The sample with a servant whose processor is full."""
    cost = make_processor(sample.window_s, busy_cores=0.99, core=1)
    return replace(sample, servant=replace(sample.servant, processor=cost))


def test_the_answer_has_ours_the_published_one_and_the_cause() -> None:
    run = run_of(small_plan("ib"), rate)
    said = answer(only(replace(run, samples=tuple(map(busy, run.samples)))))
    assert said.startswith(
        "On ib (emulated) CORBA moved 4.01 Gbit/s at its best (1 KiB, 8 threads)"
    )
    assert "of the 8.00 Gbit/s of the best socket (4 streams, windows left to the kernel)." in said
    assert "The post has 8.66 of 43.6 Gbit/s, 19.9 %." in said
    assert "Held back: the best call by receiver-processor" in said


def test_a_best_socket_with_windows_names_them() -> None:
    windows = Options(send_buffer_bytes=256 * KIB, receive_buffer_bytes=1024 * KIB)

    def by_window(case, number):
        return 9.0 if case.options == windows else rate(case, number)

    said = answer(only(run_of(small_plan("ib", streams=(4,)), by_window)))
    assert "(4 streams, send buffer 256 KiB, receive buffer 1 MiB)" in said


def test_a_cause_that_does_not_show_is_not_named_but_its_numbers_are_there() -> None:
    outcome = only(run_of(small_plan("ib"), rate))
    assert "Held back" not in answer(outcome)
    (text,) = evidence(outcome.corba_causes)
    assert text.startswith("no cause shows (")
    assert "client busy 80.0 %" in text


def test_what_gave_no_figure_is_said() -> None:
    run = run_of(small_plan("ib"), rate)
    calls = tuple(sample for sample in run.samples if sample.case.arm is Arm.CORBA)
    assert "no socket gave a figure" in answer(only(replace(run, samples=calls)))
    assert "no call gave a figure" in answer(only(replace(run, samples=())))
    assert not any("of 8 GB" in note for note in notes(only(replace(run, samples=()))))


def test_a_tie_says_what_the_fastest_would_have_given() -> None:
    said = "\n".join(notes(only(run_of(small_plan("ib"), rate))))
    assert "ib, calls: 4 settings tried, 4 of which the noise does not tell apart" in said


def test_windows_as_asked_for_and_in_force() -> None:
    left = BufferRecord(requested_bytes=None, effective_bytes=None, clipped=False, autotuned=True)
    asked = replace(left, requested_bytes=64 * KIB, effective_bytes=128 * KIB)
    assert window_text(None) == "–"
    assert window_text(left) == "kernel (?)"
    assert window_text(asked) == "64 KiB (131 kB)"
    assert window_text(replace(asked, clipped=True)) == "64 KiB (131 kB, clipped)"
