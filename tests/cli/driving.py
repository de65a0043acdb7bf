"""Calling the command line, in this process or as one of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil
import pytest
from driftlab.cli import main


@dataclass(frozen=True)
class Result:
    """What a call left: its exit code, and what it printed, white space folded into single spaces."""

    code: int
    out: str
    err: str


@dataclass
class Driver:
    """Calls `driftlab` with arguments as a shell would."""

    monkeypatch: pytest.MonkeyPatch
    capfd: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Result:
        self.monkeypatch.setattr(sys, "argv", ["driftlab", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        captured = self.capfd.readouterr()
        code = exit_.value.code
        assert isinstance(code, int)
        return Result(code, " ".join(captured.out.split()), " ".join(captured.err.split()))


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start `driftlab` as a process."""
    command = [sys.executable, "-m", "driftlab.cli", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not collected does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
