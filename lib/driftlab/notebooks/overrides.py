"""Other values than a notebook's own: its scale's file, the command line, a plain papermill call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml

from driftlab.core.errors import ParameterError
from driftlab.core.paths import project_root
from driftlab.core.suggestions import nearest
from driftlab.notebooks.files import Notebook, find
from driftlab.notebooks.hush import hush
from driftlab.notebooks.kinds import choices, describe, fits
from driftlab.notebooks.limits import broken_limit
from driftlab.notebooks.parameters import Parameter

Scale = Literal["smoke", "demo", "paper"]

WITHOUT_EFFECT = {"scale", "data", "data_folder", "engine", "jobs", "replicas"}
"""On results, or (scale and data) said by every result itself."""


def resolve(
    notebook: Notebook,
    scale: Scale,
    given: Iterable[tuple[str, str]] = (),
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The values that differ from the notebook's own: its scale's file, then options, then what was given.

    Args:
        notebook: Whose parameters.
        scale: `demo` is the notebook as it stands; the others read `params/<scale>/NAME.yaml`.
        given: Names and values as text, in YAML; the notebook must have each.
        options: Values for the parameters of these names, where the notebook has them.

    Raises:
        ParameterError: A name is unknown, a value is of the wrong kind, or the scale's file is not there.
    """
    from_file: dict[str, Any] = {}
    if scale != "demo":
        path = project_root() / "params" / scale / f"{notebook.name}.yaml"
        from_file = _read_file(path)
        check(notebook, from_file, path)
    known = notebook.parameters
    from_options = {name: value for name, value in (options or {}).items() if name in known}
    from_user = {name: _parse(text, known.get(name)) for name, text in given}
    check(notebook, from_options | from_user)
    merged = from_file | from_options | from_user
    return {name: value for name, value in merged.items() if value != known[name].default}


def check(notebook: Notebook, values: Mapping[str, Any], where: str | Path = "") -> None:
    """Hold values against the notebook's parameters cell.

    Args:
        notebook: Whose parameters.
        values: By name.
        where: The file that they stand in, for the error.

    Raises:
        ParameterError: A name that the cell does not have (says the nearest), or a value of another kind.
    """
    known = notebook.parameters
    prefix = f"{where}: " if where else ""
    for name, value in values.items():
        if name not in known:
            raise ParameterError(
                f"{prefix}{notebook.name} has no parameter '{name}'.{_nearest(name, known)} "
                f"Its parameters: {', '.join(known) or 'none'}."
            )
        parameter = known[name]
        if not fits(value, parameter.kind):
            problem = _wrong(value, parameter)
            raise ParameterError(f"{prefix}{notebook.name}'s parameter '{name}' cannot be {problem}.")
        _check_keys(name, value, parameter.default, prefix)
        if words := broken_limit(notebook.name, name, value):
            raise ParameterError(
                f"{prefix}{notebook.name}'s parameter '{name}' has to be {words}, not {value!r}."
            )


def changes(notebook: Notebook, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that differ from what the scale that they name has, and that results depend on.

    Args:
        notebook: Whose parameters.
        values: All of them, by name; `scale` among them.
    """
    own = {name: parameter.default for name, parameter in notebook.parameters.items()}
    path = project_root() / "params" / str(values.get("scale", "demo")) / f"{notebook.name}.yaml"
    if path.is_file():
        own |= _read_file(path)
    return {
        name: value
        for name, value in values.items()
        if name in own and name not in WITHOUT_EFFECT and value != own[name]
    }


def check_parameters(name: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Check the parameters of a running notebook: the first line after its parameters cell.

        parameters = check_parameters("41", globals())

    It catches what plain papermill and JupyterLab let through: a value of the wrong kind, and a name that
    papermill injected although the notebook has no such parameter.

    Args:
        name: The notebook's number or name.
        namespace: The notebook's `globals()`.

    Returns:
        The parameters' values, by name, and under `changed` those that differ from the scale's own.

    Raises:
        ParameterError: As `check`.
    """
    hush()
    (notebook,) = find([name])
    # papermill writes its values into a cell of its own, under this comment; IPython keeps cells in `In`.
    injected = [cell for cell in namespace.get("In", []) if cell.startswith("# Parameters\n")]
    assignments = [node for cell in injected for node in ast.parse(cell).body if isinstance(node, ast.Assign)]
    names = [target.id for node in assignments for target in node.targets if isinstance(target, ast.Name)]
    check(notebook, {word: None for word in names if word not in notebook.parameters})
    values = {word: namespace[word] for word in notebook.parameters if word in namespace}
    check(notebook, values)
    return values | {"changed": changes(notebook, values)}


def _read_file(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ParameterError(
            f"The scale '{path.parent.name}' is not defined for {path.stem}: {path} is not there. "
            "Write the parameters that differ from the notebook's into it, or {} if none does."
        ) from error
    except OSError as error:
        raise ParameterError(f"{path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise ParameterError(f"{path} is not text in UTF-8 ({error}); save it as that.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that is none
        raise ParameterError(f"{path} is not readable YAML ({' '.join(str(error).split())}).") from error
    if not isinstance(found, dict):
        raise ParameterError(f"{path} should map parameter names to values, and {{}} where there are none.")
    if wrong := [name for name in found if not isinstance(name, str)]:
        raise ParameterError(f"{path}: {wrong[0]!r} is not a parameter's name; YAML reads it as no text.")
    return found


def _parse(text: str, parameter: Parameter | None) -> Any:
    """A value from the command line. Text where text is wanted, YAML otherwise."""
    try:
        value = yaml.load(text, Loader=_Loader)  # a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return text
    return text if parameter and not fits(value, parameter.kind) and fits(text, parameter.kind) else value


class _Loader(yaml.SafeLoader):
    """Safe YAML that takes 1e-3 for a number, as everybody but YAML 1.1 does."""


_EXPONENT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+0123456789"))


def _wrong(value: object, parameter: Parameter) -> str:
    expected = describe(parameter.kind)
    near = nearest(str(value), choices(parameter.kind))
    hint = f"; did you mean '{near}'?" if near else ""
    if isinstance(value, str) and _EXPONENT.fullmatch(value) and fits(float(value), parameter.kind):
        hint = f"; YAML reads it as text, write {value.lower().replace('e', '.0e', 1)}"
    return f"{value!r}: it should be {expected}, as its default {parameter.default!r} is{hint}"


def _check_keys(name: str, value: object, default: object, prefix: str) -> None:
    """A mapping may leave out keys of its default but not bring new ones, which nothing would read."""
    if not (isinstance(value, dict) and isinstance(default, dict) and default):
        return
    for key, inner in value.items():
        if key not in default:
            known = [str(one) for one in default]
            raise ParameterError(
                f"{prefix}parameter '{name}' has no entry '{key}'.{_nearest(str(key), known)}"
            )
        _check_keys(f"{name}.{key}", inner, default[key], prefix)


def _nearest(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f" Did you mean '{near}'?" if near else ""
