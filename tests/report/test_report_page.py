"""The page: whole in one file, in its order, the same figures as the summary, nothing unescaped."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from builders import make_failed, make_run

from orbtax.model import Arm, Finding
from orbtax.report.content import assemble
from orbtax.report.front import front_of
from orbtax.report.numbers import gbit_s, per_cent, with_bounds
from orbtax.report.page import render_page

RUN = make_run(links=("ib", "1ge"), sizes=(1024, 65536), threads=(1, 4), rounds=4)
NASTY = "</td></details><script>alert(1)</script>&\"'\x1b[31m"
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """A page as it was written: elements in order, the path and text of each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[tuple[tuple[str, ...], str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.words.append((tuple(self._open), data.strip()))

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    def texts(self, tag):
        return [text for path, text in self.words if path and path[-1] == tag]


def rendered(*runs):
    report = assemble(runs or [RUN])
    return render_page(report, front_of(report))


@pytest.fixture(scope="module")
def text():
    return rendered()


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_nothing_is_fetched_from_anywhere(text, page):
    assert not re.search(r"https?:|url\((?!#)|@import|//[a-z]", text)
    for _, attrs in page.elements:
        assert "src" not in attrs
        assert (attrs.get("href") or "#").startswith("#")
    assert not page.all("script")
    assert not page.all("link")


def test_every_reference_leads_to_an_element_and_no_id_is_used_twice(text, page):
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    aimed = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text))
    assert {one or other for one, other in aimed} <= set(ids)


def test_the_sections_stand_in_the_order_in_which_one_asks(page):
    assert [attrs["id"] for attrs in page.all("section")] == [
        *("best", "figures", "cells", "trust", "links", "hosts", "buffers", "tcp"),
        *("processor", "latency", "bottlenecks", "again"),
    ]
    assert page.texts("h2")[0] == "Best cases"


def test_every_table_has_a_caption_and_scoped_headings(page):
    assert len(page.all("caption")) == len(page.all("table")) > 10
    assert all(attrs.get("scope") in ("row", "col") for attrs in page.all("th"))


def test_every_figure_can_be_read_out(page):
    figures = page.all("svg")
    titles = {attrs.get("id") for attrs in page.all("title")}
    assert len(figures) == 2 * (3 * 2 + 1)
    assert all(attrs["role"] == "img" for attrs in figures)
    assert all(attrs["aria-labelledby"] in titles for attrs in figures)
    spoken = " ".join(page.texts("title"))
    assert "corba goes from" in spoken
    assert "Goodput of corba on ib (emulated) by payload and threads" in spoken


def test_the_language_and_a_phone_are_thought_of(text, page):
    assert page.all("html")[0]["lang"] == "en"
    assert any(attrs.get("name") == "viewport" for attrs in page.all("meta"))
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_the_figures_are_those_of_the_analysis(page):
    cells = {word for _, word in page.words}
    for result in assemble([RUN]).results:
        for best in result.best:
            assert with_bounds(best.goodput_bit_s, gbit_s) in cells
        for cell in result.cells:
            assert with_bounds(cell.efficiency_stream, per_cent) in cells
            assert with_bounds(cell.arm(Arm.CALL).goodput_bit_s, gbit_s) in cells


def test_the_answer_comes_first(page):
    items = page.texts("li")
    assert items[0].startswith("On ib (emulated) corba moved ")
    assert items[1].startswith("On 1ge (emulated) corba moved ")


def test_emulated_is_said_wherever_a_link_is_named(text, page):
    assert "(emulated)" in page.texts("h1")[0]
    assert all("(emulated)" in caption for caption in page.texts("caption")[:4])
    assert all("(emulated)" in heading for heading in page.texts("h3") if " on " in heading)
    assert "Emulated:" in text


def test_real_links_are_not_called_emulated():
    said = rendered(make_run(links=("lo",), sizes=(1024,), threads=(1,)))
    assert "mulated" not in said.replace("emulated links", "")


def test_failures_and_findings_are_told(text):
    finding = Finding(code="buffer-clipped", text="got 4 kB", cure="raise it", serious=True)
    run = replace(RUN, record=replace(RUN.record, findings=(finding,)))
    said = rendered(run)
    assert "got 4 kB" in said
    assert "What to do: raise it." in said
    assert "serious finding" in said
    assert "Connection reset by peer" in text


def test_the_command_that_makes_it_again_is_there(page):
    assert RUN.record.command in page.texts("code")
    assert f"invoke report {RUN.folder}" in page.texts("code")


def test_nothing_that_was_said_elsewhere_is_taken_for_html():
    finding = Finding(code="x", text=NASTY, cure=NASTY)
    samples = [make_failed(RUN.samples[5], NASTY), *RUN.samples[6:]]
    visits = tuple(
        replace(visit, sender_before=replace(visit.sender_before, facts={NASTY: NASTY}))
        for visit in RUN.record.visits
    )
    record = replace(RUN.record, findings=(finding,), visits=visits, command=NASTY)
    text = rendered(replace(RUN, record=record, samples=tuple(samples)))
    assert "<script" not in text
    assert "\x1b" not in text
    assert "&lt;script&gt;" in text
    Page(text)


def test_no_path_of_the_machine_is_told():
    text = rendered(replace(RUN, folder="/home/someone/work/results/20240506T070809Z-compare-ib"))
    assert "someone" not in text
    assert "results/20240506T070809Z-compare-ib" in text


def test_the_same_run_gives_the_same_page(text):
    assert rendered() == text


def test_a_study_names_its_own_parts():
    report = assemble([RUN])
    front = replace(front_of(report), best_heading="Overhead and speed", cells_heading="All sizes")
    page = Page(render_page(report, front))
    assert {"Overhead and speed", "All sizes"} <= set(page.texts("h2")) & set(page.texts("a"))
    assert "Best cases" not in page.texts("h2")
