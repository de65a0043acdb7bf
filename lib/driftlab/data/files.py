"""Reading files so that a failure names the file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driftlab.core.errors import DataError

SYSTEM_FILES = ("__MACOSX", "Thumbs.db", "desktop.ini")


def is_system_file(path: Path) -> bool:
    """Whether an operating system has put a file there: hidden ones such as `._NAME` of macOS, thumbnails."""
    return path.name.startswith(".") or path.name in SYSTEM_FILES


def entries(folder: Path, pattern: str = "*") -> Iterator[Path]:
    """Files and folders of `folder` by name, without those that an operating system has put there.

    Args:
        folder: A folder; one that is not there has no entries.
        pattern: As of `Path.glob`.
    """
    for path in sorted(folder.glob(pattern)) if folder.is_dir() else ():
        if not is_system_file(path):
            yield path


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        DataError: The file cannot be read, or no file can have this name.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"This file cannot be read ({error.strerror}).", file=path) from error
    except ValueError as error:  # a NUL byte or half a surrogate pair in the name
        raise DataError(f"This cannot be a file's name ({error}).", file=repr(str(path))) from error


def parse_json(content: bytes, path: Path) -> Any:
    """The value that a file's content stands for; `path` is for the error.

    Raises:
        DataError: The content is not JSON, for example because it was cut short, or it has a field twice.
    """

    def unique(fields: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(fields)
        if len(record) < len(fields):
            (twice, _), *_ = Counter(name for name, _ in fields).most_common(1)
            raise DataError(
                "An object has this field more than once.",
                file=path,
                record=str(record["id"]) if "id" in record else None,
                field=twice,
                hint="Keep the right one.",
            )
        return record

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
