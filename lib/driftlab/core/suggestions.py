"""The nearest known name to one that was mistyped, for error messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from driftlab.core.errors import ParameterError

T = TypeVar("T")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """The known name that is most similar to `name`, ignoring case; None if none is similar enough.

    Args:
        name: As typed.
        known: The names that exist.
        cutoff: Least similarity, from 0 (anything) to 1 (equal).
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """The sentence "Did you mean 'epochs'? " with a space behind it, or an empty text."""
    close = nearest(name, known, cutoff)
    return f"Did you mean '{close}'? " if close else ""


def look_up(name: str, known: Mapping[str, T], what: str) -> T:
    """The value of a name.

    Args:
        name: As typed.
        known: Everything that exists, by name.
        what: What the names name, for the message: "dataset", "artifact of 'cgl'".

    Raises:
        ParameterError: The name is unknown; the text suggests the nearest and lists all.
    """
    if name in known:
        return known[name]
    names = ", ".join(known) or "none"
    raise ParameterError(f"There is no {what} '{name}'. {did_you_mean(name, known)}There are: {names}.")
