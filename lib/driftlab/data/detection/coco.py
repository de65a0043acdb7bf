"""Images and boxes in COCO's layout (Lin et al., ECCV 2014): one JSON file, and a folder of images."""

from __future__ import annotations

import hashlib
import reprlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.provenance import Kind, Source
from driftlab.data import markers
from driftlab.data.detection.boxes import OVERHANG, corners, fitted
from driftlab.data.detection.images import image_size
from driftlab.data.detection.pictures import Picture, detection_set
from driftlab.data.detection.records import DetectionSet
from driftlab.data.files import parse_json, read_bytes


def load_coco(
    annotations: Path | str,
    images: Path | str,
    *,
    categories: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
    name: str = "coco",
) -> DetectionSet:
    """Read a dataset in COCO's detection layout. Every file is read once; pixels are not decoded.

    Args:
        annotations: The JSON file with `images`, `annotations` (`bbox` is x, y, width, height in pixels) and
            `categories`.
        images: The folder in which the pictures' `file_name` are.
        categories: Keep the boxes of these categories only, labelled in this order; None for all, in the
            order of their ids. A picture without any box stays.
        only: Keep the pictures of these `file_name` only, in this order; None for all, in the file's order.
        name: The dataset's name, for captions.

    Returns:
        A set whose source is a subset, or synthetic if a world's marker lies beside the JSON file.

    Raises:
        DataError: Something does not hold what the layout promises; the text names file, record and field.
        ParameterError: A category or a picture is chosen that is not there, or is chosen twice.
    """
    path, folder = Path(annotations), Path(images)
    content = read_bytes(path)
    tables = _tables(parse_json(content, path), path)
    labels, names = _labels(tables["categories"], path, categories)
    digest = hashlib.sha256(f"{names} {list(only or ())} {len(content)}\n".encode() + content)
    pictures = _pictures(tables["images"], path, folder, only, digest)
    known = {record["id"] for record in tables["images"]}
    left_out = _fill(tables["annotations"], path, pictures, known, labels)
    marker = markers.read_marker(path.parent)
    kind: Kind = "synthetic" if marker else "subset"
    boxes = sum(len(picture.boxes) for picture in pictures.values())
    detail = f"{len(pictures):,} pictures, {boxes:,} boxes" + (f", {marker.caption}" if marker else "")
    notes = []
    if left_out:
        notes.append(f"{left_out} boxes of {len(labels) - len(names)} categories left out")
    cut = sum(picture.cut for picture in pictures.values())
    if cut:
        notes.append(
            f"{cut} boxes stood out of their picture, by {OVERHANG:.0%} of its side at most, and were cut"
        )
    source = Source(kind, name, detail, digest.hexdigest())
    return detection_set(list(pictures.values()), names, source, tuple(notes))


def _tables(content: Any, path: Path) -> dict[str, list[dict[str, Any]]]:
    """The three lists of the file, each a list of objects with unique ids."""
    if not isinstance(content, dict):
        raise DataError("This must be one JSON object.", file=path)
    for table in ("images", "annotations", "categories"):
        records = content.get(table)
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            raise DataError("This must be a list of objects.", file=path, field=table)
        seen: set[int] = set()
        for place, record in enumerate(records):
            number = record.get("id")
            if type(number) is not int:
                problem = f"The id must be an integer, not {reprlib.repr(number)}."
                raise DataError(problem, file=path, record=place, field=f"{table}.id")
            if number in seen:
                raise DataError("This id occurs twice.", file=path, record=place, field=f"{table}.id")
            seen.add(number)
    if not content["images"]:
        raise DataError("There is no picture.", file=path, field="images")
    return content


def _labels(
    records: list[dict[str, Any]], path: Path, chosen: Sequence[str] | None
) -> tuple[dict[int, int | None], tuple[str, ...]]:
    """Labels by category id (None for what is not chosen), and names by label."""
    names: dict[int, str] = {}
    for record in sorted(records, key=lambda record: int(record["id"])):
        names[record["id"]] = _name(record, "name", names.values(), path, "categories")
    if chosen is None:
        return {number: label for label, number in enumerate(names)}, tuple(names.values())
    _require_chosen(list(chosen), list(names.values()), "category", path)
    labels = {number: chosen.index(name) if name in chosen else None for number, name in names.items()}
    return labels, tuple(chosen)


