"""The `parameters`-tagged cell of a notebook: read without executing it, and written from its model."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import create_model

from driftlab.core.errors import ParameterError
from driftlab.notebooks.parameters import GROUPS, Meaning, NotebookParameters, meaning_of

LINE = 100
"""Characters of a line of a cell, above which a mapping has one line per entry."""

COMMON_MACHINE = {"engine", "jobs", "replicas", "data_folder"}
"""Names that belong to the group "machine" also in a notebook that no paper declares."""


@dataclass(frozen=True)
class Assignment:
    """One parameter as a cell has it.

    Attributes:
        value: What is assigned.
        annotation: The type that is written beside the name; None where there is none.
    """

    value: Any
    annotation: ast.expr | None = None


def parse_cell(source: str, notebook: str | Path) -> dict[str, Assignment]:
    """The parameters that a cell assigns, by name, in order.

    Args:
        source: The cell: assignments of literals, with or without annotations, and comments. Imports are
            allowed (for `Literal`) and ignored.
        notebook: Named in errors.

    Raises:
        ParameterError: The cell holds anything else.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise ParameterError(
            f"{notebook}: line {error.lineno} of the parameters cell is not Python ({error.msg})."
        ) from error
    assigned: dict[str, Assignment] = {}
    for statement in tree.body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                annotation: ast.expr | None = None
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value):
                pass
            case _:
                raise _refused(notebook, statement, "it should assign one literal to one name")
        try:
            assigned[name] = Assignment(ast.literal_eval(value), annotation)
        except ValueError as error:
            raise _refused(notebook, statement, "its value should be a literal") from error
    return assigned


def _refused(notebook: str | Path, statement: ast.stmt, reason: str) -> ParameterError:
    line = ast.unparse(statement).splitlines()[0]
    return ParameterError(
        f"{notebook}: the parameters cell cannot hold `{line}` (line {statement.lineno}): {reason}."
    )


def model_of_cell(cell: Mapping[str, Assignment], notebook: str | Path) -> type[NotebookParameters]:
    """A model for a notebook that no paper declares: its own values as defaults, its types, no limits.

    Args:
        cell: From `parse_cell`.
        notebook: Named in errors.

    Raises:
        ParameterError: A value or an annotation has no type that a parameter can have.
    """
    fields: dict[str, Any] = {}
    for name, one in cell.items():
        meaning = Meaning("", "machine" if name in COMMON_MACHINE else "question")
        try:
            wanted = _annotated(one.annotation) if one.annotation else _type_of(one.value)
        except ValueError as error:
            raise ParameterError(
                f"{notebook}: the parameter '{name}' of its parameters cell: {error}."
            ) from error
        fields[name] = (Annotated[wanted, meaning], one.value)
    model: type[NotebookParameters] = create_model("CellParameters", __base__=NotebookParameters, **fields)
    return model


_TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "list": list,
    "dict": dict,
    "Literal": Literal,
}
_TYPE_SYNTAX = (ast.Name, ast.Subscript, ast.Tuple, ast.BinOp, ast.BitOr, ast.Constant, ast.Load)


def _annotated(annotation: ast.expr) -> Any:
    """The type that an annotation writes; nothing but names of types is evaluated."""
    text = ast.unparse(annotation)
    nodes = list(ast.walk(annotation))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if not all(isinstance(node, _TYPE_SYNTAX) for node in nodes) or not names <= set(_TYPES):
        raise ValueError(f"'{text}' is not a type of parameter")
    try:
        return eval(compile(ast.Expression(annotation), "annotation", "eval"), {"__builtins__": {}}, _TYPES)
    except TypeError as error:
        raise ValueError(f"'{text}' is not a type of parameter") from error


def _type_of(value: object) -> Any:
    """The type that a value implies: a list by its elements, `None` as any text or number."""
    match value:
        case None:
            return str | int | float | None
        case bool() | int() | float() | str():
            return type(value)
        case list():
            return list[_common(value)]  # type: ignore[misc]
        case dict():
            return dict[_common(list(value)), _common(list(value.values()))]  # type: ignore[misc]
    raise ValueError(f"a {type(value).__name__} cannot be a parameter")


def _common(values: list[Any]) -> Any:
    """The one type of all these values, or `Any`."""
    wanted = [_type_of(value) for value in values]
    if set(wanted) == {int, float}:
        return float
    return wanted[0] if wanted and all(one == wanted[0] for one in wanted) else Any


def write_cell(model: type[NotebookParameters]) -> str:
    """The parameters cell of a model: groups, values and meanings. A test holds every notebook to it."""
    defaults = model.defaults()
    groups = []
    for group, names in model.grouped().items():
        if names:
            lines = [f"# {group.capitalize()}: {GROUPS[group]}"]
            for name in names:
                lines += _assignment(name, defaults[name], meaning_of(model.model_fields[name]).text)
            groups.append("\n".join(lines))
    return "\n\n".join(groups)


def _assignment(name: str, value: Any, meaning: str) -> list[str]:
    line = f"{name} = {literal(value)}"
    if isinstance(value, dict) and len(line) > LINE:
        entries = [f"    {literal(key)}: {literal(inner)}," for key, inner in value.items()]
        return [f"{name} = {{  # {meaning}", *entries, "}"]
    return [f"{line}  # {meaning}"]


def literal(value: Any) -> str:
    """A value as Python source with double quotes."""
    match value:
        case str():
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{quoted}"'
        case list():
            return f"[{', '.join(map(literal, value))}]"
        case dict():
            return "{" + ", ".join(f"{literal(key)}: {literal(inner)}" for key, inner in value.items()) + "}"
    return repr(value)
