"""The style of figures: colours and markers of methods, fonts, panels."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftlab.core.lineage import carry, lineage
from driftlab.reporting.jupyter import show_figures_as_pictures
from driftlab.reporting.printed_papers import papers

DPI = 150
P = ParamSpec("P")
R = TypeVar("R")

RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class MethodStyle:
    """Colour, marker and line of a method."""

    colour: str
    marker: str
    line: str = "-"


SPARE = [
    MethodStyle(colour, marker, ":") for marker in "<>8pd" for colour in ("#882255", "#44aa99", "#999933")
]


@cache
def _methods() -> dict[str, MethodStyle]:
    # Methods of one paper never share a style; a method of two papers looks alike in both (a test).
    return {
        method.name: MethodStyle(method.colour, method.marker, method.line)
        for paper in papers()
        for method in paper.methods
    }


def method_style(name: str) -> MethodStyle:
    """Look up a method's style in `paper.yaml`; a method without one gets a spare style, always the same."""
    return _methods().get(name) or SPARE[zlib.crc32(name.encode()) % len(SPARE)]


def in_order(names: Iterable[str]) -> list[str]:
    """Sort distinct method names as the paper that has most of them lists them; others follow by name."""
    wanted = set(names)
    lists = [[method.name for method in paper.methods] for paper in papers()]
    listed = max(lists, key=lambda names: len(wanted & set(names)))
    return sorted(wanted, key=lambda name: (listed.index(name) if name in listed else len(listed), name))


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a drawing function: the project's style is used, the figure carries the lineage."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(RC):
            return carry(function(*args, **kwargs), lineage(*args, *kwargs.values()))

    return inside


def panels(
    count: int, *, size: tuple[float, float], columns: int | None = None, share: bool = True
) -> tuple[Figure, list[Axes]]:
    """Make a figure of small panels.

    Args:
        count: How many panels.
        size: Width and height of a panel in inches.
        columns: Panels side by side; by default there are two rows of at most five.
        share: Whether all have the same axes.

    Returns:
        The figure and its panels, row by row.
    """
    columns = min(columns or min(5, max(4, -(-count // 2))), count)
    rows = -(-count // columns)
    figure = Figure(figsize=(columns * size[0], rows * size[1]), dpi=DPI, layout="constrained")
    grid = figure.subplots(rows, columns, sharex=share, sharey=share, squeeze=False).ravel()
    for unused in grid[count:]:
        unused.remove()
    for last in grid[max(0, count - columns) : count]:
        last.tick_params(labelbottom=True)
    return figure, list(grid[:count])


def outer_labels(axes: list[Axes], x: str, y: str) -> None:
    """Label the axes at the left and lower edges of a figure of panels."""
    spec = axes[0].get_subplotspec()
    columns = spec.get_gridspec().ncols if spec else 1
    for place, axis in enumerate(axes):
        if place % columns == 0:
            axis.set_ylabel(y)
        if place + columns >= len(axes):
            axis.set_xlabel(x)


show_figures_as_pictures()  # in a notebook, every figure of the project is a picture
