"""Finding notebooks by number or name, and reading what a run needs to know of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.paths import project_root
from driftlab.core.suggestions import did_you_mean
from driftlab.notebooks.cell import model_of_cell, parse_cell
from driftlab.notebooks.declared import Declared, declaration, declared_notebooks
from driftlab.notebooks.parameters import check_values

NAME = re.compile(r"[0-9]{2}_[A-Za-z0-9_]+")
"""A project's notebook; what JupyterLab's Duplicate makes of it, `NAME-Copy1`, is none."""


@dataclass(frozen=True)
class Notebook:
    """A notebook file, as far as it is known before it runs.

    Attributes:
        path: Its file, `notebooks/NN_name.ipynb` or one of the user's own.
        declared: Its parameters, with the demo scale's values.
        values: What its parameters cell assigns, by name.
    """

    path: Path
    declared: Declared
    values: dict[str, Any]

    @property
    def name(self) -> str:
        """The file's name without its ending, e.g. `41_cgl_task_order`."""
        return self.path.stem


def notebook_paths() -> list[Path]:
    """Every numbered notebook of the project, in order of number.

    A copy beside a notebook that a paper declares, with its number, is not one of them: it runs when its
    path is given.

    Raises:
        ParameterError: There is none.
    """
    folder = project_root() / "notebooks"
    paths = sorted(path for path in folder.glob("*.ipynb") if NAME.fullmatch(path.stem))
    taken = {path.stem[:2] for path in paths if path.stem in declared_notebooks()}
    paths = [path for path in paths if path.stem[:2] not in taken or path.stem in declared_notebooks()]
    if not paths:
        raise ParameterError(
            f"There is no notebook NN_name.ipynb in {folder}. Run driftlab from an editable install of a "
            "checkout (pip install -e .), or set DRIFTLAB_ROOT to the checkout's folder."
        )
    return paths


def find(asked: Sequence[str] = ()) -> list[Notebook]:
    """The notebooks that are meant, each once, in order of number; all of them where nothing is asked for.

    Args:
        asked: Numbers ("41"), names with or without the number, unique beginnings of either, or paths of
            files, which need not be the project's.

    Raises:
        ParameterError: One means no notebook or several, or two have the same file name.
        DataError: One is not readable as a notebook.
    """
    paths = [find_path(text) for text in asked] if asked else notebook_paths()
    by_name: dict[str, Path] = {}
    for path in sorted({path.resolve(): path for path in paths}.values(), key=lambda path: (path.stem, path)):
        if path.stem in by_name:
            raise ParameterError(
                f"{by_name[path.stem]} and {path} have the same name, and so would their outputs. "
                "Run them one after the other with different --outputs, or rename one."
            )
        by_name[path.stem] = path
    return [read(path) for path in by_name.values()]


def find_path(asked: str) -> Path:
    """The file of the notebook that is meant.

    Args:
        asked: See `find`. Whatever has a slash or ends in `.ipynb` is a path, from the working directory or
            from the project's root; a bare file name may also be one in the project's `notebooks/`.

    Raises:
        ParameterError: No notebook is meant, or several.
    """
    if "/" in asked or os.sep in asked or asked.endswith(".ipynb"):
        return _existing(asked)
    paths = notebook_paths()
    short = {path: path.stem.split("_", 1)[1] for path in paths}
    exact = [path for path in paths if asked in (path.stem, path.stem[:2], short[path])]
    begins = [path for path in paths if path.stem.startswith(asked) or short[path].startswith(asked)]
    matches = exact or (begins if asked else [])
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ParameterError(
            f"'{asked}' means several notebooks: {', '.join(path.stem for path in matches)}. "
            "Write more of the name."
        )
    names = [name for path in paths for name in (path.stem, short[path], path.stem[:2])]
    hint = did_you_mean(asked, names)
    raise ParameterError(
        f"There is no notebook '{asked}'. {hint}There are: {', '.join(p.stem for p in paths)}."
    )


def _existing(asked: str) -> Path:
    root = project_root()
    folders = [Path.cwd(), root] + ([root / "notebooks"] if Path(asked).name == asked else [])
    try:
        places = [Path(os.path.abspath(folder / Path(asked).expanduser())) for folder in folders]  # noqa: PTH100
    except RuntimeError as error:
        raise ParameterError(f"'{asked}': there is no such home folder ({error}).") from error
    for place in places:
        if place.is_file() and place.suffix == ".ipynb":
            return place
    raise ParameterError(
        f"There is no notebook file {places[0]}. Give an existing .ipynb file, or a number or name."
    )


def read(path: Path) -> Notebook:
    """A notebook with the values of its one cell tagged `parameters`.

    Raises:
        DataError: The file is not a notebook.
        ParameterError: It tags several cells or, though its parameters are declared, none; the cell holds
            something else than parameters, or other names or values than are declared.
    """
    tagged = [
        _source(cell) for cell in cells(path) if "parameters" in cell.get("metadata", {}).get("tags", [])
    ]
    if len(tagged) > 1:
        raise ParameterError(f"{path}: {len(tagged)} cells are tagged 'parameters'; there should be one.")
    declared = declaration(path.stem)
    if declared is None:
        cell = parse_cell(tagged[0], path.name) if tagged else {}
        declared = Declared(path.stem, model_of_cell(cell, path.name))
    elif not tagged:
        raise ParameterError(
            f"{path}: no cell is tagged 'parameters', so that no value could be set. In JupyterLab select "
            "the cell with the parameters, open the Property Inspector and add the cell tag `parameters`; or "
            f"restore the cell from `driftlab params {declared.name[:2]} --cell`."
        )
    else:
        cell = parse_cell(tagged[0], path.name)
    values = {name: assignment.value for name, assignment in cell.items()}
    check_values(declared.model, values, path.stem, f"{path.name}, its parameters cell: ")
    if missing := [name for name in declared.model.model_fields if name not in values]:
        raise ParameterError(
            f"{path}: its parameters cell lacks {', '.join(missing)}. Restore it from "
            f"`driftlab params {declared.name[:2]} --cell`."
        )
    return Notebook(path, declared, values)


def cells(path: Path) -> list[dict[str, Any]]:
    """A notebook's cells as its JSON has them.

    Read here without `nbformat`, whose import alone takes a second.

    Raises:
        DataError: The file is not a notebook of format 4.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except OSError as error:
        raise DataError(f"The notebook cannot be read ({error.strerror}).", file=path) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _no_notebook(path, f"{type(error).__name__}: {error}") from error
    if not isinstance(content, list):
        raise _no_notebook(path, f"its cells are no list but {type(content).__name__}")
    for number, cell in enumerate(content, start=1):
        if problem := _wrong(cell):
            raise _no_notebook(path, f"cell {number} {problem}")
    return content


def _wrong(cell: object) -> str:
    """The reason why a cell cannot be read; empty if it can."""
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
