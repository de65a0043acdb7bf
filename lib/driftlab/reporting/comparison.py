"""A table's cells beside the paper's, for results on official data only (contract 5)."""

from __future__ import annotations

from dataclasses import dataclass

from driftlab.reporting.printed_papers import PaperTable
from driftlab.reporting.sidecars import Artifact


@dataclass(frozen=True)
class ComparedCell:
    """A cell beside the paper's.

    Attributes:
        row: Row label.
        column: Column label.
        ours: As shown.
        paper: As printed.
        difference: Ours minus the paper's, for two numbers; for two texts "same" or "differs".
    """

    row: str
    column: str
    ours: str
    paper: str
    difference: str


def comparison(artifact: Artifact, printed: PaperTable | None) -> list[ComparedCell]:
    """Compare a table with the paper's, cell by cell, where rows and columns bear the paper's labels.

    Args:
        artifact: A saved table. One that was not computed from official data is not compared.
        printed: The paper's table; None where the paper prints none.
    """
    table = artifact.table
    if artifact.provenance.source.kind != "official" or table is None or printed is None:
        return []
    rows = {_folded(row): cells for row, cells in printed.rows.items()}
    columns = {_folded(column): place for place, column in enumerate(printed.columns)}
    compared = []
    for line, row in enumerate(table.rows):
        for place, column in enumerate(table.columns):
            ours = table.values[line][place]
            if _folded(row) not in rows or _folded(column) not in columns or ours is None:
                continue
            theirs = rows[_folded(row)][columns[_folded(column)]]
            if theirs is None:
                continue
            number = theirs[0] if isinstance(theirs, tuple) else theirs
            if isinstance(ours, str) or isinstance(number, str):
                difference = "same" if str(ours) == printed.text(theirs) else "differs"
            else:
                difference = f"{ours - number:+.2f}"
            compared.append(
                ComparedCell(row, column, table.text[line][place], printed.text(theirs), difference)
            )
    return compared


def _folded(label: str) -> str:
    """A label without differences of case and white space."""
    return " ".join(label.casefold().split())
