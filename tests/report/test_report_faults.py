"""Findings, failures and gaps: nothing is left out, nothing is told a thousand times."""

from dataclasses import replace

from builders import make_case, make_failed, make_refused, make_run

from orbtax.analysis.efficiency import link_results
from orbtax.model import Arm, Cell, Finding, Purpose
from orbtax.report.faults import FAILURES_SHOWN, failure_table, gaps, remarks

RUN = make_run(sizes=(1024,), threads=(1, 4), rounds=4, failed=0, refused=0)
MEASURED = [sample for sample in RUN.samples if sample.purpose is Purpose.MEASURE]
CLIPPED = Finding(code="buffer-clipped", text="got 4 kB", cure="raise the limit")


def of(samples=RUN.samples, **record):
    run = replace(RUN, samples=tuple(samples), record=replace(RUN.record, **record))
    return run, link_results(run)


def test_a_sound_run_has_neither_remarks_nor_gaps_nor_failures():
    run, links = of()
    assert [remark.finding.code for remark in remarks(run, links)] in ([], ["above-one"])
    assert gaps(run, links) == ()
    assert failure_table(run).rows == ()


def test_findings_of_one_kind_are_told_once_with_place_and_number():
    samples = [replace(sample, findings=(CLIPPED,)) for sample in MEASURED]
    (told,) = [r for r in remarks(*of(samples)) if r.finding.code == "buffer-clipped"]
    assert told.times == len(MEASURED)
    assert told.text == (
        "ib (emulated), stream, 1 KiB, 1 thread, round 1: got 4 kB "
        f"({len(MEASURED) - 1} more of this kind)"
    )


def test_findings_of_blocks_that_are_no_measurement_are_left_out():
    preparing = [
        replace(MEASURED[0], purpose=purpose, findings=(CLIPPED,))
        for purpose in (Purpose.CALIBRATION, Purpose.CEILING)
    ]
    told = remarks(*of([*MEASURED, *preparing]))
    assert CLIPPED not in [remark.finding for remark in told]


def test_serious_findings_come_first_and_stay_apart_from_others_of_their_code():
    serious = replace(CLIPPED, serious=True)
    told = remarks(*of(findings=(CLIPPED, serious)))
    assert [remark.finding for remark in told][:2] == [serious, CLIPPED]


def test_findings_of_the_run_have_no_place():
    finding = Finding(code="stray-orb-setting", text="an ORB setting was shut out")
    (told,) = [r for r in remarks(*of(findings=(finding,))) if r.finding == finding]
    assert told.text == "an ORB setting was shut out"


def test_failures_come_with_what_they_said():
    samples = [make_failed(MEASURED[0], "Connection reset"), make_refused(MEASURED[5])]
    table = failure_table(of(samples)[0])
    assert table.title == "2 blocks failed or refused"
    assert [(row[0], row[3], row[4]) for row in table.rows] == [
        ("ib (emulated)", "failed", "Connection reset"),
        ("ib (emulated)", "refused", "above-link-rate"),
    ]


def test_blocks_that_were_no_round_say_what_they_were_for():
    samples = [make_failed(replace(MEASURED[0], purpose=purpose)) for purpose in (*Purpose,)]
    assert [row[2] for row in failure_table(of(samples)[0]).rows] == ["calibration", "ceiling", "1"]


def test_a_flood_of_failures_is_cut_and_counted():
    samples = [make_failed(MEASURED[0])] * (FAILURES_SHOWN + 7)
    table = failure_table(of(samples)[0])
    assert len(table.rows) == FAILURES_SHOWN
    assert table.notes == ("7 more are in samples.jsonl.",)


def test_a_run_without_samples_has_no_result():
    assert gaps(*of(())) == ("No block has been measured yet, so that there is no result.",)


def test_cells_without_figure_and_with_one_round_are_counted():
    first_round = [sample for sample in MEASURED if sample.cell == 0 and sample.round == 0]
    assert gaps(*of(first_round)) == (
        "1 of 2 cells have no figure yet.",
        "1 cell with one round only: a single round has no interval.",
    )


def test_an_arm_that_never_went_well_is_named():
    samples = [make_failed(s) if s.case.arm == "call" else s for s in RUN.samples]
    assert gaps(*of(samples)) == ("On ib (emulated) no block of call went well.",)


def test_a_run_cut_short_says_so_unless_a_later_session_made_it_whole():
    (visit,) = RUN.record.visits
    cut = replace(visit, after=None)
    assert any("cut short" in gap for gap in gaps(*of(visits=(cut,))))
    assert gaps(*of(visits=(cut, replace(visit, session=1)))) == ()


def test_calls_without_payload_have_no_goodput_to_miss():
    empty = make_case(Arm.EMPTY, payload_bytes=0, threads=1)
    plan = replace(RUN.record.plan, cells=(Cell(cases=(empty,), rounds=2),))
    run = replace(
        RUN,
        record=replace(RUN.record, plan=plan),
        samples=tuple(
            replace(sample, case=empty, round=number, goodput_bit_s=0.0)
            for number, sample in enumerate(MEASURED[:2])
        ),
    )
    assert gaps(run, link_results(run)) == ()
