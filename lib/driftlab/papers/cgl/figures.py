"""Figures 2 to 8 of the continual graph learning paper.

Each is a pure function of a frame from `driftlab.metrics`. Frames hold the runs of one
variant, in fractions; figures speak in percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftlab.core.errors import ParameterError
from driftlab.metrics.accuracy_matrix import average_accuracy
from driftlab.metrics.theorem import theorem_bound
from driftlab.reporting.style import in_order, method_style, outer_labels, panels, styled

FAINT = "#c9c9c9"
AA = "average accuracy AA (%)"
AF = "average forgetting AF (%)"


@styled
def learning_dynamics(accuracy: pd.DataFrame) -> Figure:
    """AA over the tasks learnt (Figures 2 and 5): the means, then each method with its spread over runs.

    Args:
        accuracy: From `task_accuracy`.
    """
    runs = average_accuracy(_one_variant(accuracy))
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
    runs = _one_variant(accuracy)
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
def forgetting_scatter(final: pd.DataFrame) -> Figure:
    """AF against AA after the last task (Figures 3, 4 and 6), one point a run, under Theorem 1's bound.

    Args:
        final: From `final_metrics`.

    Raises:
        ParameterError: The runs differ in their number of tasks, so that there is no one bound.
    """
    runs = _one_variant(final).dropna(subset=["average_forgetting"])
    tasks = runs["trained_on"].unique()
    if len(tasks) != 1:
        raise ParameterError(
            f"A scatter of runs needs one number of tasks, at least two; found {sorted(tasks)}."
        )
    points = runs.assign(x=100 * runs["average_accuracy"], y=100 * runs["average_forgetting"])
    methods = in_order(points["method"])
    figure, axes = panels(len(methods) + 1, size=(2.2, 2.4))
    line = np.linspace(0, 1, 2)
    for axis in axes:
        bound = 100 * theorem_bound(line, int(tasks[0]))
        axis.plot(100 * line, bound, ls=":", color="black", lw=1.4, label="Theorem 1, a$_{kk}$ = 1")
        axis.set(xlim=(0, 102), ylim=(min(-5.0, points["y"].min() - 3), 105))
    for name in methods:
        style, mine = method_style(name), points[points["method"] == name]
        axes[0].errorbar(
            mine["x"].mean(),
            mine["y"].mean(),
            xerr=mine["x"].std(),
            yerr=mine["y"].std(),
            color=style.colour,
            marker=style.marker,
            ms=6,
            elinewidth=1,
            ls="none",
            label=name,
        )
    axes[0].set_title("mean ± deviation")
    for axis, name in zip(axes[1:], methods, strict=True):
        style, mine = method_style(name), points[points["method"] == name]
        axis.scatter(points["x"], points["y"], s=3, color=FAINT, lw=0, rasterized=True)
        axis.scatter(mine["x"], mine["y"], s=13, color=style.colour, marker=style.marker, alpha=0.75, lw=0)
        axis.set_title(f"{name} ({len(mine)} runs)")
    outer_labels(axes, AA, AF)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=9, columnspacing=1.2)
    return figure


@styled
def sensitivity_bars(
    sensitivity: pd.DataFrame, *, unit: Literal["task", "class"], names: Mapping[str, str] | None = None
) -> Figure:
    """OPD of each task or class and method (Figure 6 by class), with AOPD as a line.

    Args:
        sensitivity: From `order_sensitivity`; bars are means over repetitions, whiskers their standard
            deviation.
        unit: What the bars stand for.
        names: Words for the units, for example class names; by default the units themselves.
    """
    frame = _one_variant(sensitivity)
    units = sorted(frame["unit"].unique(), key=lambda name: [int(part) for part in str(name).split("-")])
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
        axis.set(xlim=(0, 105), yticks=places, yticklabels=[(names or {}).get(one, one) for one in units])
        axis.grid(visible=False, axis="y")
    axes[0].invert_yaxis()
    outer_labels(axes, "OPD (%)", {"task": "task (its classes)", "class": "class"}[unit])
    return figure


@styled
def architecture_curves(final: pd.DataFrame, *, setting: Literal["width", "depth"]) -> Figure:
    """AA and AF against the network's width or depth (Figures 7 and 8), mean ± standard deviation over runs.

    Args:
        final: From `final_metrics`, with a column named as `setting`.
        setting: Which one.
    """
    runs = final.dropna(subset=[setting])
    values = sorted(runs[setting].unique())
    methods = in_order(runs["method"])
    figure, axes = panels(2, columns=2, size=(4.4, 3.4), share=False)
    shifts = np.linspace(-0.09, 0.09, len(methods)) if len(methods) > 1 else np.zeros(1)
    for axis, column, label in zip(axes, ("average_accuracy", "average_forgetting"), (AA, AF), strict=True):
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
        words = {"width": "width (units a layer)", "depth": "depth (graph-convolution layers)"}
        axis.set(xticks=range(len(values)), xticklabels=values, xlabel=words[setting], ylabel=label)
        low, high = axis.get_ylim()
        axis.set_ylim(low, min(high, 105))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=8)
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


def _one_variant(frame: pd.DataFrame) -> pd.DataFrame:
    if frame["variant"].nunique() != 1:
        names = ", ".join(sorted(frame["variant"].unique())) or "none"
        raise ParameterError(f"A figure shows the runs of one variant; these are of: {names}.")
    return frame
