"""This machine: stages in this process or in a pool of processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from driftlab.errors import ParameterError
from driftlab.runs.experiment import Config, Experiment, StageResult, State
from driftlab.runs.workers import limit_threads, run_stages


class LocalEngine:
    """This machine: one job runs in this process, several in a pool of spawned processes.

    Args:
        jobs: How many batches are worked on at once.
        threads: How many threads PyTorch computes with in each.
    """

    lost: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, jobs: int = 1, *, threads: int = 1) -> None:
        if jobs < 1 or threads < 1:
            raise ParameterError(
                f"An engine needs at least one job and one thread, not {jobs} and {threads}."
            )
        self.capacity, self._threads = jobs, threads
        self._work: tuple[Experiment, Any] | None = None
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None
        self._threads_before: int | None = None

    def start(self, experiment: Experiment, data: Any) -> None:
        """Make workers ready; they come to life with the first batches.

        Raises:
            ParameterError: The experiment cannot be sent to other processes.
        """
        self.stop()
        self._work = (experiment, data)
        if self.capacity == 1:
            # Also in this process, so that one job gives the same digits as many.
            import torch

            self._threads_before = torch.get_num_threads()
            torch.set_num_threads(self._threads)
            return
        _check_sendable(experiment)
        # Spawned, not forked: the driver may have threads (Jupyter, PyTorch) and a CUDA context.
        context = multiprocessing.get_context("spawn")
        workers_end, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self.capacity,
            mp_context=context,
            initializer=_begin_worker,
            initargs=(workers_end, os.getpid(), self._threads, experiment, data),
        )

    def submit(self, stages: Sequence[Config], states: Sequence[State | None]) -> Future[list[StageResult]]:
        """Begin to execute a batch; with one job this returns when the batch is done."""
        if self._work is None:
            raise RuntimeError("start the engine first")
        if self._pool is not None:
            try:
                return self._pool.submit(_work_on, stages, states)
            except BrokenProcessPool as error:
                failed: Future[list[StageResult]] = Future()
                failed.set_exception(error)
                return failed
        future: Future[list[StageResult]] = Future()
        try:
            future.set_result(run_stages(*self._work, stages, states))
        except Exception as error:
            future.set_exception(error)
        return future

    def stop(self) -> None:
        """End every worker at once."""
        if self._lifeline is not None:
            self._lifeline.close()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        if self._threads_before is not None:
            import torch

            torch.set_num_threads(self._threads_before)
        self._work = self._pool = self._lifeline = self._threads_before = None


_worker: tuple[Experiment, Any] | None = None


def _begin_worker(lifeline: Connection, driver: int, threads: int, experiment: Experiment, data: Any) -> None:
    global _worker
    # Ctrl-C reaches the whole process group; the driver alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with, args=(lifeline, driver), daemon=True).start()
    limit_threads(threads)
    _worker = (experiment, data)


def _work_on(stages: Sequence[Config], states: Sequence[State | None]) -> list[StageResult]:
    assert _worker is not None
    return run_stages(*_worker, stages, states)


def _die_with(lifeline: Connection, driver: int) -> None:
    # The driver's end closes when it says stop and when it dies, however it dies. The parent's id is looked
    # at as well, because a process that somebody forked from the driver would hold the end open.
    with suppress(OSError, EOFError):
        while os.getppid() == driver and not lifeline.poll(1.0):
            pass
    os._exit(1)


def _check_sendable(experiment: Experiment) -> None:
    kind = type(experiment)
    advice = "Put its class into an importable module, or use one job."
    if kind.__module__ == "__main__":
        raise ParameterError(
            f"The experiment class {kind.__qualname__} is defined in a notebook or a script, where other "
            f"processes cannot find it. {advice}"
        )
    try:
        pickle.dumps(experiment)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ParameterError(
            f"The experiment {experiment.name} cannot be sent to other processes ({error}). {advice}"
        ) from error
