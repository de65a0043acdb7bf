"""The command line: `driftlab run | params | report | doctor | data | store | bench`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from driftlab import __version__
from driftlab.cli import bench, data, doctor, params, report, run, store
from driftlab.cli.console import accept_any_text, print_error
from driftlab.core.errors import DriftlabError
from driftlab.notebooks.hush import hush

app = typer.Typer(
    name="driftlab",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run.run)
app.command()(params.params)
app.command()(report.report)
app.command()(doctor.doctor)
app.add_typer(data.app, name="data")
app.add_typer(store.app, name="store")
app.command()(bench.bench)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"driftlab {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Four papers on vision under drift, as notebooks that can be rerun.

    First steps:

        driftlab doctor                   check the installation

        driftlab run 00                   the five-minute tour

        driftlab run --scale smoke        every notebook, seconds per notebook

        driftlab params 41                what can be set in a notebook

        driftlab data                     the datasets, and where to get them

        driftlab store                    the results that are kept, and how to remove some

    'driftlab COMMAND --help' says more about a command.
    """
    context.obj = debug


def main() -> None:
    """Run the command line; a user's error is printed as one red paragraph, with exit code 2."""
    accept_any_text()
    hush()
    try:
        app()
    except DriftlabError as error:
        if "--debug" in sys.argv:
            raise
        print_error(error)
        sys.exit(2)
