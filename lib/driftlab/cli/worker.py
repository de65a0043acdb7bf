"""The process that executes one notebook: `python -m driftlab.cli.worker JOB`, the job being a JSON file.

It says how far it is in a file, one JSON object a line, which the command line reads (`driftlab.cli.batch`):
`cell` and `of` when a cell starts, `says` for the last line that the notebook printed, and at the end
`passed`, or `failed` with the error's name, `message` and `prompt` (the N of `In [N]`).
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.execute import execute_notebook

from driftlab.cli.processes import ProcessTree
from driftlab.core.files import remedy

_ending = threading.Lock()
"""Held while the tree is being ended, so that the main thread does not leave before that is done."""

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Reporter:
    """Appends events to a file, and is the stream to which papermill copies a notebook's output."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._said = 0.0

    def report(self, **event: Any) -> None:
        """Append one event."""
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(event) + "\n")

    def write(self, text: str) -> None:
        """Report the last line of what a cell printed, at most twice a second."""
        lines = [line for line in re.split(r"[\r\n]", _CONTROL.sub("", text)) if line.strip()]
        # A warning ends with an indented line of code, which says nothing to anybody.
        lines = [line for line in lines if not line.startswith("  ")] or lines
        if lines and time.monotonic() - self._said > 0.5:
            self._said = time.monotonic()
            self.report(says=lines[-1].strip())

    def flush(self) -> None:
        """Nothing is held back."""


class _Engine(NBClientEngine):  # type: ignore[misc]
    """papermill's engine, telling which cell starts. Cells are counted as the notebook has them, from 1."""

    reporter: Reporter

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> Any:
        """Execute, reporting each cell first."""
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
        return super().execute_managed_notebook(nb_man, kernel_name, **options)


def main() -> None:
    """Execute the job that the first argument names."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    reporter = _Engine.reporter = Reporter(Path(job["events"]))
    _end_with_parent()
    papermill_engines.register("reporting", _Engine)
    try:
        execute_notebook(
            job["notebook"],
            job["output"],
            parameters=job["parameters"],
            engine_name="reporting",
            kernel_name="python3",
            progress_bar=False,
            stdout_file=reporter,
            stderr_file=reporter,
            cwd=str(Path(job["notebook"]).parent),
        )
    except PapermillExecutionError as error:
        reporter.report(failed=error.ename, message=error.evalue, prompt=error.exec_count)
    except OSError as error:
        message = str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):  # the only file that this process writes at length
            message = f"{job['output']} cannot be written ({error.strerror}). {remedy(error)}"
        reporter.report(failed=type(error).__name__, message=message)
    except Exception as error:  # a dead kernel: whatever it is belongs into the batch's table
        reporter.report(failed=type(error).__name__, message=str(error))
    else:
        reporter.report(passed=True)
    _ending.acquire()


def _end_with_parent() -> None:
    """End this process's whole tree when the command line that started it is gone, even by `kill -9`.

    A kernel that went on alone would hold the run store against the next start.
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
