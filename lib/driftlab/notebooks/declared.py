"""Which parameters a notebook has: the models of `papers/*/parameters.py`, found by the notebook's name."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import driftlab
from driftlab.notebooks.parameters import NotebookParameters


@dataclass(frozen=True)
class Declared:
    """A notebook's parameters.

    Attributes:
        name: The notebook's name, "41_cgl_task_order"; its scales are `params/<scale>/<name>.yaml`.
        model: Names, types, meanings, limits, and the demo scale's values.
    """

    name: str
    model: type[NotebookParameters]


@cache
def declared_notebooks() -> dict[str, type[NotebookParameters]]:
    """Every `NOTEBOOKS` of `papers/parameters.py` and `papers/*/parameters.py`, in order of number.

    They are found as files, so that a new paper is a new folder and no list.
    """
    root = Path(driftlab.__file__).parent
    models: dict[str, type[NotebookParameters]] = {}
    for file in sorted((root / "papers").rglob("parameters.py")):
        parts = file.relative_to(root).with_suffix("").parts
        models |= importlib.import_module(".".join(("driftlab", *parts))).NOTEBOOKS
    return dict(sorted(models.items()))


def declaration(stem: str) -> Declared | None:
    """The declared parameters of a notebook, or of the one that it is a copy of; None where no paper has any.

    Args:
        stem: The file's name without its ending: "41_cgl_task_order", "41_cgl_task_order-Copy1".
    """
    models = declared_notebooks()
    name = next((name for name in sorted(models, key=len, reverse=True) if stem.startswith(name)), None)
    return Declared(name, models[name]) if name else None
