"""Figures 3a to 3f of Wanderlust: statistics of the labelled stream, and two figures of our own.

The letters follow the order in which the paper's text mentions the panels. Crowd boxes are left out.
"""

from __future__ import annotations

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from driftlab.core.errors import DataError
from driftlab.data.detection.oak_locations import LOCATIONS_FILE
from driftlab.data.detection.records import FrameStream
from driftlab.papers.oak import stream_statistics as statistics
from driftlab.papers.oak.stream_statistics import MEDIUM, SMALL
from driftlab.reporting.style import panels, styled

MAIN, SECOND = "#0072b2", "#d55e00"
SIZE = (5.4, 3.2)
SPANS = 400


@styled
def categories_over_time(stream: FrameStream) -> Figure:
    """Figure 3a: the number of categories that the training frames have shown so far."""
    first = statistics.first_steps(stream)
    count, end = len(first), stream.length
    figure, (axis,) = panels(1, size=SIZE)
    axis.step([0, *first, end], [0, *range(1, count + 1), count], where="post", color=MAIN)
    axis.plot(first, np.zeros(count), marker="|", ms=9, mew=1, ls="none", color=SECOND, clip_on=False)
    axis.set(xlim=(0, end), ylim=(0, None), xlabel=_step_label(stream), ylabel="categories seen so far")
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.text(0.98, 0.06, "| a new category", color=SECOND, ha="right", transform=axis.transAxes)
    per_step = statistics.hours(len(stream.train) + len(stream.test)) / end
    to_hours = (lambda steps: np.asarray(steps) * per_step, lambda hours: np.asarray(hours) / per_step)
    above = axis.secondary_xaxis("top", functions=to_hours)
    above.set_xlabel("hours of labelled video")
    return figure


@styled
def boxes_per_category(stream: FrameStream) -> Figure:
    """Figure 3b: the number of boxes of each category in all labelled frames, the most frequent first."""
    train, test = stream.train.counts, stream.test.counts
    order = np.lexsort((-test, -(train + test)))
    order = order[(train + test)[order] > 0]
    figure, (axis,) = panels(1, size=(float(np.clip(1.5 + 0.15 * len(order), 5.4, 14)), 3.6))
    axis.bar(np.arange(len(order)), (train + test)[order], width=0.8, color=MAIN, label="all labelled frames")
    axis.plot(test[order], "D", color=SECOND, ms=4.5, mec="white", mew=0.8, label="test frames among them")
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
def categories_per_frame(stream: FrameStream) -> Figure:
    """Figure 3c: the number of distinct categories in a labelled frame."""
    counts = statistics.presence_in_time(stream).sum(axis=1).astype(np.float64)
    return _histogram(counts, "distinct categories in a frame")


@styled
def reappearance_gaps(stream: FrameStream) -> Figure:
    """Figure 3d: how many labelled frames lie between two successive appearances of a category."""
    gaps = np.concatenate([[], *statistics.reappearance_gaps(statistics.presence_in_time(stream))])
    figure, (axis,) = panels(1, size=SIZE)
    edges = np.unique(np.geomspace(2, max(gaps.max(initial=2), 3) + 1, 21).round()) - 0.5
    axis.hist(gaps, edges.tolist(), color=MAIN, rwidth=0.96)
    axis.set(xscale="log", ylabel="reappearances")
    axis.set_xlabel("labelled frames from one appearance of a category to the next (2 s each)")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_locator(NullLocator())
    if len(gaps):
        axis.axvline(np.median(gaps), color=SECOND, ls="--", label=f"median {np.median(gaps):g}")
        axis.legend()
    return figure


