"""Loops over arrays as machine code.

Numba translates a function when it is first called, without a compiler on the machine, and keeps the result
on disk for the next process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function of NumPy arrays at its first call.

    Sums may be reordered so that they use vector registers. The order is fixed by the compilation: equal
    arguments give equal bits, wherever in memory they lie.
    """
    options: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except RuntimeError:  # there is no folder to keep the machine code in
        return cast(F, numba.njit(**options)(function))
