"""Evaluation tables of a stream, written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .tables import table_of

__all__ = ["gap_rows", "stream_rows", "stretch_rows", "table_of"]

RUN: dict[str, Any] = {
    "paper": "oak",
    "variant": "oak/small/known",
    "method": "Incremental",
    "seed": 0,
    "order": "",
}


def stream_rows(
    values: Mapping[int, Mapping[str, float]], *, metric: str = "ap50", **columns: Any
) -> list[dict[str, Any]]:
    """Rows of one run: steps learnt to class to value."""
    return [
        RUN
        | {"metric": metric}
        | columns
        | {"trained_on": steps, "tested_on": name if name == "idk" else f"class:{name}", "value": value}
        for steps, of in values.items()
        for name, value in of.items()
    ]


def gap_rows(values: Mapping[int, Mapping[str, float]], **columns: Any) -> list[dict[str, Any]]:
    """Rows of one run: steps learnt to class to the steps since it was seen."""
    return stream_rows(values, metric="steps_since_seen", **columns)


def stretch_rows(values: Mapping[int, Sequence[float]], **columns: Any) -> list[dict[str, Any]]:
    """Rows of one run: steps learnt to the mean AP on stretches 1, 2, …"""
    return [
        RUN
        | {"metric": "map50"}
        | columns
        | {"trained_on": steps, "tested_on": f"stretch:{j}", "value": value}
        for steps, of in values.items()
        for j, value in enumerate(of, start=1)
    ]
