"""`driftlab bench`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from driftlab.cli.console import console_for, print_literally
from driftlab.core.paths import outputs_dir


def bench(
    rounds: Annotated[int, typer.Option(min=1, help="How often both ways are timed, in turn.")] = 3,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of each of the five tasks in a round.")] = 10,
    replicas: Annotated[int, typer.Option(min=1, help="Runs trained side by side in each worker.")] = 8,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Workers. Default: one per core.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Run the replicated sweep completely instead of extrapolating it.")
    ] = False,
    methods: Annotated[
        bool, typer.Option("--methods/--no-methods", help="Whether to time the other methods, too.")
    ] = True,
    evaluation: Annotated[
        bool,
        typer.Option("--evaluation/--no-evaluation", help="Whether to time a detector's evaluation, too."),
    ] = True,
    long_stream: Annotated[
        bool,
        typer.Option(
            "--long-stream",
            help="Also watch the memory of learning the demo's stream, and one ten times as long.",
        ),
    ] = False,
) -> None:
    """Time the two things that make the notebooks fast, each against the plain way, on the CPU.

    The replicated trainer against a plain PyTorch Geometric loop, at N-UCLA's size: milliseconds per epoch of
    a run, the time of the sweep over all 120 task orders, and peak memory. A detector's evaluation with kept
    features against one that computes them. Writes the numbers to outputs/bench/. Takes about two
    minutes. No dataset is needed.

    For example:

        driftlab bench

        driftlab bench --full                      the whole sweep, really run

        driftlab bench --long-stream               does memory grow with the stream?

        driftlab bench --rounds 1 --epochs 2       a quick look
    """
    from driftlab.bench.measure import Settings, measure
    from driftlab.bench.show import save, tables
    from driftlab.runs.workers import usable_cores

    outputs_dir()  # an unwritable folder is noticed now, and not after two minutes
    console, progress = console_for(), console_for(stderr=True)
    settings = Settings(
        rounds, epochs, replicas, jobs or usable_cores(), full, methods, evaluation, long_stream
    )
    measurements = measure(settings, lambda text: print_literally(progress, text))
    console.print()
    console.print(tables(measurements), highlight=False)
    print_literally(console, f"\nNumbers: {save(measurements, datetime.now())}")
