"""Figures 7 and 8 of Wanderlust, and CAP over time.

Each is a pure function of a frame from `driftlab.metrics`. Frames hold the runs of one variant, in
fractions; figures speak in percent and show means over repetitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from driftlab.core.errors import ParameterError
from driftlab.core.evaluation_table import one_variant
from driftlab.reporting.style import in_order, method_style, outer_labels, panels, styled

SHOWN = "#dfe7ee"
LEARNT = "steps of the stream learnt"


@styled
def cap_over_time(curve: pd.DataFrame) -> Figure:
    """CAP_t of each method, with the range over repetitions where there are several.

    Args:
        curve: From `cap_curve`.
    """
    runs = one_variant(curve, "figure")
    figure, (axis,) = panels(1, size=(6.4, 3.6))
    for name in in_order(runs["method"]):
        times = 100 * runs[runs["method"] == name].groupby("trained_on")["value"].agg(["mean", "min", "max"])
        style = method_style(name)
        if (times["max"] > times["min"]).any():
            axis.fill_between(times.index, times["min"], times["max"], color=style.colour, alpha=0.2, lw=0)
        _line(axis, times["mean"], name)
    axis.set(xlabel=LEARNT, ylabel="CAP$_t$, mean AP50 over classes (%)", xlim=(0, None), ylim=(0, None))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=5, columnspacing=1.2)
    return figure


@styled
def classes_over_time(exposed: pd.DataFrame, classes: Sequence[str]) -> Figure:
    """AP of some classes over time, shaded where the stream shows the class (Figure 7).

    Args:
        exposed: From `exposure`. Shading is as fine as the evaluations lie: an interval between two of them
            is shaded if a training batch within had the class.
        classes: Which to show, one panel each.

    Raises:
        ParameterError: A class that the runs were not tested on, or none.
    """
    runs = one_variant(exposed, "figure")
    known = sorted(runs["class"].unique())
    if not classes or set(classes) - set(known):
        wrong = ", ".join(sorted(set(classes) - set(known))) or "none"
        raise ParameterError(f"Figure 7 shows classes of {', '.join(known)}; not {wrong}.")
    figure, axes = panels(len(classes), size=(3.1, 2.1), columns=min(3, len(classes)))
    methods = in_order(runs["method"])
    for axis, shown in zip(axes, classes, strict=True):
        of_class = runs[runs["class"] == shown]
        for start, end in _seen_intervals(of_class):
            axis.axvspan(start, end, color=SHOWN, lw=0, zorder=0)
        for name in methods:
            times = 100 * of_class[of_class["method"] == name].groupby("trained_on")["value"].mean()
            _line(axis, times, name)
        axis.set_title(shown, parse_math=False)
        axis.set_xlim(0, runs["trained_on"].max())
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes[0].set_ylim(0, None)  # all share it
    outer_labels(axes, LEARNT, "AP50 (%)")
    handles, labels = axes[0].get_legend_handles_labels()
    handles.append(Patch(color=SHOWN))
    figure.legend(
        handles, [*labels, "stream shows the class"], loc="outside upper center", ncols=3, columnspacing=1.2
    )
    return figure


def changing_classes(exposed: pd.DataFrame, count: int = 6) -> list[str]:
    """The classes that come and go, those first that are found best at some time.

    Found by the methods that leave one detector behind another; a class comes and goes if there are intervals
    between evaluations, after it was first seen, with it and without it.

    Args:
        exposed: From `exposure`.
        count: How many at most. Where fewer come and go, others follow.
    """
    trained = exposed.dropna(subset=["since"])
    classes = trained.groupby("class").agg(peak=("value", "max"), kinds=("seen", "nunique"))
    best = classes.sort_values(["kinds", "peak"], ascending=False, kind="stable")
    return [str(name) for name in best.index[:count]]


@styled
def forgetting_over_time(curve: pd.DataFrame) -> Figure:
    """What is kept of a class as time passes without it (Figure 8), mean over classes.

    Left the AP itself; right its change against the class's own first bin, which does not move when other
    classes enter the mean.

    Args:
        curve: From `forgetting_curve`; with a bin width that leaves each bin several classes.
    """
    runs = one_variant(curve, "figure").sort_values(["class", "bin"])
    first = runs.groupby(["method", "seed", "class"])["value"].transform("first")
    runs = runs.assign(change=runs["value"] - first)
    width = int(runs.loc[runs["bin"] > 0, "since"].div(runs["bin"]).min()) if (runs["bin"] > 0).any() else 1
    figure, axes = panels(2, columns=2, size=(4.3, 3.3), share=False)
    for axis, column, label in zip(
        axes,
        ("value", "change"),
        ("aCAP, mean AP50 over classes (%)", "change since last seen (points)"),
        strict=True,
    ):
        for name in in_order(runs["method"]):
            of_method = runs[runs["method"] == name]
            middle = of_method["since"] + (width - 1) / 2
            _line(axis, 100 * of_method.groupby(middle)[column].mean(), name)
        bins = f" (bins of {width})" if width > 1 else ""
        axis.set(xlabel=f"steps since the stream showed the class{bins}", ylabel=label)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylim(0, None)
    axes[1].axhline(0, color="black", lw=0.8)
    _count_classes(axes[1], runs, width)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, columnspacing=1.2
    )
    return figure


def _count_classes(axis: Axes, runs: pd.DataFrame, width: int) -> None:
    """Write above the panel how many classes each bin's mean is over; they become fewer with time."""
    counts = runs.groupby("since")["class"].nunique()
    if len(counts) > 16:
        counts = counts.iloc[:: len(counts) // 16 + 1]
    look: dict[str, Any] = {"fontsize": 7.5, "color": "#555555"}
    for start, count in zip(counts.index.to_numpy(dtype=float).tolist(), counts, strict=True):
        middle = start + (width - 1) / 2
        axis.text(middle, 1.015, str(count), ha="center", transform=axis.get_xaxis_transform(), **look)
    axis.set_title("classes in the mean", loc="right", fontweight="normal", pad=15, **look)


def _line(axis: Axes, values: pd.Series[float], name: str) -> None:
    """A method's line with about ten markers, however many points it has."""
    style = method_style(name)
    axis.plot(
        values.index,
        values,
        color=style.colour,
        ls=style.line,
        marker=style.marker,
        markevery=max(1, len(values) // 10),
        ms=4.5,
        lw=1.5,
        label=name,
    )


def _seen_intervals(of_class: pd.DataFrame) -> list[tuple[float, float]]:
    """The intervals between evaluations in which the stream showed the class, joined where they touch.

    All runs saw the same stream; the one that was evaluated most often tells it most finely.
    """
    trained = of_class.dropna(subset=["since"])
    if trained.empty:
        return []
    finest = trained.groupby("method")["trained_on"].nunique().idxmax()
    times = of_class[of_class["method"] == finest].groupby("trained_on")["seen"].any()
    intervals: list[tuple[float, float]] = []
    before = 0.0
    for time, seen in zip(times.index.to_numpy(dtype=float).tolist(), times, strict=True):
        if seen and intervals and intervals[-1][1] == before:
            intervals[-1] = (intervals[-1][0], time)
        elif seen:
            intervals.append((before, time))
        before = time
    return intervals
