from __future__ import annotations

import pytest
from kernel_trees import MakeKernel

from orbtax.host import settings
from orbtax.host.kernel import UnreadableError
from orbtax.model import Finding


def assert_found(finding: Finding | None, code: str, *said: str, serious: bool = False) -> None:
    """The finding has that code, shows what was seen, and has a cure."""
    assert finding is not None
    assert finding.code == code
    assert finding.cure
    assert finding.serious is serious
    for text in said:
        assert text in finding.text


def test_two_cores_are_needed_and_allowed() -> None:
    assert settings.judge_cores(2, 2) is None
    assert_found(settings.judge_cores(1, 1), "one-core", "1 of 1", serious=True)
    assert_found(settings.judge_cores(8, 1), "one-core", "1 of 8", serious=True)


def test_hyper_threads_are_listed_as_pairs() -> None:
    assert settings.judge_siblings(()) is None
    assert_found(settings.judge_siblings(((0, 4), (1, 5))), "hyper-threads", "0+4, 1+5")
    many = tuple((core, core + 32) for core in range(32))
    assert_found(settings.judge_siblings(many), "hyper-threads", "3+35, …)")


def test_only_the_performance_governor_passes() -> None:
    assert settings.judge_governor(("performance",)) is None
    assert_found(settings.judge_governor(("powersave",)), "governor", "powersave")
    mixed = settings.judge_governor(("performance", "schedutil"))
    assert_found(mixed, "governor", "performance, schedutil")


def test_turbo_and_battery() -> None:
    assert settings.judge_turbo(False) is None
    assert_found(settings.judge_turbo(True), "turbo")
    assert settings.judge_power(False) is None
    assert_found(settings.judge_power(True), "battery")


def test_a_virtual_machine_is_named() -> None:
    assert settings.judge_virtualisation("none seen") is None
    assert_found(settings.judge_virtualisation("KVM"), "virtual-machine", "KVM")


@pytest.mark.parametrize("source", ["tsc", "arch_sys_counter"])
def test_fast_clocks_pass(source: str) -> None:
    assert settings.judge_clock(source) is None


def test_slow_and_virtual_clocks_do_not() -> None:
    assert_found(settings.judge_clock("hpet"), "clock-source", "hpet", "system call")
    assert_found(settings.judge_clock("kvm-clock"), "clock-source", "kvm-clock", "hypervisor")


def test_a_quota_matters_below_the_number_of_cores() -> None:
    assert settings.judge_quota(None, 4) is None
    assert settings.judge_quota(4.0, 4) is None
    assert_found(settings.judge_quota(2.5, 4), "processor-quota", "2.5 of 4")
    assert_found(settings.judge_quota(1.5, 4), "processor-quota", "1.5 of 4", serious=True)


@pytest.mark.parametrize(
    ("sysctl", "enough_bytes"), [("net.core.rmem_max", 1_250_000), ("net.ipv4.tcp_rmem", 2_500_000)]
)
def test_a_buffer_limit_is_held_against_rate_times_round_trip(
    sysctl: str, enough_bytes: int
) -> None:
    assert settings.judge_buffer_limit(sysctl, enough_bytes, 10e9, 0.001) is None
    short = settings.judge_buffer_limit(sysctl, enough_bytes // 5, 10e9, 0.001)
    assert_found(
        short, "small-buffers", f"{sysctl} ends at {enough_bytes // 5} bytes", "1.25 MB", "20%"
    )
    assert settings.judge_buffer_limit(sysctl, enough_bytes // 5, 1e9, 0.001) is None


def test_window_scaling_must_be_on() -> None:
    assert settings.judge_window_scaling(1) is None
    assert_found(settings.judge_window_scaling(0), "no-window-scaling", "65535", serious=True)


def refusing(make_kernel: MakeKernel, **values: str) -> settings.NamespaceSysctl | None:
    texts = {"user/max_user_namespaces": "1000\n"} | {
        name.replace("__", "/"): f"{value}\n" for name, value in values.items()
    }
    return settings.refusing_sysctl(
        make_kernel({f"proc/sys/{name}": text for name, text in texts.items()})
    )


def test_user_namespaces_are_allowed_when_nothing_refuses_them(make_kernel: MakeKernel) -> None:
    assert refusing(make_kernel) is None
    assert (
        refusing(
            make_kernel,
            kernel__unprivileged_userns_clone="1",
            kernel__apparmor_restrict_unprivileged_userns="0",
        )
        is None
    )
    assert settings.judge_user_namespaces(None) is None


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("user__max_user_namespaces", "0", "user.max_user_namespaces=10000"),
        ("kernel__unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        (
            "kernel__apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ],
)
def test_what_refuses_user_namespaces_is_named_with_its_cure(
    make_kernel: MakeKernel, name: str, value: str, cure: str
) -> None:
    finding = settings.judge_user_namespaces(refusing(make_kernel, **{name: value}))
    assert_found(finding, "no-user-namespaces", f"{name.replace('__', '.')} is {value}")
    assert finding is not None
    assert cure in str(finding.cure)


def test_a_kernel_that_shows_no_user_namespaces_is_not_taken_to_allow_them(
    make_kernel: MakeKernel,
) -> None:
    with pytest.raises(UnreadableError, match="max_user_namespaces"):
        settings.refusing_sysctl(make_kernel({}))


@pytest.mark.parametrize("version", ["iperf 3.12 (cJSON 1.7)\nLinux", "iperf 3.17.1", "iperf 4.0"])
def test_a_new_iperf3_passes(version: str) -> None:
    assert settings.judge_iperf3(version) is None


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, "not installed"),
        ("iperf 3.9 (cJSON 1.5)\n", "version 3.9"),
        ("iperf 2.1.8\n", "version 2.1"),
        ("", "does not say"),
        ("usage: something\nelse", "'usage: something'"),
    ],
)
def test_an_old_or_absent_iperf3_is_said(version: str | None, said: str) -> None:
    assert_found(settings.judge_iperf3(version), "iperf3", said)


def test_stray_settings_are_listed() -> None:
    assert settings.judge_stray_settings(()) is None
    found = settings.judge_stray_settings(("traceLevel = 9 (environment)", "b = 1 (file)"))
    assert_found(found, "stray-orb-settings", "traceLevel = 9 (environment), b = 1 (file)")
