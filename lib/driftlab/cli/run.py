"""`driftlab run`."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import click
import typer
from rich.console import Console
from rich.text import Text

from driftlab.cli.batch import run_batch
from driftlab.cli.console import console_for, print_literally
from driftlab.cli.estimates import estimate_of
from driftlab.cli.plan import Plan, absolute, make_plans, require_ready
from driftlab.cli.progress import Progress, print_summary
from driftlab.cli.selectors import expand
from driftlab.core.paths import outputs_dir, outputs_path
from driftlab.notebooks.values import scale_values

MINUTES: dict[str, float] = {"smoke": 10, "demo": 60}
"""Wall-clock limit of a notebook where none is given. The paper scale has none."""


class ScaleName(StrEnum):
    """The scales."""

    smoke = "smoke"
    demo = "demo"
    paper = "paper"


class EngineName(StrEnum):
    """The engines."""

    local = "local"
    ray = "ray"


def run(
    notebooks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NOTEBOOK]...",
            help="Numbers (41), names (cgl_task_order, or an unambiguous beginning), paths of files, papers "
            "(cgl), or finished: the papers that are finished at this scale. None: every notebook.",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        ScaleName,
        typer.Option(
            help="smoke: seconds, to see that everything works. demo: minutes, on synthetic data, the values "
            "that stand in the notebooks. paper: the papers' settings on their official data."
        ),
    ] = ScaleName.demo,
    engine: Annotated[
        EngineName | None,
        typer.Option(help="Where sweeps run: processes of this machine, or a Ray cluster ($RAY_ADDRESS)."),
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes of a sweep.")] = None,
    parameters: Annotated[
        list[Any] | None,
        typer.Option(
            "-p",
            click_type=click.Tuple([str, str]),
            metavar="NAME VALUE",
            help="Set a notebook's parameter (driftlab params lists them); the value is YAML. Repeatable.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show parameters, datasets, checkpoints, outputs and about what it costs; execute nothing.",
        ),
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going/--fail-fast", help="Whether to go on after a notebook that failed.")
    ] = True,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="MIN",
            min=0.01,
            help="Kill a notebook, with everything it started, after so many minutes. "
            "Default: 10 at smoke, 60 at demo scale, no limit at paper scale.",
            show_default=False,
        ),
    ] = None,
    outputs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where results go. Default: $DRIFTLAB_OUTPUTS, or outputs/.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Execute notebooks one after the other, and report which passed.

    Everything is checked before the first one starts: parameter names and values, the kernel, the datasets.
    Results that an earlier run has computed are not computed again.

    For example:

        driftlab run                              every notebook, demo scale

        driftlab run cgl                          one paper

        driftlab run 41 --scale smoke             one notebook, in seconds

        driftlab run 41 42 -p seeds "[0, 1]"      two, with another parameter

        driftlab run 41 --scale paper --dry-run   what would happen?

    Exit code: 0 if all passed, 1 if one failed, 2 if nothing could start, 128 + signal if it was stopped.
    """
    if outputs is not None:
        os.environ["DRIFTLAB_OUTPUTS"] = str(absolute(outputs))
    folder = outputs_path()
    options = {name: value for name, value in (("engine", engine and engine.value), ("jobs", jobs)) if value}
    plans = make_plans(expand(notebooks or [], scale.value), scale.value, options, parameters or [], folder)
    console = console_for()
    if dry_run:
        _print_plans(console, plans, scale.value)
        missing = any(need.problem for plan in plans for need in plan.needs)
        raise typer.Exit(2 if missing else 0)
    outputs_dir()  # an unwritable folder is noticed now
    require_ready(plans)
    minutes = timeout if timeout is not None else MINUTES.get(scale.value)
    with Progress(console, [plan.notebook.name for plan in plans]) as progress:
        batch = run_batch(
            plans,
            timeout=minutes * 60 if minutes is not None else None,
            keep_going=keep_going,
            environment=dict(os.environ),
            show=progress.show,
        )
    console.print()
    print_summary(console, batch)
    folders = dict.fromkeys(str(plan.output.parent) for plan in plans)  # a change can be none to some of them
    print_literally(console, f"\nExecuted notebooks: {', '.join(folders)}")
    for plan, turn in zip(plans, batch.turns, strict=True):
        if turn.unfinished:
            earlier = (
                f" (an earlier one that passed stays: {plan.output.name})" if plan.output.exists() else ""
            )
            print_literally(console, f"Unfinished:         {turn.unfinished}{earlier}")
    print_literally(console, f"Everything else:    {folder}")
    if batch.stopped_by:
        raise typer.Exit(128 + batch.stopped_by)
    raise typer.Exit(0 if batch.passed else 1)


def _print_plans(console: Console, plans: list[Plan], scale: str) -> None:
    for plan in plans:
        print_literally(console, plan.notebook.name, style="bold")
        expected = scale_values(plan.notebook.declared, str(plan.values.get("scale", scale)))
        for names in plan.notebook.declared.model.grouped().values():
            for name in names:
                value = plan.values[name]
                mark = f"  (changed; {scale}: {expected[name]!r})" if value != expected[name] else ""
                print_literally(console, f"  {name} = {value!r}{mark}")
        for need in plan.needs:
            state = ("missing", "red") if need.problem else ("there", "green")
            problem = f": {need.problem}" if need.problem else ""
            console.print(Text.assemble(f"  {need.what}: ", state, problem), soft_wrap=True)
        estimate = estimate_of(plan.notebook.name, plan.values)
        if estimate is not None:
            print_literally(console, f"  costs {estimate}")
        print_literally(console, f"  → {plan.output}\n")
