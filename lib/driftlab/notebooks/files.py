"""Finding notebooks by number or name, and reading what a run needs to know of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.paths import project_root
from driftlab.core.suggestions import did_you_mean
from driftlab.notebooks.parameters import Parameter, parse_cell


@dataclass(frozen=True)
class Notebook:
    """What is known of a notebook before it runs.

    Attributes:
        path: Its file, `notebooks/NN_name.ipynb`.
        parameters: Its parameters cell, by name; empty where it has none.
    """

    path: Path
    parameters: dict[str, Parameter]

    @property
    def name(self) -> str:
        """The file's name without its ending, e.g. `41_cgl_task_order`."""
        return self.path.stem


def notebook_paths() -> list[Path]:
    """Every numbered notebook of the project, in order of number.

    Raises:
        ParameterError: There is none.
    """
    folder = project_root() / "notebooks"
    found = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    if not found:
        raise ParameterError(
            f"There is no notebook NN_name.ipynb in {folder}. Run driftlab from an editable install of a "
            "checkout (pip install -e .), or set DRIFTLAB_ROOT to the checkout's folder."
        )
    return found


def find(asked: Sequence[str] = ()) -> list[Notebook]:
    """The notebooks that are meant, each once, in order of number; all of them where nothing is asked for.

    Args:
        asked: Numbers ("41"), names with or without the number, unique beginnings of either, or paths.

    Raises:
        ParameterError: One means no notebook, or several.
        DataError: One is not readable as a notebook.
    """
    paths = notebook_paths()
    chosen = {_match(one, paths) for one in asked} if asked else set(paths)
    return [read(path) for path in paths if path in chosen]


def _match(asked: str, paths: list[Path]) -> Path:
    wanted = Path(asked).name.removesuffix(".ipynb")
    short = {path: path.stem.split("_", 1)[1] for path in paths}
    exact = [path for path in paths if wanted in (path.stem, path.stem[:2], short[path])]
    begins = [path for path in paths if path.stem.startswith(wanted) or short[path].startswith(wanted)]
    matches = exact or (begins if wanted else [])
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ParameterError(
            f"'{asked}' means several notebooks: {', '.join(path.stem for path in matches)}. "
            "Write more of the name."
        )
    names = [name for path in paths for name in (path.stem, short[path], path.stem[:2])]
    hint = did_you_mean(wanted, names)
    raise ParameterError(
        f"There is no notebook '{asked}'. {hint}There are: {', '.join(p.stem for p in paths)}."
    )


def read(path: Path) -> Notebook:
    """A notebook's parameters, from its one cell tagged `parameters`.

    Raises:
        DataError: The file is not a notebook.
        ParameterError: It tags several cells, or its parameters cell is not one.
    """
    tagged = [
        _source(cell) for cell in cells(path) if "parameters" in cell.get("metadata", {}).get("tags", [])
    ]
    if len(tagged) > 1:
        raise ParameterError(f"{path}: {len(tagged)} cells are tagged 'parameters'; there should be one.")
    return Notebook(path, parse_cell(tagged[0], path.name) if tagged else {})


def cells(path: Path) -> list[dict[str, Any]]:
    """A notebook's cells as its JSON has them.

    Read here without `nbformat`, whose import alone takes a second.

    Raises:
        DataError: The file is not a notebook of format 4.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except OSError as error:
        raise DataError(f"The notebook cannot be read ({error.strerror}).", file=path) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _no_notebook(path, f"{type(error).__name__}: {error}") from error
    if not isinstance(found, list):
        raise _no_notebook(path, f"its cells are no list but {type(found).__name__}")
    for number, cell in enumerate(found, start=1):
        if problem := _wrong(cell):
            raise _no_notebook(path, f"cell {number} {problem}")
    return found


def _wrong(cell: object) -> str:
    """What keeps a cell from being read; empty for nothing."""
    if not isinstance(cell, dict):
        return f"is no object but {type(cell).__name__}"
    metadata = cell.get("metadata", {})
    if not isinstance(metadata, dict) or not isinstance(metadata.get("tags", []), list):
        return "has metadata or tags of another form"
    source = cell.get("source", "")
    lines = [source] if isinstance(source, str) else source
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return "has a source that is no text"
    return ""


def _no_notebook(path: Path, why: str) -> DataError:
    return DataError(
        f"This is not a notebook of format 4 ({why}).",
        file=path,
        hint="Restore it with git, or save it anew from JupyterLab.",
    )


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)
