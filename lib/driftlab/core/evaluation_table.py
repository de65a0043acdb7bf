"""The evaluation table: contract 2.

Every experiment yields the same tidy rows, and every metric is a pure function of them.

| column | meaning |
|---|---|
| paper | `cgl`, `oak`, `csegg`, `flpsg` |
| variant | data and model variant, e.g. `nucla/gcn` |
| method | the method's name as the paper prints it |
| seed | the repetition |
| order | the order of learning, e.g. `0-1-2-3` (class ids), or an empty string |
| trained_on | how many tasks (steps, rounds) have been learnt when the row was measured, from 1 |
| tested_on | what was tested, e.g. `class:3` |
| metric | e.g. `test_accuracy` |
| k | the K of a ranking metric, or missing |
| value | the measurement |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import carries_lineage

COLUMNS: dict[str, str] = {
    "paper": "str",
    "variant": "str",
    "method": "str",
    "seed": "int64",
    "order": "str",
    "trained_on": "int64",
    "tested_on": "str",
    "metric": "str",
    "k": "Int64",
    "value": "float64",
}


def evaluation_table(rows: Iterable[Mapping[str, Any]] | pd.DataFrame) -> pd.DataFrame:
    """Rows with the table's columns (any order, `k` may be absent), as a typed and sorted frame.

    Raises:
        DataError: A row lacks a column or has one that the table does not know.
    """
    frame = rows.copy() if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    if frame.empty:
        frame = pd.DataFrame(columns=list(COLUMNS))
    if "k" not in frame:
        frame["k"] = pd.NA
    found = [str(column) for column in frame.columns]
    missing = [column for column in COLUMNS if column not in found]
    extra = [column for column in found if column not in COLUMNS]
    if missing or extra:
        raise DataError(
            f"An evaluation table has the columns {list(COLUMNS)}; missing here: {missing}, unknown: {extra}."
        )
    frame = frame[list(COLUMNS)].astype(COLUMNS)
    keys = [column for column in COLUMNS if column != "value"]
    return frame.sort_values(keys, kind="stable", ignore_index=True)


@carries_lineage
def joined(*frames: pd.DataFrame) -> pd.DataFrame:
    """Frames below one another, each row once, with the lineage of all (`pandas.concat` would lose it)."""
    return pd.concat(frames, ignore_index=True).drop_duplicates(ignore_index=True)


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Keep an evaluation table as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = frame.copy()
    plain.attrs = {}  # pandas would write them as JSON
    plain.to_parquet(path, index=False, compression="zstd")


def read_table(path: Path) -> pd.DataFrame:
    """An evaluation table from Parquet.

    Raises:
        DataError: The file is absent or is not an evaluation table.
    """
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise DataError(f"This is not a readable evaluation table ({error}).", file=path) from error
    return evaluation_table(frame)


def one_variant(frame: pd.DataFrame, what: str) -> pd.DataFrame:
    """The frame, if its runs are of one variant: a result never mixes data, models or vocabularies.

    Args:
        frame: With the column `variant`.
        what: "table", "figure" or "claim", for the message.

    Raises:
        ParameterError: They are of none or of several.
    """
    names = sorted(frame["variant"].unique())
    if len(names) != 1:
        raise ParameterError(
            f"A {what} is about one variant; these runs are of: {', '.join(names) or 'none'}."
        )
    return frame
