"""`driftlab store`."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from driftlab.cli.console import console_for, print_literally
from driftlab.core.errors import ParameterError, StoreError
from driftlab.core.paths import outputs_path
from driftlab.core.suggestions import did_you_mean
from driftlab.runs.states import VARIABLE, shared_states_limit
from driftlab.runs.store_contents import (
    KINDS,
    Kind,
    StoreContents,
    remove,
    size_of,
    store_contents,
    undisturbed,
)

WORDS = {
    "states": "states, which later sweeps would continue from",
    "old": "results of old versions, with their states",
    "leftovers": "remains of killed processes and unreadable results",
    "features": "features of frames that are kept for evaluations",
}

app = typer.Typer(rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def show(context: typer.Context) -> None:
    """Show what the run store holds: results, states, bytes and age per experiment and version.

    For example:

        driftlab store                    what is there

        driftlab store prune --dry-run    what could be removed
    """
    if context.invoked_subcommand is not None:
        return
    console, runs = console_for(), outputs_path() / "runs"
    contents = store_contents(runs)
    if contents.versions:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name in ("experiment", "version", "computed on"):
            table.add_column(name)
        for name in ("results", "states", "size", "latest"):
            table.add_column(name, justify="right")
        for stored in contents.versions:
            table.add_row(
                stored.experiment,
                str(stored.version),
                stored.numerics or "cpu",
                f"{len(stored.results):,}",
                f"{len(stored.states):,}",
                size_text(stored.bytes),
                _age(stored.newest),
            )
        console.print(table)
        console.print()
    else:
        console.print("No results yet.")
    uses = {use: _states_of(contents, use, runs) for use in ("shared", "kept")}
    for use, why in (
        ("shared", f"for later sweeps, up to {size_text(shared_states_limit())} (${VARIABLE})"),
        ("kept", "because a notebook shows them"),
    ):
        if uses[use]:
            text = f"{len(uses[use]):,} states ({size_text(size_of(uses[use]))}) stay {why}."
            print_literally(console, text)
    if contents.leftovers:
        text = f"{len(contents.leftovers):,} leftovers ({size_text(size_of(contents.leftovers))})."
        console.print(text, highlight=False)
    features = _files(outputs_path() / "features")
    if features:
        console.print(f"Features of frames: {size_text(size_of(features))}.", highlight=False)
    print_literally(console, f"Store: {runs}")


@app.command()
def prune(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[states|old|leftovers|features]...",
            help="What to remove. Default: states, old and leftovers.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be removed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove from the run store what costs space and can be computed again.

    Results of the newest version of each experiment always stay. What is removed:

        states      what later or interrupted sweeps would continue from; they compute it again

        old         results of versions that the store has a newer one of, with their states

        leftovers   remains of killed processes, results that cannot be read

        features    features of frames that evaluations share; only if it is named

    Exit code: 0 if it was removed (or would be), 1 if the answer was no, 2 if a sweep is at work.
    """
    wanted = tuple(what or KINDS)
    for name in wanted:
        if name not in WORDS:
            raise ParameterError(
                f"There is no '{name}' to prune. {did_you_mean(name, WORDS)}It can be {', '.join(WORDS)}."
            )
    console, runs, features = console_for(), outputs_path() / "runs", outputs_path() / "features"
    contents = store_contents(runs)
    kinds: list[Kind] = [kind for kind in KINDS if kind in wanted]
    groups: dict[str, list[Path]] = {str(kind): files for kind, files in contents.removable(kinds).items()}
    if "features" in wanted:
        groups["features"] = _files(features)
    for name, files in groups.items():
        text = f"{len(files):,} files, {size_text(size_of(files))}: {WORDS[name]}"
        print_literally(console, text)
    if not any(groups.values()):
        console.print("There is nothing to remove.")
        return
    if dry_run:
        console.print("Nothing was removed (--dry-run).")
        return
    if not yes and not typer.confirm("Remove them?"):
        console.print("Nothing was removed.")
        raise typer.Exit(1)
    with undisturbed(runs):
        remove(contents, [path for kind in kinds for path in groups[kind]])
        if groups.get("features"):
            try:
                shutil.rmtree(features)
            except OSError as error:
                raise StoreError(f"{features} cannot be removed ({error.strerror}).") from error
    print_literally(console, f"Removed from {outputs_path()}.")


def size_text(count: int) -> str:
    """Bytes for a reader: "1.2 GiB"."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _states_of(contents: StoreContents, use: str, runs: Path) -> list[Path]:
    marked = {mark.name for mark in contents.marks if mark.parent.parent == runs / ".states" / use}
    return [state for stored in contents.versions for state in stored.states if state.stem in marked]


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _age(moment: datetime) -> str:
    minutes = (datetime.now(UTC) - moment).total_seconds() / 60
    for unit, length in (("day", 24 * 60), ("hour", 60), ("minute", 1)):
        if minutes >= length:
            count = int(minutes // length)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
