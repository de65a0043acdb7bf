"""The plain loop in a process of its own, so that its threads and its memory are nobody else's."""

from __future__ import annotations

import json
import subprocess
import sys
from types import TracebackType
from typing import Any

from driftlab.bench import workload
from driftlab.core.errors import DriftlabError


class BenchmarkError(DriftlabError):
    """A part of the benchmark could not be timed."""


class PlainLoop:
    """The process; it ends with the block, and with this process however that ends.

    Attributes:
        threads: How many threads PyTorch chose there.
    """

    def __init__(self) -> None:
        # In a session of its own: Ctrl-C is for the one who measures.
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
        """The process's number."""
        return self._process.pid

    def __enter__(self) -> PlainLoop:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def warm_up(self) -> None:
        """Wait until it is ready, and go once through every code path."""
        self.threads = int(self._answer()["threads"])
        self.epoch_seconds(1)

    def epoch_seconds(self, epochs: int) -> float:
        """Seconds that one epoch of a run takes, on average over its five tasks of so many epochs.

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
