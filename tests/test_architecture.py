"""Who imports whom: the rules that keep the parts apart, read from the sources."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import orbtax.clients
import orbtax.servants

ROOT = Path(orbtax.clients.__file__).parent.parent


def modules() -> dict[str, Path]:
    """Every module of the project by its dotted name."""
    found: dict[str, Path] = {}
    places = {
        "orbtax": ROOT / "src" / "orbtax",
        "orbtax.clients": Path(orbtax.clients.__file__).parent,
        "orbtax.servants": Path(orbtax.servants.__file__).parent,
    }
    for package, folder in places.items():
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *(part for part in parts if part != "__init__")))
            found[name] = file
    return found


def imports(file: Path) -> Iterator[str]:
    """The modules that a file imports anywhere, but for type checking alone."""
    tree = ast.parse(file.read_text())
    skipped = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


MODULES = modules()
IMPORTS = {name: set(imports(file)) for name, file in MODULES.items()}


def importers(library: str) -> set[str]:
    return {
        name
        for name, imported in IMPORTS.items()
        if any(each == library or each.startswith(f"{library}.") for each in imported)
    }


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_the_modules_are_found() -> None:
    assert {"orbtax.model", "orbtax.clients.load", "orbtax.servants.corba"} <= MODULES.keys()


@pytest.mark.parametrize("name", ["orbtax.model", "orbtax.units", "orbtax.errors", "orbtax.record"])
def test_the_words_need_the_standard_library_alone(name: str) -> None:
    words = {"orbtax.model", "orbtax.units", "orbtax.errors", "orbtax.record", "orbtax"}
    for imported in IMPORTS[name]:
        top = imported.split(".")[0]
        assert top in sys.stdlib_module_names or within(imported, *words), imported


def test_clients_and_servants_do_not_know_each_other() -> None:
    assert not {name for name in importers("orbtax.servants") if within(name, "orbtax.clients")}
    assert not {name for name in importers("orbtax.clients") if within(name, "orbtax.servants")}


@pytest.mark.parametrize("library", ["pandas", "scipy", "matplotlib", "pyroute2", "rich", "invoke"])
def test_clients_and_servants_start_light(library: str) -> None:
    assert not {n for n in importers(library) if within(n, "orbtax.clients", "orbtax.servants")}


def test_the_timing_loop_knows_no_transport() -> None:
    loop = IMPORTS["orbtax.clients.load"]
    assert not {name for name in loop if within(name, "socket", "omniORB", "orbtax.wire")}
    assert not {name for name in loop if within(name, "orbtax.orb", "orbtax.stubs")}


@pytest.mark.parametrize(
    "library",
    ["socket", "omniORB", "subprocess", "orbtax.orb", "orbtax.stubs", "orbtax.wire", "orbtax.pair"],
)
def test_analysis_knows_no_socket_and_no_orb(library: str) -> None:
    assert not {name for name in importers(library) if within(name, "orbtax.analysis")}


def test_only_the_report_draws() -> None:
    assert {name for name in importers("matplotlib") if not within(name, "orbtax.report")} == set()


def test_only_the_command_line_knows_invoke() -> None:
    assert importers("invoke") == {"orbtax.commands", "orbtax.commandline"}


def test_the_command_line_is_imported_by_its_entry_alone() -> None:
    assert importers("orbtax.commands") == {"orbtax.__main__"}
    assert importers("orbtax.commandline") == {"orbtax.commands"}


@pytest.mark.parametrize("lower", ["orbtax.links", "orbtax.host"])
def test_links_and_hosts_know_nothing_of_what_is_made_of_them(lower: str) -> None:
    above = ("orbtax.analysis", "orbtax.report", "orbtax.studies", "orbtax.conduct")
    for name in IMPORTS:
        if within(name, lower):
            assert not {each for each in IMPORTS[name] if within(each, *above)}, name


def test_only_the_terminal_prints_and_only_the_command_line_exits() -> None:
    for name, file in MODULES.items():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called != "print", f"{name}:{node.lineno} prints"
                assert called not in ("sys.exit", "exit"), f"{name}:{node.lineno} exits"


def test_the_orb_is_started_in_one_place_and_its_compiler_called_in_one() -> None:
    # host.environment asks for its version alone.
    assert importers("omniORB") == {"orbtax.orb", "orbtax.host.environment"}
    callers = {n for n, file in MODULES.items() if "omniidl.main" in file.read_text()}
    assert callers == {"orbtax.stubs"}
