"""Average precision of a detector that is evaluated again and again while it learns from a stream.

Wang et al., Wanderlust, ICCV 2021, section 4.2. AP is at IoU 0.5 on the whole test set, a fraction from 0 to
1. `trained_on` counts the steps of the stream that were learnt; 0 is the pretrained detector, which is no
evaluation of what was learnt from the stream and enters no mean over time.
"""

from __future__ import annotations

import pandas as pd

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN


@carries_lineage
def class_ap(table: pd.DataFrame, *, metric: str = "ap50") -> pd.DataFrame:
    """The class rows of an evaluation table, checked.

    Args:
        table: Evaluation table.
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `trained_on`, `class` (its name) and `value`, one row a run, evaluation and class,
        the pretrained detector's (`trained_on` 0) included where the table has them.

    Raises:
        DataError: No such rows, a value outside 0..1 or missing, two different values for one cell, or an
            evaluation that lacks a class which others of its run have.
    """
    rows = table[(table["metric"] == metric) & table["tested_on"].str.startswith("class:")]
    if rows.empty:
        known = ", ".join(sorted(table["metric"].unique())) or "none"
        raise DataError(
            f"The evaluation table has no class rows of the metric '{metric}'; its metrics: {known}."
        )
    require_fractions(rows)
    rows = rows.assign(**{"class": rows["tested_on"].str.removeprefix("class:")})
    cell = [*RUN, "trained_on", "class"]
    rows = one_value_a_cell(rows, cell)
    rows = rows.assign(expected=rows.groupby(RUN)["class"].transform("nunique"))
    found = rows.groupby([*RUN, "trained_on"])["expected"].agg(found="size", expected="first").reset_index()
    short = found[found["found"] < found["expected"]]
    if not short.empty:
        first = short.iloc[0]
        raise DataError(
            f"{run_name(first)} was tested on {first['found']} of its {first['expected']} classes after "
            f"{first['trained_on']} steps; rows are missing from the table."
        )
    return rows[[*cell, "value"]]


@carries_lineage
def cap_curve(ap: pd.DataFrame) -> pd.DataFrame:
    """CAP_t, the mean over the classes at each evaluation t.

    Args:
        ap: From `class_ap`.

    Returns:
        Columns of a run, `trained_on` and `value`.

    Raises:
        DataError: A run was never evaluated after learning from the stream.
    """
    return learnt(ap).groupby([*RUN, "trained_on"])["value"].mean().reset_index()


@carries_lineage
def class_metrics(ap: pd.DataFrame) -> pd.DataFrame:
    """CAP^c, the mean over the evaluations, and FAP^c, the last one, of each class.

    Args:
        ap: From `class_ap`.

    Returns:
        Columns of a run, `class`, `cap` and `fap`.

    Raises:
        DataError: A run was never evaluated after learning from the stream.
    """
    classes = learnt(ap).sort_values("trained_on").groupby([*RUN, "class"])["value"]
    return classes.agg(cap="mean", fap="last").reset_index()


@carries_lineage
def online_metrics(ap: pd.DataFrame, *, top: int = 20) -> pd.DataFrame:
    """CAP, FAP and the mean CAP of the best classes, in one row a run.

    CAP = mean over t of CAP_t; since every evaluation has the same classes, it is the mean of CAP^c too. FAP
    is CAP_t at the last evaluation.

    Args:
        ap: From `class_ap`.
        top: How many classes, those with the highest CAP^c of the run, `top_cap` averages (the paper: 20).
            With fewer classes it averages all of them; `top` of the result says how many it were.

    Returns:
        Columns of a run, `evaluations`, `classes`, `cap`, `fap`, `top` and `top_cap`.

    Raises:
        DataError: A run was never evaluated after learning from the stream.
        ParameterError: `top` is below 1.
    """
    if top < 1:
        raise ParameterError(f"The best classes are at least one, not {top}.")
    classes = class_metrics(ap)
    runs = classes.groupby(RUN)
    result = runs.agg(cap=("cap", "mean"), fap=("fap", "mean"), classes=("class", "size"))
    result["evaluations"] = cap_curve(ap).groupby(RUN).size()
    result["top"] = result["classes"].clip(upper=top)
    result["top_cap"] = runs["cap"].apply(lambda values: values.nlargest(top).mean())
    return result[["evaluations", "classes", "cap", "fap", "top", "top_cap"]].reset_index()


@carries_lineage
def unknown_ap(table: pd.DataFrame, *, metric: str = "ap50") -> pd.DataFrame:
    """AP of the objects of classes not seen so far (IDK), mean over the evaluations that have any.

    Args:
        table: Evaluation table of runs with an unknown vocabulary. An evaluation after which no class of the
            test set is left unseen has no such row.
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `evaluations` and `idk`; a run without such rows is absent (the pretrained
        detector, which never predicts IDK).

    Raises:
        DataError: The table has no IDK row at all, a value outside 0..1, or two values for one cell.
    """
    rows = table[(table["metric"] == metric) & (table["tested_on"] == "idk") & (table["trained_on"] > 0)]
    if rows.empty:
        raise DataError(
            "The evaluation table has no rows tested on 'idk', as runs with an unknown vocabulary have them."
        )
    require_fractions(rows)
    runs = one_value_a_cell(rows, [*RUN, "trained_on"]).groupby(RUN)["value"]
    return runs.agg(evaluations="size", idk="mean").reset_index()


@carries_lineage
def learnt(ap: pd.DataFrame) -> pd.DataFrame:
    """The rows that were measured after a step of the stream.

    Raises:
        DataError: A run has none.
    """
    rows = ap[ap["trained_on"] > 0]
    without = ap[RUN].drop_duplicates().merge(rows[RUN].drop_duplicates(), how="left", indicator=True)
    without = without[without["_merge"] == "left_only"]
    if not without.empty:
        raise DataError(
            f"{run_name(without.iloc[0])} has no evaluation after a step of the stream (trained_on above 0)."
        )
    return rows


@carries_lineage
def require_fractions(rows: pd.DataFrame) -> None:
    """Refuse average precisions that are none.

    Raises:
        DataError: A value outside 0..1 or missing.
    """
    wrong = rows[~rows["value"].between(0.0, 1.0)]
    if not wrong.empty:
        first = wrong.iloc[0]
        raise DataError(
            f"{len(wrong)} rows are not average precisions from 0 to 1; the first: {run_name(first)}, after "
            f"{first['trained_on']} steps, tested on '{first['tested_on']}', value {first['value']}.",
            field="value",
        )


@carries_lineage
def one_value_a_cell(rows: pd.DataFrame, cell: list[str]) -> pd.DataFrame:
    """The rows with the columns `cell` and `value`, sorted; a row that stands twice counts once.

    Raises:
        DataError: Two different values for one cell.
    """
    rows = rows[[*cell, "value"]].drop_duplicates()
    twice = rows[rows.duplicated(cell)]
    if not twice.empty:
        first = twice.iloc[0]
        where = ", ".join(f"{name} {first[name]}" for name in cell[len(RUN) :])
        raise DataError(
            f"{run_name(first)} has two different values at {where}; tables of different experiments may not "
            "be mixed under one variant."
        )
    return rows.sort_values(cell, ignore_index=True)


def run_name(row: pd.Series) -> str:
    """A run in the words of error messages."""
    return f"The run {row['variant']}, {row['method']}, seed {row['seed']}"
