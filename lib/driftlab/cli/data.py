"""`driftlab data`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click
import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from driftlab.cli.console import console_for, print_literally, print_rows
from driftlab.cli.plan import absolute
from driftlab.core.errors import MissingDataError
from driftlab.core.paths import data_dir


class _OrShow(TyperGroup):
    """`driftlab data NAME` is `driftlab data show NAME`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names."""
        known = args[0] in self.commands or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else ["show", *args])


app = typer.Typer(cls=_OrShow, rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """List the official datasets, and whether each is present. The demo needs none of them.

    For example:

        driftlab data                 all datasets

        driftlab data nucla           one of them: where to get it, where to put it

        driftlab data verify nucla    count what is there against the official totals
    """
    if context.invoked_subcommand is None:
        from driftlab.data.catalog import DATASETS

        console = console_for()
        for name in DATASETS:
            _describe(console, name)
        print_literally(console, f"Datasets are looked for in {data_dir()} ($DRIFTLAB_DATA changes that).")


Name = Annotated[str, typer.Argument(metavar="NAME", help="The dataset, as 'driftlab data' lists it.")]


@app.command()
def show(name: Name) -> None:
    """Describe one dataset: what it holds, where to get it, and the expected layout.

    For example:

        driftlab data nucla
    """
    _describe(console_for(), name)


@app.command()
def verify(
    name: Name,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where it lies. Default: its place in the data folder.", show_default=False
        ),
    ] = None,
) -> None:
    """Read every record of a dataset, and compare its counts with the official totals.

    For example:

        driftlab data verify nucla

        driftlab data verify nucla --folder /mnt/nucla

    Exit code: 0 if everything agrees, 1 if something differs, 2 if it is missing or cannot be read.
    """
    from driftlab.data import catalog

    checks = catalog.verify(name, absolute(folder) if folder is not None else None)
    states = {True: Text("ok", style="green"), False: Text("differs", style="red")}
    rows = [(check.what, check.expected, check.found, states[check.ok]) for check in checks]
    console = console_for()
    print_rows(console, rows, (name, "official", "found", ""))
    differing = sum(not check.ok for check in checks)
    if differing:
        print_literally(console, f"\n{differing} of {len(checks)} differ.", style="red")
        raise typer.Exit(1)
    print_literally(console, f"\nAll {len(checks)} agree.", style="green")


def _describe(console: Console, name: str) -> None:
    from driftlab.data import catalog

    entry = catalog.dataset(name)
    try:
        state = Text.assemble(("there", "green"), f": {catalog.find(name)}")
    except MissingDataError:
        state = Text("not there", style="yellow")
    console.print(Text.assemble((name, "bold"), f"  {entry.title}"), soft_wrap=True)
    place = f"into {data_dir() / name}, or anywhere: then -p data_folder DIR, and verify --folder DIR"
    for label, text in (
        ("holds", entry.what),
        ("for", ", ".join(entry.papers)),
        ("terms", entry.terms),
        ("get it", entry.obtain),
        ("put it", place),
        ("state", state),
        ("layout", ""),
    ):
        console.print(Text.assemble(f"  {label:<7} ", text), soft_wrap=True)
    for line in entry.layout.splitlines():
        print_literally(console, f"          {line}")
    console.print()
