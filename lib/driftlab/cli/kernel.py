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
        DriftlabError: There is no such kernel, its `kernel.json` is damaged, or it starts another Python than
            this one.
    """
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    manager = KernelSpecManager()
    try:
        spec = manager.get_kernel_spec(KERNEL)
        command = str(spec.argv[0])
    except NoSuchKernel as error:
        raise DriftlabError(
            f"There is no Jupyter kernel '{KERNEL}' for {sys.executable}. "
            f"Install it: {sys.executable} -m pip install ipykernel"
        ) from error
    except Exception as error:  # a damaged file: JSONDecodeError, TraitError, TypeError, IndexError, …
        raise DriftlabError(
            f"The Jupyter kernel '{KERNEL}' cannot be read ({type(error).__name__}: {error}): "
            f"{_kernel_file(manager)} is damaged. Delete it, or install the kernel anew: "
            f"{sys.executable} -m ipykernel install --user"
        ) from error
    # jupyter_client starts its own interpreter for a kernel that only says "python".
    own_names = {
        "python",
        f"python{sys.version_info[0]}",
        f"python{sys.version_info[0]}.{sys.version_info[1]}",
    }
    python = sys.executable if command in own_names else shutil.which(command) or command
    if _environment(python) != _environment(sys.executable):
        raise DriftlabError(
            f"The Jupyter kernel '{KERNEL}' ({spec.resource_dir}) starts {python}, not {sys.executable}, so "
            "notebooks would miss this environment's packages. "
            f"Remove it: jupyter kernelspec remove {KERNEL}"
        )
    return Path(python)


def _kernel_file(manager: object) -> Path:
    """The `kernel.json` that Jupyter reads: the first one in its folders of kernels."""
    folders = [Path(folder, KERNEL) for folder in getattr(manager, "kernel_dirs", [])]
    files = [folder / "kernel.json" for folder in folders if (folder / "kernel.json").exists()]
    return files[0] if files else Path(KERNEL, "kernel.json")


def _environment(python: str) -> str:
    """The folder of an interpreter, which in a virtual environment is a link that must not be followed."""
    return os.path.normcase(Path(python).absolute().parent)
