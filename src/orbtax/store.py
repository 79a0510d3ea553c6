"""Runs kept in folders: `run.json`, and `samples.jsonl` with one sample a line.

Each sample is written in one piece and flushed, so that every finished one is readable whenever
the program is killed. Newer schemas are refused, older ones are upgraded step by step.
"""

from __future__ import annotations

import fcntl
import gc
import gzip
import json
import os
import secrets
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Self

import msgspec

from orbtax.errors import RequestError, UnavailableError
from orbtax.model import SCHEMA_VERSION
from orbtax.record import Run, RunRecord, Sample

RUN_FILE = "run.json"
SAMPLES_FILE = "samples.jsonl"
PACKED_FILE = f"{SAMPLES_FILE}.gz"
"""A finished run's samples may be packed with gzip, to be kept or sent, and are read like that."""
DAMAGED_FILE = "samples.damaged"
RESULTS = Path("results")
LONGEST_NAMES = 60
"""Characters for the links in a folder's name, which the file system limits to 255."""

_UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""From a schema version to the step that makes the next one of it; version 1 is the first."""

_sample_decoder = msgspec.json.Decoder(Sample)


class Store:
    """A run folder that is being written. Only one process at a time can hold it."""

    def __init__(self, folder: Path, samples: BinaryIO) -> None:
        """Use `create` or `resume`."""
        self.folder = folder
        self._samples = samples

    @classmethod
    def create(cls, folder: Path, record: RunRecord) -> Self:
        """A new run folder with its `run.json`.

        Raises RequestError if the folder cannot be made or already holds something.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise RequestError(
                    f"{folder} is not empty, and a run never overwrites anything. Name a folder "
                    f"that does not exist yet, or continue an earlier run with `--resume {folder}`."
                )
            store = cls(folder, _open_locked(folder))
            store.write_record(record)
        except OSError as error:
            raise RequestError(
                f"the run folder {folder} cannot be written: {error.strerror}. "
                "Name another one with `--out`."
            ) from None
        return store

    @classmethod
    def resume(cls, folder: Path) -> tuple[Self, Run]:
        """An earlier run to go on with, and what it holds.

        A damaged last line is moved to `samples.damaged`; its block counts as missing.
        """
        record = read_record(folder)
        if (folder / PACKED_FILE).exists():
            raise RequestError(
                f"the samples of {folder} are packed. To go on with the run, unpack them: "
                f"`gunzip {folder / PACKED_FILE}`."
            )
        try:
            store = cls(folder, _open_locked(folder))
        except OSError as error:
            raise RequestError(
                f"the run folder {folder} cannot be written: {error.strerror}."
            ) from None
        samples, damage = _read_samples(folder)
        if damage is not None:
            damage.set_aside()
        return store, Run(folder=str(folder), record=record, samples=samples)

    def append(self, sample: Sample) -> None:
        """Adds a sample and hands it to the operating system at once.

        Raises UnavailableError if it cannot be written, as on a full disk.
        """
        line = memoryview(_encode(sample) + b"\n")
        try:
            while line:
                line = line[self._samples.write(line) :]
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def write_record(self, record: RunRecord) -> None:
        """Writes `run.json` anew: a reader sees the old one or the new one, never half of it."""
        scratch = self.folder / f".{RUN_FILE}.new"
        try:
            scratch.write_bytes(msgspec.json.format(_encode(record), indent=2) + b"\n")
            scratch.replace(self.folder / RUN_FILE)
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def close(self) -> None:
        """Lets go of the folder."""
        self._samples.close()


@dataclass(frozen=True, slots=True)
class Damage:
    """The last line of a samples file, cut short or changed."""

    file: Path
    line_number: int
    at_byte: int
    why: str

    def set_aside(self) -> None:
        """Moves the line to a file of its own, so that samples can be added behind the rest."""
        whole = self.file.read_bytes()
        with (self.file.parent / DAMAGED_FILE).open("ab") as aside:
            aside.write(whole[self.at_byte :].rstrip(b"\n") + b"\n")
        os.truncate(self.file, self.at_byte)


def _unwritable(folder: Path, error: OSError) -> UnavailableError:
    return UnavailableError(
        f"the run in {folder} cannot be written any more ({error.strerror}). What it holds so far "
        f"is kept; once there is room, go on with `--resume {folder}`."
    )


