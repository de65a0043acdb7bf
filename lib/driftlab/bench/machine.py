"""Description of the machine and the software that a benchmark ran on."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import psutil

from driftlab import __version__
from driftlab.runs.workers import usable_cores

PACKAGES = ("torch", "torch-geometric", "numpy")


@dataclass(frozen=True)
class Machine:
    """The machine and software of a measurement.

    Attributes:
        cpu: Name of the processor.
        cores: Number of cores that this process may use.
        memory: Size of the main memory, in bytes.
        system: Operating system and architecture.
        python: Version of Python.
        packages: Versions of packages, by name.
        busy: CPU utilisation by other processes in the second before the benchmark, 0 to 1.
    """

    cpu: str
    cores: int
    memory: int
    system: str
    python: str
    packages: dict[str, str]
    busy: float

    @property
    def is_busy(self) -> bool:
        """Whether other processes used so much CPU that times are not representative."""
        return self.busy > 0.1


def this_machine() -> Machine:
    """Describe this machine; takes a second, in which the CPU utilisation is measured."""
    return Machine(
        cpu=_cpu(),
        cores=usable_cores(),
        memory=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        packages={"driftlab": __version__} | {name: metadata.version(name) for name in PACKAGES},
        busy=psutil.cpu_percent(interval=1.0) / 100,
    )


def _cpu() -> str:
    """Name of the processor."""
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.is_file():
        for line in cpu_info.read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
