"""The checks of `driftlab doctor`: each yields findings, and `all_findings` never raises."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

import psutil

from driftlab.cli.kernel import KERNEL, kernel_python
from driftlab.cli.temporary import full_temporary_folder, temporary_problem
from driftlab.core.errors import DriftlabError, MissingDataError
from driftlab.core.paths import outputs_dir, project_root

GIB = 2**30
LITTLE_MEMORY = 4 * GIB
"""The demo scale runs within this."""
LITTLE_DISK = 5 * GIB
"""A full sweep's store, with a margin."""


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
        state: `fail` means that notebooks will not run.
        what: The thing looked at.
        detail: What was found and, unless it is `ok`, what to do.
    """

    state: Literal["ok", "warn", "fail"]
    what: str
    detail: str


def all_findings() -> list[Finding]:
    """Every check's findings, in order. A check that raises is itself a finding."""
    looks = (python, packages, torch, detection, machine, kernel, outputs, temporary, datasets)
    return [finding for look in looks for finding in guarded(look)]


def guarded(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """A check's findings; an exception that it raises becomes a last one."""
    try:
        yield from check()
    except Exception as error:
        detail = f"could not be checked: {type(error).__name__}: {error}"
        yield Finding("fail", check.__name__, " ".join(detail.split()))


def python() -> Iterator[Finding]:
    """The interpreter's version, against the lock's."""
    fits = sys.version_info[:2] == (3, 11)
    detail = f"{platform.python_version()} at {sys.executable}"
    yield Finding("ok" if fits else "fail", "Python", detail if fits else f"{detail}; driftlab needs 3.11")


def packages(lock: Path | None = None) -> Iterator[Finding]:
    """Installed packages against the lock, `requirements.txt` of the project where none is given."""
    lock = lock or project_root() / "requirements.txt"
    if not lock.is_file():
        yield Finding("warn", "packages", f"{lock} is not there, so versions cannot be compared")
        return
    pins = locked(lock)
    missing, different = [], []
    for name, version in pins.items():
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
        else:
            if installed != version:
                different.append(f"{name} {installed} (locked: {version})")
    repair = f"; run in {lock.parent}: pip install -r {lock.name}"  # its own paths are relative
    if missing:
        yield Finding("fail", "packages", f"missing: {_few(missing)}{repair}")
    if different:
        yield Finding("warn", "packages", f"other versions than locked: {_few(different)}{repair}")
    if not missing and not different:
        yield Finding("ok", "packages", f"{len(pins)}, all as locked in {lock.name}")


def locked(lock: Path) -> dict[str, str]:
    """The packages that a lock pins for this machine, with their versions."""
    from packaging.requirements import Requirement

    lines = [line.partition("#")[0].strip() for line in lock.read_text(encoding="utf-8").splitlines()]
    requirements = [Requirement(line) for line in lines if line and not line.startswith(("-", "."))]
    return {
        requirement.name: next(iter(requirement.specifier)).version
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate()
    }


def _few(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def torch() -> Iterator[Finding]:
    """PyTorch, torchvision's compiled operators, and the accelerator."""
    try:
        import torch
        from torchvision.ops import nms

        nms(torch.tensor([[0.0, 0.0, 1.0, 1.0]]), torch.tensor([1.0]), 0.5)
    except Exception as error:  # a broken binary raises anything from ImportError to RuntimeError
        yield Finding("fail", "PyTorch", f"{type(error).__name__}: {error}; pip install -r requirements.txt")
        return
    yield Finding("ok", "PyTorch", f"{torch.__version__}, {torch.get_num_threads()} threads")
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        yield Finding("ok", "accelerator", ", ".join(names))
    else:
        mps = torch.backends.mps.is_available()
        yield Finding("ok", "accelerator", "Apple MPS" if mps else "none; everything runs on the CPU")


def detection() -> Iterator[Finding]:
    """OpenCV, of which only one package may be installed, and the operators that MMDetection uses."""
    try:
        import cv2

        from driftlab.models.detectors.operators import install

        stands_in = install()
    except Exception as error:  # a broken binary raises anything
        yield Finding("fail", "OpenCV", f"{type(error).__name__}: {error}; pip install -r requirements.txt")
        return
    files = [str(file) for file in metadata.files("opencv-python") or [] if str(file).startswith("cv2/")]
    if files:
        detail = "opencv-python and opencv-python-headless overwrite each other's cv2"
        repair = "pip uninstall opencv-python opencv-python-headless; pip install -r requirements.txt"
        yield Finding("warn", "OpenCV", f"{detail}; {repair}")
    else:
        yield Finding("ok", "OpenCV", f"{cv2.__version__}, one cv2")
    operators = "torchvision's, behind mmcv.ops" if stands_in else "onedl-mmcv's own"
    yield Finding("ok", "detection operators", operators)


def machine() -> Iterator[Finding]:
    """Cores and memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Finding("ok", "cores", f"{cores}")
    memory = psutil.virtual_memory()
    detail = f"{memory.available / GIB:.1f} GiB free of {memory.total / GIB:.1f}"
    enough = memory.available >= LITTLE_MEMORY
    yield Finding("ok" if enough else "warn", "memory", detail if enough else f"{detail}; use fewer --jobs")


def kernel() -> Iterator[Finding]:
    """The Jupyter kernel that executes notebooks."""
    try:
        yield Finding("ok", f"kernel {KERNEL}", f"{kernel_python()}")
    except DriftlabError as error:
        yield Finding("fail", f"kernel {KERNEL}", f"{error}")


def outputs() -> Iterator[Finding]:
    """The outputs folder and its disk."""
    try:
        folder = outputs_dir()
    except DriftlabError as error:
        yield Finding("fail", "outputs", f"{error}")
        return
    free = shutil.disk_usage(folder).free
    detail = f"{folder}, {free / GIB:.0f} GiB free"
    enough = free >= LITTLE_DISK
    yield Finding(
        "ok" if enough else "warn", "outputs", detail if enough else f"{detail}; set DRIFTLAB_OUTPUTS"
    )


def temporary() -> Iterator[Finding]:
    """The folders for temporary files, which every notebook's process needs."""
    if full := full_temporary_folder():
        error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(full))
        yield Finding("fail", "temporary files", temporary_problem(error))
        return
    folder = tempfile.gettempdir()
    yield Finding("ok", "temporary files", f"{folder}, {shutil.disk_usage(folder).free / GIB:.0f} GiB free")


def datasets() -> Iterator[Finding]:
    """The official datasets, which the paper scale needs."""
    from driftlab.data.catalog import DATASETS, find

    for name in DATASETS:
        try:
            yield Finding("ok", f"dataset {name}", f"{find(name)}")
        except MissingDataError:
            detail = f"not there; only the paper scale needs it, see: driftlab data {name}"
            yield Finding("warn", f"dataset {name}", detail)
