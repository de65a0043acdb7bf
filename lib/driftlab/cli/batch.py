"""Executes notebooks one after the other, each in its own process tree, which is ended with its turn."""

from __future__ import annotations

import errno
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Literal, TextIO

import psutil

from driftlab.cli.plan import Plan
from driftlab.cli.processes import NO_REPORT, OUT_OF_MEMORY, ProcessTree
from driftlab.cli.temporary import temporary_problem

State = Literal["not run", "running", "passed", "failed", "timed out", "stopped"]


@dataclass
class Turn:
    """The execution of one notebook, so far.

    Attributes:
        name: The notebook.
        state: How it ended; `stopped` by the user.
        cell: The cell that is being executed, counted from 1; where it failed or was stopped.
        of: How many cells it has.
        seconds: Elapsed time.
        says: The last line that it printed.
        error: What went wrong, in one line.
        unfinished: The partly executed notebook's file, if it has not passed.
    """

    name: str
    state: State = "not run"
    cell: int = 0
    of: int = 0
    seconds: float = 0.0
    says: str = ""
    error: str = ""
    unfinished: Path | None = None


class Stopped(KeyboardInterrupt):
    """The batch was ended by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


@dataclass
class Batch:
    """The results of a batch of notebooks.

    Attributes:
        turns: One per notebook, in order.
        stopped_by: The signal that ended the batch early, or 0.
    """

    turns: list[Turn] = field(default_factory=list)
    stopped_by: int = 0

    @property
    def passed(self) -> bool:
        """Whether every notebook ran to its end."""
        return all(turn.state == "passed" for turn in self.turns)


def run_batch(
    plans: list[Plan],
    *,
    timeout: float | None,
    keep_going: bool,
    environment: dict[str, str],
    show: Callable[[Turn], None],
) -> Batch:
    """Execute notebooks in order.

    Args:
        plans: The notebooks and their parameters.
        timeout: Wall-clock seconds for each, after which its whole process tree is killed; `None`: no limit.
        keep_going: Whether the ones after a failed one still run.
        environment: Environment variables for the notebooks' processes.
        show: Called several times per second with the running turn, and once when it has ended.
    """
    batch = Batch([Turn(plan.notebook.name) for plan in plans])
    with _signals_stop():
        try:
            for plan, turn in zip(plans, batch.turns, strict=True):
                _execute(plan, turn, timeout, environment, show)
                show(turn)
                if turn.state != "passed" and not keep_going:
                    break
        except Stopped as stop:
            batch.stopped_by = stop.number
    return batch


def _execute(
    plan: Plan, turn: Turn, timeout: float | None, environment: dict[str, str], show: Callable[[Turn], None]
) -> None:
    plan.output.parent.mkdir(parents=True, exist_ok=True)
    _clear_leftovers(plan.output)
    partial = plan.output.with_name(f".{plan.output.stem}.{os.getpid()}.ipynb")
    started = time.monotonic()
    turn.state = "running"
    with ExitStack() as stack:
        try:
            job, events, log = _job_files(stack, plan, partial)
        except OSError as error:
            turn.state, turn.error = "failed", temporary_problem(error)
            return
        with log.open("wb") as log_stream:
            process = subprocess.Popen(
                # -P: not a `queue.py` of the working directory in place of the standard library's
                [sys.executable, "-P", "-m", "driftlab.cli.worker", str(job)],
                stdin=subprocess.DEVNULL,
                stdout=log_stream,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,  # Ctrl-C reaches this process only, which then ends the tree
            )
        tree = ProcessTree(process.pid)
        try:
            with events.open(encoding="utf-8") as stream:
                _follow(process, tree, stream, turn, started, timeout, show)
        except Stopped:
            turn.state = "stopped"
            raise
        finally:
            with _signals_ignored():
                tree.kill()
                process.wait()
                problem = _keep(partial, plan.output, turn)
                turn.seconds = time.monotonic() - started
        if turn.state == "running":
            turn.state = "failed"
            turn.error = f"the notebook's process {_ending(process.returncode, log)}"
        if problem:
            _add_problem(turn, problem)


def _job_files(stack: ExitStack, plan: Plan, partial: Path) -> tuple[Path, Path, Path]:
    """The worker's job, its events (empty) and its log, in a temporary folder that `stack` removes."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="driftlab-")))
    content = {
        "notebook": str(plan.notebook.path),
        "output": str(partial),
        "parameters": plan.overrides,
        "events": str(folder / "events"),
    }
    (folder / "job.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "events").touch()
    return folder / "job.json", folder / "events", folder / "log"


def _follow(
    process: subprocess.Popen[bytes],
    tree: ProcessTree,
    stream: TextIO,
    turn: Turn,
    started: float,
    timeout: float | None,
    show: Callable[[Turn], None],
) -> None:
    """Read events and watch the clock until the worker has ended or the time is up."""
    looked = 0.0
    unfinished = ""
    while True:
        running = process.poll() is None  # before reading, so that the last events are read too
        *lines, unfinished = (unfinished + stream.read()).split("\n")
        for line in lines:
            with suppress(ValueError):  # half a line, from a moment when the disk was full
                _apply(json.loads(line), turn)
        turn.seconds = time.monotonic() - started
        if not running:
            return
        if timeout is not None and turn.seconds > timeout and turn.state == "running":
            turn.state = "timed out"
            turn.error = f"ran past {timeout / 60:g} min; its processes were killed"
            return
        if turn.state == "running":
            show(turn)
        if turn.seconds - looked > 1:
            tree.look()
            looked = turn.seconds
        time.sleep(0.1)


def _apply(event: dict[str, Any], turn: Turn) -> None:
    if "cell" in event:
        turn.cell, turn.of, turn.says = event["cell"], event["of"], ""
    if "says" in event:
        turn.says = event["says"]
    if "passed" in event:
        turn.state = "passed"
    if "failed" in event:
        turn.state = "failed"
        place = f"In [{event['prompt']}]: " if event.get("prompt") else ""
        turn.error = f"{place}{event['failed']}: {' '.join(event['message'].split())}"


def _add_problem(turn: Turn, problem: str) -> None:
    turn.error = f"{turn.error}; {problem}" if turn.error else problem
    if turn.state == "passed":
        turn.state = "failed"


def _keep(partial: Path, output: Path, turn: Turn) -> str:
    """Move an executed notebook to its place; one that has not passed goes beside it and replaces nothing.

    Returns:
        Why that could not be done, for the batch's table; empty if it was.
    """
    try:
        json.loads(partial.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        partial.unlink(missing_ok=True)  # killed while it was being written
        return "" if turn.state != "passed" else "the executed notebook was not written"
    place = output if turn.state == "passed" else _unfinished(output)
    try:
        partial.replace(place)
    except OSError as error:
        return f"the executed notebook could not be put at {place} ({error.strerror}) and is {partial}"
    turn.unfinished = place if place != output else None
    return ""


def _unfinished(output: Path) -> Path:
    return output.with_name(f"{output.stem}-unfinished.ipynb")


def _clear_leftovers(output: Path) -> None:
    """Remove partly executed notebooks that earlier or killed runs left beside a notebook's place."""
    with suppress(OSError):  # somebody's folder; what is put there later says so
        _unfinished(output).unlink(missing_ok=True)
    for path in output.parent.glob(f".{glob.escape(output.stem)}.*.ipynb"):
        owner = path.name.split(".")[-2]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            path.unlink(missing_ok=True)


def _ending(code: int, log: Path) -> str:
    if code < 0:
        return f"was killed from outside by {signal.Signals(-code).name}. {OUT_OF_MEMORY}"
    if code == NO_REPORT:
        return f"could not report: {temporary_problem(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))}"
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"ended with code {code}: {lines[-1] if lines else 'it left no message'}"


@contextmanager
def _signals_stop() -> Iterator[None]:
    """Turn the signals that end a program into `Stopped`, so that what it started is ended first."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number)

    with _signals(stop):
        yield


@contextmanager
def _signals_ignored() -> Iterator[None]:
    with _signals(signal.SIG_IGN):
        yield


@contextmanager
def _signals(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> Iterator[None]:
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    # nohup ignores SIGHUP on purpose
    before = {
        number: signal.getsignal(number) for number in numbers if signal.getsignal(number) != signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
