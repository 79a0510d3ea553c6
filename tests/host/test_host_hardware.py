from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_trees import MakeKernel

from orbtax.host import hardware
from orbtax.host.kernel import UnreadableError

CPU = "sys/devices/system/cpu"
INTEL = """\
processor\t: 0
model name\t: Intel(R) Xeon(R) Processor
cpu MHz\t\t: 2600.000
flags\t\t: fpu tsc hypervisor avx2

processor\t: 1
model name\t: Intel(R) Xeon(R) Processor
cpu MHz\t\t: 2400.500
"""
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"


def test_a_processor_is_named(make_kernel: MakeKernel) -> None:
    kernel = make_kernel({"proc/cpuinfo": INTEL})
    assert hardware.processor_model(kernel) == "Intel(R) Xeon(R) Processor"


def test_an_arm_processor_is_named_by_its_numbers(make_kernel: MakeKernel) -> None:
    name = hardware.processor_model(make_kernel({"proc/cpuinfo": ARM}))
    assert name == "implementer 0x41 part 0xd0c"


def test_a_processor_without_a_name_is_refused(make_kernel: MakeKernel) -> None:
    with pytest.raises(UnreadableError, match="no processor"):
        hardware.processor_model(make_kernel({"proc/cpuinfo": "processor: 0\n"}))


def test_caches_are_told_by_level_and_kind(make_kernel: MakeKernel) -> None:
    caches = (("1", "Instruction", "64K"), ("1", "Data", "48K"), ("2", "Unified", "2048K"))
    kernel = make_kernel(
        {
            f"{CPU}/cpu0/cache/index{index}/{name}": f"{value}\n"
            for index, cache in enumerate(caches)
            for name, value in zip(("level", "type", "size"), cache, strict=True)
        }
    )
    assert hardware.cache_size(kernel, 1, ("Data", "Unified")) == "48K"
    assert hardware.cache_size(kernel, 2, ("Data", "Unified")) == "2048K"
    with pytest.raises(UnreadableError, match="level 3"):
        hardware.cache_size(kernel, 3, ("Data", "Unified"))


def test_memory_is_bytes(make_kernel: MakeKernel) -> None:
    kernel = make_kernel({"proc/meminfo": "MemTotal:  2000 kB\nSwapTotal: 0 kB\nHugePages:\n"})
    assert hardware.memory_bytes(kernel, "MemTotal") == 2_048_000
    assert hardware.memory_bytes(kernel, "SwapTotal") == 0
    for name in ("MemFree", "HugePages"):
        with pytest.raises(UnreadableError, match=name):
            hardware.memory_bytes(kernel, name)


def test_every_governor_counts(make_kernel: MakeKernel) -> None:
    governors = ("performance", "powersave", "performance")
    texts = {
        f"{CPU}/cpu{core}/cpufreq/scaling_governor": f"{name}\n"
        for core, name in enumerate(governors)
    }
    assert hardware.governors(make_kernel(texts)) == ("performance", "powersave")


def test_no_governor_is_not_taken_for_a_good_one(make_kernel: MakeKernel) -> None:
    with pytest.raises(UnreadableError, match="virtual machine"):
        hardware.governors(make_kernel({}))


@pytest.mark.parametrize(
    ("texts", "is_on"),
    [
        ({"intel_pstate/no_turbo": "0\n"}, True),
        ({"intel_pstate/no_turbo": "1\n"}, False),
        ({"cpufreq/boost": "1\n"}, True),
        ({"cpufreq/boost": "0\n"}, False),
        ({"intel_pstate/no_turbo": "1\n", "cpufreq/boost": "1\n"}, False),
    ],
)
def test_turbo_has_two_switches(
    make_kernel: MakeKernel, texts: dict[str, str], is_on: bool
) -> None:
    kernel = make_kernel({f"{CPU}/{name}": text for name, text in texts.items()})
    assert hardware.turbo_is_on(kernel) is is_on


