"""Consoles that print for people, and the one paragraph that an error becomes."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from driftlab.core.errors import DriftlabError

HEADLESS_WIDTH = 140
"""Columns where there is no terminal to fit into."""


def console_for(*, stderr: bool = False) -> Console:
    """A console on standard output, or on standard error."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=HEADLESS_WIDTH)


def print_error(error: DriftlabError) -> None:
    """Print an error's text in red, without a traceback."""
    console_for(stderr=True).print(Text(f"{error}", style="red"), soft_wrap=True)
