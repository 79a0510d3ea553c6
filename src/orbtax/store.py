"""Runs kept in folders: `run.json`, and `samples.jsonl` with one sample a line.

Each sample is written in one piece and flushed, so that every finished one is readable whenever
the program is killed. Newer schemas are refused, older ones are upgraded step by step.
"""

from __future__ import annotations

import dataclasses
import fcntl
import json
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from orbtax.consistency import consistent
from orbtax.errors import RequestError, UnavailableError
from orbtax.model import Finding
from orbtax.record import Run, RunRecord, Sample
from orbtax.runfiles import (
    DAMAGED_FILE,
    PACKED_FILE,
    RUN_FILE,
    SAMPLES_FILE,
    Damage,
    read_record,
    read_samples,
)

RESULTS = Path("results")
LONGEST_NAMES = 60
"""Characters for the links in a folder's name, which the file system limits to 255."""


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
        samples, damage = read_samples(folder)
        if damage is not None:
            damage.set_aside()
            record = _missing_again(record, samples, damage)
        return store, consistent(Run(folder=str(folder), record=record, samples=samples))

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
    samples, damage = read_samples(folder)
    if damage is not None and not salvage:
        raise RequestError(
            f"{damage.file}, line {damage.line_number}, the last one, is no whole sample "
            f"({damage.why}). The {len(samples)} samples before it are whole: "
            f"`invoke compare --resume {folder}` sets the line aside and measures its block "
            f"again, and `invoke report {folder} --salvage` reports without it."
        )
    return consistent(Run(folder=str(folder), record=record, samples=samples))


def _missing_again(record: RunRecord, samples: tuple[Sample, ...], damage: Damage) -> RunRecord:
    """The record with the damaged line's cell no longer done: the last sample's, or the next."""
    last = samples[-1].cell if samples else 0
    finding = Finding(
        code="damaged-line",
        text=f"line {damage.line_number} of {damage.file.name} was no whole sample "
        f"({damage.why}); it was moved to {DAMAGED_FILE} and its block measured again",
    )
    return dataclasses.replace(
        record,
        done_cells=tuple(cell for cell in record.done_cells if cell not in (last, last + 1)),
        findings=(*record.findings, finding),
    )


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
