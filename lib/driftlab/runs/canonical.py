"""Canonical JSON, so that equal configurations have equal hashes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from driftlab.core.errors import ParameterError


def canonical_json(value: Any, what: str = "value") -> bytes:
    """JSON with sorted keys and without white space, ASCII; floats in their shortest exact form.

    A tuple is written as a list. Numbers are kept as they are typed: `1`, `1.0` and `True` are three
    different values here: give each parameter of a configuration one type.

    Args:
        value: None, bool, int, finite float, str, and lists, tuples and string-keyed mappings of these.
        what: Name of the value, for the error's text.

    Raises:
        ParameterError: The value contains something else; the text names the place.
    """
    plain = _plain(value, what)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def as_json(value: Any, what: str = "value") -> Any:
    """A copy of the value as it reads back from its canonical JSON.

    Raises:
        ParameterError: As `canonical_json`.
    """
    return json.loads(canonical_json(value, what))


def _plain(value: Any, place: str) -> Any:
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise ParameterError(
                f"{place} is {value}: only finite numbers can be kept (use null for 'none')."
            )
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ParameterError(f"{place} has the key {key!r}: only strings can be keys.")
        return {key: _plain(item, f"{place}.{key}") for key, item in value.items()}
    raise ParameterError(
        f"{place} is a {type(value).__module__}.{type(value).__qualname__} ({value!r:.60}): only plain "
        "JSON values can be kept (convert NumPy numbers with float() or int(), arrays with tolist())."
    )
