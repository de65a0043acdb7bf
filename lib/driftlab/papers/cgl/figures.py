"""Figures 2 to 8 of the continual graph learning paper.

Each is a pure function of frames from `driftlab.metrics`. Frames hold the runs of one variant, in fractions;
figures show percent.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from driftlab.core.errors import ParameterError
from driftlab.core.evaluation_table import one_variant
from driftlab.metrics.theorem import theorem_bound
from driftlab.reporting.style import in_order, method_style, panels, styled

AA = "average accuracy AA (%)"
AF = "average forgetting AF (%)"
CEILING = "#1b7837"
"""The paper draws Eq. 10 as a dotted green line."""


@styled
def forgetting_scatter(
    final: pd.DataFrame,
    class_orders: pd.DataFrame | None = None,
    *,
    title: str = "",
    single_runs: bool = False,
) -> Figure:
    """Final AF against final AA, one point per order, under the ceiling of Eq. 10 (Figures 2 to 6).

    Args:
        final: From `final_metrics`, of the methods to draw.
        class_orders: The same over random class orders (Figures 5 and 6), drawn as open markers; those of
            `final` are filled.
        title: Of the panel.
        single_runs: Draw every run instead of each order's mean over repetitions.

    Raises:
        ParameterError: The runs differ in their number of tasks, so that there is no one ceiling, or are of
            several variants.
    """
    kinds = [final] if class_orders is None else [final, class_orders]
    every_run = one_variant(pd.concat(kinds, ignore_index=True), "figure")
    tasks = every_run["trained_on"].unique()
    if len(tasks) != 1 or tasks[0] < 2:
        raise ParameterError(
            f"A scatter of runs needs one number of tasks, at least two; these runs have {sorted(tasks)}."
        )
    figure, (axis,) = panels(1, columns=1, size=(7.0, 4.8))
    shown = [kind if single_runs else _per_order(kind) for kind in kinds]
    size = 26 if len(shown[0]) <= 300 else 11
    handles = []
    for name in in_order(every_run["method"]):
        style = method_style(name)
        for points, filled in zip(shown, (True, False), strict=False):
            mine = points[points["method"] == name]
            axis.scatter(
                100 * mine["average_accuracy"],
                100 * mine["average_forgetting"],
                s=size,
                marker=style.marker,
                facecolors=style.colour if filled else "none",
                edgecolors="white" if filled else style.colour,
                linewidths=0.3 if filled else 0.8,
                alpha=0.6 if filled else 0.9,
                rasterized=True,
            )
        counts = " + ".join(str((points["method"] == name).sum()) for points in shown)
        handles.append(
            Line2D([], [], color=style.colour, marker=style.marker, ls="none", label=f"{name} ({counts})")
        )
    if class_orders is not None:
        for words, fill in (("filled: task orders", "full"), ("open: class orders", "none")):
            handles.append(
                Line2D([], [], color="#444444", marker="o", ls="none", fillstyle=fill, label=words)
            )
    corner = 1 / int(tasks[0])  # where the ceiling falls below 1
    x = np.array([0.0, corner, 1.0])
    y = np.minimum(theorem_bound(x, int(tasks[0])), 1.0)
    (line,) = axis.plot(100 * x, 100 * y, ls=":", color=CEILING, lw=1.8, label="ceiling of AF (Eq. 10)")
    lowest = 100 * min(0.0, float(min(points["average_forgetting"].min() for points in shown)))
    axis.set(xlim=(0, 102), ylim=(lowest - 4, 105), xlabel=AA, ylabel=AF, title=title)
    heading = "runs" if single_runs else "orders"
    heading += " per method" if class_orders is None else " (task + class)"
    figure.legend(handles=[*handles, line], loc="outside right upper", title=heading, alignment="left")
    return figure


@styled
def architecture_curves(final: pd.DataFrame, *, setting: Literal["width", "depth"]) -> Figure:
    """Final AA and AF against the width or depth of the GCN (Figures 7 and 8).

    A point is the mean over repetitions, with one standard deviation (ddof 1) over them.

    Args:
        final: From `final_metrics`, with a column named as `setting`.
        setting: Which one.
    """
    per_run = final.dropna(subset=[setting])
    values_of = ["average_accuracy", "average_forgetting"]
    runs = per_run.groupby(["method", setting, "seed"], as_index=False)[values_of].mean()
    values = sorted(runs[setting].unique())
    methods = in_order(runs["method"])
    figure, axes = panels(2, columns=2, size=(4.2, 3.4), share=False)
    shifts = np.linspace(-0.06, 0.06, len(methods)) if len(methods) > 1 else np.zeros(1)
    for axis, panel, column, label in zip(axes, "ab", values_of, (AA, AF), strict=True):
        for name, shift in zip(methods, shifts, strict=True):
            style = method_style(name)
            groups = 100 * runs[runs["method"] == name].groupby(setting)[column].agg(["mean", "std"])
            groups = groups.reindex(values)
            axis.errorbar(
                np.arange(len(values)) + shift,
                groups["mean"],
                yerr=groups["std"],
                color=style.colour,
                marker=style.marker,
                ls=style.line,
                lw=1.4,
                elinewidth=0.9,
                capsize=2,
                label=name,
            )
        words = {"width": "width (units per layer)", "depth": "depth (graph-convolution layers)"}
        axis.set(xticks=range(len(values)), xticklabels=values, xlabel=words[setting], ylabel=label)
        axis.set_title(f"({panel})", loc="left")
        low, high = axis.get_ylim()
        axis.set_ylim(low, min(high, 105))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=8)
    return figure


def _per_order(final: pd.DataFrame) -> pd.DataFrame:
    """Each order's mean over repetitions."""
    values = ["average_accuracy", "average_forgetting"]
    return final.groupby(["method", "order"], as_index=False)[values].mean()
