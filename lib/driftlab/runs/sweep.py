"""Sweeps: many runs of one experiment, each distinct stage computed once, everything finished kept."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from driftlab.core.errors import ParameterError
from driftlab.core.evaluation_table import evaluation_table
from driftlab.core.lineage import stamp
from driftlab.core.progress import Progress
from driftlab.runs.engines import Engine
from driftlab.runs.experiment import Config, Experiment, Row, made_by
from driftlab.runs.failures import Failure, SweepError, SweepWarning
from driftlab.runs.scheduler import Scheduler
from driftlab.runs.stage_graph import KeepStates, StageGraph
from driftlab.runs.states import shared_states_limit
from driftlab.runs.store import Store

__all__ = ["Failure", "SweepError", "SweepResult", "SweepWarning", "sweep"]


@dataclass(frozen=True)
class SweepResult:
    """A finished sweep.

    Attributes:
        table: The evaluation table of all runs.
        runs: Number of runs.
        stages: Number of distinct stages that they consist of.
        computed: Number of stages that were computed by this sweep.
        reused: Number of stages that were in the store, or were computed by another process meanwhile.
        seconds: Wall-clock time.
    """

    table: pd.DataFrame
    runs: int
    stages: int
    computed: int
    reused: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.runs} runs of {self.stages} distinct stages: {self.computed} computed, {self.reused} "
            f"from the store, in {self.seconds:.1f} s"
        )


def sweep(
    experiment: Experiment,
    configs: Sequence[Config],
    *,
    data: Any,
    digest: str,
    store: Store,
    engine: Engine,
    batch: int = 8,
    progress: bool = True,
    keep_states: KeepStates = False,
    states_limit: int | None = None,
) -> SweepResult:
    """Run every configuration; what is in the store is not computed again.

    Stages that several runs share are computed once. Every finished stage is kept at once: after an
    interruption of any kind the same call continues from there. With the reference's numerics it returns the
    table that an uninterrupted sweep would have returned, to the last bit; with others see
    `Experiment.numerics`. A stage that another process is computing on the same store is waited for, not
    computed a second time.

    A stage's state is removed when everything in the sweep that continues from it is finished. It stays where
    the caller asks for it (`keep_states`), and within a size limit where runs of other sweeps are likely to
    continue from it (`Experiment.shared`). A later sweep that needs a removed state computes its stage again.

    Args:
        experiment: Says what a run consists of and how stages are executed.
        configs: The runs. A configuration that is given twice is run and counted once.
        data: What the stages work on, as the experiment expects it.
        digest: Identifies the data (`Source.digest`, and whatever else the data were made with).
        store: Where finished stages are kept.
        engine: Where stages are executed; started and stopped here.
        batch: Stages per call of `Experiment.execute` at most. With the reference's numerics it changes
            the speed only.
        progress: Whether to show it.
        keep_states: Keep the states of all stages, of the stages of these runs, or ("last") of each run's
            last stage; states that are gone are computed again.
        states_limit: Bytes of shared states that stay in the store; None takes
            `driftlab.runs.states.shared_states_limit` (1 GiB, or `$DRIFTLAB_STATES_GIB`).

    Raises:
        ParameterError: A configuration holds something else than JSON values, `batch` is no number from 1,
            or the sweep stands in a script where worker processes run it again.
        StoreError: The store cannot be written to, for example because the disk is full.
        SweepError: Stages failed; all others were computed first, and the text names the runs.
    """
    if batch < 1:
        raise ParameterError(f"batch is {batch}; it must be a number from 1.")
    # multiprocessing's own check comes too late: this process would first wait for stages of its parent.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise ParameterError(
            "A worker process has run the script that started it from the beginning, up to its sweep. In a "
            'script a sweep belongs into a function that is called below `if __name__ == "__main__":`.'
        )
    limit = shared_states_limit() if states_limit is None else states_limit
    began = time.perf_counter()
    graph = StageGraph(experiment, configs, digest, store, keep_states=keep_states)
    bar = Progress(len(graph.nodes), experiment.name, shown=progress)
    scheduler = Scheduler(experiment, data, graph, store, engine, bar, batch=batch, states_limit=limit)
    try:
        scheduler.work()
    finally:
        scheduler.close()
    scheduler.clean_up()
    _raise_failures(graph, scheduler.errors, store)
    return SweepResult(
        stamp(evaluation_table(_rows(experiment, graph)), made_by(experiment)),
        runs=len(graph.runs),
        stages=len(graph.nodes),
        computed=len(scheduler.computed),
        reused=len(graph.nodes) - len(scheduler.computed),
        seconds=time.perf_counter() - began,
    )


def _rows(experiment: Experiment, graph: StageGraph) -> list[Mapping[str, Any]]:
    rows: list[Row] = []
    for config, keys in graph.runs:
        described = experiment.describe(config)
        rows += [{**row, **described} for key in keys for row in graph.rows(key)]
    return list(rows)


def _raise_failures(graph: StageGraph, errors: Mapping[str, BaseException], store: Store) -> None:
    failures: list[Failure] = []
    first: BaseException | None = None
    for config, keys in graph.runs:
        failed = next((graph.blame[key] for key in keys if key in graph.blame), None)
        if failed is not None:
            failures.append(Failure(dict(config), keys.index(failed) + 1, len(keys), str(errors[failed])))
            first = first or errors[failed]
    if failures:
        raise SweepError(
            f"{len(failures)} of {len(graph.runs)} runs could not be finished; every stage that was "
            f"finished is kept in {store.folder} and will not be computed again.",
            failures,
        ) from first
