"""Evaluation tables written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from driftlab.core.evaluation_table import evaluation_table


def run_rows(order: str, stages: Sequence[Mapping[int, float]], **columns: Any) -> list[dict[str, Any]]:
    """The rows of one run: `stages[k-1]` maps each class tested after k tasks to its accuracy."""
    run: dict[str, Any] = {
        "paper": "cgl",
        "variant": "nucla/gcn",
        "method": "BARE",
        "seed": 0,
        "metric": "test_accuracy",
    }
    run |= columns | {"order": order}
    return [
        run | {"trained_on": k, "tested_on": f"class:{label}", "value": value}
        for k, stage in enumerate(stages, start=1)
        for label, value in stage.items()
    ]


def table_of(*runs: list[dict[str, Any]]) -> pd.DataFrame:
    return evaluation_table([row for run in runs for row in run])


def matrix_rows(order: str, matrix: Sequence[Sequence[float]], **columns: Any) -> list[dict[str, Any]]:
    """The rows of one run from a_{k,j}: both classes of task j get that accuracy."""
    classes = [int(part) for part in order.split("-")]
    stages = [
        {classes[2 * j + half]: row[j] for j in range(k) for half in (0, 1)}
        for k, row in enumerate(matrix, start=1)
    ]
    return run_rows(order, stages, **columns)
