"""The measurements: both ways in turn, round after round; training first, then its sweep, then evaluation."""

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
"""Of each task, for the methods other than BARE."""


@dataclass(frozen=True)
class Settings:
    """How much is measured.

    Attributes:
        rounds: How often each way is timed, alternately.
        epochs: Of each of the five tasks, in each round.
        replicas: Runs side by side in each worker of the replicated trainer.
        jobs: Workers, with one thread each.
        full: Run all epochs of the sweep instead of one per task.
        methods: Also time the methods other than BARE.
        evaluation: Also time a detector's evaluation.
        long_stream: Also watch the memory of learning the demo's stream, and one ten times as long.
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
        stages: Distinct ones, by the number of tasks learnt.
        measured_epochs: Of a task, in the sweep that was run.
        measured_seconds: What that sweep took, from an empty store to the evaluation table.
    """

    stages: list[int]
    measured_epochs: int
    measured_seconds: float


@dataclass(frozen=True)
class Measurement:
    """What was found. Epochs are those of one run, in wall-clock seconds.

    Attributes:
        machine: Where.
        settings: How much.
        plain_threads: Threads of the plain loop, as PyTorch chose.
        plain: Seconds an epoch of the plain loop, by round.
        replicated: Seconds an epoch of the replicated trainer, by round and task.
        product_rates: Operations a second of a large matrix product, all workers together, by round.
        methods: Seconds an epoch of the replicated trainer, by method and task.
        sweep: The whole sweep.
        peak_memory: Bytes, `plain` and `replicated`, with BARE.
        evaluation: Of a detector.
        stream_memory: Of learning a stream.
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
        """Seconds an epoch of the replicated trainer, by round, on average over the tasks."""
        return [fmean(tasks) for tasks in self.replicated]

    @property
    def replicated_tasks(self) -> list[float]:
        """Seconds an epoch of the replicated trainer, by task, the median of the rounds."""
        return [median(round_[task] for round_ in self.replicated) for task in range(len(workload.TASKS))]

    @property
    def ratios(self) -> list[float]:
        """How many times faster a replica-epoch is, by round."""
        return [plain / ours for plain, ours in zip(self.plain, self.replicated_rounds, strict=True)]

    @property
    def product_shares(self) -> list[float]:
        """The share of the machine's rate of matrix products that the trainer reaches, by round."""
        needed = fmean(product_operations(len(workload.training_records(task))) for task in workload.TASKS)
        rounds = zip(self.replicated_rounds, self.product_rates, strict=True)
        return [needed / seconds / rate for seconds, rate in rounds]

    @property
    def twp_over_bare(self) -> float | None:
        """What an epoch of TWP costs, in epochs of BARE."""
        return fmean(self.methods["TWP"]) / median(self.replicated_rounds) if "TWP" in self.methods else None

    @property
    def plain_sweep(self) -> float:
        """Seconds of the sweep by the plain loop: every epoch of every run, and nothing else."""
        return median(self.plain) * len(workload.ORDERS) * len(workload.TASKS) * workload.EPOCHS

    @property
    def replicated_sweep(self) -> float:
        """Seconds of the sweep by the replicated trainer: what was run, and the epochs that are missing."""
        missing = workload.EPOCHS - self.sweep.measured_epochs
        return self.sweep.measured_seconds + sum(
            stages * missing * seconds
            for stages, seconds in zip(self.sweep.stages, self.replicated_tasks, strict=True)
        )


def measure(settings: Settings, say: Callable[[str], None]) -> Measurement:
    """Measure.

    Args:
        settings: How much.
        say: Is told what is being done.

    Raises:
        BenchmarkError: The plain loop's process has ended, or kept features change what a detector finds.
        ParameterError: There are no workers or no replicas.
    """
    machine = this_machine()
    plain: list[float] = []
    replicated: list[list[float]] = []
    rates: list[float] = []
    methods: dict[str, list[float]] = {}
    say(f"Starting a process for the plain loop and {settings.jobs} workers for the replicated trainer")
    with (
        PlainLoop() as loop,
        ReplicatedTrainer(settings.jobs, settings.replicas) as trainer,
        ProductRate(settings.jobs) as products,
    ):
        with PeakMemory({"plain": loop.pid, "replicated": os.getpid()}) as memory:
            trainer.warm_up()
            loop.warm_up()
            products.measure()  # brings its workers to life
            for number in range(1, settings.rounds + 1):
                plain.append(loop.epoch_seconds(settings.epochs))
                replicated.append(trainer.epoch_seconds("BARE", settings.epochs))
                rates.append(products.measure())
                say(
                    f"Round {number} of {settings.rounds}: {plain[-1] * 1e3:.1f} ms per epoch, "
                    f"replicated {fmean(replicated[-1]) * 1e3:.2f} ms; products {rates[-1] / 1e9:.0f} GFLOP/s"
                )
        for name in [name for name in METHODS if name != "BARE"] if settings.methods else []:
            methods[name] = trainer.epoch_seconds(name, METHOD_EPOCHS)
            say(f"{name}, replicated: {fmean(methods[name]) * 1e3:.2f} ms per epoch")
    epochs = workload.EPOCHS if settings.full else 1
    say(f"The sweep over {len(workload.ORDERS)} task orders, epochs per task: {epochs}")
    with PeakMemory({"replicated": os.getpid()}) as memory_of_sweep:
        swept = sweep_all_orders(settings.jobs, settings.replicas, epochs)
    return Measurement(
        machine,
        settings,
        loop.threads,
        plain,
        replicated,
        rates,
        methods,
        Sweep(workload.stages_by_depth(), epochs, swept.seconds),
        memory.peaks | {"replicated": max(part.peaks["replicated"] for part in (memory, memory_of_sweep))},
        measure_evaluation(settings.rounds, say) if settings.evaluation else None,
        measure_stream_memory(say) if settings.long_stream else None,
    )
