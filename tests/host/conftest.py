from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from kernel_trees import MakeKernel

from orbtax.host.kernel import KernelFiles


@pytest.fixture
def make_kernel(tmp_path: Path) -> MakeKernel:
    """Makes file trees with texts by names such as `proc/stat`, and nothing else."""

    def make(texts: Mapping[str, str]) -> KernelFiles:
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return KernelFiles(proc=tmp_path / "proc", sys=tmp_path / "sys")

    return make
