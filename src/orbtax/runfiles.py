"""The files of a run folder as they are read: schema, upgrades, damage."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from orbtax.errors import RequestError
from orbtax.model import SCHEMA_VERSION
from orbtax.record import RunRecord, Sample

RUN_FILE = "run.json"
SAMPLES_FILE = "samples.jsonl"
PACKED_FILE = f"{SAMPLES_FILE}.gz"
"""A finished run's samples may be packed with gzip, to be kept or sent, and are read like that."""
DAMAGED_FILE = "samples.damaged"

_UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""From a schema version to the step that makes the next one of it; version 1 is the first."""

_sample_decoder = msgspec.json.Decoder(Sample)


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


def read_record(folder: Path) -> RunRecord:
    """The `run.json` of a run folder, upgraded to the schema of this orbtax.

    Raises RequestError if there is none, it holds something else, or its schema is newer.
    """
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


def read_samples(folder: Path) -> tuple[tuple[Sample, ...], Damage | None]:
    """The samples of a run folder, and the last line if it is no whole sample.

    Raises RequestError if any other line is none, or the file cannot be read.
    """
    file = folder / SAMPLES_FILE
    packed = folder / PACKED_FILE
    try:
        if packed.exists():
            with gzip.open(packed) as lines:
                return _decoded(file, lines)
        if file.exists():
            with file.open("rb") as lines:
                return _decoded(file, lines)
    except (OSError, EOFError, zlib.error) as error:
        raise RequestError(f"the samples in {folder} cannot be read: {error}.") from None
    return (), None


def _decoded(file: Path, lines: Iterable[bytes]) -> tuple[tuple[Sample, ...], Damage | None]:
    samples: list[Sample] = []
    at_byte = 0
    coming = iter(lines)  # together they may be gigabytes
    for number, line in enumerate(coming, start=1):
        try:
            if not line.endswith(b"\n"):
                raise msgspec.DecodeError("it is cut short")
            samples.append(_sample_decoder.decode(line))
        except msgspec.DecodeError as error:
            behind = sum(1 for _ in coming)
            if not behind:
                return tuple(samples), Damage(file, number, at_byte, str(error))
            raise RequestError(
                f"{file}, line {number} of {number + behind}, is no sample ({error}). Only the "
                "last line can be damaged by an interruption: restore the file from a copy."
            ) from None
        at_byte += len(line)
    return tuple(samples), None
