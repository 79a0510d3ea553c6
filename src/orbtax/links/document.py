"""A TOML file whose refusals name the file, the line and what was expected there."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from orbtax.errors import RequestError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: the file, its text, and the keys that lead to the value."""

    file: Path
    text: str
    keys: tuple[str, ...] = ()

    def at(self, key: str) -> Place:
        """The place of `key` in the table that stands here."""
        return replace(self, keys=(*self.keys, key))

    def refusal(self, fault: str) -> RequestError:
        """The error to raise about the value that stands here."""
        where = f"{self.file}, line {_line(self.text, self.keys)}"
        return RequestError(": ".join(filter(None, (where, ".".join(self.keys), fault))))


@dataclass(frozen=True, slots=True)
class Key:
    """A key that a table takes: the field that it fills and how its value is read."""

    field: str
    read: Callable[[Place, object], object]
    required: str | None = None  # for a required key: an example to show when it is missing


def read_document(file: Path) -> tuple[Place, dict[str, Any]]:
    """The content of a TOML file and its place; RequestError if it cannot be read or parsed."""
    try:
        text = file.read_text(encoding="utf-8")
        return Place(file, text), tomllib.loads(text)
    except OSError as error:
        raise RequestError(f"{file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError(f"{file} is not valid TOML: {error}") from error


def read_table(place: Place, value: object) -> dict[str, Any]:
    """The table that stands at `place`."""
    if not isinstance(value, dict):
        raise place.refusal(f"expected a table such as [{'.'.join(place.keys)}], not {value!r}")
    return value


def read_fields(place: Place, value: object, keys: Mapping[str, Key]) -> dict[str, Any]:
    """Field → value of a table that may hold `keys` and nothing else."""
    table = read_table(place, value)
    for name in table:
        if name not in keys:
            raise place.at(name).refusal(f"unknown key; expected one of {', '.join(keys)}")
    for name, key in keys.items():
        if key.required and name not in table:
            raise place.refusal(
                f"the key {name} is missing; expected for example {name} = {key.required}"
            )
    return {keys[name].field: keys[name].read(place.at(name), item) for name, item in table.items()}


def read_text(place: Place, value: object) -> str:
    """A text that is not empty, and fit for a command line."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise place.refusal(f"expected a text in quotes, not {value!r}")
    return value


def read_words(place: Place, value: object) -> tuple[str, ...]:
    """The words of a command, written as a list of texts."""
    if not isinstance(value, list) or not all(map(_is_word, value)):
        raise place.refusal(
            f'expected a list of words such as ["ssh", "node1"] (or [] for none), not {value!r}'
        )
    return tuple(value)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def read_parsed(parse: Callable[[str], T], example: str) -> Callable[[Place, object], T]:
    """A reader of a text with a unit, parsed by `parse` of `orbtax.units`."""

    def read(place: Place, value: object) -> T:
        if not isinstance(value, str):
            raise place.refusal(f'expected a text with its unit such as "{example}", not {value!r}')
        try:
            return parse(value)
        except RequestError as error:
            raise place.refusal(str(error)) from error

    return read


def _line(text: str, keys: tuple[str, ...]) -> int:
    """The line on which the statement that first sets `keys` begins, counted from 1.

    tomllib keeps no positions, so the shortest part of the file that parses and holds the keys is
    looked for; what it has more than the part before it is that statement.
    """
    lines = text.split("\n")
    begin = 0
    for end in range(1, len(lines) + 1):
        try:
            table: object = tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue  # inside a statement of several lines
        for key in keys:
            table = table.get(key) if isinstance(table, dict) else None
        if table is not None:
            break
        begin = end
    return begin + 1
