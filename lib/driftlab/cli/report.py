"""`driftlab report`."""

from __future__ import annotations

from driftlab.cli.console import console_for


def report() -> None:
    """Write outputs/report.html: one page with every table and picture that has been computed so far.

    For example:

        driftlab report
    """
    from driftlab.reporting.report import write_report

    console_for().print(f"{write_report()}", soft_wrap=True, highlight=False)
