"""Frames for the tables of Wanderlust, in percent or points and with the paper's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.evaluation_table import one_variant
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN
from driftlab.metrics.repetitions import over_repetitions
from driftlab.reporting.style import in_order

PRINTED = ("Booth", "Umbrella", "Awning", "Bag", "Chair", "Dining Table", "Fireplug", "Car")
"""The eight classes that the paper's tables have columns for."""

Tables = tuple[pd.DataFrame, pd.DataFrame]


def shown_classes(
    categories: Sequence[str], counts: NDArray[np.int64], evaluated: Sequence[int], *, columns: int = 8
) -> dict[str, str]:
    """Which classes get a column of their own: the paper's, filled up with the most frequent others.

    Args:
        categories: Names, by label.
        counts: (number of categories,) boxes of each in the stream.
        evaluated: Labels that enter the averages; no other has AP.
        columns: How many there are.

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
    """Table 1, or Table 2 with `unknown`: FAP, CAP, CAP of the best classes, and CAP of single ones.

    The columns of single classes are CAP, as that of the best classes is.

    Args:
        runs: One variant's frame from `online_metrics`.
        classes: From `class_metrics` of the same runs.
        shown: From `shown_classes`.
        unknown: From `unknown_ap`, for the column IDK; a method without it has none there.

    Returns:
        Mean and sample standard deviation over repetitions, in percent, a row a method. The column of the
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
def forgetfulness_table(summary: pd.DataFrame, classes: pd.DataFrame, shown: Mapping[str, str]) -> Tables:
    """Table 3: F overall, of the classes that are forgotten most, and of single ones; lower is better.

    Args:
        summary: One variant's frame from `forgetfulness_summary`.
        classes: From `forgetfulness` of the same runs.
        shown: From `shown_classes`.

    Returns:
        Mean and sample standard deviation over repetitions, in points, a row a method. The column of the
        worst classes bears their number: "Worst-20".
    """
    values = one_variant(summary, "table").set_index(RUN)
    worst = "/".join(map(str, sorted(values["worst"].unique())))
    wide = pd.DataFrame({"Overall": values["forgetfulness"], f"Worst-{worst}": values["worst_forgetfulness"]})
    return _over_repetitions(wide.join(_class_columns(classes, "forgetfulness", shown)))


@carries_lineage
def transfer_table(transferred: pd.DataFrame) -> Tables:
    """Table 4: FWT and BWT; higher is better.

    Args:
        transferred: One variant's frame from `transfer`.

    Returns:
        Mean and sample standard deviation over repetitions, in points, a row a method.
    """
    values = one_variant(transferred, "table").set_index(RUN)
    return _over_repetitions(values[["fwt", "bwt"]].rename(columns={"fwt": "FWT", "bwt": "BWT"}))


def _class_columns(classes: pd.DataFrame, value: str, shown: Mapping[str, str]) -> pd.DataFrame:
    """One row a run, one column a shown class; missing where a run has no value for it."""
    wide = classes.pivot(index=RUN, columns="class", values=value).reindex(columns=list(shown.values()))
    return wide.set_axis(list(shown), axis=1)


def _over_repetitions(wide: pd.DataFrame) -> Tables:
    names = list(wide.columns)
    found = over_repetitions(wide.reset_index(), names).set_index("method")
    found = 100 * found.loc[in_order(found.index)].rename_axis("method").drop(columns=["paper", "variant"])
    return found[names], found[[f"{name}_std" for name in names]].set_axis(names, axis=1)


def _folded(name: str) -> str:
    """A name without case, spaces and hyphens, as the paper and the data write it differently."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())
