import csv
import io
import json
import math
from dataclasses import replace

import pytest
from buffer_builders import KIB, Seen, run_of
from builders import make_failed
from builders_ends import LINKS

from orbtax.analysis.buffer_results import buffer_results
from orbtax.model import Arm
from orbtax.report.content import assemble
from orbtax.report.tables import MISSING
from orbtax.socket_buffers import Buffers, parse_buffers
from orbtax.studies.buffers_front import buffers_front, speed_chart
from orbtax.studies.buffers_page import figures, page
from orbtax.studies.buffers_summary import buffers_csv, buffers_json
from orbtax.studies.buffers_tables import (
    evidence_table,
    goodput_table,
    published_table,
    reason_table,
    slowdown_table,
)
from orbtax.studies.buffers_windows import in_force_table, window_table
from orbtax.studies.buffers_words import answers

KERNEL, SMALL, LARGE = map(parse_buffers, ("kernel", "16KiB/87380B", "16MiB/8MiB"))
TINY = parse_buffers("kernel/4KiB")
WINDOW = Seen(gbit_s=4.6, rtt_us=7.0, window_bytes=4096, stalled_by_window=1.0)
FULL = 2.0
SEEN = {
    (Arm.STREAM, KIB, KERNEL): Seen(gbit_s=2.0),
    (Arm.STREAM, 64 * KIB, KERNEL): Seen(gbit_s=9.0, sleeps_per_message=FULL),
    (Arm.STREAM, 64 * KIB, SMALL): Seen(gbit_s=10.0),
    (Arm.STREAM, 64 * KIB, LARGE): Seen(gbit_s=4.0, sleeps_per_message=FULL, rtt_us=90.0),
    (Arm.STREAM, 64 * KIB, TINY): WINDOW,
}
SETTINGS = (KERNEL, SMALL, LARGE, TINY)


@pytest.fixture(scope="module")
def run():
    return run_of(SEEN, settings=SETTINGS)


@pytest.fixture(scope="module")
def result(run):
    (ib,) = buffer_results(run)
    return ib


def column(table, heading: str, unit: str | None = None) -> list[str]:
    (place,) = [
        place
        for place, each in enumerate(table.columns)
        if each.heading == heading and unit in (None, each.unit)
    ]
    return [row[place] for row in table.rows]


def test_ours_stand_beside_the_post_in_its_shape(result) -> None:
    table = goodput_table(result, Arm.STREAM)
    assert [row[0] for row in table.rows] == ["1 KiB", "64 KiB"]
    assert column(table, "kernel") == ["1,996", "8,982"]
    assert column(table, "16 KiB/87380 B", "SDP 2008, Mbit/s") == ["5,148", "8,993"]
    assert column(table, "16 MiB/8 MiB", "Mbit/s")[1] == "3,992"


def test_only_a_stream_is_what_the_post_measured() -> None:
    (ib,) = buffer_results(run_of({}))
    assert not any("SDP" in each.unit for each in goodput_table(ib, Arm.CALL).columns)


def test_a_size_that_the_post_has_not_is_missing_there() -> None:
    (ib,) = buffer_results(run_of({(Arm.STREAM, 3000, KERNEL): Seen()}))
    assert column(goodput_table(ib, Arm.STREAM), "16 MiB/8 MiB", "SDP 2008, Mbit/s") == [MISSING]


def test_the_post_is_there_in_full() -> None:
    table = published_table()
    assert len(table.rows) == 11
    assert column(table, "16 MiB/8 MiB")[0] == "685"
    assert column(table, "16 KiB/87380 B")[-1] == "8,867"


def test_reasons_have_the_shape_of_the_goodputs(result) -> None:
    table = reason_table(result, Arm.STREAM)
    assert [row[0] for row in table.rows] == ["1 KiB", "64 KiB"]
    assert column(table, "kernel/4 KiB")[1] == "window-limited, autotuning-lost"
    assert column(table, "kernel")[0] == "?"


