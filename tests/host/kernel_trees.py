"""The type of the `make_kernel` fixture."""

from collections.abc import Callable, Mapping

from orbtax.host.kernel import KernelFiles

MakeKernel = Callable[[Mapping[str, str]], KernelFiles]
