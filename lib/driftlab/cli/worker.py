"""The process that executes one notebook: `python -m driftlab.cli.worker JOB`, the job being a JSON file.

It reports its progress in a file, one JSON object per line, which the command line reads
(`driftlab.cli.batch`): `cell` and `of` when a cell starts, `says` for the last line that the notebook
printed, and at the end `passed`, or `failed` with the error's name, `message` and `prompt` (N of `In [N]`).
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.execute import execute_notebook

from driftlab.cli.figure_outputs import figures_without_picture
from driftlab.cli.processes import NO_REPORT, OUT_OF_MEMORY, ProcessTree
from driftlab.cli.temporary import NO_SPACE, full_temporary_folder, is_full, temporary_problem
from driftlab.core.files import remedy

_ending = threading.Lock()
"""Held while the tree is being ended, so that the main thread does not leave before that is done."""

NO_PICTURE = (
    "the output is the text '<Figure …>' without a picture: import driftlab.reporting.style (or "
    "matplotlib.pyplot) before the figure is shown"
)

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Reporter:
    """Writes events to a file; also the stream to which papermill copies a notebook's output."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._said = 0.0
        self.lost = False

    def report(self, **event: Any) -> None:
        """Append one event; `lost` says whether that failed, which must not end the notebook."""
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(event) + "\n")
            self.lost = False
        except OSError:
            self.lost = True

    def write(self, text: str) -> None:
        """Report the last line of what a cell printed, at most twice a second."""
        lines = [line for line in re.split(r"[\r\n]", _CONTROL.sub("", text)) if line.strip()]
        # A warning ends with an indented line of code, which does not help the reader.
        lines = [line for line in lines if not line.startswith("  ")] or lines
        if lines and time.monotonic() - self._said > 0.5:
            self._said = time.monotonic()
            self.report(says=lines[-1].strip())

    def flush(self) -> None:
        """Nothing is buffered."""


class _KernelManager(AsyncKernelManager):
    """A kernel manager that remembers with which exit code the kernel's process ended."""

    exit_code: ClassVar[int | None] = None

    async def _async_is_alive(self) -> bool:
        if self.provisioner is not None and (code := await self.provisioner.poll()) is not None:
            _KernelManager.exit_code = code
        return await super()._async_is_alive()

    is_alive = _async_is_alive


class _Engine(NBClientEngine):  # type: ignore[misc]
    """papermill's engine, telling which cell starts. Cells are counted as the notebook has them, from 1."""

    reporter: Reporter

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> Any:
        """Execute the notebook, and report each cell before it starts."""
        injected = [
            index
            for index, cell in enumerate(nb_man.nb.cells)
            if "injected-parameters" in cell.metadata.get("tags", [])
        ]
        total = len(nb_man.nb.cells) - len(injected)
        start = nb_man.cell_start

        def reporting_start(cell: Any, cell_index: int, **more: Any) -> Any:
            cls.reporter.report(cell=cell_index + 1 - sum(i <= cell_index for i in injected), of=total)
            return start(cell, cell_index, **more)

        nb_man.cell_start = reporting_start
        return super().execute_managed_notebook(
            nb_man, kernel_name, kernel_manager_class=_KernelManager, **options
        )


def main() -> None:
    """Execute the job that the first argument names."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    reporter = _Engine.reporter = Reporter(Path(job["events"]))
    _end_with_parent()
    papermill_engines.register("reporting", _Engine)
    try:
        notebook = execute_notebook(
            papermill_path(job["notebook"]),
            papermill_path(job["output"]),
            parameters=job["parameters"],
            engine_name="reporting",
            kernel_name="python3",
            language="python",  # some notebooks' metadata and some kernels do not name one
            progress_bar=False,
            stdout_file=reporter,
            stderr_file=reporter,
            cwd=str(Path(job["notebook"]).parent),
        )
    except PapermillExecutionError as error:
        reporter.report(failed=error.ename, message=error.evalue, prompt=error.exec_count)
    except DeadKernelError:
        reporter.report(failed="DeadKernelError", message=f"Kernel died: {_death(_KernelManager.exit_code)}")
    except OSError as error:
        reporter.report(failed=type(error).__name__, message=_file_problem(error, Path(job["output"])))
    except Exception as error:  # whatever it is belongs into the batch's table
        reporter.report(failed=type(error).__name__, message=str(error))
    else:
        bare = figures_without_picture(notebook)
        if bare:
            reporter.report(failed="NoPicture", message=NO_PICTURE, prompt=bare[0])
        else:
            reporter.report(passed=True)
    _ending.acquire()
    sys.exit(NO_REPORT if reporter.lost else 0)


def papermill_path(path: str | Path) -> str:
    """A path such that papermill, which formats paths like f-strings, leaves its braces as they are."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _death(exit_code: int | None) -> str:
    """How the kernel's process ended, and what to do about it."""
    if exit_code is None or exit_code == -signal.SIGKILL:
        how = "was ended from outside" if exit_code is None else "was killed by SIGKILL"
        return f"its process {how}. {OUT_OF_MEMORY}"
    if exit_code < 0:
        return f"its process crashed with {signal.Signals(-exit_code).name}."
    return f"its process ended itself with exit code {exit_code}."


def _file_problem(error: OSError, output: Path) -> str:
    """The meaning of an `OSError` of this process, with the folder that is full if one is."""
    if error.errno not in NO_SPACE:
        return str(error)
    if not is_full(output.parent) and full_temporary_folder():
        return temporary_problem(error)
    return f"{output} cannot be written ({error.strerror}). {remedy(error)}"


def _end_with_parent() -> None:
    """End this process's whole tree when the command line that started it has ended, even by `kill -9`.

    A kernel that kept running would hold the run store's locks against the next start.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        with _ending:
            ProcessTree(os.getpid()).kill()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main()
