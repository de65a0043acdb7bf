"""Reading files so that a failure names the file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from driftlab.core.errors import DataError


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        DataError: The file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"This file cannot be read ({error.strerror}).", file=path) from error


def parse_json(content: bytes, path: Path) -> Any:
    """The value that a file's content stands for; `path` is for the error.

    Raises:
        DataError: The content is not JSON, for example because it was cut short, or it has a field twice.
    """

    def unique(fields: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(fields)
        if len(found) < len(fields):
            (twice, _), *_ = Counter(name for name, _ in fields).most_common(1)
            raise DataError(
                "An object has this field more than once.",
                file=path,
                record=str(found["id"]) if "id" in found else None,
                field=twice,
                hint="Keep the right one.",
            )
        return found

    try:
        return json.loads(content, object_pairs_hook=unique)
    except RecursionError as error:
        raise DataError(
            "This JSON is nested too deeply to be read.",
            file=path,
            hint="It is damaged: get it again from where it came.",
        ) from error
    except ValueError as error:
        raise DataError(
            f"This is not complete JSON ({error}).",
            file=path,
            hint="It was cut short or damaged: get it again from where it came.",
        ) from error
