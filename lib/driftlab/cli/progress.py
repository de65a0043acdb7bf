"""Progress lines while notebooks run, and the table at the end."""

from __future__ import annotations

from rich.console import Console
from rich.live import Live
from rich.text import Text

from driftlab.cli.batch import Batch, Turn
from driftlab.cli.console import can_rewrite, print_rows

EVERY = 10.0
"""Seconds between two progress lines of a notebook where there is no terminal."""

NARROW = 30
"""A console with fewer columns than this beside the notebook's name shows the cell and the time first."""

_STYLES = {"passed": "green", "failed": "red", "timed out": "red", "stopped": "yellow", "not run": "yellow"}


def duration(seconds: float) -> str:
    """Seconds as m:ss, or h:mm:ss."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Progress:
    """One line per notebook: rewritten in place on a terminal, printed every few seconds elsewhere.

    Args:
        console: Where to.
        names: The notebooks, for the width of the first column.
    """

    def __init__(self, console: Console, names: list[str]) -> None:
        self._console = console
        self._width = max(map(len, names))
        self._live = (
            Live(console=console, refresh_per_second=5, transient=True) if can_rewrite(console) else None
        )
        self._printed = 0.0

    def __enter__(self) -> Progress:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, turn: Turn) -> None:
        """Show how far a notebook is, or how it ended."""
        ended = turn.state != "running"
        if ended:
            if self._live:
                self._live.update("", refresh=True)
            self._console.print(self._line(turn), soft_wrap=True)
            self._printed = 0.0
        elif self._live:
            line = self._line(turn)
            line.truncate(self._console.width, overflow="ellipsis")
            self._live.update(line)
        elif turn.seconds - self._printed >= EVERY:
            self._printed = turn.seconds
            self._console.print(self._line(turn), soft_wrap=True)

    def _line(self, turn: Turn) -> Text:
        ended = turn.state != "running"
        where = f"cell {turn.cell}/{turn.of}" if turn.of else "starting"
        says = (turn.state, _STYLES[turn.state]) if ended else (turn.says, "dim")
        if self._console.width < self._width + NARROW:
            return Text.assemble(says if ended else where, f"  {duration(turn.seconds)}  {turn.name}")
        return Text.assemble(f"{turn.name:<{self._width}}  {where:<10}  {duration(turn.seconds):>5}  ", says)


def print_summary(console: Console, batch: Batch) -> None:
    """Print the table that ends a batch: what passed, what failed, where and why."""
    rows = [
        (
            turn.name,
            Text(turn.state, style=_STYLES[turn.state]),
            f"{turn.cell}/{turn.of}" if turn.of else "",
            duration(turn.seconds) if turn.state != "not run" else "",
            _short(turn.error),
        )
        for turn in batch.turns
    ]
    print_rows(console, rows, ("notebook", "result", "cell", "time", "error"))


def _short(message: str, begins: int = 500, ends: int = 200) -> str:
    """A long message's beginning, which says what is wrong, and its end, which often says what to do."""
    if len(message) <= begins + ends:
        return message
    return f"{message[:begins].rstrip()} … {message[-ends:].lstrip()}"