def test_no_turbo_switch_is_said(make_kernel: MakeKernel) -> None:
    with pytest.raises(UnreadableError, match="turbo"):
        hardware.turbo_is_on(make_kernel({}))


def test_the_frequency_is_the_mean_of_what_cpufreq_shows(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(
        {
            "proc/cpuinfo": INTEL,
            f"{CPU}/cpu0/cpufreq/scaling_cur_freq": "3000000\n",
            f"{CPU}/cpu1/cpufreq/scaling_cur_freq": "<unknown>\n",
            f"{CPU}/cpu2/cpufreq/scaling_cur_freq": "2000000\n",
        }
    )
    assert hardware.frequency_mhz(kernel) == 2500


def test_without_cpufreq_it_is_that_of_cpuinfo(make_kernel: MakeKernel) -> None:
    assert hardware.frequency_mhz(make_kernel({"proc/cpuinfo": INTEL})) == 2500.25


def test_no_frequency_is_said(make_kernel: MakeKernel) -> None:
    with pytest.raises(UnreadableError, match="frequency"):
        hardware.frequency_mhz(make_kernel({"proc/cpuinfo": ARM}))


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        ({"proc/cpuinfo": INTEL}, "a hypervisor without a name"),
        ({"proc/cpuinfo": ARM}, "none seen"),
        ({"proc/cpuinfo": INTEL, "sys/hypervisor/type": "xen\n"}, "xen"),
        ({"proc/cpuinfo": ARM, "sys/class/dmi/id/product_name": "KVM Virtual Machine\n"}, "KVM"),
        ({"proc/cpuinfo": INTEL, "sys/class/dmi/id/sys_vendor": "VMware, Inc.\n"}, "VMware"),
        ({"proc/cpuinfo": ARM, "sys/class/dmi/id/product_name": "PowerEdge R750\n"}, "none seen"),
    ],
)
def test_virtualisation(make_kernel: MakeKernel, texts: dict[str, str], name: str) -> None:
    assert hardware.virtualisation(make_kernel(texts)) == name


def test_siblings_are_the_groups_of_more_than_one(make_kernel: MakeKernel) -> None:
    lists = {0: "0,4", 4: "0,4", 1: "1,5", 5: "1,5", 2: "2"}
    texts = {
        f"{CPU}/cpu{core}/topology/thread_siblings_list": f"{text}\n"
        for core, text in lists.items()
    }
    assert hardware.sibling_groups(make_kernel(texts)) == ((0, 4), (1, 5))


@pytest.mark.parametrize(
    ("supplies", "on_battery"),
    [
        ({}, False),
        ({"BAT0/type": "Battery", "BAT0/status": "Discharging"}, True),
        ({"BAT0/type": "Battery", "BAT0/status": "Full", "AC/type": "Mains"}, False),
        (
            {
                "mouse/type": "Battery",
                "mouse/status": "Discharging",
                "mouse/scope": "Device",
            },
            False,
        ),
    ],
)
def test_a_battery_matters_only_when_it_is_used(
    make_kernel: MakeKernel, supplies: dict[str, str], on_battery: bool
) -> None:
    kernel = make_kernel({f"sys/class/power_supply/{name}": supplies[name] for name in supplies})
    assert hardware.runs_on_battery(kernel) is on_battery


def test_online_cores(make_kernel: MakeKernel) -> None:
    kernel = make_kernel({f"{CPU}/online": "0-2,8\n"})
    assert hardware.online_cores(kernel) == (0, 1, 2, 8)


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "1,,2", "0-x"])
def test_lists_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(UnreadableError, match="no list of cores"):
        hardware.parse_core_list(text)


@given(st.sets(st.integers(0, 300), min_size=1))
def test_core_lists_are_read_whatever_their_ranges(cores: set[int]) -> None:
    ranges: list[list[int]] = []
    for core in sorted(cores):
        if ranges and core == ranges[-1][-1] + 1:
            ranges[-1].append(core)
        else:
            ranges.append([core])
    text = ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in ranges)
    assert hardware.parse_core_list(f"{text}\n") == tuple(sorted(cores))
