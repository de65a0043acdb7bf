"""`driftlab report`."""

from __future__ import annotations

from typing import Annotated

import typer

from driftlab.cli.console import console_for, print_literally


def report(
    summary: Annotated[
        bool,
        typer.Option("--summary", help="Only print how many artifacts and claims are in which state."),
    ] = False,
) -> None:
    """Write outputs/report.html: one page with every picture, claim and table that has been computed so far.

    Executed notebooks are converted to HTML beside it, and the page links to them.

    For example:

        driftlab report

        driftlab report --summary
    """
    console = console_for()
    if summary:
        from driftlab.reporting.scoreboard import scoreboard

        console.print(scoreboard().summary_text(console.width), highlight=False, markup=False)
        return
    from driftlab.reporting.report import write_report

    print_literally(console, f"{write_report()}")
