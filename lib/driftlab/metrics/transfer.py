"""Forward and backward transfer between stretches of a stream.

Wang et al., Wanderlust, ICCV 2021, section 4.1, equations 3 and 4, after Lopez-Paz and Ranzato (2017): the
stream is divided into T stretches (the paper's scenarios), and R_{i,j} is the mean AP on the test frames of
stretch j after learning stretch i. The first functions take arrays and read like the formulas; those below
check an evaluation table and call them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.errors import DataError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN
from driftlab.metrics.stream_precision import one_value_a_cell, require_fractions, run_name

Floats = NDArray[np.float64]

PREFIX = "stretch:"


def forward_gains(r: Floats, b: Floats) -> Floats:
    """R_{i−1,i} − b_i for i = 2 … T: the gain over the pretrained detector on the stretch that comes next.

    Args:
        r: (T, T) mean AP after learning stretch i (row) on stretch j (column).
        b: (T,) mean AP of the pretrained detector on each stretch.
    """
    return np.asarray(r.diagonal(offset=1) - b[1:])


def backward_changes(r: Floats) -> Floats:
    """R_{T,i} − R_{i,i} for i = 1 … T−1: the change of each stretch from when it was learnt to the end."""
    return np.asarray((r[-1] - r.diagonal())[:-1])


def forward_transfer(r: Floats, b: Floats) -> float:
    """FWT = 1/(T−1) Σ_{i=2..T} (R_{i−1,i} − b_i) (equation 3); arguments as for `forward_gains`."""
    return float(forward_gains(r, b).mean())


def backward_transfer(r: Floats) -> float:
    """BWT = 1/(T−1) Σ_{i=1..T−1} (R_{T,i} − R_{i,i}) (equation 4); negative means forgotten."""
    return float(backward_changes(r).mean())


@carries_lineage
def stretch_matrix(table: pd.DataFrame, *, metric: str = "map50") -> pd.DataFrame:
    """R_{i,j}, and the pretrained detector's b_j as i = 0.

    Args:
        table: Evaluation table with rows tested on "stretch:1", "stretch:2", …, measured before the first
            step (`trained_on` 0) and at the end of each stretch.
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `learnt` (i from 0), `tested` (j from 1), `trained_on` (the steps that the first i
        stretches have) and `value`.

    Raises:
        DataError: No such rows, a value outside 0..1 or missing, two values for one cell, fewer than two
            stretches, or a measurement that is missing.
    """
    rows = table[(table["metric"] == metric) & table["tested_on"].str.startswith(PREFIX)]
    if rows.empty:
        raise DataError(
            f"The evaluation table has no rows of the metric '{metric}' tested on 'stretch:1', …; transfer "
            "needs them at the end of each stretch of the stream."
        )
    require_fractions(rows)
    number = pd.to_numeric(rows["tested_on"].str.removeprefix(PREFIX), errors="coerce")
    unread = rows[number.isna()]
    if not unread.empty:
        raise DataError(
            f"'{unread.iloc[0]['tested_on']}' does not name a stretch by its number.", field="tested_on"
        )
    rows = rows.assign(tested=number.astype("int64"))
    rows = one_value_a_cell(rows, [*RUN, "trained_on", "tested"])
    return pd.concat([_numbered(run) for _, run in rows.groupby(RUN)], ignore_index=True)


@carries_lineage
def transfer(matrix: pd.DataFrame) -> pd.DataFrame:
    """FWT and BWT, in one row per run.

    Args:
        matrix: From `stretch_matrix`.

    Returns:
        Columns of a run, `stretches` (T), `fwt` and `bwt`.
    """
    rows = []
    for run, cells in matrix.groupby(RUN):
        b, r = _arrays(cells)
        rows.append((*run, len(b), forward_transfer(r, b), backward_transfer(r)))
    return pd.DataFrame(rows, columns=[*RUN, "stretches", "fwt", "bwt"])


@carries_lineage
def stretch_transfer(matrix: pd.DataFrame) -> pd.DataFrame:
    """The summands of FWT and BWT, for the noise of their means.

    Args:
        matrix: From `stretch_matrix`.

    Returns:
        Columns of a run, `stretch` (1 … T), `fwt` (R_{i−1,i} − b_i, missing for the first stretch) and `bwt`
        (R_{T,i} − R_{i,i}, missing for the last).
    """
    frames = []
    for run, cells in matrix.groupby(RUN):
        b, r = _arrays(cells)
        terms = {
            "stretch": np.arange(1, len(b) + 1),
            "fwt": [np.nan, *forward_gains(r, b)],
            "bwt": [*backward_changes(r), np.nan],
        }
        frames.append(pd.DataFrame({**dict(zip(RUN, run, strict=True)), **terms}))
    return pd.concat(frames, ignore_index=True)


def _arrays(cells: pd.DataFrame) -> tuple[Floats, Floats]:
    """The arrays b (T,) and R (T, T) of one run."""
    values = cells.pivot(index="learnt", columns="tested", values="value").to_numpy(dtype=np.float64)
    return values[0], values[1:]


def _numbered(run: pd.DataFrame) -> pd.DataFrame:
    """A run's rows with its evaluations numbered 0 (pretrained) to T.

    Raises:
        DataError: A measurement is missing.
    """
    name, stretches = run_name(run.iloc[0]), sorted(run["tested"].unique())
    count, ends = len(stretches), sorted(run["trained_on"].unique())
    if stretches != list(range(1, count + 1)):
        numbers = ", ".join(map(str, stretches))
        raise DataError(f"{name} was tested on the stretches {numbers}; they are numbered 1, 2, … in time.")
    if count < 2:
        raise DataError(f"{name} has one stretch only; transfer compares at least two.")
    if ends[0] != 0:
        raise DataError(
            f"{name} lacks the pretrained detector on the stretches (rows with trained_on 0), which forward "
            "transfer is measured against."
        )
    if len(ends) != count + 1:
        raise DataError(
            f"{name} was tested on {count} stretches at {len(ends) - 1} times after learning; transfer needs "
            "one evaluation at the end of each stretch."
        )
    cells = run[["trained_on", "tested"]]
    if len(cells) != (count + 1) * count:
        tested = cells.groupby("trained_on").size()
        steps = tested.index[tested < count][0]
        raise DataError(
            f"{name} was tested on {tested[steps]} of {count} stretches after {steps} steps; rows are "
            "missing from the table."
        )
    return run.assign(learnt=run["trained_on"].map({steps: i for i, steps in enumerate(ends)}))[
        [*RUN, "learnt", "tested", "trained_on", "value"]
    ]
