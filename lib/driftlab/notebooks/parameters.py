"""The `parameters`-tagged cell of a notebook, read without executing it."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftlab.core.errors import ParameterError
from driftlab.notebooks.kinds import fits, kind_of


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell.

    Attributes:
        name: The variable.
        default: Its value in the notebook, which is the demo scale's.
        kind: The values it takes (`driftlab.notebooks.kinds`): its annotation, or what its default implies.
        comment: The comment beside it, or the ones directly above it.
    """

    name: str
    default: Any
    kind: str
    comment: str


def parse_cell(source: str, notebook: str | Path) -> dict[str, Parameter]:
    """The parameters that a cell assigns, by name, in order.

    Args:
        source: The cell: assignments of literals, with or without annotations, and comments. Imports are
            allowed (for `Literal`) and ignored.
        notebook: Named in errors.

    Raises:
        ParameterError: The cell holds anything else, or a default that its own annotation refuses.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise ParameterError(
            f"{notebook}: line {error.lineno} of the parameters cell is not Python ({error.msg})."
        ) from error
    comments = _comments(source)
    found: dict[str, Parameter] = {}
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
            default = ast.literal_eval(value)
        except ValueError as error:
            raise _refused(notebook, statement, "its value should be a literal") from error
        try:
            kind = ast.unparse(annotation) if annotation else kind_of(default)
            if not fits(default, kind):
                raise ValueError(f"its default is not of its own kind, {kind}")
        except ValueError as error:
            raise _refused(notebook, statement, str(error)) from error
        found[name] = Parameter(name, default, kind, _comment_of(statement, comments))
    return found


def _refused(notebook: str | Path, statement: ast.stmt, reason: str) -> ParameterError:
    line = ast.unparse(statement).splitlines()[0]
    return ParameterError(
        f"{notebook}: the parameters cell cannot hold `{line}` (line {statement.lineno}): {reason}."
    )


def _comments(source: str) -> dict[int, tuple[bool, str]]:
    """Comments by line number: whether code stands before it on the line, and its text."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: (bool(token.line[: token.start[1]].strip()), token.string.lstrip("#: ").rstrip())
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _comment_of(statement: ast.stmt, comments: dict[int, tuple[bool, str]]) -> str:
    last = statement.end_lineno or statement.lineno
    beside = [comments[line][1] for line in range(statement.lineno, last + 1) if line in comments]
    if beside:
        return " ".join(beside)
    above: list[str] = []
    line = statement.lineno - 1
    while line in comments and not comments[line][0]:
        above.insert(0, comments[line][1])
        line -= 1
    return " ".join(above)
