"""Which runs a result was computed from: frames, figures and verdicts carry it, so nobody passes it by hand.

A sweep stamps its evaluation table (`stamp`). A function that is decorated with `carries_lineage` gives its
result the union of what its arguments carry. A session reads it off when it saves a table, figure or verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from hashlib import sha256
from typing import Any, NamedTuple, ParamSpec, TypeVar

import pandas as pd

P = ParamSpec("P")
R = TypeVar("R")

KEY = "driftlab_lineage"
RUN = ["paper", "variant", "method", "seed", "order"]


class Lineage(NamedTuple):
    """The runs behind a result; plain values, which pandas can write into a Parquet file with a frame.

    Attributes:
        runs: One digest per run, over its identity and all its measurements; ascending.
        made_by: What computed them: experiment, version, numerics ("cgl version 3 on cpu"); in order.
    """

    runs: tuple[int, ...] = ()
    made_by: tuple[str, ...] = ()

    def __or__(self, other: Lineage) -> Lineage:
        """The runs behind a result that was computed from both."""
        return Lineage(
            tuple(sorted({*self.runs, *other.runs})), tuple(sorted({*self.made_by, *other.made_by}))
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Lineage:
        """Itself: pandas copies a frame's attributes at every operation."""
        return self

    @property
    def digest(self) -> str:
        """SHA-256 over the runs' digests, hexadecimal; empty without runs."""
        return sha256(repr(list(self.runs)).encode()).hexdigest() if self.runs else ""


NOTHING = Lineage()


def stamp(table: pd.DataFrame, made_by: str) -> pd.DataFrame:
    """The evaluation table with its runs as lineage.

    Args:
        table: From `driftlab.core.evaluation_table.evaluation_table`.
        made_by: See `Lineage`.
    """
    # Twelve digits, so that two platforms which print the same numbers name the same runs.
    rounded = table.assign(
        value=table["value"].map(lambda value: f"{value:.12g}"), k=table["k"].astype("str")
    )
    rows = pd.util.hash_pandas_object(rounded, index=False)
    runs = rows.groupby([table[column] for column in RUN], observed=True).sum()
    stamped = table.copy()
    stamped.attrs[KEY] = Lineage(tuple(sorted({int(value) for value in runs})), (made_by,))
    return stamped


def lineage(*results: object) -> Lineage:
    """The union of what results carry; containers are looked into."""
    found = NOTHING
    for result in results:
        found |= _of(result)
    return found


def carry(result: R, source: Lineage) -> R:
    """The result with a lineage; its parts too where it is a container."""
    if isinstance(result, pd.DataFrame | pd.Series):
        result.attrs[KEY] = source
    elif isinstance(result, Mapping):
        for part in result.values():
            carry(part, source)
    elif isinstance(result, list | tuple):
        for part in result:
            carry(part, source)
    elif hasattr(result, "__dict__"):
        object.__setattr__(result, "_lineage", source)
    return result


def carries_lineage(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of frames: its result carries the lineage of its arguments."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        return carry(function(*args, **kwargs), lineage(*args, *kwargs.values()))

    return inside


def _of(result: object) -> Lineage:
    if isinstance(result, pd.DataFrame | pd.Series):
        found = result.attrs.get(KEY, NOTHING)
        if isinstance(found, list):  # as a Parquet file gives it back
            runs, made_by = found
            found = Lineage(tuple(runs), tuple(made_by))
    elif isinstance(result, Mapping):
        found = lineage(*result.values())
    elif isinstance(result, Iterable) and isinstance(result, list | tuple | set | frozenset):
        found = lineage(*result)
    else:
        found = getattr(result, "_lineage", NOTHING)
    return found if isinstance(found, Lineage) else NOTHING
