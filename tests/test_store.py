"""A run folder: written in one piece, locked, read back whole, and honest about damage."""

from __future__ import annotations

import dataclasses
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from builders import make_run

from orbtax import runfiles, store
from orbtax.errors import RequestError, UnavailableError
from orbtax.store import Store


@pytest.fixture
def run():
    return make_run()


@pytest.fixture
def folder(tmp_path: Path, run) -> Path:
    """A stored run with three samples."""
    place = tmp_path / "run"
    kept = Store.create(place, run.record)
    for sample in run.samples[:3]:
        kept.append(sample)
    kept.close()
    return place


def test_what_is_kept_is_read_back_equal(folder: Path, run) -> None:
    back = store.read(folder)
    assert back.record == run.record
    assert back.samples == run.samples[:3]


def test_samples_are_readable_before_the_folder_is_closed(tmp_path: Path, run) -> None:
    kept = Store.create(tmp_path / "run", run.record)
    kept.append(run.samples[0])
    assert store.read(tmp_path / "run").samples == run.samples[:1]
    kept.close()


def test_each_line_is_one_strict_json_object(folder: Path) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    lines = (folder / store.SAMPLES_FILE).read_text().splitlines()
    assert len(lines) == 3
    for line in lines:
        json.loads(line, parse_constant=refuse, object_pairs_hook=once)


def test_a_nan_is_refused_rather_than_written_as_something_else(folder: Path, run) -> None:
    kept, _ = Store.resume(folder)
    with pytest.raises(ValueError, match="not JSON compliant"):
        kept.append(dataclasses.replace(run.samples[0], window_s=float("nan")))
    kept.close()
    assert len(store.read(folder).samples) == 3


def test_nothing_is_overwritten(folder: Path, run) -> None:
    with pytest.raises(RequestError, match="not empty"):
        Store.create(folder, run.record)


def test_an_empty_folder_may_be_used(tmp_path: Path, run) -> None:
    Store.create(tmp_path, run.record).close()
    assert store.read(tmp_path).samples == ()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, run) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match=r"file/run cannot be written.*--out"):
        Store.create(tmp_path / "file" / "run", run.record)


def test_two_at_once_do_not_write_into_one_folder(folder: Path) -> None:
    kept, _ = Store.resume(folder)
    with pytest.raises(RequestError, match="written by another orbtax"):
        Store.resume(folder)
    kept.close()
    Store.resume(folder)[0].close()


DAMAGES = {
    "cut short": lambda line: line[: len(line) // 2],
    "a byte changed": lambda line: line.replace(b'"status"', b'"stat\xff"'),
    "not an object": lambda line: b"[]\n",
    "an unknown arm": lambda line: line.replace(b'"arm":"', b'"arm":"x'),
}


@pytest.fixture(params=DAMAGES)
def damaged(request, folder: Path) -> Path:
    file = folder / store.SAMPLES_FILE
    *whole, last = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(whole) + DAMAGES[request.param](last))
    return folder


def test_a_damaged_last_line_is_named_with_its_cure(damaged: Path) -> None:
    with pytest.raises(RequestError, match=r"line 3, the last one.*2 samples.*--resume.*--salvage"):
        store.read(damaged)


def test_a_damaged_last_line_can_be_passed_over(damaged: Path, run) -> None:
    assert store.read(damaged, salvage=True).samples == run.samples[:2]


def test_a_resumed_run_sets_a_damaged_line_aside(damaged: Path, run) -> None:
    line = (damaged / store.SAMPLES_FILE).read_bytes().splitlines()[2]
    kept, back = Store.resume(damaged)
    assert back.samples == run.samples[:2]
    kept.append(run.samples[2])
    kept.close()
    assert store.read(damaged).samples == run.samples[:3]
    assert (damaged / store.DAMAGED_FILE).read_bytes().rstrip() == line.rstrip()


def test_packed_samples_are_read_as_they_are_and_never_resumed(folder: Path, run) -> None:
    file = folder / store.SAMPLES_FILE
    (folder / store.PACKED_FILE).write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    assert store.read(folder).samples == run.samples[:3]
    with pytest.raises(RequestError, match="gunzip"):
        Store.resume(folder)
    (folder / store.PACKED_FILE).write_bytes(b"no archive")
    with pytest.raises(RequestError, match="cannot be read"):
        store.read(folder)


