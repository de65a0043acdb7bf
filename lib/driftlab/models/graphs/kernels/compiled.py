"""Compilation of loops over arrays with Numba.

Numba compiles a function at its first call, needs no compiler on the machine, and caches the machine code on
disk for later processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function of NumPy arrays at its first call.

    Sums may be reordered to use vector registers. Compilation fixes the order: equal arguments give equal
    bits, wherever they are in memory.
    """
    options: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except RuntimeError:  # no folder to cache the machine code in
        return cast(F, numba.njit(**options)(function))
