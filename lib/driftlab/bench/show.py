"""What was measured, for people (a table) and for programs (JSON)."""

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


def save(found: Measurement, at: datetime) -> Path:
    """Write the numbers to `outputs/bench/`.

    Args:
        found: The numbers.
        at: When they were measured; names the file.

    Raises:
        StoreError: The outputs folder cannot be written to.
    """
    content = {
        "measured": at.isoformat(timespec="seconds"),
        **asdict(found),
        "summary": {
            "plain_ms_per_epoch": median(found.plain) * 1e3,
            "replicated_ms_per_epoch": median(found.replicated_rounds) * 1e3,
            "epoch_ratio": median(found.ratios),
            "products_gflops": median(found.product_rates) / 1e9,
            "product_share": median(found.product_shares),
            "twp_over_bare": found.twp_over_bare,
            "plain_sweep_seconds": found.plain_sweep,
            "replicated_sweep_seconds": found.replicated_sweep,
            "sweep_ratio": found.plain_sweep / found.replicated_sweep,
            "evaluation_ratio": median(found.evaluation.ratios) if found.evaluation else None,
            "stream_memory_ratio": found.stream_memory.ratio if found.stream_memory else None,
        },
    }
    file = outputs_dir() / "bench" / f"{at:%Y-%m-%d_%H%M%S}.json"
    write_atomic(file, (json.dumps(content, indent=2) + "\n").encode())
    return file


def tables(found: Measurement) -> RenderableType:
    """What was measured, and how, for a person."""
    parts: list[RenderableType] = [_comparison(found), "", *_notes(found)]
    if found.methods:
        parts += [
            "",
            _methods(found),
            "",
            f"{METHOD_EPOCHS} epochs of each task, once; BARE as above. JOINT trains on all tasks so far."
            + (f" TWP costs {found.twp_over_bare:.1f} times BARE." if found.twp_over_bare else ""),
        ]
    if found.evaluation:
        parts += ["", _evaluation(found.evaluation), "", _evaluation_note(found.evaluation)]
    if found.stream_memory:
        parts += ["", _stream_memory(found.stream_memory), "", _stream_memory_note(found.stream_memory)]
    return Group(*parts)


def _comparison(found: Measurement) -> Table:
    settings, swept = found.settings, found.sweep
    table = _table("Continual training at N-UCLA's size", "plain PyG loop", "replicated trainer", "ratio")
    table.add_row(
        "ms per replica-epoch",
        _spread([1e3 * seconds for seconds in found.plain]),
        _spread([1e3 * seconds for seconds in found.replicated_rounds]),
        f"[bold]{_spread(found.ratios)}×[/bold]",
    )
    table.add_row(
        "share of the machine's product rate",
        "",
        f"{median(found.product_shares):.0%} of {median(found.product_rates) / 1e9:.0f} GFLOP/s",
        "",
    )
    table.add_row(
        f"sweep of {len(workload.ORDERS)} task orders",
        f"{_duration(found.plain_sweep)}, extrapolated",
        _duration(found.replicated_sweep) + ("" if settings.full else ", extrapolated"),
        f"[bold]{found.plain_sweep / found.replicated_sweep:.1f}×[/bold]",
    )
    table.add_row(
        "task-trainings in it",
        f"{len(workload.ORDERS) * len(workload.TASKS)}",
        f"{sum(swept.stages)}, shared beginnings once",
        "",
    )
    table.add_row(
        "computes with",
        f"1 process × {found.plain_threads} threads",
        f"{settings.jobs} workers × 1 thread",
        "",
    )
    table.add_row("runs side by side", "1", f"{settings.jobs} × {settings.replicas}", "")
    table.add_row(
        "peak memory, MiB", *(f"{found.peak_memory[name] / MIB:,.0f}" for name in ("plain", "replicated")), ""
    )
    return table


def _notes(found: Measurement) -> list[str]:
    settings, swept, machine = found.settings, found.sweep, found.machine
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
        else f"was run with {swept.measured_epochs} epoch a task, in {swept.measured_seconds:.1f} s "
        "(start-up; hand-over between tasks, tests and files of all stages), and "
        f"{workload.EPOCHS - swept.measured_epochs} epochs per stage are added at the measured pace."
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


def _methods(found: Measurement) -> Table:
    bare = median(found.replicated_rounds)
    table = _table("Replicated trainer, by method", "ms per replica-epoch", "first … last task", "× BARE")
    by_task = {"BARE": found.replicated_tasks} | found.methods
    for name, tasks in by_task.items():
        table.add_row(
            name,
            f"{fmean(tasks) * 1e3:.2f}",
            f"{tasks[0] * 1e3:.2f} … {tasks[-1] * 1e3:.2f}",
            f"{fmean(tasks) / bare:.1f}",
        )
    return table


def _evaluation(found: EvaluationTimes) -> Table:
    table = _table("Evaluation of a detector", "features computed", "features kept", "ratio")
    table.add_row(
        f"seconds for {found.frames} test frames",
        _spread(found.fresh),
        _spread(found.kept),
        f"[bold]{_spread(found.ratios)}×[/bold]",
    )
    return table


def _evaluation_note(found: EvaluationTimes) -> str:
    return (
        f"Detector {found.detector} on the demo's stream, one thread, up to AP; both ways found the same, "
        f"to the last bit. The features were computed and written once, in {found.filling:.2f} s, and take "
        f"{found.bytes / MIB:,.0f} MiB on disk; every run of a sweep reads them at each of its evaluations."
    )


def _stream_memory(found: StreamMemory) -> Table:
    table = _table("Learning a stream", *(f"{steps:,} steps" for steps in found.steps), "ratio")
    peaks = (f"{peak / MIB:,.0f}" for peak in found.peaks)
    table.add_row("peak memory, MiB", *peaks, f"[bold]{found.ratio:.2f}×[/bold]")
    return table


def _stream_memory_note(found: StreamMemory) -> str:
    return (
        f"{METHOD} with the demo's detector, one iteration a step, {EVALUATIONS} evaluations on all test "
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
