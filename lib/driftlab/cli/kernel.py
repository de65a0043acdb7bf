"""The Jupyter kernel that executes the notebooks."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from driftlab.core.errors import DriftlabError

KERNEL = "python3"


def kernel_python() -> Path:
    """The interpreter that the kernel `python3` starts, as papermill would from this process.

    Raises:
        DriftlabError: There is no such kernel, or it starts another Python than this one.
    """
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        spec = KernelSpecManager().get_kernel_spec(KERNEL)
    except NoSuchKernel as error:
        raise DriftlabError(
            f"There is no Jupyter kernel '{KERNEL}' for {sys.executable}. "
            f"Install it: {sys.executable} -m pip install -r requirements.txt"
        ) from error
    # jupyter_client starts its own interpreter for a kernel that only says "python".
    own = {"python", f"python{sys.version_info[0]}", f"python{sys.version_info[0]}.{sys.version_info[1]}"}
    command = spec.argv[0]
    found = sys.executable if command in own else shutil.which(command) or command
    if _environment(found) != _environment(sys.executable):
        raise DriftlabError(
            f"The Jupyter kernel '{KERNEL}' ({spec.resource_dir}) starts {found}, not {sys.executable}, so "
            "notebooks would miss this environment's packages. "
            f"Remove it: jupyter kernelspec remove {KERNEL}"
        )
    return Path(found)


def _environment(python: str) -> str:
    """The folder of an interpreter, which in a virtual environment is a link that must not be followed."""
    return os.path.normcase(Path(python).absolute().parent)
