"""`driftlab doctor`."""

from __future__ import annotations

import itertools

import typer
from rich.markup import escape
from rich.table import Table

from driftlab.cli import checks
from driftlab.cli.console import console_for

_STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor() -> None:
    """Look whether this machine can run the notebooks.

    Python, the packages against the lock, the accelerator, memory, the Jupyter kernel, the outputs folder,
    and which official datasets are there.

    For example:

        driftlab doctor

    Exit code: 1 if something is found that stops notebooks from running, otherwise 0.
    """
    console = console_for()
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    failed = False
    looks = (
        checks.python,
        checks.packages,
        checks.torch,
        checks.detection,
        checks.machine,
        checks.kernel,
        checks.outputs,
        checks.datasets,
    )
    for finding in itertools.chain.from_iterable(look() for look in looks):
        failed |= finding.state == "fail"
        style = _STYLES[finding.state]
        table.add_row(f"[{style}]{finding.state}[/{style}]", finding.what, escape(finding.detail))
    console.print(table)
    raise typer.Exit(1 if failed else 0)
