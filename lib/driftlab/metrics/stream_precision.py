"""Average precision of a detector that is evaluated again and again while it learns from a stream.

Wang et al., Wanderlust, ICCV 2021, section 4.1: continual average precision (CAP) and final average
precision (FAP). AP is at IoU 0.5 on the whole test set, a fraction from 0 to 1. The first functions take
arrays and read like the formulas; those below check an evaluation table and call them. In a table
`trained_on` counts the steps of the stream that were learnt; 0 is the pretrained detector, which enters no
mean over time.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN

Floats = NDArray[np.float64]


def continual_average_precision(ap: Floats) -> float:
    """CAP = 1/(T C) Σ_t Σ_c AP_{t,c}, the mean over evaluations and classes (equation 2).

    Args:
        ap: (T, C) AP at each evaluation and of each class that has ground truth.
    """
    return float(ap.mean())


def final_average_precision(ap: Floats) -> float:
    """FAP = 1/C Σ_c AP_{T,c}, the mean over the classes at the last evaluation.

    Args:
        ap: (T, C) as for CAP.
    """
    return float(ap[-1].mean())


def mean_of_highest(values: Floats, count: int) -> float:
    """The mean of the `count` highest values, or of all where there are fewer ("Top-20", "Worst-20").

    The paper does not define the two columns; ranking the classes per method is our reading.
    """
    return float(np.sort(values)[::-1][:count].mean())


def seen_average_precision(ap: Floats, seen: NDArray[np.bool_], idk: Floats) -> Floats:
    """CAP_t as the released code averages it with an unknown vocabulary: seen classes and IDK alike.

    Args:
        ap: (T, C) AP at each evaluation and of each class.
        seen: (T, C) whether the detector had an output of the class at that evaluation.
        idk: (T,) AP of IDK; NaN at an evaluation without an object of an unseen class.

    Returns:
        (T,) the mean over the seen classes and IDK; NaN where there is neither.
    """
    values = np.column_stack([np.where(seen, ap, np.nan), idk])
    counts = (~np.isnan(values)).sum(axis=1)
    return np.where(counts > 0, np.nansum(values, axis=1) / np.maximum(counts, 1), np.nan)


@carries_lineage
def class_ap(table: pd.DataFrame, *, metric: str = "ap50") -> pd.DataFrame:
    """The class rows of an evaluation table, checked.

    Args:
        table: Evaluation table.
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `trained_on`, `class` (its name) and `value`, one row per run, evaluation and class,
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
    counts = rows.groupby([*RUN, "trained_on"])["expected"].agg(found="size", expected="first").reset_index()
    short = counts[counts["found"] < counts["expected"]]
    if not short.empty:
        first = short.iloc[0]
        raise DataError(
            f"{run_name(first)} was tested on {first['found']} of its {first['expected']} classes after "
            f"{first['trained_on']} steps; rows are missing from the table."
        )
    return rows[[*cell, "value"]]


@carries_lineage
def at_common_times(ap: pd.DataFrame) -> pd.DataFrame:
    """The rows of the evaluations that every run of its variant has, so that CAP averages the same times.

    Offline training is evaluated more rarely and later than the methods that learn online; a mean over each
    method's own evaluations would compare different parts of the stream.

    Args:
        ap: From `class_ap`.

    Raises:
        DataError: The runs have no evaluation after learning in common.
    """
    after = learnt(ap)
    run = after.groupby(RUN).ngroup()
    runs = run.groupby(after["variant"]).transform("nunique")
    common = run.groupby([after["variant"], after["trained_on"]]).transform("nunique") == runs
    if not common.any():
        raise DataError(
            "The runs were never evaluated at the same time, so that no mean over time compares them; choose "
            "`offline_interval` as a multiple of `interval`."
        )
    return after[common]


