"""Rows of the CSV files beside this module, plain or as frozen records."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib import resources
from typing import TypeVar

import msgspec

RecordT = TypeVar("RecordT")


def read_rows(file_name: str) -> tuple[Mapping[str, str], ...]:
    """Each row of a file of this package as column → text."""
    text = resources.files(__package__).joinpath(file_name).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def read_records(file_name: str, record: type[RecordT]) -> tuple[RecordT, ...]:
    """Each row of a file of this package as a `record`, whose fields are its columns."""
    return tuple(msgspec.convert(row, record, strict=False) for row in read_rows(file_name))