def test_every_cell_stands_with_its_evidence(result) -> None:
    table = evidence_table(result, Arm.STREAM)
    assert len(table.rows) == 2 * len(SETTINGS)
    (tiny,) = [row for row in table.rows if row[:2] == ("64 KiB", "kernel/4 KiB")]
    assert tiny[2].startswith("4.59 [")
    assert "window ÷ round trip under load 4.68 Gbit/s" in tiny[5]


def test_a_slowdown_says_which_causes_came_with_it(result) -> None:
    table = slowdown_table(result)
    (row,) = [row for row in table.rows if row[2] == "16 MiB/8 MiB"]
    assert row[:4] == ("stream", "64 KiB", "16 MiB/8 MiB", "16 KiB/87380 B")
    assert "no longer fits the second-level cache" in row[5]
    assert "round trip under load 30.0 → 90.0 µs" in row[5]


def test_what_is_fixed_is_said_beside_the_kernels_choice() -> None:
    seen = {
        (Arm.STREAM, KIB, KERNEL): Seen(
            gbit_s=9.0, send_buffer_bytes=100_000, receive_buffer_bytes=100_000
        ),
        (Arm.STREAM, KIB, LARGE): Seen(gbit_s=5.0),
    }
    (ib,) = buffer_results(run_of(seen, settings=(KERNEL, LARGE)))
    (row,) = slowdown_table(ib).rows
    assert "their size is fixed, where the kernel's own was not" in row[5]


def test_windows_stand_beside_what_they_allow(result) -> None:
    (row,) = window_table(result).rows
    assert row[:3] == ("stream", "64 KiB", "kernel/4 KiB")
    assert row[3:8] == ("4.10 kB", "7.00", "4.68", "4.59", "98.1")


def test_buffers_in_force_are_told_for_each_arm_and_setting(result) -> None:
    table = in_force_table(result)
    assert [row[:2] for row in table.rows] == [("stream", str(each)) for each in SETTINGS]
    assert column(table, "send buffer in force") == ["2.00 MB", "32.8 kB", "33.6 MB", "2.00 MB"]
    assert "9.98 Gbit/s × 21.0 µs" in table.notes[0]


def test_what_was_clipped_is_marked_with_its_limit() -> None:
    run = run_of({(Arm.STREAM, KIB, LARGE): Seen()}, (LINKS["lo"],), settings=(LARGE,))
    samples = tuple(
        replace(
            sample,
            client=replace(
                sample.client,
                send_buffer=replace(
                    sample.client.send_buffer,
                    effective_bytes=425_984,
                    clipped=True,
                    limit="net.core.wmem_max = 212992",
                ),
            ),
        )
        for sample in run.samples
    )
    (lo,) = buffer_results(replace(run, samples=samples))
    (note,) = [note for note in in_force_table(lo).notes if note.startswith("Clipped")]
    assert "send buffer of 16 MiB/8 MiB was 426 kB instead of 33.6 MB" in note
    assert "net.core.wmem_max = 212992" in note


def test_what_cannot_be_had_is_said_and_never_something_else() -> None:
    (lo,) = buffer_results(run_of({}, (LINKS["lo"],)))
    table = goodput_table(lo, Arm.CORBA)
    assert column(table, "16 KiB/87380 B") == [MISSING, MISSING]
    assert MISSING not in column(table, "kernel")
    assert any("corba cannot have 16 KiB/87380 B here" in note for note in table.notes)
    assert ("corba", "16 KiB/87380 B") not in [row[:2] for row in in_force_table(lo).rows]


def test_the_answers_name_the_fastest_and_the_slowest(result) -> None:
    stream, larger = answers(result)
    assert "fastest with messages of 64 KiB and buffers of 16 KiB/87380 B: 9.98 Gbit/s" in stream
    assert "slowest with buffers of 16 MiB/8 MiB: 3.99 Gbit/s" in stream
    assert larger.startswith("Larger buffers were slower in ")
    assert " of 4 comparisons" in larger


def test_without_a_slowdown_it_says_so() -> None:
    (ib,) = buffer_results(run_of({(Arm.STREAM, KIB, KERNEL): Seen()}))
    assert list(answers(ib))[-1].startswith("In none of 3 comparisons")


