"""Ray: the same stages on this machine's cores or on a whole cluster."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from driftlab.core.errors import ParameterError
from driftlab.runs.capacity import limited_jobs
from driftlab.runs.experiment import Config, Experiment, StageResult, State
from driftlab.runs.ray_address import check_address, no_cluster, require_cluster
from driftlab.runs.workers import limit_threads, run_stages, usable_cores


class RayEngine:
    """Executes every batch as a Ray task.

    A cluster needs nothing but driftlab installed on its machines: data and states travel with Ray, and
    only the driver writes to the store.

    Args:
        jobs: How many batches are worked on at once; 0 stands for as many as the cluster has room for.
        address: Of the cluster, `HOST:PORT`; without one `$RAY_ADDRESS`, and without that a Ray is started
            here, which takes seconds and therefore stays for later sweeps until this process ends.
        threads: How many threads a task computes with; also the number of cores that it asks for.
        gpus_per_task: How many GPUs a task asks for (a fraction shares one).

    Raises:
        ParameterError: A number is out of range, or the address has another form.
    """

    def __init__(
        self, jobs: int = 0, *, address: str | None = None, threads: int = 1, gpus_per_task: float = 0.0
    ) -> None:
        if jobs < 0 or threads < 1 or gpus_per_task < 0:
            raise ParameterError(
                f"jobs, threads and gpus_per_task are {jobs}, {threads} and {gpus_per_task}; they must be "
                "at least 0, 1, 0."
            )
        self.capacity = jobs or usable_cores()
        self._jobs, self._threads, self._gpus = jobs, threads, gpus_per_task
        self._address = address or os.environ.get("RAY_ADDRESS") or "local"
        check_address(self._address)
        self._task: Any = None
        self._refs: dict[Future[list[StageResult]], Any] = {}

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        """The exception that a future raises if the worker died."""
        from ray import exceptions as gone

        return (gone.WorkerCrashedError, gone.OutOfMemoryError, gone.NodeDiedError, gone.ObjectLostError)

    def start(self, experiment: Experiment, data: Any) -> None:
        """Connect to the cluster, or start one here, and hand it the data once.

        Raises:
            ParameterError: There is no cluster at the address, or no machine in it has room for a task.
        """
        self.stop()
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray

        if not ray.is_initialized():
            options: dict[str, Any] = {"address": self._address}
            if self._address == "local":
                jobs = limited_jobs(self.capacity, self._threads)
                cores = max(usable_cores(), jobs * self._threads)
                options |= {"num_cpus": cores, "include_dashboard": False}
            require_cluster(self._address)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FutureWarning)  # of Ray about its own future
                    ray.init(log_to_driver=False, logging_level="ERROR", **options)
            except Exception as error:  # Ray raises anything from ConnectionError to AssertionError
                raise no_cluster(self._address, f"{type(error).__name__}: {error}") from error
        room = sum(self._room(node["Resources"]) for node in ray.nodes() if node["Alive"])
        if room == 0:
            raise ParameterError(
                f"No machine of the Ray cluster has room for a task with {self._threads} cores and "
                f"{self._gpus:g} GPUs."
            )
        self.capacity = min(self._jobs or room, room)
        remote = ray.remote(num_cpus=self._threads, num_gpus=self._gpus, max_retries=0)(_work_on)
        # In a list Ray hands on the reference instead of the object, so that a worker can keep it from task
        # to task.
        work = [ray.put((experiment, data))]
        self._task = functools.partial(remote.remote, work, list(sys.path), self._threads)

    def submit(self, stages: Sequence[Config], states: Sequence[State | None]) -> Future[list[StageResult]]:
        """Begin to execute a batch."""
        ref = self._task(list(stages), list(states))
        future: Future[list[StageResult]] = Future()
        self._refs[future] = ref
        ref.future().add_done_callback(functools.partial(self._arrived, future))
        return future

    def _arrived(self, future: Future[list[StageResult]], answer: Future[list[StageResult]]) -> None:
        self._refs.pop(future, None)
        error = answer.exception()
        if error is None:
            future.set_result(answer.result())
            return
        cause = getattr(error, "cause", None)
        if cause is not None:  # what the task raised, as from other engines; its traceback is in Ray's error
            cause.__cause__ = error
        future.set_exception(cause or error)

    def stop(self) -> None:
        """Cancel what is being computed, at once."""
        if self._task is not None:
            import ray

            for ref in list(self._refs.values()):
                ray.cancel(ref, force=True)
        self._refs.clear()
        self._task = None

    def _room(self, resources: Mapping[str, float]) -> int:
        room = resources.get("CPU", 0.0) / self._threads
        return int(min(room, resources.get("GPU", 0.0) / self._gpus) if self._gpus else room)


_worker: dict[Any, tuple[Experiment, Any]] = {}


def _work_on(
    work: list[Any],
    path: list[str],
    threads: int,
    stages: Sequence[Config],
    states: Sequence[State | None],
) -> list[StageResult]:
    import ray

    if work[0] not in _worker:
        # The experiment's module is found where the driver found it, as in spawned processes.
        sys.path += [folder for folder in path if folder not in sys.path]
        _worker.clear()
        _worker[work[0]] = ray.get(work[0])
        limit_threads(threads)
    return run_stages(*_worker[work[0]], stages, states)
