"""All measurements of `driftlab bench`: training, methods, the sweep, evaluation, memory of a stream."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, median

from driftlab.bench import workload
from driftlab.bench.evaluation import EvaluationTimes, measure_evaluation
from driftlab.bench.machine import Machine, this_machine
from driftlab.bench.memory import PeakMemory
from driftlab.bench.plain import PlainLoop
from driftlab.bench.product_rate import ProductRate, product_operations
from driftlab.bench.replicated import ReplicatedTrainer, sweep_all_orders
from driftlab.bench.stream_memory import StreamMemory, measure_stream_memory
from driftlab.methods import METHODS

METHOD_EPOCHS = 3
"""Timed epochs per task, for the methods other than BARE."""


@dataclass(frozen=True)
class Settings:
    """What is measured, and how often.

    Attributes:
        rounds: Number of rounds; each times the plain loop and the replicated trainer once.
        epochs: Epochs of each of the five tasks per round.
        replicas: Runs side by side in each worker of the replicated trainer.
        jobs: Number of workers, with one thread each.
        full: Whether the sweep is run with all its epochs instead of one per task.
        methods: Whether to time the methods other than BARE.
        evaluation: Whether to time a detector's evaluation.
        long_stream: Whether to measure the memory of learning the demo's stream, and one ten times as long.
    """

    rounds: int
    epochs: int
    replicas: int
    jobs: int
    full: bool
    methods: bool
    evaluation: bool
    long_stream: bool = False


@dataclass(frozen=True)
class Sweep:
    """The sweep over 120 task orders by the replicated trainer.

    Attributes:
        stages: Number of distinct stages, by the number of tasks learnt.
        measured_epochs: Epochs per task in the measured sweep.
        measured_seconds: Duration of the measured sweep, from an empty store to the evaluation table.
    """

    stages: list[int]
    measured_epochs: int
    measured_seconds: float


@dataclass(frozen=True)
class Measurement:
    """Results of the benchmark. Times are wall-clock seconds, per epoch of one run.

    Attributes:
        machine: The machine.
        settings: The settings.
        plain_threads: Number of PyTorch's threads in the plain loop.
        plain: Seconds per epoch of the plain loop, by round.
        replicated: Seconds per epoch of the replicated trainer, by round and task.
        product_rates: Operations per second of a large matrix product, all workers together, by round.
        methods: Seconds per epoch of the replicated trainer, by method and task.
        sweep: The sweep over all task orders.
        peak_memory: Peak memory of the `plain` loop and the `replicated` trainer with BARE, in bytes.
        evaluation: Times of a detector's evaluation, if measured.
        stream_memory: Peak memory of learning a stream, if measured.
    """

    machine: Machine
    settings: Settings
    plain_threads: int
    plain: list[float]
    replicated: list[list[float]]
    product_rates: list[float]
    methods: dict[str, list[float]]
    sweep: Sweep
    peak_memory: dict[str, int]
    evaluation: EvaluationTimes | None = None
    stream_memory: StreamMemory | None = None

    @property
    def replicated_rounds(self) -> list[float]:
        """Mean seconds per epoch of the replicated trainer over the tasks, by round."""
        return [fmean(tasks) for tasks in self.replicated]

    @property
    def replicated_tasks(self) -> list[float]:
        """Median seconds per epoch of the replicated trainer over the rounds, by task."""
        return [median(round_[task] for round_ in self.replicated) for task in range(len(workload.TASKS))]

    @property
    def ratios(self) -> list[float]:
        """Speed-up of an epoch by the replicated trainer, by round."""
        return [
            plain / replicated for plain, replicated in zip(self.plain, self.replicated_rounds, strict=True)
        ]

    @property
    def product_shares(self) -> list[float]:
        """Share of the machine's matrix-product rate that the replicated trainer reaches, by round."""
        needed = fmean(product_operations(len(workload.training_records(task))) for task in workload.TASKS)
        rounds = zip(self.replicated_rounds, self.product_rates, strict=True)
        return [needed / seconds / rate for seconds, rate in rounds]

    @property
    def twp_over_bare(self) -> float | None:
        """Time of an epoch of TWP relative to BARE; None if TWP was not timed."""
        return fmean(self.methods["TWP"]) / median(self.replicated_rounds) if "TWP" in self.methods else None

    @property
    def plain_sweep(self) -> float:
        """Extrapolated seconds of the sweep by the plain loop: all epochs of all runs, without overhead."""
        return median(self.plain) * len(workload.ORDERS) * len(workload.TASKS) * workload.EPOCHS

    @property
    def replicated_sweep(self) -> float:
        """Seconds of the sweep by the replicated trainer: measured, plus the epochs that were not run."""
        missing = workload.EPOCHS - self.sweep.measured_epochs
        return self.sweep.measured_seconds + sum(
            stages * missing * seconds
            for stages, seconds in zip(self.sweep.stages, self.replicated_tasks, strict=True)
        )


def measure(settings: Settings, report_progress: Callable[[str], None]) -> Measurement:
    """Run the benchmark.

    Args:
        settings: What is measured, and how often.
        report_progress: Called with a line of text for each stage of the measurement.

    Raises:
        BenchmarkError: The plain loop's process has ended, or cached features change detections.
        ParameterError: There are no workers or no replicas.
    """
    machine = this_machine()
    plain: list[float] = []
    replicated: list[list[float]] = []
    rates: list[float] = []
    methods: dict[str, list[float]] = {}
    report_progress(
        f"Starting a process for the plain loop and {settings.jobs} workers for the replicated trainer"
    )
    with (
        PlainLoop() as loop,
        ReplicatedTrainer(settings.jobs, settings.replicas) as trainer,
        ProductRate(settings.jobs) as products,
    ):
        with PeakMemory({"plain": loop.pid, "replicated": os.getpid()}) as memory:
            trainer.warm_up()
            loop.warm_up()
            products.measure()  # starts its workers
            for number in range(1, settings.rounds + 1):
                plain.append(loop.epoch_seconds(settings.epochs))
                replicated.append(trainer.epoch_seconds("BARE", settings.epochs))
                rates.append(products.measure())
                report_progress(
                    f"Round {number} of {settings.rounds}: {plain[-1] * 1e3:.1f} ms per epoch, "
                    f"replicated {fmean(replicated[-1]) * 1e3:.2f} ms; products {rates[-1] / 1e9:.0f} GFLOP/s"
                )
        for name in [name for name in METHODS if name != "BARE"] if settings.methods else []:
            methods[name] = trainer.epoch_seconds(name, METHOD_EPOCHS)
            report_progress(f"{name}, replicated: {fmean(methods[name]) * 1e3:.2f} ms per epoch")
    epochs = workload.EPOCHS if settings.full else 1
    report_progress(f"The sweep over {len(workload.ORDERS)} task orders, epochs per task: {epochs}")
    with PeakMemory({"replicated": os.getpid()}) as sweep_memory:
        sweep_result = sweep_all_orders(settings.jobs, settings.replicas, epochs)
    return Measurement(
        machine,
        settings,
        loop.threads,
        plain,
        replicated,
        rates,
        methods,
        Sweep(workload.stages_by_depth(), epochs, sweep_result.seconds),
        memory.peaks | {"replicated": max(part.peaks["replicated"] for part in (memory, sweep_memory))},
        measure_evaluation(settings.rounds, report_progress) if settings.evaluation else None,
        measure_stream_memory(report_progress) if settings.long_stream else None,
    )
