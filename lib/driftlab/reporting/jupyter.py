"""Matplotlib figures as pictures in a notebook."""

from __future__ import annotations

import sys
from typing import Any

from matplotlib.figure import Figure


def show_figures_as_pictures() -> None:
    """Let the running kernel show a `Figure` as PNG; without a kernel this does nothing.

    IPython does so by itself once pyplot is imported. The project draws without pyplot, and a kernel would
    show the text `<Figure …>` in place of the picture.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    formatter = getattr(shell, "display_formatter", None)
    if formatter is None:
        return
    png = formatter.formatters["image/png"]
    if Figure not in png:  # whatever pyplot or the reader has chosen stays
        png.for_type(Figure, _png)


def _png(figure: Figure) -> Any:
    from IPython.core.pylabtools import print_figure

    return print_figure(figure, fmt="png", base64=True)  # type: ignore[no-untyped-call]
