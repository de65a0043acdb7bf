"""Tables 1 to 4 of Wanderlust, in percent or points and with the paper's labels, and one table of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.evaluation_table import one_variant
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN
from driftlab.metrics.repetitions import over_repetitions
from driftlab.papers.oak.methods import SHUFFLED
from driftlab.reporting.style import in_order

PRINTED = ("Booth", "Umbrella", "Awning", "Bag", "Chair", "Dining Table", "Fireplug", "Car")
"""The eight classes that the paper's tables have columns for."""

Tables = tuple[pd.DataFrame, pd.DataFrame]


def shown_classes(
    categories: Sequence[str], counts: NDArray[np.int64], evaluated: Sequence[int], *, columns: int = 8
) -> dict[str, str]:
    """The classes that get a column or a panel of their own: the paper's eight, then the most frequent ones.

    Args:
        categories: Names by label.
        counts: (C,) boxes of each category in the stream.
        evaluated: Labels that enter the averages; no other has AP.
        columns: Number of classes.

    Returns:
        Column label (the paper's, or the name with a capital) to category name, the paper's first.
    """
    names = {_folded(categories[label]): categories[label] for label in evaluated}
    shown = {label: names[_folded(label)] for label in PRINTED if _folded(label) in names}
    for label in sorted(evaluated, key=lambda label: (-int(counts[label]), label)):
        name = categories[label]
        if name not in shown.values():
            shown[name[:1].upper() + name[1:]] = name
    return dict(list(shown.items())[:columns])


@carries_lineage
def vocabulary_table(
    runs: pd.DataFrame,
    classes: pd.DataFrame,
    shown: Mapping[str, str],
    *,
    unknown: pd.DataFrame | None = None,
) -> Tables:
    """Table 1, or Table 2 with `unknown`: FAP, CAP, Top-20 and CAP^c of single classes.

    Top-20 ranks the classes per method by CAP^c. That the columns of single classes are CAP^c, the mean over
    the evaluations, is inferred from the header of the paper's Table 2.

    Args:
        runs: One variant's frame from `online_metrics`.
        classes: From `class_metrics` of the same runs.
        shown: From `shown_classes`.
        unknown: From `unknown_ap`, for the column IDK; a method without it has none there.

    Returns:
        Mean and sample standard deviation over repetitions, in percent, one row per method. The column of the
        best classes bears their number: "Top-20".
    """
    values = one_variant(runs, "table").set_index(RUN)
    best = "/".join(map(str, sorted(values["top"].unique())))
    wide = pd.DataFrame({"FAP": values["fap"], "CAP": values["cap"], f"Top-{best}": values["top_cap"]})
    wide = wide.join(_class_columns(classes, "cap", shown))
    if unknown is not None:
        wide = wide.join(unknown.set_index(RUN)["idk"].rename("IDK"))
    return _over_repetitions(wide)


@carries_lineage
def order_against_budget(runs: pd.DataFrame) -> pd.DataFrame:
    """How much of what online learning lacks comes from the stream's order, and how much from its budget.

    The shuffled stream has the same frames, iterations and updates as the ordered one; offline training has
    neither the order nor the budget of one pass. Ours, not the paper's.

    Args:
        runs: One variant's frame from `online_metrics`, of Incremental, of the same on a shuffled stream and
            of Offline training.

    Returns:
        One row per score (FAP, CAP), in points: `in order`, `shuffled`, `offline`, `gap` (offline − in
        order), `from order` (shuffled − in order), `from budget` (offline − shuffled) and `share of order`
        (percent of the gap). Empty if a method has no runs.
    """
    values = one_variant(runs, "table").groupby("method")[["fap", "cap"]].mean() * 100
    names = {"in order": "Incremental", "shuffled": SHUFFLED, "offline": "Offline training"}
    if not set(names.values()) <= set(values.index):
        return pd.DataFrame()
    frame = pd.DataFrame({label: values.loc[name] for label, name in names.items()})
    frame["gap"] = frame["offline"] - frame["in order"]
    frame["from order"] = frame["shuffled"] - frame["in order"]
    frame["from budget"] = frame["offline"] - frame["shuffled"]
    frame["share of order"] = 100 * frame["from order"] / frame["gap"]
    return frame.rename(index=str.upper)


def order_in_words(order: pd.DataFrame) -> str:
    """The finding of `order_against_budget`, one line per score; what is missing where it is empty."""
    if order.empty:
        return f"Order and budget are told apart by runs of Incremental, {SHUFFLED} and Offline training."
    return "\n".join(
        f"{score}: {row['in order']:.1f} in order, {row['shuffled']:.1f} shuffled, {row['offline']:.1f} "
        f"offline; {row['share of order']:.0f} % of the gap of {row['gap']:.1f} points comes from order"
        for score, row in order.iterrows()
    )


@carries_lineage
def forgetfulness_table(
    summary: pd.DataFrame, classes: pd.DataFrame, shown: Mapping[str, str], runs: pd.DataFrame
) -> Tables:
    """Table 3: F overall, of the classes that are forgotten most, and of single ones, with CAP beside it.

    Lower F is better. CAP is ours: the paper says that F compares methods of similar CAP only.

    Args:
        summary: One variant's frame from `forgetfulness_summary`.
        classes: From `forgetfulness` of the same runs.
        shown: From `shown_classes`.
        runs: From `online_metrics` of the same runs.

    Returns:
        Mean and sample standard deviation over repetitions, in points, one row per method. The column of the
        worst classes, ranked per method, bears their number: "Worst-20".
    """
    values = one_variant(summary, "table").set_index(RUN)
    worst = "/".join(map(str, sorted(values["worst"].unique())))
    wide = pd.DataFrame({"Overall": values["forgetfulness"], f"Worst-{worst}": values["worst_forgetfulness"]})
    wide = wide.join(_class_columns(classes, "forgetfulness", shown))
    return _over_repetitions(wide.join(runs.set_index(RUN)["cap"].rename("CAP")))


@carries_lineage
def transfer_table(transferred: pd.DataFrame, runs: pd.DataFrame) -> Tables:
    """Table 4: FWT and BWT, with CAP beside them; higher is better.

    Args:
        transferred: One variant's frame from `transfer`.
        runs: From `online_metrics` of the same runs.

    Returns:
        Mean and sample standard deviation over repetitions, in points, one row per method.
    """
    values = one_variant(transferred, "table").set_index(RUN)
    wide = values[["fwt", "bwt"]].rename(columns={"fwt": "FWT", "bwt": "BWT"})
    return _over_repetitions(wide.join(runs.set_index(RUN)["cap"].rename("CAP")))


def _class_columns(classes: pd.DataFrame, value: str, shown: Mapping[str, str]) -> pd.DataFrame:
    """One row per run, one column per shown class; missing where a run has no value for it."""
    wide = classes.pivot(index=RUN, columns="class", values=value).reindex(columns=list(shown.values()))
    return wide.set_axis(list(shown), axis=1)


def _over_repetitions(wide: pd.DataFrame) -> Tables:
    names = list(wide.columns)
    table = over_repetitions(wide.reset_index(), names).set_index("method")
    table = 100 * table.loc[in_order(table.index)].rename_axis("method").drop(columns=["paper", "variant"])
    return table[names], table[[f"{name}_std" for name in names]].set_axis(names, axis=1)


def _folded(name: str) -> str:
    """A name without case, spaces and hyphens: the paper and the data write names differently."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())
