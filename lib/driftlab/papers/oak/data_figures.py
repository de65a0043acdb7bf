"""Figures 3a to 3f of Wanderlust: what the stream holds, and when.

The paper's own six statistics are not known here beyond their subject; these are six that describe a stream
of this kind. Crowd boxes are left out.
"""

from __future__ import annotations

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from driftlab.data.detection.records import DetectionSet, FrameStream
from driftlab.reporting.style import panels, styled

MAIN, SECOND = "#0072b2", "#d55e00"
SIZE = (5.4, 3.2)
SPANS = 400


@styled
def boxes_a_category(stream: FrameStream) -> Figure:
    """(a) How many boxes each category has, from the most frequent to the rarest."""
    train, test = stream.train.counts, stream.test.counts
    order = np.lexsort((-test, -train))
    order = order[(train + test)[order] > 0]
    figure, (axis,) = panels(1, size=(float(np.clip(1.5 + 0.15 * len(order), 5.4, 14)), 3.6))
    axis.bar(np.arange(len(order)), train[order], width=0.8, color=MAIN, label="training frames")
    axis.plot(test[order], "D", color=SECOND, ms=4.5, mec="white", mew=0.8, label="test frames")
    axis.set(yscale="log", ylim=(0.7, None), xlim=(-0.7, len(order) - 0.3), ylabel="boxes")
    axis.set_xticks(
        np.arange(len(order)), [stream.categories[label] for label in order], rotation=90, parse_math=False
    )
    axis.tick_params(axis="x", labelsize=8 if len(order) <= 60 else 6.5, length=0)
    axis.grid(visible=False, axis="x")
    absent = len(stream.categories) - len(order)
    never = f" ({absent} of the list without a box)" if absent else ""
    axis.set_xlabel(f"{len(order)} categories{never}")
    axis.legend(loc="upper right")
    return figure


@styled
def categories_over_time(stream: FrameStream) -> Figure:
    """(b) How many categories the stream has shown so far; new ones appear less and less often."""
    shown = _shown(stream)
    first = np.sort(shown.argmax(axis=0)[shown.any(axis=0)])
    figure, (axis,) = panels(1, size=SIZE)
    axis.step(
        [0, *first, stream.length], [0, *range(1, len(first) + 1), len(first)], where="post", color=MAIN
    )
    axis.plot(first, np.zeros(len(first)), marker="|", ms=9, mew=1, ls="none", color=SECOND, clip_on=False)
    axis.set(xlim=(0, stream.length), ylim=(0, None), xlabel=_steps(stream), ylabel="categories seen so far")
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.text(0.98, 0.06, "| a new category", color=SECOND, ha="right", transform=axis.transAxes)
    return figure


@styled
def objects_a_frame(stream: FrameStream) -> Figure:
    """(c) How many objects a training frame has."""
    counts = np.bincount(_frame_of(stream.train), minlength=len(stream.train)).astype(np.float64)
    return _histogram(counts, np.arange(counts.max() + 2) - 0.5, "objects a frame", "frames (%)", digits=1)


@styled
def box_sizes(stream: FrameStream) -> Figure:
    """(d) How large objects are: the area of a box against its frame's."""
    train = stream.train
    frame, boxes = _frame_of(train), train.boxes[~train.crowd].astype(np.float64)
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    share = 100 * area / np.prod(train.sizes[frame], axis=1, dtype=np.float64)
    edges = np.geomspace(share.min(initial=100) * 0.999, 100, 31)
    figure = _histogram(share, edges, "area of a box (% of its frame)", "boxes (%)", digits=2)
    figure.axes[0].set_xscale("log")
    figure.axes[0].xaxis.set_major_formatter("{x:g}")
    return figure


@styled
def absences(stream: FrameStream) -> Figure:
    """(e) How long a category stays away before the stream shows it again."""
    away = [np.diff(np.flatnonzero(column)) - 1 for column in _shown(stream).T]
    gaps = np.concatenate([[], *(gap[gap > 0] for gap in away)])
    figure, (axis,) = panels(1, size=SIZE)
    # Bins of whole steps that widen; a bar is as high as one of its lengths occurs on average.
    edges = np.unique(np.geomspace(1, max(gaps.max(initial=1), 2) + 1, 25).round()) - 0.5
    counts = np.histogram(gaps, edges)[0]
    axis.bar(edges[:-1], counts / np.diff(edges), np.diff(edges), align="edge", color=MAIN)
    axis.set(xscale="log", xlabel="steps in a row without the category", ylabel="absences of each length")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_locator(NullLocator())
    if len(gaps):
        axis.axvline(np.median(gaps), color=SECOND, ls="--", label=f"median {np.median(gaps):g}")
        axis.legend()
    return figure


@styled
def presence(stream: FrameStream) -> Figure:
    """(f) When the stream shows each category, by first appearance.

    A long stream is drawn in 400 spans; one is coloured if any of its steps shows the category.
    """
    shown = _shown(stream)
    labels = np.flatnonzero(shown.any(axis=0))
    labels = labels[np.argsort(shown.argmax(axis=0)[labels], kind="stable")]
    edges = np.unique(np.linspace(0, stream.length, min(SPANS, stream.length) + 1).astype(int))
    spans = np.logical_or.reduceat(shown[:, labels], edges[:-1], axis=0)
    figure, (axis,) = panels(1, size=(7.4, float(np.clip(0.8 + 0.16 * len(labels), 2.6, 15))))
    extent = (0.0, float(stream.length), len(labels) - 0.5, -0.5)
    colours = ListedColormap(["white", MAIN])
    axis.imshow(spans.T, colours, aspect="auto", extent=extent, vmin=0, vmax=1, interpolation="nearest")
    axis.set_yticks(np.arange(len(labels)), [stream.categories[label] for label in labels], parse_math=False)
    axis.tick_params(axis="y", labelsize=8 if len(labels) <= 60 else 6.5, length=0)
    axis.grid(visible=False)
    axis.set_xlabel(_steps(stream))
    return figure


def _histogram(
    values: NDArray[np.float64], edges: NDArray[np.float64], xlabel: str, ylabel: str, *, digits: int
) -> Figure:
    """Shares in percent, with the median and the mean."""
    figure, (axis,) = panels(1, size=SIZE)
    axis.hist(
        values,
        edges.tolist(),
        weights=np.full(len(values), 100 / max(1, len(values))),
        color=MAIN,
        rwidth=0.92,
    )
    axis.set(xlabel=xlabel, ylabel=ylabel)
    if len(values):
        middle, mean = float(np.median(values)), float(np.mean(values))
        axis.axvline(middle, color=SECOND, ls="--", label=f"median {middle:.{digits}f}")
        axis.axvline(mean, color="black", ls=":", label=f"mean {mean:.{digits}f}")
        axis.legend()
    return figure


def _frame_of(records: DetectionSet) -> NDArray[np.int64]:
    """The frame of each box that is no crowd."""
    return np.repeat(np.arange(len(records)), np.diff(records.starts))[~records.crowd]


def _shown(stream: FrameStream) -> NDArray[np.bool_]:
    """(steps, categories) whether a step's training frames show a category."""
    shown = np.zeros((stream.length, len(stream.categories)), dtype=np.bool_)
    train = stream.train
    shown[stream.steps[_frame_of(train)], train.labels[~train.crowd]] = True
    return shown


def _steps(stream: FrameStream) -> str:
    return f"step of the stream ({len(stream.train) / stream.length:.3g} training frames each)"
