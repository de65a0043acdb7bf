"""This machine: stages in this process or in a pool of processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any

from driftlab.core.driver import follow_driver
from driftlab.core.errors import ParameterError
from driftlab.runs.experiment import Config, Experiment, StageResult, State
from driftlab.runs.failures import StageError
from driftlab.runs.workers import limit_threads, run_stages

# Spawned, not forked: the driver may have threads (Jupyter, PyTorch) and a CUDA context.
CONTEXT = multiprocessing.get_context("spawn")


class LocalEngine:
    """This machine: one job runs in this process, several in a pool of spawned processes.

    Args:
        jobs: Number of batches that are worked on at once.
        threads: CPU threads that PyTorch computes with in each.
        devices: CUDA devices, as `CUDA_VISIBLE_DEVICES` names them. Each worker sees the one that the fewest
            others use; a single job, which runs in this process, sees them all and takes the first.
    """

    lost: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, jobs: int = 1, *, threads: int = 1, devices: Sequence[str] = ()) -> None:
        if jobs < 1 or threads < 1:
            raise ParameterError(
                f"An engine needs at least one job and one thread, not {jobs} and {threads}."
            )
        self.capacity, self._threads, self._devices = jobs, threads, tuple(devices)
        self._work: tuple[Experiment, Any] | None = None
        self._payload = b""
        self._pools: dict[ProcessPoolExecutor, Future[list[StageResult]] | None] = {}
        self._device_of: dict[ProcessPoolExecutor, str] = {}
        self._lifeline: tuple[Connection, Connection] | None = None
        self._threads_before: int | None = None

    def start(self, experiment: Experiment, data: Any) -> None:
        """Prepare for an experiment; workers start with the first batches.

        Raises:
            ParameterError: The experiment or the data cannot be sent to other processes.
        """
        self.stop()
        self._work = (experiment, data)
        if self.capacity == 1:
            # Also in this process, so that one job gives the same digits as many.
            import torch

            self._threads_before = torch.get_num_threads()
            torch.set_num_threads(self._threads)
        else:
            self._payload = _packed(experiment, data)
            self._lifeline = CONTEXT.Pipe(duplex=False)

    def submit(self, stages: Sequence[Config], states: Sequence[State | None]) -> Future[list[StageResult]]:
        """Start executing a batch; with one job this returns when the batch is done."""
        if self._work is None:
            raise RuntimeError("start the engine first")
        future: Future[list[StageResult]] = Future()
        if self._lifeline is None:
            try:
                future.set_result(run_stages(*self._work, stages, states))
            except StageError as error:
                future.set_exception(error)
            return future
        pool = self._free_pool(self._lifeline[0])
        try:
            future = pool.submit(_work_on, stages, states)
        except BrokenProcessPool as error:
            future.set_exception(error)
        self._pools[pool] = future
        return future

    def stop(self) -> None:
        """End every worker at once."""
        if self._lifeline is not None:
            self._lifeline[1].close()
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)
        if self._lifeline is not None:
            self._lifeline[0].close()
        if self._threads_before is not None:
            import torch

            torch.set_num_threads(self._threads_before)
        self._pools.clear()
        self._device_of.clear()
        self._work = self._lifeline = self._threads_before = None
        self._payload = b""

    def _free_pool(self, lifeline: Connection) -> ProcessPoolExecutor:
        for pool, future in list(self._pools.items()):
            if future is not None and future.done():
                if not isinstance(future.exception(), BrokenProcessPool):
                    return pool
                pool.shutdown()
                del self._pools[pool]
                self._device_of.pop(pool, None)
        # One pool a worker. The data are its first task and no arguments of its process: while those are
        # sent, the driver would wait for ever for a process that has died early.
        in_use = list(self._device_of.values())
        device = min(self._devices, key=in_use.count, default="")
        pool = ProcessPoolExecutor(
            1,
            mp_context=CONTEXT,
            initializer=_begin_worker,
            initargs=(lifeline, os.getpid(), device),
        )
        self._pools[pool] = None
        if device:
            self._device_of[pool] = device
        pool.submit(_receive, self._payload, self._threads)
        return pool


_worker: tuple[Experiment, Any] | StageError = StageError("a worker was given no experiment")


def _begin_worker(lifeline: Connection, driver: int, device: str) -> None:
    if device:
        os.environ["CUDA_VISIBLE_DEVICES"] = device  # read when the process first uses CUDA
    follow_driver(driver, lifeline)


def _receive(payload: bytes, threads: int) -> None:
    global _worker
    limit_threads(threads)
    try:
        _worker = pickle.loads(payload)  # from the driver's memory, never from a file
    except Exception as error:
        _worker = StageError.of(error)
    limit_threads(threads)


def _work_on(stages: Sequence[Config], states: Sequence[State | None]) -> list[StageResult]:
    if isinstance(_worker, StageError):
        raise _worker
    return run_stages(*_worker, stages, states)


def _packed(experiment: Experiment, data: Any) -> bytes:
    kind = type(experiment)
    advice = "Put its class into an importable module, or use one job."
    if kind.__module__ == "__main__":
        raise ParameterError(
            f"The experiment class {kind.__qualname__} is defined in a notebook or a script, where other "
            f"processes cannot find it. {advice}"
        )
    try:
        return pickle.dumps((experiment, data), protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ParameterError(
            f"The experiment {experiment.name} or its data cannot be sent to other processes ({error}). "
            f"{advice}"
        ) from error
