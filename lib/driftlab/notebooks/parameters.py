"""The base of the parameter models: one pydantic model per notebook, in its paper's `parameters.py`.

A field's annotation says its type, its meaning and group, and its limit. Its default is the demo's value:

    Epochs = Annotated[int, protocol("full-batch steps per task (paper: 100)"), Between(1)]

    class TaskOrder(CglRuns):
        epochs: Epochs = 50
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from driftlab.core.errors import ParameterError
from driftlab.core.limits import Limit
from driftlab.core.suggestions import did_you_mean

Group = Literal["question", "protocol", "machine"]

GROUPS: dict[Group, str] = {
    "question": "what is compared, and on which data",
    "protocol": "how it is trained and evaluated",
    "machine": "where it runs and where files lie; results do not depend on it",
}
"""The groups of a parameters cell, in order, with what they are about."""


@dataclass(frozen=True)
class Meaning:
    """The meaning of a parameter, in one line.

    Attributes:
        text: The comment beside it in the notebook.
        group: Its group in the parameters cell.
    """

    text: str
    group: Group


def question(text: str) -> Meaning:
    """The meaning of a parameter that says what is compared."""
    return Meaning(text, "question")


def protocol(text: str) -> Meaning:
    """The meaning of a parameter that says how it is trained and evaluated."""
    return Meaning(text, "protocol")


def machine(text: str) -> Meaning:
    """The meaning of a parameter on which results do not depend."""
    return Meaning(text, "machine")


class Checked(BaseModel):
    """Values that are taken as they are: an `int` is a `float`, and nothing else is converted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, protected_namespaces=())

    @field_validator("*", mode="after")
    @classmethod
    def _within_its_limit(cls, value: Any, info: ValidationInfo) -> Any:
        limit = limit_of(cls.model_fields[str(info.field_name)])
        if limit and value is not None and (problem := limit.problem(value)):
            raise ValueError(problem)
        return value

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Every field's default, by name."""
        return {
            name: field.get_default(call_default_factory=True)  # a copy, where it is a list or a mapping
            for name, field in cls.model_fields.items()
            if not field.is_required()
        }


class NotebookParameters(Checked):
    """The parameters of a notebook; the defaults are the demo scale's values."""

    @classmethod
    def grouped(cls) -> dict[Group, list[str]]:
        """The names of each group's parameters, in the order of the parameters cell."""
        meanings = {name: meaning_of(field) for name, field in cls.model_fields.items()}
        return {group: [name for name, one in meanings.items() if one.group == group] for group in GROUPS}


def meaning_of(field: FieldInfo) -> Meaning:
    """A field's meaning and group; the last one where an alias is given another meaning."""
    return [item for item in field.metadata if isinstance(item, Meaning)][-1]


def limit_of(field: FieldInfo) -> Limit | None:
    """A field's limit; None where every value of its type is possible."""
    return next((item for item in field.metadata if isinstance(item, Limit)), None)


def check_values(model: type[Checked], values: Mapping[str, Any], owner: str, where: str = "") -> None:
    """Hold values against a model; what is left out has its default.

    Args:
        model: Declares them.
        values: By name.
        owner: Whose parameters they are, for the error: "41_cgl_task_order".
        where: What the error begins with, such as the file that the values stand in.

    Raises:
        ParameterError: A name is unknown (says the nearest), a value is of another type or impossible, or
            values do not go together.
    """
    defaults = model.defaults()
    # What is as declared is not looked at: that may need an import of PyTorch. 1, 1.0 and True are equal.
    changed = {
        name: value
        for name, value in values.items()
        if name not in defaults or repr(value) != repr(defaults[name])
    }
    try:
        model.model_validate(changed)
    except ValidationError as error:
        raise ParameterError(where + _first_problem(error, model, values, owner)) from error


def has_type(field: FieldInfo, value: object) -> bool:
    """Whether a value is of a field's type, possible or not."""
    annotation: Any = field.annotation
    try:
        TypeAdapter(annotation, config=ConfigDict(strict=True)).validate_python(value)
    except ValidationError:
        return False
    return True


def _first_problem(
    error: ValidationError, model: type[Checked], values: Mapping[str, Any], owner: str
) -> str:
    # An unknown name first: what else is wrong often follows from it.
    details = sorted(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")[0]
    reason = str(details.get("ctx", {}).get("error", details["msg"]))
    if not details["loc"]:
        return f"{owner}: {reason}."
    name = str(details["loc"][0])
    if details["type"] == "extra_forbidden":
        known = list(model.model_fields)
        hint = did_you_mean(name, known)
        return f"{owner} has no parameter '{name}'. {hint}Its parameters: {', '.join(known) or 'none'}."
    if details["type"] == "missing":
        return f"{owner}'s parameter '{name}' is missing."
    if details["type"] == "value_error":
        return f"{owner}'s parameter '{name}' {reason}{'' if reason.endswith('?') else '.'}"
    field = model.model_fields[name]
    default = "" if field.is_required() else f", as its default {field.get_default()!r} is"
    wanted = type_words(field.annotation)
    return f"{owner}'s parameter '{name}' cannot be {values[name]!r}: it should be {wanted}{default}" + (
        f"; write {int(values[name])}."
        if _is_whole(values[name]) and has_type(field, int(values[name]))
        else "."
    )


def _is_whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer()


_WORDS: dict[Any, tuple[str, str]] = {
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("text", "texts"),
    bool: ("true or false", "true or false"),
    type(None): ("null", "null"),
    list: ("a list", "lists"),
    dict: ("a mapping", "mappings"),
}


def type_words(annotation: Any, plural: bool = False) -> str:
    """A type in words: "a whole number", "a list of whole numbers".

    Args:
        annotation: Made of int, float, str, bool, None, list, dict, unions and literals.
        plural: Whether there are several: "whole numbers".
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_words(inner[0], plural)
    if origin in (Union, types.UnionType):
        return " or ".join(type_words(one, plural) for one in inner)
    if origin is Literal:
        return ("" if plural else "one of ") + ", ".join(map(str, inner))
    words = _WORDS.get(origin or annotation, ("a value", "values"))[plural]
    if origin is dict and inner:
        return f"{words} of names to {type_words(inner[1], True)}"
    return f"{words} of {type_words(inner[0], True)}" if origin is list and inner else words
