"""`driftlab data`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from driftlab.cli.console import console_for
from driftlab.cli.plan import absolute
from driftlab.core.errors import MissingDataError
from driftlab.core.paths import data_dir


class _OrShow(TyperGroup):
    """`driftlab data NAME` is `driftlab data show NAME`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command meant by the first argument."""
        known = args[0] in self.commands or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else ["show", *args])


app = typer.Typer(cls=_OrShow, rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """List the official datasets and whether they are there. The demo needs none of them.

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
        console.print(
            f"Datasets are looked for in {data_dir()} ($DRIFTLAB_DATA changes that).", soft_wrap=True
        )


Name = Annotated[str, typer.Argument(metavar="NAME", help="The dataset, as 'driftlab data' lists it.")]


@app.command()
def show(name: Name) -> None:
    """Say of one dataset what it is, where to get it, and the layout expected.

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
    """Read a dataset, every record of it, and compare its counts with the official totals.

    For example:

        driftlab data verify nucla

        driftlab data verify nucla --folder /mnt/nucla

    Exit code: 0 if everything agrees, 1 if something differs, 2 if it is missing or cannot be read.
    """
    from driftlab.data import catalog

    checks = catalog.verify(name, absolute(folder) if folder is not None else None)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(name)
    table.add_column("official", justify="right")
    table.add_column("found", justify="right")
    table.add_column()
    for check in checks:
        state = "[green]ok[/green]" if check.ok else "[red]differs[/red]"
        table.add_row(escape(check.what), escape(check.expected), escape(check.found), state)
    console = console_for()
    console.print(table)
    differing = sum(not check.ok for check in checks)
    if differing:
        console.print(f"\n[red]{differing} of {len(checks)} differ.[/red]")
        raise typer.Exit(1)
    console.print(f"\n[green]All {len(checks)} agree.[/green]")


def _describe(console: Console, name: str) -> None:
    from driftlab.data import catalog

    entry = catalog.dataset(name)
    try:
        state = f"[green]there[/green]: {escape(str(catalog.find(name)))}"
    except MissingDataError:
        state = "[yellow]not there[/yellow]"
    console.print(f"[bold]{name}[/bold]  {escape(entry.title)}", soft_wrap=True, highlight=False)
    for label, text in (
        ("holds", escape(entry.what)),
        ("for", escape(", ".join(entry.papers))),
        ("terms", escape(entry.terms)),
        ("get it", escape(entry.obtain)),
        (
            "put it",
            escape(
                f"into {data_dir() / name}, or anywhere: then -p data_folder DIR, and verify --folder DIR"
            ),
        ),
        ("state", state),
    ):
        console.print(f"  {label:<7} {text}", soft_wrap=True, highlight=False)
    console.print("  layout", highlight=False)
    for line in entry.layout.splitlines():
        console.print(f"          {escape(line)}", soft_wrap=True, highlight=False)
    console.print()
