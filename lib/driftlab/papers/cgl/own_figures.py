"""Figures of our own beside the paper's: learning curves, accuracy matrices, OPD of each task or class.

Each is a pure function of a frame from `driftlab.metrics`. Frames hold the runs of one variant, in fractions;
figures show percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftlab.core.evaluation_table import one_variant
from driftlab.metrics.accuracy_matrix import average_accuracy_table
from driftlab.papers.cgl.figures import AA
from driftlab.reporting.style import in_order, method_style, outer_labels, panels, styled

FAINT = "#c9c9c9"


@styled
def learning_curves(accuracy: pd.DataFrame) -> Figure:
    """AA after each task: the means of all methods, then each method with its spread over runs.

    Args:
        accuracy: From `task_accuracy`.
    """
    runs = average_accuracy_table(one_variant(accuracy, "figure"))
    runs["value"] *= 100
    methods = in_order(runs["method"])
    figure, axes = panels(len(methods) + 1, size=(2.2, 2.3))
    means = {name: runs[runs["method"] == name].groupby("trained_on")["value"].mean() for name in methods}
    for name, mean in means.items():
        style = method_style(name)
        axes[0].plot(
            mean.index, mean, color=style.colour, marker=style.marker, ls=style.line, label=name, ms=4.5
        )
    axes[0].set_title("all methods, mean")
    for axis, name in zip(axes[1:], methods, strict=True):
        for other in methods:
            label = "other methods" if other == methods[-1] else None
            axis.plot(means[other].index, means[other], color=FAINT, lw=0.8, zorder=1, label=label)
        _spread(axis, runs[runs["method"] == name], name)
    for axis in axes:
        axis.set(ylim=(0, 103), xticks=sorted(runs["trained_on"].unique()))
    outer_labels(axes, "tasks learnt", AA)
    handles, labels = axes[0].get_legend_handles_labels()
    first_handles, first_labels = axes[1].get_legend_handles_labels()
    figure.legend(
        handles + first_handles,
        labels + first_labels,
        loc="outside upper center",
        ncols=11,
        columnspacing=1.0,
        handlelength=1.6,
    )
    return figure


@styled
def accuracy_matrices(accuracy: pd.DataFrame) -> Figure:
    """a_{k,j} of each method, mean over runs: how the accuracy of each task changes while others are learnt.

    Args:
        accuracy: From `task_accuracy`.
    """
    runs = one_variant(accuracy, "figure")
    methods = in_order(runs["method"])
    figure, axes = panels(len(methods), size=(2.4, 2.4))
    figure.set_layout_engine("compressed")
    image = None
    for axis, name in zip(axes, methods, strict=True):
        of_method = runs[runs["method"] == name]
        matrix = 100 * of_method.pivot_table(index="trained_on", columns="task", values="value")
        image = axis.imshow(matrix, vmin=0, vmax=100, cmap="cividis")
        for (row, column), value in np.ndenumerate(matrix.to_numpy()):
            if np.isfinite(value):
                colour = "white" if value < 55 else "black"
                axis.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=8, color=colour)
        axis.set_title(name)
        axis.grid(visible=False)
        axis.set(
            xticks=range(matrix.shape[1]),
            yticks=range(matrix.shape[0]),
            xticklabels=matrix.columns,
            yticklabels=matrix.index,
        )
    outer_labels(axes, "task tested j", "tasks learnt k")
    assert image is not None
    figure.colorbar(image, ax=axes, label="accuracy (%)", shrink=0.8, pad=0.02)
    return figure


@styled
def sensitivity_bars(
    sensitivity: pd.DataFrame, *, unit: Literal["task", "class"], names: Mapping[str, str] | None = None
) -> Figure:
    """OPD of each task or class and method, with AOPD as a line.

    Args:
        sensitivity: From `order_sensitivity`; bars are means over repetitions, whiskers their standard
            deviation.
        unit: What the bars stand for.
        names: Words for the units, for example class names; by default the units themselves.
    """
    frame = one_variant(sensitivity, "figure")
    units = sorted(frame["unit"].unique(), key=lambda name: [int(part) for part in str(name).split("-")])
    labels = [(names or {}).get(name, name) for name in units]
    methods = in_order(frame["method"])
    figure, axes = panels(len(methods), size=(2.4, 0.9 + 0.19 * len(units)))
    for axis, name in zip(axes, methods, strict=True):
        groups = 100 * frame[frame["method"] == name].groupby("unit")["opd"].agg(["mean", "std"]).loc[units]
        error = None if groups["std"].isna().any() else groups["std"]
        places = range(len(units))
        axis.barh(places, groups["mean"], xerr=error, color=method_style(name).colour, height=0.7, capsize=2)
        mean = groups["mean"].mean()
        axis.axvline(mean, color="black", lw=1, ls="--")
        axis.set_title(f"{name}, AOPD {mean:.1f}")
        axis.set(xlim=(0, 105), yticks=places, yticklabels=labels)
        axis.grid(visible=False, axis="y")
    axes[0].invert_yaxis()
    outer_labels(axes, "OPD (%)", {"task": "task (its classes)", "class": "class"}[unit])
    return figure


def _spread(axis: Axes, runs: pd.DataFrame, name: str) -> None:
    """One method's runs: lowest to highest, the middle half, and the mean."""
    style, stages = method_style(name), runs.groupby("trained_on")["value"]
    low, high = stages.min(), stages.max()
    axis.fill_between(low.index, low, high, color=style.colour, alpha=0.18, lw=0, label="lowest to highest")
    first, third = stages.quantile(0.25), stages.quantile(0.75)
    axis.fill_between(low.index, first, third, color=style.colour, alpha=0.35, lw=0, label="middle half")
    axis.plot(low.index, stages.mean(), color=style.colour, marker=style.marker, ls=style.line, ms=4.5)
    axis.set_title(f"{name} ({len(runs[['seed', 'order']].drop_duplicates())} runs)")
