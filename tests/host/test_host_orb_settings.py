from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbtax.host import orb_settings

DUMP = """\
omniORB: (0) 2026-01-01 00:00:00.000001: My addresses are: 
omniORB: 127.0.0.1
omniORB: (0) 2026-01-01 00:00:00.000002: Current configuration is as follows:
omniORB:   DefaultInitRef (file) = 
omniORB:   InitRef = NameService=corbaloc::a/b
omniORB:   clientTransportRule = 127.0.0.1 tcp
omniORB:   clientTransportRule = * tcp
omniORB:   giopMaxMsgSize = 2097152
omniORB:   unixTransportPermission =  777
"""  # noqa: W291


def test_every_option_of_a_dump_is_read() -> None:
    assert orb_settings.parse_dump(DUMP) == {
        "DefaultInitRef (file)": "",
        "InitRef": "NameService=corbaloc::a/b",
        "clientTransportRule": "127.0.0.1 tcp; * tcp",
        "giopMaxMsgSize": "2097152",
        "unixTransportPermission": "777",
    }


@pytest.mark.parametrize("text", ["", "omniORB:   giopMaxMsgSize = 5\n", "Traceback\n"])
def test_anything_before_the_configuration_is_none(text: str) -> None:
    assert orb_settings.parse_dump(text) == {}


def test_variables_and_the_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "omniORB.cfg"
    path.write_text("# comment = 5\n\ngiopMaxMsgSize = 4194304\n traceLevel=10\nbare\n")
    environ = {"ORBmaxSocketSend": "1000", "PATH": "x", "ORBTAX_DATA": "x", "ORB": "y"}
    assert orb_settings.stray_orb_settings(environ, path) == (
        "maxSocketSend = 1000 (environment)",
        "giopMaxMsgSize = 4194304 (configuration file)",
        "traceLevel = 10 (configuration file)",
    )


def test_a_variable_names_another_file(tmp_path: Path) -> None:
    usual, other = tmp_path / "usual.cfg", tmp_path / "other.cfg"
    usual.write_text("traceLevel = 1\n")
    other.write_text("traceLevel = 2\n")
    found = orb_settings.stray_orb_settings({"OMNIORB_CONFIG": str(other)}, usual)
    assert found == ("traceLevel = 2 (configuration file)",)


def test_no_file_and_no_variable_set_nothing(tmp_path: Path) -> None:
    assert orb_settings.stray_orb_settings({}, tmp_path / "none.cfg") == ()
    assert orb_settings.stray_orb_settings({"OMNIORB_CONFIG": "/dev/null"}, tmp_path) == ()


def test_names_of_the_site_are_withheld(tmp_path: Path) -> None:
    path = tmp_path / "omniORB.cfg"
    path.write_text("InitRef = NameService=corbaname::secret-host\n  = B=corbaloc::secret-host/c\n")
    environ = {"ORBtraceFile": "/home/secret-user/log", "ORBInitRef": "A=corbaloc::secret-host"}
    found = orb_settings.stray_orb_settings(environ, path)
    assert len(found) == 4
    assert [text.partition(" ")[0] for text in found] == ["InitRef", "traceFile"] + 2 * ["InitRef"]
    assert "secret" not in " ".join(found)


def test_a_file_that_cannot_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "omniORB.cfg"
    path.write_text("traceLevel = 1\n")

    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)  # root may read everything
    (found,) = orb_settings.stray_orb_settings({}, path)
    assert found == "a configuration file that cannot be read: Permission denied"


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][A-Za-z]{0,15}", fullmatch=True),
        st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20),
        max_size=8,
    )
)
def test_configuration_files_are_read_back(settings: dict[str, str]) -> None:
    text = "".join(f"{name} = {value}\n" for name, value in settings.items())
    assert dict(orb_settings.parse_configuration_file(text)) == settings
