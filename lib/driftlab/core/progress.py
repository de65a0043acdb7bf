"""Progress of a long computation: a bar where somebody watches, otherwise a line every few seconds."""

from __future__ import annotations

import sys
import time
from typing import Any

LINE_EVERY = 5.0
"""Seconds between two lines."""


class Progress:
    """Counts finished stages, files or steps.

    Args:
        total: How many there are.
        name: What stands before the numbers.
        unit: What is counted, in the singular.
        shown: False keeps it silent.
    """

    def __init__(self, total: int, name: str, *, unit: str = "stage", shown: bool = True) -> None:
        self._total, self._name, self._unit = total, name, unit
        self._done = self._computed = 0
        self._began = time.perf_counter()
        self._said = self._began
        self._lines = shown and not is_watched()
        self._bar: Any = None
        if shown and not self._lines:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, desc=name, unit=unit, mininterval=0.5, dynamic_ncols=True)

    def advance(self, *, computed: int = 0, reused: int = 0) -> None:
        """Add finished ones: computed now, or reused from the store."""
        self._done += computed + reused
        self._computed += computed
        if self._bar is not None:
            self._bar.set_postfix_str(self._pace(), refresh=False)
            self._bar.update(computed + reused)
        elif self._lines and (time.perf_counter() - self._said >= LINE_EVERY):
            self._say()

    def close(self) -> None:
        """Leave the last state standing."""
        if self._bar is not None:
            self._bar.close()
        elif self._lines:
            self._say()

    def _pace(self) -> str:
        if not self._computed:
            return "all from the store" if self._done == self._total else ""
        return f"{(time.perf_counter() - self._began) / self._computed:.2f} s/{self._unit}"

    def _say(self) -> None:
        self._said = time.perf_counter()
        took = self._said - self._began
        remaining = (self._total - self._done) * took / self._computed if self._computed else 0.0
        parts = (self._pace(), f"{remaining:.0f} s left" if remaining else "")
        pace = ", ".join(part for part in parts if part)
        count = f"{self._done} of {self._total} {self._unit}s after {took:.0f} s"
        print(f"{self._name}: {count}{f' ({pace})' if pace else ''}", file=sys.stderr, flush=True)


def is_watched() -> bool:
    """Whether somebody sees a bar: on a terminal, or in a notebook that is open in a front end.

    A front end for people lets cells ask questions (`allow_stdin`); papermill, nbclient and nbconvert do not,
    and nobody looks at their kernel until it has finished.
    """
    ipython = sys.modules.get("IPython")
    kernel = getattr(ipython.get_ipython(), "kernel", None) if ipython else None
    if kernel is None:
        return sys.stderr.isatty()
    return bool(kernel.get_parent().get("content", {}).get("allow_stdin", True))
