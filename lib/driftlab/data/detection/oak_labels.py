"""OAK's label files and its map of categories."""

from __future__ import annotations

import itertools
import reprlib
from pathlib import Path
from typing import Any

from driftlab.core.errors import DataError
from driftlab.data.detection.boxes import Box, corners, fitted
from driftlab.data.files import parse_json, read_bytes

MAPPING_FILE = "mapping.json"
_FIELDS = ("x1", "y1", "x2", "y2")


def read_categories(path: Path) -> tuple[str, ...]:
    """Read the names of a category map `{name: id}`, ordered by id.

    Raises:
        DataError: The file is absent or no map, or the ids are not 0, 1, 2, …, each once.
    """
    if not path.is_file():
        raise DataError(
            "The map from category names to ids is missing.",
            file=path,
            hint="It is object_detection/detectron2/otherfile/mapping.json of github.com/oakdata/benchmark.",
        )
    mapping = parse_json(read_bytes(path), path)
    if not isinstance(mapping, dict) or not mapping:
        raise DataError('This must be an object {"name": id, …}.', file=path)
    for name, number in mapping.items():
        if type(number) is not int or not 0 <= number < len(mapping):
            raise DataError(
                f"The id of one of {len(mapping)} categories must be an integer from 0 to "
                f"{len(mapping) - 1}, not {reprlib.repr(number)}.",
                file=path,
                record=name,
            )
    names = sorted(mapping, key=lambda name: int(mapping[name]))
    for earlier, later in itertools.pairwise(names):
        if mapping[earlier] == mapping[later]:
            raise DataError(f"{earlier!r} has the same id, {mapping[later]}.", file=path, record=later)
    return tuple(names)


def read_labels(
    path: Path, content: bytes, size: tuple[int, int], categories: dict[str, int]
) -> tuple[list[Box], list[int], int]:
    """Read the boxes of one frame.

    Args:
        path: The label file, for errors.
        content: Its bytes: a list of `{"id", "category", "box2d": {"x1", "y1", "x2", "y2"}}`, pixels.
        size: Width and height of the frame in pixels.
        categories: Labels by category name.

    Returns:
        Boxes, their labels, and how many boxes stood out of the frame and were cut (see `boxes.OVERHANG`).

    Raises:
        DataError: Something is not as it should be; the text names file, box (from 0) and field.
    """
    entries = parse_json(content, path)
    if not isinstance(entries, list):
        raise DataError(f"A label file must hold a list of boxes, not {_kind(entries)}.", file=path)
    boxes, labels, cut = [], [], 0
    for index, entry in enumerate(entries):
        box, label, repaired = _box(path, index, entry, size, categories)
        boxes.append(box)
        labels.append(label)
        cut += repaired
    return boxes, labels, cut


def _box(
    path: Path, index: int, entry: Any, size: tuple[int, int], categories: dict[str, int]
) -> tuple[Box, int, bool]:
    def fault(problem: str, field: str | None, hint: str | None = None) -> DataError:
        return DataError(problem, file=path, record=index, field=field, hint=hint)

    if not isinstance(entry, dict):
        raise fault(f"A box must be an object, not {_kind(entry)}.", None)
    for field in ("category", "box2d"):
        if field not in entry:
            raise fault("This field is missing.", field)
    name = entry["category"]
    if not isinstance(name, str) or name not in categories:
        raise fault(
            f"There is no category {reprlib.repr(name)}.",
            "category",
            f"Add it to {MAPPING_FILE} with the next id, or correct the label.",
        )
    if not isinstance(entry["box2d"], dict):
        raise fault(
            f"This must be an object with {', '.join(_FIELDS)}, not {_kind(entry['box2d'])}.", "box2d"
        )

    def corner_fault(problem: str, field: str, hint: str | None) -> DataError:
        return fault(problem, f"box2d.{field}", hint)

    box = corners(entry["box2d"], _FIELDS, corner_fault)
    fits, repaired = fitted(box, size, ("x2", "y2"), corner_fault)
    return fits, categories[name], repaired


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", type(None): "null"}.get(type(value), repr(value))
