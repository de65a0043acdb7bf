"""A little checkout with generated notebooks, to test `driftlab.notebooks` and the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest


class Project:
    """A folder with `notebooks/` and `params/`, which `$DRIFTLAB_ROOT` names."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "notebooks").mkdir(parents=True)

    def notebook(self, name: str, parameters: str | None, *code: str) -> Path:
        """Write a notebook: a heading, a parameters cell unless there is none, and cells of code."""
        cells = [_cell("markdown", "# A test")]
        if parameters is not None:
            cells.append(_cell("code", parameters, tags=["parameters"]))
        cells += [_cell("code", one) for one in code]
        metadata = {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        }
        path = self.root / "notebooks" / f"{name}.ipynb"
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"
        path.write_text(
            json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
        )
        return path

    def scale(self, scale: str, name: str, yaml: str) -> None:
        """Write a scale's parameter file."""
        path = self.root / "params" / scale / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml)


def _cell(kind: str, source: str, tags: Sequence[str] = ()) -> dict[str, object]:
    cell: dict[str, object] = {
        "cell_type": kind,
        "metadata": {"tags": list(tags)} if tags else {},
        "source": source,
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project; add notebooks to it."""
    made = Project(tmp_path / "project")
    monkeypatch.setenv("DRIFTLAB_ROOT", str(made.root))
    monkeypatch.setenv("DRIFTLAB_DATA", str(tmp_path / "no-data"))
    return made
