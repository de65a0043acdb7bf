"""Other values than a notebook's own: its scale's file, the command line, a plain papermill call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from driftlab.core.errors import ParameterError
from driftlab.core.paths import project_root
from driftlab.notebooks.declared import Declared, declaration
from driftlab.notebooks.files import Notebook, find_path, read
from driftlab.notebooks.hush import hush
from driftlab.notebooks.parameters import check_values
from driftlab.notebooks.typed import parse_value, read_scale_file

Scale = Literal["smoke", "demo", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "demo", "paper")

SAID_BY_RESULTS = {"scale", "data"}
"""Parameters that every result names itself, so that they are no change of a scale."""


def resolve(
    notebook: Notebook,
    scale: Scale,
    given: Iterable[tuple[str, str]] = (),
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The values that differ from the notebook's cell: its scale's file, then options, then given ones.

    Args:
        notebook: Whose parameters.
        scale: `demo` is the notebook as it stands; the others read `params/<scale>/NAME.yaml`.
        given: Names and values as text, in YAML; the notebook must have each.
        options: Values for the parameters of these names, where the notebook has them.

    Raises:
        ParameterError: A name is unknown, a value is of another type or impossible, values do not go
            together, or the scale's file is not there.
    """
    from_file: dict[str, Any] = {}
    if scale != "demo":
        path = scale_file(notebook.declared, scale)
        from_file = read_scale_file(path)
        check(notebook, from_file, path)
    fields = notebook.declared.model.model_fields
    from_options = {name: value for name, value in (options or {}).items() if name in fields}
    from_user = {name: parse_value(text, fields.get(name)) for name, text in given}
    merged = from_file | from_options | from_user
    check(notebook, notebook.values | merged)
    return {name: value for name, value in merged.items() if value != notebook.values[name]}


def check(notebook: Notebook, values: Mapping[str, Any], where: str | Path = "") -> None:
    """Hold values against the notebook's parameters.

    Args:
        notebook: Whose parameters.
        values: By name; what is left out has the demo scale's value.
        where: The file that they stand in, for the error.

    Raises:
        ParameterError: As `driftlab.notebooks.parameters.check_values`.
    """
    check_values(notebook.declared.model, values, notebook.name, f"{where}: " if where else "")


def scale_file(declared: Declared, scale: str) -> Path:
    """The file with the parameters of a scale other than the demo."""
    return project_root() / "params" / scale / f"{declared.name}.yaml"


def scale_values(declared: Declared, scale: str) -> dict[str, Any]:
    """Every parameter's value at a scale, whatever is saved in the notebook's file.

    Args:
        declared: The notebook's parameters.
        scale: `demo` has the models' defaults; a scale without a file has the demo's values.
    """
    path = scale_file(declared, scale)
    from_file = read_scale_file(path) if scale != "demo" and path.is_file() else {}
    return {"scale": scale} | declared.model.defaults() | from_file


def changes(declared: Declared, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that differ from those of the scale that they name, and that results depend on.

    Args:
        declared: The notebook's parameters.
        values: All of them, by name; `scale` among them.
    """
    expected = scale_values(declared, str(values.get("scale", "demo")))
    ignored = SAID_BY_RESULTS | set(declared.model.grouped()["machine"])
    return {
        name: value
        for name, value in values.items()
        if name in expected and name not in ignored and value != expected[name]
    }


def check_parameters(name: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Check the parameters of a running notebook: the first line after its parameters cell.

        parameters = check_parameters("41", globals())

    It catches what plain papermill and JupyterLab let through: a value of another type, an impossible one,
    and a name that papermill injected although the notebook has no such parameter.

    Args:
        name: The notebook's number or name.
        namespace: The notebook's `globals()`.

    Returns:
        The parameters' values, by name, and under `changed` those that differ from the scale's own.

    Raises:
        ParameterError: As `check`, or the cell does not assign a parameter.
    """
    hush()
    path = find_path(name)
    declared = declaration(path.stem) or read(path).declared
    names = declared.model.model_fields
    # papermill writes its values into a cell of its own, under this comment; IPython keeps cells in `In`.
    injected = [cell for cell in namespace.get("In", []) if cell.startswith("# Parameters\n")]
    assignments = [node for cell in injected for node in ast.parse(cell).body if isinstance(node, ast.Assign)]
    targets = [target.id for node in assignments for target in node.targets if isinstance(target, ast.Name)]
    check_values(declared.model, {word: None for word in targets if word not in names}, declared.name)
    if missing := [word for word in names if word not in namespace]:
        raise ParameterError(
            f"{declared.name}: its parameters cell does not assign {', '.join(missing)}, or was not run. "
            f"Run it, or restore it from `driftlab params {declared.name[:2]} --cell`."
        )
    values = {word: namespace[word] for word in names}
    check_values(declared.model, values, declared.name)
    return values | {"changed": changes(declared, values)}
