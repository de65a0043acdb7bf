"""`driftlab params`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from driftlab.cli.console import console_for, print_literally
from driftlab.notebooks.cell import literal, write_cell
from driftlab.notebooks.declared import Declared, declaration
from driftlab.notebooks.files import find_path, read
from driftlab.notebooks.parameters import GROUPS, limit_of, meaning_of, type_words
from driftlab.notebooks.values import SCALES, Scale, scale_file, scale_values


def params(
    notebook: Annotated[
        str, typer.Argument(metavar="NOTEBOOK", help="Number (41), name, or path of an .ipynb file.")
    ],
    cell: Annotated[
        bool,
        typer.Option("--cell", help="Print the notebook's parameters cell, to restore one that was damaged."),
    ] = False,
) -> None:
    """List a notebook's parameters: what they mean, what they can be, and their values at each scale.

    A parameter is set with 'driftlab run 41 -p NAME VALUE', or in the notebook itself.

    For example:

        driftlab params 41
    """
    path = find_path(notebook)
    declared = declaration(path.stem) or read(path).declared
    console = console_for()
    if cell:
        print_literally(console, write_cell(declared.model))
        return
    _print_parameters(console, declared)
    if "hyper" in declared.model.model_fields or "grid" in declared.model.model_fields:
        _print_hyper_parameters(console)


def _print_parameters(console: Console, declared: Declared) -> None:
    scales = [scale for scale in SCALES if scale == "demo" or scale_file(declared, scale).is_file()]
    values = {scale: scale_values(declared, scale) for scale in scales}
    console.print(f"[bold]{declared.name}[/bold]", highlight=False)
    for group, names in declared.model.grouped().items():
        if names:
            console.print(f"\n[bold]{group}[/bold]: {GROUPS[group]}", soft_wrap=True, highlight=False)
        for name in names:
            field = declared.model.model_fields[name]
            limit = limit_of(field)
            console.print(
                f"  [bold]{name}[/bold]  {escape(meaning_of(field).text)}", soft_wrap=True, highlight=False
            )
            words = "" if limit and limit.says_type else type_words(field.annotation)
            words = "; ".join(part for part in (words, limit.words if limit else "") if part)
            console.print(f"      {escape(words)}", soft_wrap=True, highlight=False)
            console.print(f"      {escape(_at_scales(name, values))}", soft_wrap=True, highlight=False)


def _at_scales(name: str, values: Mapping[Scale, dict[str, Any]]) -> str:
    """The values of the scales, "smoke 4, demo 50, paper 100"; one value where all scales agree."""
    texts = {scale: literal(of_scale[name]) for scale, of_scale in values.items()}
    if len(set(texts.values())) == 1:
        return f"at every scale: {next(iter(texts.values()))}"
    separator = "\n      " if max(map(len, texts.values())) > 40 else "   "
    return separator.join(f"{scale}: {text}" for scale, text in texts.items())


def _print_hyper_parameters(console: Console) -> None:
    from driftlab.methods import METHODS

    console.print("\n[bold]hyper-parameters[/bold] of the methods, and their defaults", highlight=False)
    for name in METHODS:
        for key, one in METHODS[name].hyper_parameters.items():
            text = f"  {name} {key} = {literal(one.default)}  {one.meaning}; {one.limit.words}"
            console.print(escape(text), soft_wrap=True, highlight=False)
