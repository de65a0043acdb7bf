"""Output of a benchmark's results: tables for the terminal, and a JSON file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from statistics import fmean, median

from rich.console import Group, RenderableType
from rich.table import Table

from driftlab.bench import workload
from driftlab.bench.evaluation import EvaluationTimes
from driftlab.bench.measure import METHOD_EPOCHS, Measurement
from driftlab.bench.stream_memory import EVALUATIONS, METHOD, StreamMemory
from driftlab.core.files import write_atomic
from driftlab.core.paths import outputs_dir

MIB = 2**20


def save(measurement: Measurement, measured_at: datetime) -> Path:
    """Write the results as JSON to `outputs/bench/` and return the file.

    Args:
        measurement: The results.
        measured_at: Time of the measurement, which names the file.

    Raises:
        StoreError: The outputs folder cannot be written to.
    """
    content = {
        "measured": measured_at.isoformat(timespec="seconds"),
        **asdict(measurement),
        "summary": {
            "plain_ms_per_epoch": median(measurement.plain) * 1e3,
            "replicated_ms_per_epoch": median(measurement.replicated_rounds) * 1e3,
            "epoch_ratio": median(measurement.ratios),
            "products_gflops": median(measurement.product_rates) / 1e9,
            "product_share": median(measurement.product_shares),
            "twp_over_bare": measurement.twp_over_bare,
            "plain_sweep_seconds": measurement.plain_sweep,
            "replicated_sweep_seconds": measurement.replicated_sweep,
            "sweep_ratio": measurement.plain_sweep / measurement.replicated_sweep,
            "evaluation_ratio": median(measurement.evaluation.ratios) if measurement.evaluation else None,
            "stream_memory_ratio": measurement.stream_memory.ratio if measurement.stream_memory else None,
        },
    }
    file = outputs_dir() / "bench" / f"{measured_at:%Y-%m-%d_%H%M%S}.json"
    write_atomic(file, (json.dumps(content, indent=2) + "\n").encode())
    return file


def tables(measurement: Measurement) -> RenderableType:
    """Tables of the results for the terminal, with notes on how they were measured."""
    parts: list[RenderableType] = [_comparison(measurement), "", *_notes(measurement)]
    if measurement.methods:
        parts += [
            "",
            _methods(measurement),
            "",
            f"{METHOD_EPOCHS} epochs of each task, once; BARE as above. JOINT trains on all tasks so far."
            + (
                f" TWP costs {measurement.twp_over_bare:.1f} times BARE." if measurement.twp_over_bare else ""
            ),
        ]
    if measurement.evaluation:
        parts += ["", _evaluation(measurement.evaluation), "", _evaluation_note(measurement.evaluation)]
    if measurement.stream_memory:
        parts += [
            "",
            _stream_memory(measurement.stream_memory),
            "",
            _stream_memory_note(measurement.stream_memory),
        ]
    return Group(*parts)


def _comparison(measurement: Measurement) -> Table:
    settings, sweep = measurement.settings, measurement.sweep
    table = _table("Continual training at N-UCLA's size", "plain PyG loop", "replicated trainer", "ratio")
    table.add_row(
        "ms per replica-epoch",
        _spread([1e3 * seconds for seconds in measurement.plain]),
        _spread([1e3 * seconds for seconds in measurement.replicated_rounds]),
        f"[bold]{_spread(measurement.ratios)}×[/bold]",
    )
    table.add_row(
        "share of the machine's product rate",
        "",
        f"{median(measurement.product_shares):.0%} of {median(measurement.product_rates) / 1e9:.0f} GFLOP/s",
        "",
    )
    table.add_row(
        f"sweep of {len(workload.ORDERS)} task orders",
        f"{_duration(measurement.plain_sweep)}, extrapolated",
        _duration(measurement.replicated_sweep) + ("" if settings.full else ", extrapolated"),
        f"[bold]{measurement.plain_sweep / measurement.replicated_sweep:.1f}×[/bold]",
    )
    table.add_row(
        "task-trainings in it",
        f"{len(workload.ORDERS) * len(workload.TASKS)}",
        f"{sum(sweep.stages)}, shared beginnings once",
        "",
    )
    table.add_row(
        "computes with",
        f"1 process × {measurement.plain_threads} threads",
        f"{settings.jobs} workers × 1 thread",
        "",
    )
    table.add_row("runs side by side", "1", f"{settings.jobs} × {settings.replicas}", "")
    table.add_row(
        "peak memory, MiB",
        *(f"{measurement.peak_memory[name] / MIB:,.0f}" for name in ("plain", "replicated")),
        "",
    )
    return table


def _notes(measurement: Measurement) -> list[str]:
    settings, sweep, machine = measurement.settings, measurement.sweep, measurement.machine
    timed = settings.rounds * settings.epochs * len(workload.TASKS)
    graphs = fmean(len(workload.training_records(task)) for task in workload.TASKS)
    rounds = (
        f"Median of {settings.rounds} alternating rounds, lowest–highest in brackets."
        if settings.rounds > 1
        else "One round."
    )
    rest = (
        "was run completely."
        if settings.full
        else f"was run with {sweep.measured_epochs} epoch per task, in {sweep.measured_seconds:.1f} s "
        "(start-up; hand-over between tasks, tests and files of all stages), and "
        f"{workload.EPOCHS - sweep.measured_epochs} epochs per stage are added at the measured pace."
    )
    notes = [
        f"One epoch is one full-batch step on a task of two classes ({graphs:.0f} graphs on average, "
        f"{workload.JOINTS} joints of {workload.FRAMES * 3} numbers), two layers of 64 units, float32, on "
        f"the CPU, method BARE. {rounds}",
        "Plain loop: DataLoader, sparse PyG layers, Adam, one run after the other; its sweep is "
        f"extrapolated from {timed} epochs to "
        f"{len(workload.ORDERS)} × {len(workload.TASKS)} × {workload.EPOCHS}, "
        "without start-up, tests or files.",
        f"Replicated trainer: wall-clock time with all workers busy, divided by the epochs of all "
        f"{settings.jobs * settings.replicas} replicas. Its sweep {rest}",
        "The share counts the operations of the matrix products that an epoch needs, against the rate of a "
        "large product that all workers compute at the same time, one thread each, in every round.",
        "Memory is the resident set of the process, or of the driver and all its workers, summed; pages that "
        "processes share (libraries) count in each.",
        f"{machine.cpu}, {machine.cores} cores, {machine.memory / 2**30:.0f} GiB, {machine.system}; "
        f"Python {machine.python}, "
        + ", ".join(f"{name} {version}" for name, version in machine.packages.items())
        + ".",
    ]
    if machine.is_busy:
        notes.append(
            "[yellow]This machine was not quiet: before the benchmark began, others kept "
            f"{machine.busy:.0%} of its cores busy. Times and ratios are not representative.[/yellow]"
        )
    return notes


def _methods(measurement: Measurement) -> Table:
    bare = median(measurement.replicated_rounds)
    table = _table("Replicated trainer, by method", "ms per replica-epoch", "first … last task", "× BARE")
    by_task = {"BARE": measurement.replicated_tasks} | measurement.methods
    for name, tasks in by_task.items():
        table.add_row(
            name,
            f"{fmean(tasks) * 1e3:.2f}",
            f"{tasks[0] * 1e3:.2f} … {tasks[-1] * 1e3:.2f}",
            f"{fmean(tasks) / bare:.1f}",
        )
    return table


def _evaluation(times: EvaluationTimes) -> Table:
    table = _table("Evaluation of a detector", "features computed", "features kept", "ratio")
    table.add_row(
        f"seconds for {times.frames} test frames",
        _spread(times.fresh),
        _spread(times.kept),
        f"[bold]{_spread(times.ratios)}×[/bold]",
    )
    return table


def _evaluation_note(times: EvaluationTimes) -> str:
    return (
        f"Detector {times.detector} on the demo's stream, one thread, up to AP; detections are equal "
        f"to the last bit. The features were computed and written once, in {times.filling:.2f} s, and take "
        f"{times.bytes / MIB:,.0f} MiB on disk; every run of a sweep reads them at each of its evaluations."
    )


def _stream_memory(stream_memory: StreamMemory) -> Table:
    table = _table("Learning a stream", *(f"{steps:,} steps" for steps in stream_memory.steps), "ratio")
    peaks = (f"{peak / MIB:,.0f}" for peak in stream_memory.peaks)
    table.add_row("peak memory, MiB", *peaks, f"[bold]{stream_memory.ratio:.2f}×[/bold]")
    return table


def _stream_memory_note(stream_memory: StreamMemory) -> str:
    return (
        f"{METHOD} with the demo's detector, one iteration per step, {EVALUATIONS} evaluations on all test "
        "frames with kept features. Memory is the resident set of the process that learns."
    )


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _spread(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
