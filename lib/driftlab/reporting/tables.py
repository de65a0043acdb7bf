"""Tables as CSV, LaTeX and HTML: best in bold, worst underlined, mean ± deviation."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from driftlab.core.errors import ParameterError
from driftlab.reporting.artifacts import save_artifact
from driftlab.reporting.html import table_page
from driftlab.reporting.latex import latex_table
from driftlab.reporting.sidecars import Artifact, Mark, Provenance, TableContent

Better = Literal["low", "high"]


def save_table(
    frame: pd.DataFrame,
    *,
    paper: str,
    artifact: str,
    title: str,
    caption: str,
    provenance: Provenance,
    part: str = "",
    deviation: pd.DataFrame | None = None,
    better: Mapping[str, Better] | None = None,
    never_worst: Sequence[str] = (),
    units: str = "",
    digits: int = 2,
    outputs: Path | None = None,
) -> Artifact:
    """Save a table of a paper as .csv, .tex and .html, with a sidecar.

    Args:
        frame: Index = row labels, columns = column labels, cells = numbers or texts. Where a table shall be
            compared with the paper's, its labels are the paper's (see `driftlab.reporting.printed_papers`).
        paper: Key of the paper, for example `cgl`.
        artifact: Id of the artifact, for example `table_2`.
        title: One line.
        caption: What is shown and how to read it.
        provenance: Which data and runs made it.
        part: Which part of the artifact, where it is saved in several.
        deviation: Standard deviations in the frame's layout; a missing one is not shown.
        better: For the columns to mark, whether `low` or `high` is better; equal as shown counts as equal.
        never_worst: Rows that are left out when the worst of a column is marked, for example a baseline.
        units: Unit of the numbers, for example "%".
        digits: Decimals shown; integers of an integer column have none. The .csv keeps all digits.
        outputs: Folder to write to; by default the project's.

    Returns:
        What was saved; a notebook shows it as a table.

    Raises:
        ParameterError: The paper has no such artifact, or `better` or `deviation` do not fit the frame.
        StoreError: The outputs folder cannot be written to.
    """
    content = table_content(
        frame,
        deviation=deviation,
        better=better or {},
        never_worst=never_worst,
        units=units,
        digits=digits,
    )
    label = "-".join(("tab:" + paper, artifact, part) if part else ("tab:" + paper, artifact))
    latex = latex_table(content, title=title, caption=caption, provenance=provenance.caption, label=label)
    page = table_page(content, title=title, caption=caption, provenance=provenance.caption)
    return save_artifact(
        kind="table",
        paper=paper,
        artifact=artifact,
        part=part,
        title=title,
        caption=caption,
        alt="",
        provenance=provenance,
        contents={"csv": _csv(content).encode(), "tex": latex.encode(), "html": page.encode()},
        table=content,
        outputs=outputs,
    )


def table_content(
    frame: pd.DataFrame,
    *,
    deviation: pd.DataFrame | None,
    better: Mapping[str, Better],
    never_worst: Sequence[str] = (),
    units: str,
    digits: int,
) -> TableContent:
    """Convert a frame to cells: numbers, shown texts, and marks of best and worst.

    Raises:
        ParameterError: `better` or `deviation` do not fit the frame, or a label stands twice.
    """
    columns, rows = [str(column) for column in frame.columns], [str(row) for row in frame.index]
    if len(set(columns)) < len(columns) or len(set(rows)) < len(rows):
        raise ParameterError("A table needs distinct row labels and distinct column labels.")
    if unknown := sorted(set(better) - set(columns)):
        raise ParameterError(f"`better` names columns that the table does not have: {', '.join(unknown)}.")
    if wrong := sorted(set(better.values()) - {"low", "high"}):
        raise ParameterError(f"`better` says 'low' or 'high', not '{wrong[0]}'.")
    spread = pd.DataFrame(np.nan, index=frame.index, columns=frame.columns)
    if deviation is not None:
        if not (deviation.index.equals(frame.index) and deviation.columns.equals(frame.columns)):
            raise ParameterError("`deviation` has other rows or columns than the table.")
        spread = deviation
    whole = [pd.api.types.is_integer_dtype(frame.iloc[:, place]) for place in range(len(columns))]
    values = [[_value(cell) for cell in row] for row in frame.itertuples(index=False)]
    deviations = [[_number(cell) for cell in row] for row in spread.itertuples(index=False)]
    shown = [
        [
            _show(value, std, 0 if integer else digits)
            for value, std, integer in zip(line, stds, whole, strict=True)
        ]
        for line, stds in zip(values, deviations, strict=True)
    ]
    marks: list[list[Mark]] = [["" for _ in columns] for _ in rows]
    for column, direction in better.items():
        place = columns.index(column)
        ranked = [row not in never_worst for row in rows]
        for row, mark in _marks([line[place] for line in values], direction, digits, ranked).items():
            marks[row][place] = mark
    return TableContent(
        index=str(frame.index.name or ""),
        columns=columns,
        rows=rows,
        values=values,
        deviations=deviations,
        text=shown,
        marks=marks,
        units=units,
    )


def _marks(
    column: list[int | float | str | None], direction: Better, digits: int, ranked: list[bool]
) -> dict[int, Mark]:
    """Best and worst of a column by what is shown; the worst of the ranked rows; none if all are the same."""
    numbers = {
        row: round(float(value), digits) for row, value in enumerate(column) if isinstance(value, int | float)
    }
    if len(set(numbers.values())) < 2:
        return {}
    best_of, worst_of = (min, max) if direction == "low" else (max, min)
    best = best_of(numbers.values())
    others = {row: number for row, number in numbers.items() if ranked[row] and number != best}
    worst = worst_of(others.values(), default=None)
    marks: dict[int, Mark] = {row: "best" for row, number in numbers.items() if number == best}
    return marks | {row: "worst" for row, number in others.items() if number == worst}


def _value(cell: Any) -> int | float | str | None:
    if isinstance(cell, int | np.integer) and not isinstance(cell, bool):
        return int(cell)
    number = _number(cell)
    return str(cell) if number is None and not pd.isna(cell) else number


def _number(cell: Any) -> float | None:
    return float(cell) if isinstance(cell, int | float | np.number) and np.isfinite(cell) else None


def _show(value: int | float | str | None, deviation: float | None, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    spread = "" if deviation is None else f" ± {deviation:.{digits}f}"
    return f"{value:.{digits}f}{spread}"


def _csv(content: TableContent) -> str:
    """Write a table as CSV with all digits; each column with deviations is followed by one of these."""
    spread = [
        any(line[place] is not None for line in content.deviations) for place in range(len(content.columns))
    ]
    header = [content.index]
    for column, has in zip(content.columns, spread, strict=True):
        header += [column, f"{column} std"] if has else [column]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    for row, line, stds in zip(content.rows, content.values, content.deviations, strict=True):
        cells: list[int | float | str | None] = [row]
        for value, std, has in zip(line, stds, spread, strict=True):
            cells += [value, std] if has else [value]
        writer.writerow(["" if cell is None else cell for cell in cells])
    return stream.getvalue()