@carries_lineage
def cap_curve(ap: pd.DataFrame) -> pd.DataFrame:
    """CAP_t, the mean over the classes at each evaluation t (equation 1).

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
    """CAP, FAP and the mean CAP of the best classes, in one row per run.

    Args:
        ap: From `class_ap`, or from `at_common_times` where runs are compared.
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
    rows = []
    for run, cells in learnt(ap).groupby(RUN):
        values = cells.pivot(index="trained_on", columns="class", values="value").to_numpy(dtype=np.float64)
        evaluations, classes = values.shape
        rows.append(
            {
                **dict(zip(RUN, run, strict=True)),
                "evaluations": evaluations,
                "classes": classes,
                "cap": continual_average_precision(values),
                "fap": final_average_precision(values),
                "top": min(top, classes),
                "top_cap": mean_of_highest(values.mean(axis=0), top),
            }
        )
    return pd.DataFrame(rows)


@carries_lineage
def released_online_metrics(
    table: pd.DataFrame, pretrained: Collection[str] = (), *, top: int = 20
) -> pd.DataFrame:
    """`online_metrics` with CAP and FAP as the released code averages them: seen classes plus IDK.

    Args:
        table: Evaluation table of runs with an unknown vocabulary.
        pretrained: Names of the classes that have an output from the start.
        top: See `online_metrics`; the best classes are averaged as there.

    Returns:
        The columns of `online_metrics`.

    Raises:
        DataError: The class rows are faulty (see `class_ap`).
    """
    ap = learnt(class_ap(table))
    trained = table[table["metric"] == "steps_since_seen"]
    trained = trained.assign(**{"class": trained["tested_on"].str.removeprefix("class:")})
    cell = [*RUN, "trained_on", "class"]
    cells = ap.merge(trained[cell].drop_duplicates(), how="left", indicator="trained")
    cells["seen"] = (cells["trained"] == "both") | cells["class"].isin(list(pretrained))
    idk = _idk_rows(table).set_index([*RUN, "trained_on"])["value"]
    rows = []
    for run, of_run in cells.groupby(RUN):
        values, seen = (
            of_run.pivot(index="trained_on", columns="class", values=x) for x in ("value", "seen")
        )
        unseen = idk.reindex([(*run, time) for time in values.index]).to_numpy(dtype=np.float64)
        curve = seen_average_precision(values.to_numpy(dtype=np.float64), seen.to_numpy(dtype=bool), unseen)
        rows.append((*run, np.nanmean(curve), curve[-1]))
    averaged = pd.DataFrame(rows, columns=[*RUN, "cap", "fap"])
    ours = online_metrics(ap, top=top)
    return ours.drop(columns=["cap", "fap"]).merge(averaged, on=RUN)[ours.columns]


@carries_lineage
def unknown_curve(table: pd.DataFrame, *, metric: str = "ap50") -> pd.DataFrame:
    """AP of the objects of classes not seen so far (IDK), at each evaluation that has any.

    Args:
        table: Evaluation table of runs with an unknown vocabulary. An evaluation after which no class of the
            test set is left unseen has no such row.
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `trained_on` and `value`.

    Raises:
        DataError: The table has no IDK row at all, a value outside 0..1, or two values for one cell.
    """
    rows = _idk_rows(table, metric)
    if rows.empty:
        raise DataError(
            "The evaluation table has no rows tested on 'idk', as runs with an unknown vocabulary have them."
        )
    return rows


@carries_lineage
def unknown_ap(table: pd.DataFrame, *, metric: str = "ap50") -> pd.DataFrame:
    """AP of IDK per run: the mean over the evaluations that have objects of unseen classes.

    The paper does not say whether its column is this mean or the last value; this is our reading.

    Args:
        table: See `unknown_curve`.
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `evaluations` and `idk`; a run without such rows is absent (the pretrained
        detector, which never predicts IDK).

    Raises:
        DataError: See `unknown_curve`.
    """
    runs = unknown_curve(table, metric=metric).groupby(RUN)["value"]
    return runs.agg(evaluations="size", idk="mean").reset_index()


def _idk_rows(table: pd.DataFrame, metric: str = "ap50") -> pd.DataFrame:
    rows = table[(table["metric"] == metric) & (table["tested_on"] == "idk") & (table["trained_on"] > 0)]
    require_fractions(rows)
    return one_value_a_cell(rows, [*RUN, "trained_on"])


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


def require_fractions(rows: pd.DataFrame) -> None:
    """Raise unless every value is an average precision from 0 to 1.

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
    """A run as error messages name it."""
    return f"The run {row['variant']}, {row['method']}, seed {row['seed']}"
