"""Values as people type them: on the command line and in a scale's file.

YAML 1.1, which PyYAML and papermill read, takes `010` for 8, `1:30` for 90 and `yes` for true. Here YAML
has the scalars of YAML 1.2 (`010` is 10, `1e-3` a number, `yes` and `1:30` are text), and `1_000` is 1000.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic.fields import FieldInfo

from driftlab.core.errors import ParameterError
from driftlab.notebooks.parameters import has_type


class _Loader(yaml.SafeLoader):
    """Safe YAML with the scalars of YAML 1.2, and underscores between digits."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  PyYAML's own


_DIGITS = r"[0-9]+(_[0-9]+)*"
_SCALARS = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"[tT]rue|TRUE|[fF]alse|FALSE", list("tTfF")),
    "int": (rf"[-+]?{_DIGITS}", list("-+0123456789")),
    "float": (
        rf"[-+]?(\.[0-9]+|{_DIGITS}(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
}
"""For each type its form, and the characters that it begins with."""

for _type, (_form, _first) in _SCALARS.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_type}", re.compile(rf"(?:{_form})$"), _first)
_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(str(node.value)))


def parse_value(text: str, field: FieldInfo | None) -> Any:
    """A value from the command line: text where text is wanted, YAML otherwise.

    Args:
        text: As typed.
        field: The parameter; None where there is none of its name.
    """
    try:
        value = yaml.load(text, Loader=_Loader)  # a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return text
    return text if field and not has_type(field, value) and has_type(field, text) else value


def read_scale_file(path: Path) -> dict[str, Any]:
    """The parameters that a scale's file gives, by name.

    Raises:
        ParameterError: It is not there, cannot be read, is not a mapping of names to values, or has a value
            that papermill, which may also be given this file, would read as another.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content, for_papermill = yaml.load(text, Loader=_Loader), yaml.safe_load(text)
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
    if not isinstance(content, dict):
        raise ParameterError(f"{path} should map parameter names to values, and {{}} where there are none.")
    if wrong := [name for name in content if not isinstance(name, str)]:
        raise ParameterError(
            f"{path}: {wrong[0]!r} is not a parameter's name; YAML does not read it as text."
        )
    for name, value in content.items():
        other = for_papermill.get(name)
        if repr(value) != repr(other):  # repr: 1, 1.0 and true are equal
            raise ParameterError(
                f"{path}: '{name}' can be read in two ways, as {value!r} or (papermill) as {other!r}. "
                f"Write {yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}."
            )
    return content