@styled
def box_sizes(stream: FrameStream) -> Figure:
    """Figure 3e: the side of the boxes, with COCO's limits of small and medium boxes."""
    sides = np.concatenate([statistics.box_sides(part) for part in (stream.train, stream.test)])
    figure, (axis,) = panels(1, size=SIZE)
    edges = np.geomspace(min(sides.min(initial=SMALL), SMALL / 2), max(sides.max(initial=MEDIUM), 300.0), 31)
    axis.hist(sides, edges.tolist(), weights=np.full(len(sides), 100 / max(1, len(sides))), color=MAIN)
    axis.set(xscale="log", xlabel="side of a box, √area, in pixels of a frame 720 pixels high")
    axis.set(ylabel="boxes (%)", xlim=(edges[0], edges[-1]))
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_locator(NullLocator())
    limits = [0.0, SMALL, MEDIUM, np.inf]
    names = [f"small\n< {SMALL:g} px", "medium", f"large\n≥ {MEDIUM:g} px"]
    top = axis.get_ylim()[1]
    axis.set_ylim(0, 1.3 * top)
    for name, low, high in zip(names, limits[:-1], limits[1:], strict=True):
        share = 100 * ((sides >= low) & (sides < high)).mean() if len(sides) else 0.0
        middle = np.sqrt(max(low, edges[0]) * min(high, edges[-1]))
        axis.text(middle, 1.28 * top, f"{name}\n{share:.0f} %", ha="center", va="top", fontsize=8)
    for limit in (SMALL, MEDIUM):
        axis.axvline(limit, color=SECOND, ls="--", lw=1.2)
    return figure


@styled
def recording_places(stream: FrameStream) -> Figure:
    """Figure 3f: where the clips were recorded, one point per clip.

    Raises:
        DataError: The data do not say where.
    """
    if not stream.places:
        raise DataError(
            "The recording places are not known.",
            file=stream.source.name,
            hint=f"Put {LOCATIONS_FILE} beside the frames; `driftlab data oak` says what it holds.",
        )
    degrees = np.array([(place.longitude, place.latitude) for place in stream.places])
    cells = statistics.cells(stream.places)
    figure, (axis,) = panels(1, size=(5.4, 3.8))
    axis.scatter(degrees[:, 0], degrees[:, 1], s=26, color=MAIN, alpha=0.45, lw=0, zorder=3)
    for cell in np.unique(cells, axis=0):
        inside = (cells == cell).all(axis=1)
        east, north = degrees[inside].mean(axis=0).tolist()
        share = f"{100 * inside.mean():.0f} %"
        axis.annotate(share, (east, north), (9, 6), textcoords="offset points", color=SECOND, fontsize=9)
    axis.set(xlabel="longitude (degrees)", ylabel="latitude (degrees)")
    axis.set_aspect(1 / np.cos(np.deg2rad(degrees[:, 1].mean())))
    axis.margins(0.12)
    return figure


@styled
def objects_per_frame(stream: FrameStream) -> Figure:
    """Ours: the number of labelled objects in a frame."""
    parts = (stream.train, stream.test)
    counts = [np.bincount(statistics.frame_of_box(part), minlength=len(part)) for part in parts]
    return _histogram(np.concatenate(counts).astype(np.float64), "objects in a frame")


@styled
def presence(stream: FrameStream) -> Figure:
    """Ours: when the stream shows each category, in order of first appearance.

    A long stream is drawn in 400 spans; a span is coloured if any of its steps shows the category.
    """
    shown = statistics.step_presence(stream)
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
    axis.set_xlabel(_step_label(stream))
    return figure


def _histogram(counts: NDArray[np.float64], xlabel: str) -> Figure:
    """Shares of frames in percent by a count, with median and mean."""
    figure, (axis,) = panels(1, size=SIZE)
    edges = np.arange(counts.max() + 2) - 0.5
    shares = np.full(len(counts), 100 / len(counts))
    axis.hist(counts, edges.tolist(), weights=shares, color=MAIN, rwidth=0.92)
    axis.set(xlabel=xlabel, ylabel="frames (%)")
    axis.axvline(float(np.median(counts)), color=SECOND, ls="--", label=f"median {np.median(counts):.0f}")
    axis.axvline(float(counts.mean()), color="black", ls=":", label=f"mean {counts.mean():.1f}")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.legend()
    return figure


def _step_label(stream: FrameStream) -> str:
    return f"step of the stream ({len(stream.train) / stream.length:.3g} training frames each)"
