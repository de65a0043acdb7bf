"""The plain loop in a separate process, so that its threads and memory can be measured."""

from __future__ import annotations

import json
import subprocess
import sys
from types import TracebackType
from typing import Any

from driftlab.bench import workload
from driftlab.core.errors import DriftlabError


class BenchmarkError(DriftlabError):
    """A part of the benchmark could not be measured."""


class PlainLoop:
    """The process of the plain loop; a context manager, at whose end it is killed.

    It also ends when this process ends, as its standard input is then closed.

    Attributes:
        threads: Number of PyTorch's threads in that process; 0 before `warm_up`.
    """

    def __init__(self) -> None:
        # In its own session, so that Ctrl-C reaches only the benchmark's process.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore::FutureWarning", "-m", "driftlab.bench.plain_loop"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.threads = 0

    @property
    def pid(self) -> int:
        """The process number."""
        return self._process.pid

    def __enter__(self) -> PlainLoop:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def warm_up(self) -> None:
        """Wait until the process is ready, and run every code path once."""
        self.threads = int(self._answer()["threads"])
        self.epoch_seconds(1)

    def epoch_seconds(self, epochs: int) -> float:
        """Mean seconds per epoch of a run with `epochs` epochs for each of its five tasks.

        Raises:
            BenchmarkError: The process has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{epochs}\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error
        return float(self._answer()["seconds"]) / (epochs * len(workload.TASKS))

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ended(self) -> BenchmarkError:
        return BenchmarkError(
            f"The plain loop's process ended by itself (exit code {self._process.wait()}). Its own message "
            "stands above; without one, it was probably killed because memory ran out."
        )
