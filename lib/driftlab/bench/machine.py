"""Which machine and which software a measurement belongs to."""

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
    """What a measurement depends on beside the code.

    Attributes:
        cpu: The processor's name.
        cores: Cores that this process may use.
        memory: Bytes.
        system: Operating system and architecture.
        python: Its version.
        packages: Version by name.
        busy: The share of all its cores that others kept busy, 0 to 1, in the second before.
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
        """Whether something else was computing, so that times say little."""
        return self.busy > 0.1


def this_machine() -> Machine:
    """This one, now; looks for a second."""
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
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
