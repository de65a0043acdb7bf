"""`driftlab doctor`."""

from __future__ import annotations

import typer
from rich.text import Text

from driftlab.cli import checks
from driftlab.cli.console import console_for, print_rows

_STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor() -> None:
    """Check whether this machine can run the notebooks.

    Python, the packages against the lock, the accelerator, memory, the Jupyter kernel, the outputs folder,
    and which official datasets are there.

    For example:

        driftlab doctor

    Exit code: 1 if something is found that stops notebooks from running, otherwise 0.
    """
    findings = checks.all_findings()
    rows = [
        (Text(finding.state, style=_STYLES[finding.state]), finding.what, finding.detail)
        for finding in findings
    ]
    print_rows(console_for(), rows)
    raise typer.Exit(1 if any(finding.state == "fail" for finding in findings) else 0)