def test_a_line_for_each_setting_and_a_panel_for_the_post(result) -> None:
    chart = speed_chart(result)
    assert [panel.title for panel in chart.panels] == ["stream", "SDP 2008"]
    ours, post = chart.panels
    assert [line.label for line in ours.lines] == [str(each) for each in SETTINGS]
    looks = {line.label: line.look for line in ours.lines}
    same = [line for line in post.lines if line.label in looks]
    assert len(same) == 2
    assert all(line.look == looks[line.label] for line in same)
    assert ours.lines[0].y == pytest.approx([2.0, 9.0], rel=0.01)


def test_more_settings_than_colours_still_look_different() -> None:
    many = tuple(Buffers(size * KIB, size * KIB) for size in range(4, 24))
    (ib,) = buffer_results(run_of({(Arm.STREAM, KIB, many[0]): Seen()}, settings=many))
    looks = [line.look for line in speed_chart(ib).panels[0].lines]
    assert len(set(looks)) == len(many)


def test_a_case_without_a_figure_leaves_a_gap_everywhere(run) -> None:
    gone = (Arm.STREAM, 64 * KIB, "ib~16KiB-87380B")
    samples = tuple(
        make_failed(sample)
        if (sample.case.arm, sample.case.payload_bytes, sample.case.link) == gone
        else sample
        for sample in run.samples
    )
    broken = replace(run, samples=samples)
    (ib,) = buffer_results(broken)
    assert column(goodput_table(ib, Arm.STREAM), "16 KiB/87380 B", "Mbit/s")[1] == MISSING
    assert column(reason_table(ib, Arm.STREAM), "16 KiB/87380 B")[1] == MISSING
    line = speed_chart(ib).panels[0].lines[1]
    assert math.isnan(line.y[1])
    row = [row for row in csv.DictReader(io.StringIO(buffers_csv([ib]))) if row["rounds"] == "5"]
    assert "" in [each["gbit_s"] for each in row]
    assert page(broken)


def test_the_summary_has_a_row_for_each_case(run, result) -> None:
    rows = list(csv.DictReader(io.StringIO(buffers_csv([result]))))
    assert len(rows) == 2 * len(SETTINGS)
    (tiny,) = [
        row for row in rows if (row["buffers"], row["payload_bytes"]) == ("kernel/4 KiB", "65536")
    ]
    assert tiny["link"] == "ib"
    assert tiny["send_buffer_asked_bytes"] == ""
    assert (tiny["receive_buffer_asked_bytes"], tiny["receive_buffer_bytes"]) == ("4096", "8192")
    assert tiny["bounds"] == "window-limited; autotuning-lost"
    assert float(tiny["gbit_s"]) == pytest.approx(float(tiny["window_gbit_s"]), rel=0.2)


def test_the_summary_is_strict_json(run, result) -> None:
    def refuse(word: str):
        raise AssertionError(word)

    content = json.loads(buffers_json(assemble([run]), [result]), parse_constant=refuse)
    assert content["study"] == "buffers"
    assert content["links"][0]["bandwidth_delay_product_bytes"] == pytest.approx(26_150, rel=0.01)
    assert content["links"][0]["slowdowns"][0]["arm"] == "stream"


def test_the_front_heads_its_parts_in_its_own_words(result) -> None:
    front = buffers_front([result])
    assert front.title == "Socket buffers and message size on ib (emulated)"
    assert front.best_heading == "Speed and what bounds it"
    assert [drawing.name for drawing in front.drawings] == ["speed-ib"]
    assert "socket buffers (the sender's/the receiver's) of kernel" in front.measured
    assert buffers_front([]).measured == "Nothing was planned in this run."


def test_the_page_comes_from_the_run_alone(run) -> None:
    text = page(run)
    assert text == page(run)
    assert text.endswith("\n")
    for part in (
        "# Message size and socket buffers",
        "## As published",
        "### ib (emulated)",
        "Windows that bound the speed",
        "Where larger buffers were slower",
        "<summary>Why stream is as fast as it is on ib (emulated)</summary>",
        run.record.command,
        "Caches: L2 2048K and L3 32768K.",
    ):
        assert part in text
    (name,) = figures(run)
    assert f"(figures/{name})" in text
