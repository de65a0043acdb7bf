"""Progress of a sweep: a bar in a terminal or a notebook, otherwise a line every few seconds."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

LINE_EVERY = 5.0


class Progress:
    """Counts finished stages and shows them.

    Args:
        total: Number of stages.
        name: Label before the numbers.
        shown: False prints nothing.
    """

    def __init__(self, total: int, name: str, *, shown: bool = True) -> None:
        self._total, self._name = total, name
        self._done = self._computed = 0
        self._began = time.perf_counter()
        self._said = self._began
        self._lines = shown and not _watched()
        self._bar: Any = None
        if shown and not self._lines:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # tqdm's advice to install widgets
                from tqdm.auto import tqdm
            self._bar = tqdm(total=total, desc=name, unit="stage", mininterval=0.5, dynamic_ncols=True)

    def advance(self, *, computed: int = 0, reused: int = 0) -> None:
        """Add finished stages: computed ones, and ones that were in the store."""
        self._done += computed + reused
        self._computed += computed
        if self._bar is not None:
            self._bar.set_postfix_str(self._pace(), refresh=False)
            self._bar.update(computed + reused)
        elif self._lines and (time.perf_counter() - self._said >= LINE_EVERY):
            self._say()

    def close(self) -> None:
        """Print the last line, or close the bar and leave it visible."""
        if self._bar is not None:
            self._bar.close()
        elif self._lines:
            self._say()

    def _pace(self) -> str:
        if not self._computed:
            return "all from the store" if self._done == self._total else ""
        return f"{(time.perf_counter() - self._began) / self._computed:.2f} s/stage"

    def _say(self) -> None:
        self._said = time.perf_counter()
        took = self._said - self._began
        left = (self._total - self._done) * took / self._computed if self._computed else 0.0
        pace = ", ".join(part for part in (self._pace(), f"{left:.0f} s left" if left else "") if part)
        count = f"{self._done} of {self._total} stages after {took:.0f} s"
        print(f"{self._name}: {count}{f' ({pace})' if pace else ''}", file=sys.stderr, flush=True)


def _watched() -> bool:
    # A notebook's kernel has no terminal, but shows a bar.
    return "ipykernel" in sys.modules or sys.stderr.isatty()