def _name(record: dict[str, Any], field: str, taken: Collection[str], path: Path, table: str) -> str:
    """A record's name, which must be text that no other record has.

    Raises:
        DataError: It is not.
    """
    name = record.get(field)

    def fault(problem: str) -> DataError:
        return DataError(problem, file=path, record=record["id"], field=f"{table}.{field}")

    if not isinstance(name, str) or not name:
        raise fault(f"This must be a name, not {reprlib.repr(name)}.")
    if name in taken:
        raise fault(f"{name!r} occurs twice.")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise fault(f"This is not valid text: {name!a}.") from error
    return name


def _pictures(
    records: list[dict[str, Any]], path: Path, folder: Path, only: Sequence[str] | None, digest: hashlib._Hash
) -> dict[int, Picture]:
    """The chosen pictures by id, in the order of `only`."""
    by_name: dict[str, dict[str, Any]] = {}
    for record in records:
        by_name[_name(record, "file_name", by_name, path, "images")] = record
    if only is not None:
        _require_chosen(list(only), list(by_name), "picture", path)
    pictures = {}
    for name in by_name if only is None else only:
        record, file = by_name[name], folder / name
        image = read_bytes(file)
        digest.update(f"{name} {len(image)}\n".encode() + image)
        size, stated = image_size(image, file), (record.get("width"), record.get("height"))
        if stated != size:
            raise DataError(
                f"The image {file} is {size[0]} x {size[1]}, and this says {stated[0]!r} x {stated[1]!r}.",
                file=path,
                record=record["id"],
                field="images.width, height",
                hint="Boxes of another size would be wrong; use the image that was annotated.",
            )
        pictures[int(record["id"])] = Picture(name, file, size)
    return pictures


def _fill(
    records: list[dict[str, Any]],
    path: Path,
    pictures: dict[int, Picture],
    known: set[int],
    labels: dict[int, int | None],
) -> int:
    """Add each picture's boxes to it; returns how many boxes were of categories not chosen."""
    left_out = 0
    for record in records:

        def fault(problem: str, name: str, hint: str | None = None, number: int = record["id"]) -> DataError:
            return DataError(problem, file=path, record=number, field=f"annotations.{name}", hint=hint)

        owner, category = record.get("image_id"), record.get("category_id")
        if type(owner) is not int or owner not in known:
            raise fault(f"There is no image {reprlib.repr(owner)}.", "image_id")
        if type(category) is not int or category not in labels:
            raise fault(f"There is no category {reprlib.repr(category)}.", "category_id")
        crowd = record.get("iscrowd", 0)
        if crowd not in (0, 1):
            raise fault(f"This must be 0 or 1, not {reprlib.repr(crowd)}.", "iscrowd")
        if owner not in pictures:
            continue
        label, picture = labels[category], pictures[owner]
        box = record.get("bbox")
        if not isinstance(box, list) or len(box) != 4:
            raise fault(f"This must be x, y, width, height, not {reprlib.repr(box)}.", "bbox")
        names = ("bbox[0]", "bbox[1]", "bbox[2]", "bbox[3]")
        x, y, width, height = corners(dict(zip(names, box, strict=True)), names, fault)
        fits, repaired = fitted((x, y, x + width, y + height), picture.size, ("bbox[2]", "bbox[3]"), fault)
        if label is None:
            left_out += 1
            continue
        picture.boxes.append(fits)
        picture.labels.append(label)
        picture.crowd.append(bool(crowd))
        picture.cut += repaired
    return left_out


def _require_chosen(chosen: list[str], names: list[str], what: str, path: Path) -> None:
    unknown = [name for name in chosen if name not in names]
    if unknown or not chosen or len(set(chosen)) != len(chosen):
        problem = f"there is no {what} {unknown[0]!r}" if unknown else f"each {what} must be chosen once"
        raise ParameterError(
            f"{path}: {problem}; {chosen[:5]} was chosen of {len(names)}, such as {names[:5]}."
        )
