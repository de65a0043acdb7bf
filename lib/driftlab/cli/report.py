"""`driftlab report`."""

from __future__ import annotations

from driftlab.cli.console import console_for, print_literally


def report() -> None:
    """Write outputs/report.html: one page with every table and picture that has been computed so far.

    For example:

        driftlab report
    """
    from driftlab.reporting.report import write_report

    print_literally(console_for(), f"{write_report()}")
