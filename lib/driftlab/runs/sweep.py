"""Sweeps: many runs of one experiment, each distinct stage computed once, everything finished kept."""

from __future__ import annotations

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
from driftlab.runs.experiment import Config, Experiment, Row
from driftlab.runs.failures import Failure, SweepError, SweepWarning
from driftlab.runs.scheduler import Driver
from driftlab.runs.stage_graph import KeepStates, StageGraph
from driftlab.runs.store import Store

__all__ = ["Failure", "SweepError", "SweepResult", "SweepWarning", "sweep"]


@dataclass(frozen=True)
class SweepResult:
    """A finished sweep.

    Attributes:
        table: The evaluation table of all runs.
        runs: How many runs there are.
        stages: How many distinct stages they consist of.
        computed: How many stages were computed now.
        reused: How many came from the store.
        seconds: How long it took.
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
) -> SweepResult:
    """Runs every configuration, taking from the store what is there.

    Stages that several runs share are computed once. Every finished stage is kept at once: after an
    interruption of any kind the same call goes on from there and yields the same table. What another
    process is computing on the same store is waited for, not computed a second time.

    States are scaffolding: one is removed when everything in the sweep that continues from it is finished
    (and no other sweep is at work on the store). A later sweep that needs it computes the stage again.

    Args:
        experiment: Says what a run consists of and how stages are executed.
        configs: The runs. A configuration that is given twice is run and counted once.
        data: What the stages work on, as the experiment expects it.
        digest: Identifies the data (`Source.digest`, and whatever else the data were made with).
        store: Where finished stages are kept.
        engine: Where stages are executed; started and stopped here.
        batch: How many stages are executed in one call at most. It changes the speed only.
        progress: Whether to show it.
        keep_states: Keep the state of every stage of all runs or of these, also of the last stages, or
            ("last") of each run's last stage; states that are gone are made again.

    Raises:
        ParameterError: A configuration holds something else than JSON values, or `batch` is no number from 1.
        StoreError: The store cannot be written to, for example because the disk is full.
        SweepError: Stages failed; all others were computed first, and the text names the runs.
    """
    if batch < 1:
        raise ParameterError(f"batch is {batch}; it must be a number from 1.")
    began = time.perf_counter()
    graph = StageGraph(experiment, configs, digest, store, keep_states=keep_states)
    shown = Progress(len(graph.nodes), experiment.name, shown=progress)
    driver = Driver(experiment, data, graph, store, engine, shown, batch=batch)
    try:
        driver.work()
        driver.tidy()
    finally:
        driver.leave()
    _raise_failures(graph, driver.errors, store)
    return SweepResult(
        stamp(evaluation_table(_rows(experiment, graph)), f"{experiment.name} version {experiment.version}"),
        runs=len(graph.runs),
        stages=len(graph.nodes),
        computed=len(driver.computed),
        reused=len(graph.nodes) - len(driver.computed),
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
        culprit = next((graph.blame[key] for key in keys if key in graph.blame), None)
        if culprit is not None:
            failures.append(Failure(dict(config), keys.index(culprit) + 1, len(keys), str(errors[culprit])))
            first = first or errors[culprit]
    if failures:
        raise SweepError(
            f"{len(failures)} of {len(graph.runs)} runs could not be finished; every stage that was "
            f"finished is kept in {store.folder} and will not be computed again.",
            failures,
        ) from first
