"""Printing for people: consoles, literal lines, tables that fit, and the one paragraph of an error."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from driftlab.core.errors import DriftlabError

HEADLESS_WIDTH = 140
"""Columns where there is no terminal to fit into."""
DETAIL_WIDTH = 24
"""Columns that the last column of a table needs."""
_ASCII = {"…": "...", "→": "->", "×": "x", "└": "`", **dict.fromkeys("–—−─", "-"), **dict.fromkeys("├│", "|")}


def console_for(*, stderr: bool = False) -> Console:
    """A console on standard output, or on standard error."""
    console = Console(stderr=stderr)
    return console if _is_terminal(console) else Console(stderr=stderr, width=HEADLESS_WIDTH)


def can_rewrite(console: Console) -> bool:
    """Whether a line can be rewritten in place: never in a file, whatever FORCE_COLOR says."""
    return _is_terminal(console) and console.is_interactive and not console.is_dumb_terminal


def _is_terminal(console: Console) -> bool:
    return console.file.isatty()


def accept_any_text() -> None:
    """Let every text be printed: what an encoding such as ISO-8859-1 lacks is spelled out in ASCII."""
    codecs.register_error("driftlab", _spell_out)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="driftlab")


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    escaped = [
        _ASCII.get(character) or character.encode("ascii", "backslashreplace").decode() for character in text
    ]
    return "".join(escaped), error.end


def print_literally(console: Console, text: str, style: str = "") -> None:
    """Print a text as it is, without markup, emoji codes or line breaks of our own: paths can be copied."""
    console.print(Text(text, style=style), soft_wrap=True)


def print_rows(console: Console, rows: Iterable[Sequence[Text | str]], header: Sequence[str] = ()) -> None:
    """Print rows as a table, or each as a paragraph where the console is too narrow for its columns.

    Args:
        console: Where to.
        rows: Cells; those that are strings are printed literally. The last column is folded.
        header: Names of the columns.
    """
    cells = [[Text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    columns = len(cells[0]) if cells else len(header)
    names = list(header) or [""] * columns
    longest = max((row[-1].cell_len for row in cells), default=0)
    table = Table(box=None, pad_edge=False, show_header=bool(header), padding=(0, 2, 0, 0))
    for name in names[:-1]:
        table.add_column(name, no_wrap=True)
    table.add_column(names[-1], overflow="fold", min_width=min(DETAIL_WIDTH, longest))
    for row in cells:
        table.add_row(*row)
    if Measurement.get(console, console.options.update(max_width=10_000), table).minimum <= console.width:
        console.print(table)
        return
    prefixes = ["", *(f"{name} " if name else "" for name in names[1:])]
    for row in cells:
        parts = [Text(prefix) + cell for prefix, cell in zip(prefixes, row, strict=True) if cell]
        console.print(Text("  ").join(parts), soft_wrap=True)


def print_error(error: DriftlabError) -> None:
    """Print an error's text in red, without a traceback."""
    print_literally(console_for(stderr=True), f"{error}", style="red")
