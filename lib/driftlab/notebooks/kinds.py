"""What values a parameter takes, written as Python writes types: `int`, `list[str]`, `float | None`.

The kind is the parameter's annotation or, where it has none, is read off its default. Kinds are read with
`ast` and never evaluated.
"""

from __future__ import annotations

import ast
from typing import Any

_ANY_SCALAR = "str | int | float | None"
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "None": "null",
    "list": "a list",
    "dict": "a mapping",
}


def kind_of(default: object) -> str:
    """The kind that a default value implies: a list by its elements, `None` as any text or number."""
    match default:
        case None:
            return _ANY_SCALAR
        case bool() | int() | float() | str():
            return type(default).__name__
        case list() | tuple():
            inner = _common(list(default))
            return f"list[{inner}]" if inner else "list"
        case dict():
            inner = _common(list(default.values()))
            return f"dict[{_common(list(default)) or 'str'}, {inner}]" if inner else "dict"
    raise ValueError(f"a {type(default).__name__} cannot be a parameter")


def _common(values: list[object]) -> str:
    """The one kind of all these values, or an empty string where there is none."""
    kinds = {kind_of(value) for value in values}
    if kinds == {"int", "float"}:
        return "float"
    return kinds.pop() if len(kinds) == 1 else ""


def fits(value: object, kind: str) -> bool:
    """Whether a value is of a kind. An `int` is a `float`; a `bool` is neither.

    Raises:
        ValueError: The kind is none that a parameter can have.
    """
    return _fits(value, ast.parse(kind, mode="eval").body)


def _fits(value: Any, kind: ast.expr) -> bool:
    match kind:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _fits(value, left) or _fits(value, right)
        case ast.Constant(value=None):
            return value is None
        case ast.Name(id="float"):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case ast.Name(id="int"):
            return isinstance(value, int) and not isinstance(value, bool)
        case ast.Name(id="str"):
            return isinstance(value, str)
        case ast.Name(id="bool"):
            return isinstance(value, bool)
        case ast.Name(id="list" | "tuple"):
            return isinstance(value, (list, tuple))
        case ast.Name(id="dict"):
            return isinstance(value, dict)
        case ast.Subscript(value=ast.Name(id="Literal")):
            return any(value == choice and type(value) is type(choice) for choice in _choices(kind))
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return isinstance(value, (list, tuple)) and all(_fits(element, inner) for element in value)
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, inner])):
            return isinstance(value, dict) and all(
                _fits(name, key) and _fits(element, inner) for name, element in value.items()
            )
    raise ValueError(f"'{ast.unparse(kind)}' is not a kind of parameter")


def choices(kind: str) -> list[str]:
    """Every value that the `Literal`s of a kind admit, as text; empty where it has none."""
    found = [node for node in ast.walk(ast.parse(kind, mode="eval")) if isinstance(node, ast.Subscript)]
    literals = [node for node in found if isinstance(node.value, ast.Name) and node.value.id == "Literal"]
    return [str(choice) for literal in literals for choice in _choices(literal)]


def _choices(literal: ast.Subscript) -> list[Any]:
    inner = literal.slice
    return [ast.literal_eval(part) for part in (inner.elts if isinstance(inner, ast.Tuple) else [inner])]


def describe(kind: str) -> str:
    """A kind in words, for an error message: `list[int]` is "a list (list[int])"."""
    if kind in _WORDS:
        return _WORDS[kind]
    allowed = choices(kind)
    head = kind.split("[")[0]
    if allowed and head == "Literal":
        return f"one of {', '.join(allowed)}"
    if allowed:
        return f"{_WORDS.get(head, kind)} of {', '.join(allowed)}"
    if " | " in kind and "[" not in kind:
        return " or ".join(_WORDS.get(part, part) for part in kind.split(" | "))
    return f"{_WORDS[head]} ({kind})" if head in _WORDS else kind