def test_damage_in_the_middle_is_never_passed_over(folder: Path) -> None:
    file = folder / store.SAMPLES_FILE
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b"{}\n" + lines[2])
    with pytest.raises(RequestError, match="line 2 of 3"):
        store.read(folder, salvage=True)


def change_record(folder: Path, **changes: object) -> None:
    file = folder / store.RUN_FILE
    content = msgspec.json.decode(file.read_bytes())
    file.write_bytes(msgspec.json.encode({**content, **changes}))


def test_a_newer_schema_is_refused_by_its_number(folder: Path) -> None:
    change_record(folder, schema_version=99)
    with pytest.raises(RequestError, match=r"schema version 99.*up to version 1.*newer orbtax"):
        store.read(folder)


@pytest.mark.parametrize("version", [0, -1, "1", None])
def test_a_schema_version_that_is_none_is_refused(folder: Path, version: object) -> None:
    change_record(folder, schema_version=version)
    with pytest.raises(RequestError, match="schema_version"):
        store.read(folder)


def test_older_schemas_are_upgraded_step_by_step(folder: Path, monkeypatch) -> None:
    change_record(folder, schema_version=1, command=None, comand="invoke compare")

    def spell(content: dict) -> dict:
        content["command"] = content.pop("comand")
        return {**content, "schema_version": 2}

    monkeypatch.setattr(runfiles, "SCHEMA_VERSION", 3)
    monkeypatch.setattr(
        runfiles, "_UPGRADES", {1: spell, 2: lambda content: {**content, "schema_version": 3}}
    )
    record = store.read(folder).record
    assert record.command == "invoke compare"
    assert record.schema_version == 3


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema_version":1}'])
def test_a_run_file_that_is_none_is_refused(folder: Path, content: bytes) -> None:
    (folder / store.RUN_FILE).write_bytes(content)
    with pytest.raises(RequestError, match=store.RUN_FILE):
        store.read(folder)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is no run folder"):
        store.read(tmp_path)


def test_a_run_file_is_never_seen_half_written(folder: Path, run, monkeypatch) -> None:
    kept, _ = Store.resume(folder)
    before = (folder / store.RUN_FILE).read_bytes()
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("power cut")))
    with pytest.raises(UnavailableError, match="cannot be written any more"):
        kept.write_record(dataclasses.replace(run.record, command="another"))
    kept.close()
    assert (folder / store.RUN_FILE).read_bytes() == before


def test_a_new_folder_tells_when_what_and_where_and_never_comes_twice() -> None:
    now = datetime(2026, 12, 1, 10, 20, 30, tzinfo=UTC)
    names = {store.new_folder("compare", ("ib", "1ge"), now).name for _ in range(20)}
    assert len(names) > 1
    assert all(name.startswith("20261201T102030Z-compare-ib+1ge-") for name in names)


def test_a_new_folder_of_many_links_has_a_name_that_any_file_system_takes() -> None:
    links = ("ib", *(f"ib~mtu-{size}" for size in range(1500, 1560)))
    name = store.new_folder("study", links, datetime(2026, 12, 1, tzinfo=UTC)).name
    assert len(name) < 100
    assert "-study-ib+60-more-" in name


class Pipe:
    """A file that takes only so much at once, and at last nothing."""

    def __init__(self, room: list[int]) -> None:
        self.taken = b""
        self._room = room

    def write(self, data: memoryview) -> int:
        if not self._room:
            raise OSError(28, "No space left on device")
        piece = bytes(data[: self._room.pop(0)])
        self.taken += piece
        return len(piece)


def test_a_sample_is_handed_over_whole_in_one_piece_if_the_system_takes_it(run) -> None:
    """A program killed between two writes would leave half a line."""
    file = Pipe([10**6])
    Store(Path("run"), file).append(run.samples[0])  # type: ignore[arg-type]
    assert file.taken.endswith(b"}\n")
    slow = Pipe([100, 10**6])
    Store(Path("run"), slow).append(run.samples[0])  # type: ignore[arg-type]
    assert slow.taken == file.taken


def test_a_full_disk_is_told_with_how_to_go_on(run) -> None:
    with pytest.raises(UnavailableError, match=r"No space left.*--resume run"):
        Store(Path("run"), Pipe([100])).append(run.samples[0])  # type: ignore[arg-type]
