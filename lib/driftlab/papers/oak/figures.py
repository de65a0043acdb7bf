"""Figures 7 and 8 of Wanderlust, and CAP over time.

Each is a function of a frame from `driftlab.metrics`. Frames hold the runs of one variant, in fractions;
figures speak in percent and show means over repetitions with their range.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from driftlab.core.errors import ParameterError
from driftlab.core.evaluation_table import one_variant
from driftlab.metrics.forgetfulness import BINS, forgetting_curve
from driftlab.papers.oak.scores import CONTINUAL
from driftlab.reporting.style import in_order, method_style, outer_labels, panels, styled

SEEN = "#dfe7ee"
LEARNT = "steps of the stream learnt"
LEAST_SPAN = 6.0
"""Points: an axis spans at least so much, so that it does not make a difference of noise look large."""
FEWEST = 5
"""Evaluations that a drawn bin of Figure 8 needs, over all repetitions."""


@styled
def cap_over_time(curve: pd.DataFrame) -> Figure:
    """CAP_t of each method, with the range over repetitions where there are several.

    Args:
        curve: From `cap_curve`.
    """
    runs = one_variant(curve, "figure")
    figure, (axis,) = panels(1, size=(6.8, 3.8))
    for name in in_order(runs["method"]):
        _draw(axis, runs[runs["method"] == name], "trained_on", "value", name)
    axis.set(xlabel=LEARNT, ylabel="CAP$_t$, mean AP50 over classes (%)", xlim=(0, None), ylim=(0, None))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


@styled
def classes_over_time(
    exposed: pd.DataFrame, classes: Sequence[str], *, methods: Sequence[str] = CONTINUAL
) -> Figure:
    """AP of single classes over time, shaded where the stream shows the class (Figure 7).

    Every class has its own axis of AP: beside a frequent class the curve of a rare one would be flat.

    Args:
        exposed: From `exposure`. Shading is as fine as the evaluations lie: an interval between two of them
            is shaded if a training batch of the stream within had the class; iCaRL's memory does not count.
        classes: Names of the classes, one panel each.
        methods: Which methods to draw, of those that there are.

    Raises:
        ParameterError: A class that the runs were not tested on, or none.
    """
    runs = one_variant(exposed, "figure")
    _require_classes(runs, classes, "Figure 7")
    drawn = in_order(name for name in runs["method"].unique() if name in methods)
    figure, axes = panels(len(classes), size=(2.55, 1.9), columns=min(4, len(classes)), share=False)
    for axis, shown in zip(axes, classes, strict=True):
        of_class = runs[runs["class"] == shown]
        for start, end in _seen_intervals(of_class[of_class["method"].isin(CONTINUAL)]):
            axis.axvspan(start, end, color=SEEN, lw=0, zorder=0)
        for name in drawn:
            _draw(axis, of_class[of_class["method"] == name], "trained_on", "value", name)
        axis.set_title(shown, parse_math=False)
        axis.set_xlim(0, runs["trained_on"].max())
        axis.set_ylim(0, max(axis.get_ylim()[1], LEAST_SPAN))
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
        axis.yaxis.set_major_locator(MaxNLocator(nbins=4))
    outer_labels(axes, LEARNT, "AP50 (%)")
    handles, labels = axes[0].get_legend_handles_labels()
    handles.append(Patch(color=SEEN))
    figure.legend(
        handles, [*labels, "stream shows the class"], loc="outside upper center", ncols=5, columnspacing=1.2
    )
    return figure


@styled
def forgetting_by_class(
    exposed: pd.DataFrame,
    classes: Sequence[str],
    *,
    bins: int = BINS,
    methods: Sequence[str] = CONTINUAL,
) -> Figure:
    """Forgetfulness of sample classes by the time since the stream last showed them (Figure 8).

    One column per class and two rows: above what was forgotten so far, aCAP_kmin − aCAP_k, below aCAP_k. A
    bin has at least five evaluations, over all repetitions: a class with few has fewer bins. Every panel has
    its own vertical axis.

    Args:
        exposed: From `exposure`.
        classes: Names of the classes.
        bins: Greatest number of bins of equal count; 0 for one per distinct gap.
        methods: Which methods to draw, of those that there are.

    Raises:
        ParameterError: A class that the runs were not tested on, or none.
    """
    runs = one_variant(exposed, "figure")
    _require_classes(runs, classes, "Figure 8")
    drawn = in_order(name for name in runs["method"].unique() if name in methods)
    columns = min(4, len(classes))
    blocks = [list(classes[start : start + columns]) for start in range(0, len(classes), columns)]
    figure, axes = panels(2 * len(blocks) * columns, size=(2.55, 1.65), columns=columns, share=False)
    grid = np.array(axes, dtype=object).reshape(-1, columns)
    for number, block in enumerate(blocks):
        upper, lower = grid[2 * number], grid[2 * number + 1]
        for shown, above, below in zip(block, upper, lower, strict=False):
            _forgetting_panels(above, below, _bins_to_draw(runs[runs["class"] == shown], bins, drawn), drawn)
            above.set_title(shown, parse_math=False)
            below.set_xlabel("steps since last seen")
        for unused in (*upper[len(block) :], *lower[len(block) :]):
            unused.remove()
        upper[0].set_ylabel("forgotten so far\n(points of AP50)")
        lower[0].set_ylabel("aCAP$_k$ (%)")
    styles = [method_style(name) for name in drawn]
    handles = [Line2D([], [], color=of.colour, ls=of.line, marker=of.marker, ms=4) for of in styles]
    figure.legend(handles, drawn, loc="outside upper center", ncols=5)
    return figure


def _bins_to_draw(of_class: pd.DataFrame, bins: int, methods: Sequence[str]) -> pd.DataFrame:
    """The bins of a class that have at least `FEWEST` evaluations, with what was forgotten (`lost`)."""
    trained = of_class[of_class["method"].isin(methods)].dropna(subset=["since"])
    evaluations = trained.groupby("method").size().min() if len(trained) else 0
    curve = forgetting_curve(trained, bins=min(bins, max(2, int(evaluations) // FEWEST)))
    counts = curve.groupby(["method", "bin"])["evaluations"].transform("sum")
    curve = curve[counts >= FEWEST].sort_values("bin")
    return curve.assign(lost=curve.groupby(["method", "seed"])["value"].transform("first") - curve["value"])


def _forgetting_panels(above: Axes, below: Axes, bins: pd.DataFrame, methods: Sequence[str]) -> None:
    if bins["bin"].nunique() < 2:
        words = f"fewer than two bins\nof {FEWEST} evaluations"
        for axis in (above, below):
            axis.set(xticks=[], yticks=[])
        above.text(0.5, 0.5, words, ha="center", va="center", transform=above.transAxes, color="#555555")
        return
    for name in methods:
        rows = bins[bins["method"] == name]
        if not rows.empty:
            _draw(above, rows, "since", "lost", name)
            _draw(below, rows, "since", "value", name)
    above.axhline(0, color="black", lw=0.8, zorder=1)
    _widen(above)
    below.set_ylim(0, max(below.get_ylim()[1], LEAST_SPAN))
    for axis in (above, below):
        axis.set_xlim(min(0, axis.get_xlim()[0]), None)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
        axis.yaxis.set_major_locator(MaxNLocator(nbins=4))
    above.tick_params(labelbottom=False)


def _widen(axis: Axes) -> None:
    """Let the vertical axis span at least `LEAST_SPAN` points."""
    low, high = axis.get_ylim()
    missing = max(0.0, LEAST_SPAN - (high - low)) / 2
    axis.set_ylim(low - missing, high + missing)


def _draw(axis: Axes, rows: pd.DataFrame, x: str, y: str, name: str) -> None:
    """A method's mean over the repetitions in percent, with their range; at most ten markers."""
    style = method_style(name)
    values = 100 * rows.groupby(x)[y].agg(["mean", "min", "max"])
    places = values.index.to_numpy(dtype=np.float64)
    if (values["max"] > values["min"]).any():
        low, high = (values[end].to_numpy(dtype=np.float64) for end in ("min", "max"))
        axis.fill_between(places, low, high, color=style.colour, alpha=0.2, lw=0)
    axis.plot(
        places,
        values["mean"].to_numpy(dtype=np.float64),
        color=style.colour,
        ls=style.line,
        marker=style.marker,
        markevery=max(1, len(values) // 10),
        ms=4,
        lw=1.4,
        label=name,
    )


def _require_classes(runs: pd.DataFrame, classes: Sequence[str], what: str) -> None:
    known = sorted(runs["class"].unique())
    if not classes or set(classes) - set(known):
        wrong = ", ".join(sorted(set(classes) - set(known))) or "none"
        raise ParameterError(f"{what} shows classes of {', '.join(known)}; not {wrong}.")


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
