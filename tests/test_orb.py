"""The ORB's options: all that change a result are set, and nothing else reaches them."""

from __future__ import annotations

import os
import subprocess
import sys

from orbtax import orb
from orbtax.model import Arm, Case, Options


def case(payload_bytes: int = 1024, threads: int = 1, arm: Arm = Arm.CORBA, **options) -> Case:
    return Case(
        link="lo",
        arm=arm,
        payload_bytes=payload_bytes,
        threads=threads,
        options=Options(**options),
    )


def test_there_is_a_connection_for_each_thread_unless_the_case_says_otherwise() -> None:
    name = "maxGIOPConnectionPerServer"
    assert orb.settings(case(threads=32))[name] == "32"
    assert orb.settings(case(threads=32, connections=5))[name] == "5"
    assert orb.settings(case(threads=4, arm=Arm.AMI, depth=8))[name] == "32"


def test_the_message_limit_grows_with_the_payload_and_never_falls_below_the_default() -> None:
    assert orb.settings(case(1024))["giopMaxMsgSize"] == str(2 * 1024**2)
    assert int(orb.settings(case(2 * 1024**2))["giopMaxMsgSize"]) > 2 * 1024**2


def test_a_send_buffer_is_passed_on_and_else_left_to_the_kernel() -> None:
    assert orb.settings(case())["socketSendBuffer"] == "-1"
    assert orb.settings(case(send_buffer_bytes=32_768))["socketSendBuffer"] == "32768"


def test_an_option_of_the_case_comes_last() -> None:
    chosen = orb.settings(case(orb=(("oneCallPerConnection", "0"),)))
    assert chosen["oneCallPerConnection"] == "0"


def test_every_option_that_is_set_exists() -> None:
    start = "from orbtax import orb; from orbtax.model import *; orb.start(Case(link='lo', "
    start += "arm=Arm.CORBA, payload_bytes=1, threads=1), listen='127.0.0.1').destroy()"
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_strays_are_shut_out(monkeypatch) -> None:
    monkeypatch.setenv("ORBtraceLevel", "40")
    monkeypatch.setenv("OMNIORB_CONFIG", "/somewhere/omniORB.cfg")
    monkeypatch.setenv("ORBIT", "a name that only begins alike goes too: omniORB would read it")
    orb.shut_out_strays()
    assert not [name for name in os.environ if name.startswith("ORB")]
    assert os.environ["OMNIORB_CONFIG"] == os.devnull