def new_folder(study: str, links: tuple[str, ...], now: datetime) -> Path:
    """A name for a new run folder below `results`: UTC time, study, links, four hex digits."""
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    names = "+".join(links)
    if len(names) > LONGEST_NAMES:
        names = f"{links[0]}+{len(links) - 1}-more"
    return RESULTS / f"{stamp}-{study}-{names}-{secrets.token_hex(2)}"


def read(folder: Path, *, salvage: bool = False) -> Run:
    """A stored run. With `salvage`, a damaged last line is passed over.

    Raises RequestError if the folder holds no run, its schema is newer than this orbtax, or a
    line of its samples is damaged.
    """
    record = read_record(folder)
    samples, damage = _read_samples(folder)
    if damage is not None and not salvage:
        raise RequestError(
            f"{damage.file}, line {damage.line_number}, the last one, is no whole sample "
            f"({damage.why}). The {len(samples)} samples before it are whole: "
            f"`invoke compare --resume {folder}` sets the line aside and measures its block "
            f"again, and `invoke report {folder} --salvage` reports without it."
        )
    return Run(folder=str(folder), record=record, samples=samples)


def read_record(folder: Path) -> RunRecord:
    """The `run.json` of a run folder, upgraded to the schema of this orbtax."""
    file = folder / RUN_FILE
    try:
        content = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise RequestError(
            f"{folder} is no run folder: {file.name} cannot be read ({error.strerror})."
        ) from None
    except msgspec.DecodeError as error:
        raise RequestError(f"{file} is not valid JSON: {error}.") from None
    try:
        return msgspec.convert(_upgraded(file, content), RunRecord)
    except msgspec.ValidationError as error:
        raise RequestError(f"{file} does not hold a run as orbtax writes it: {error}.") from None


def _upgraded(file: Path, content: dict[str, Any]) -> dict[str, Any]:
    version = content.get("schema_version")
    if not isinstance(version, int) or version < 1:
        raise RequestError(f"{file}: schema_version is {version!r}; it must be a whole number ≥ 1.")
    if version > SCHEMA_VERSION:
        raise RequestError(
            f"{file} has schema version {version}, and this orbtax reads up to version "
            f"{SCHEMA_VERSION}. Use a newer orbtax: `pip install --upgrade orbtax`."
        )
    while version < SCHEMA_VERSION:
        content = _UPGRADES[version](content)
        version += 1
    return content


def _read_samples(folder: Path) -> tuple[tuple[Sample, ...], Damage | None]:
    file = folder / SAMPLES_FILE
    packed = folder / PACKED_FILE
    try:
        if packed.exists():
            content = gzip.decompress(packed.read_bytes())
        elif file.exists():
            content = file.read_bytes()
        else:
            return (), None
    except (OSError, EOFError, zlib.error) as error:
        raise RequestError(f"the samples in {folder} cannot be read: {error}.") from None
    with _without_collector():
        return _decoded(file, content.splitlines(keepends=True))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Samples hold no cycles, and to look for some among ever more of them doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _decoded(file: Path, lines: Sequence[bytes]) -> tuple[tuple[Sample, ...], Damage | None]:
    samples: list[Sample] = []
    at_byte = 0
    for number, line in enumerate(lines, start=1):
        try:
            if not line.endswith(b"\n"):
                raise msgspec.DecodeError("it is cut short")
            samples.append(_sample_decoder.decode(line))
        except msgspec.DecodeError as error:
            if number == len(lines):
                return tuple(samples), Damage(file, number, at_byte, str(error))
            raise RequestError(
                f"{file}, line {number} of {len(lines)}, is no sample ({error}). Only the last "
                "line can be damaged by an interruption: restore the file from a copy."
            ) from None
        at_byte += len(line)
    return tuple(samples), None


def _open_locked(folder: Path) -> BinaryIO:
    samples = (folder / SAMPLES_FILE).open("ab", buffering=0)
    try:
        fcntl.flock(samples, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        samples.close()
        raise RequestError(
            f"{folder} is being written by another orbtax. Wait until it is done."
        ) from None
    return samples


def _encode(value: object) -> bytes:
    """Strict JSON: a NaN or an infinity is a fault of ours and raises ValueError."""
    return json.dumps(
        msgspec.to_builtins(value), allow_nan=False, ensure_ascii=False, separators=(",", ":")
    ).encode()
