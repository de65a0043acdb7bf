"""Figures that an executed notebook shows as text only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def figures_without_picture(notebook: Mapping[str, Any]) -> list[int]:
    """The prompts N of cells `In [N]` with an output whose only form is the text `<Figure …>`.

    Args:
        notebook: An executed notebook of format 4.
    """
    return [
        int(cell.get("execution_count") or 0)
        for cell in notebook["cells"]
        if any(_is_bare_figure(output) for output in cell.get("outputs", []))
    ]


def _is_bare_figure(output: Mapping[str, Any]) -> bool:
    forms = output.get("data", {})
    return set(forms) == {"text/plain"} and "".join(forms["text/plain"]).startswith("<Figure ")
