"""How figures look: one colour and marker a method, everywhere; sizes and units that can be read."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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


# Okabe and Ito's palette, which stays apart under the common colour blindnesses. Its yellow is too faint for
# lines on white; grey takes its place. Markers differ as well, for print without colours. Methods of one
# paper never share a style; those of two papers do where they have one role: the lower bound is grey,
# rehearsal red, training on everything black.
METHODS: dict[str, MethodStyle] = {
    "Non-adaptation": MethodStyle("#7f7f7f", "o", ":"),
    "Incremental": MethodStyle("#0072b2", "P"),
    "BARE": MethodStyle("#7f7f7f", "o"),
    "EWC": MethodStyle("#e69f00", "s"),
    "iCaRL": MethodStyle("#d55e00", "X"),
    "MAS": MethodStyle("#56b4e9", "^"),
    "TWP": MethodStyle("#cc79a7", "v"),
    "LwF": MethodStyle("#009e73", "D"),
    "GEM": MethodStyle("#0072b2", "P"),
    "REPLAY": MethodStyle("#d55e00", "X"),
    "JOINT": MethodStyle("#000000", "*", "--"),
    "Offline training": MethodStyle("#000000", "*", "--"),
}
SPARE = [
    MethodStyle(colour, marker, ":") for marker in "<>hpd" for colour in ("#332288", "#882255", "#44aa99")
]


def method_style(name: str) -> MethodStyle:
    """The method's style; a method without one of its own gets a spare one, always the same."""
    return METHODS.get(name) or SPARE[zlib.crc32(name.encode()) % len(SPARE)]


def in_order(names: Iterable[str]) -> list[str]:
    """Distinct method names as the papers list them, others after them by name."""
    known = list(METHODS)
    return sorted(set(names), key=lambda name: (known.index(name) if name in known else len(known), name))


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Draw under the project's style without changing anybody else's."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(RC):
            return function(*args, **kwargs)

    return inside


def panels(
    count: int, *, size: tuple[float, float], columns: int | None = None, share: bool = True
) -> tuple[Figure, list[Axes]]:
    """A figure of small panels.

    Args:
        count: How many panels.
        size: Width and height of a panel in inches.
        columns: How many stand side by side; by default they make two rows of at most five.
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
