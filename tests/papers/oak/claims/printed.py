"""Scores made by hand, and the paper's own numbers as scores without noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from driftlab.papers.oak.scores import Scores, scores
from driftlab.reporting.printed_papers import paper

TABLES = paper("oak").tables
COLUMNS = {"FAP": "fap", "CAP": "cap", "IDK": "value", "Overall": "forgetfulness", "FWT": "fwt", "BWT": "bwt"}


def printed(
    table: str,
    *columns: str,
    changes: Mapping[str, Mapping[str, float]] | None = None,
    noise: float = 0.0,
    repetitions: int = 3,
) -> Scores:
    """Columns of a table of the paper as scores of equal repetitions, whose noise is 0.

    Args:
        table: Id of the table.
        columns: Its columns.
        changes: Other values, by column and method.
        noise: Spread of the repetitions, in points.
        repetitions: How many there are.
    """
    values = {column: dict(of(table, column)) | dict((changes or {}).get(column, {})) for column in columns}
    variant = "oak/small/unknown" if table == "table_2" else "oak/small/known"
    return scores(frame(values, variant, noise, repetitions), [COLUMNS[column] for column in columns])


def of(table: str, column: str) -> dict[str, float]:
    """A column as printed, by method; a dash is left out."""
    found = TABLES[table]
    cells = {method: row[found.columns.index(column)] for method, row in found.rows.items()}
    return {method: float(cell) for method, cell in cells.items() if cell is not None}  # type: ignore[arg-type]


def frame(
    values: Mapping[str, Mapping[str, float]], variant: str, noise: float, repetitions: int
) -> pd.DataFrame:
    """One class per run, with the given percentages as mean of the repetitions."""
    methods = sorted({method for of_column in values.values() for method in of_column})
    rng = np.random.default_rng(len(methods))
    rows = []
    for method in methods:
        spread = rng.normal(0, 1, repetitions)
        spread = noise * (spread - spread.mean())
        rows += [
            {"paper": "oak", "variant": variant, "method": method, "seed": seed, "order": "", "class": "all"}
            | {
                COLUMNS[column]: (of[method] + spread[seed]) / 100
                for column, of in values.items()
                if method in of
            }
            for seed in range(repetitions)
        ]
    return pd.DataFrame(rows)


def by_unit(values: Mapping[str, Sequence[float]], column: str = "cap") -> Scores:
    """One repetition per method with the given percentages by class."""
    rows = [
        {"paper": "oak", "variant": "oak/small/known", "method": method, "seed": 0, "class": f"class {c}"}
        | {column: value / 100}
        for method, of_classes in values.items()
        for c, value in enumerate(of_classes)
    ]
    return scores(pd.DataFrame(rows), [column])


def without(given: Scores, *methods: str) -> Scores:
    """The scores without some methods."""
    samples = {
        column: {name: sample for name, sample in of_column.items() if name not in methods}
        for column, of_column in given.samples.items()
    }
    return Scores(samples, given.unit, given.variant)
