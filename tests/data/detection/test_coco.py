from __future__ import annotations

import copy
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.data.detection.coco import load_coco
from driftlab.data.detection.records import DetectionSet, read_image
from driftlab.data.markers import WorldMarker
from PIL import Image

SOUND: dict[str, Any] = {
    "images": [
        {"id": 5, "file_name": "b.jpg", "width": 100, "height": 50},
        {"id": 2, "file_name": "sub/a.jpg", "width": 40, "height": 60},
        {"id": 9, "file_name": "c.jpg", "width": 100, "height": 50},
    ],
    "annotations": [
        {"id": 1, "image_id": 2, "category_id": 7, "bbox": [1, 2, 3, 4.5], "iscrowd": 0, "area": 13.5},
        {"id": 2, "image_id": 5, "category_id": 3, "bbox": [0, 0, 100, 50], "iscrowd": 0, "area": 5000},
        {"id": 3, "image_id": 2, "category_id": 1, "bbox": [10, 10, 20, 20], "iscrowd": 1, "area": 400},
    ],
    "categories": [{"id": 7, "name": "dog"}, {"id": 1, "name": "person"}, {"id": 3, "name": "car"}],
}


def jpeg(width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height)).save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., DetectionSet]:
    """Writes the pictures and the given annotations (`SOUND` where none), and loads them."""

    def write_and_load(content: object = SOUND, **options: Any) -> DetectionSet:
        for record in SOUND["images"]:
            path = tmp_path / "images" / record["file_name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_bytes(jpeg(record["width"], record["height"]))
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "instances.json").write_text(text)
        return load_coco(tmp_path / "instances.json", tmp_path / "images", **options)

    return write_and_load


def changed(table: str, place: int, **fields: object) -> dict[str, Any]:
    """`SOUND` with fields of one record changed, or taken away where they are None."""
    content = copy.deepcopy(SOUND)
    for field, value in fields.items():
        content[table][place][field] = value
        if value is None:
            del content[table][place][field]
    return content


def test_pictures_in_order_and_categories_by_id(read):
    given = read()
    assert given.names == ("b.jpg", "sub/a.jpg", "c.jpg")
    assert given.categories == ("person", "car", "dog")
    assert given.sizes.tolist() == [[100, 50], [40, 60], [100, 50]]
    assert given.boxes_of(1).tolist() == [[1, 2, 4, 6.5], [10, 10, 30, 30]]
    assert given.labels_of(1).tolist() == [2, 0] and given.crowd_of(1).tolist() == [False, True]
    assert len(given.boxes_of(2)) == 0, "a picture without boxes stays"
    assert given.source.caption == "coco: a real subset (3 pictures, 3 boxes)" and given.notes == ()
    assert read_image(given.images[1]).shape == (60, 40, 3)


def test_chosen_categories_and_pictures(read):
    given = read(categories=["dog", "person"], only=["c.jpg", "sub/a.jpg"])
    assert given.names == ("c.jpg", "sub/a.jpg")
    assert given.categories == ("dog", "person")
    assert given.labels.tolist() == [0, 1] and given.notes == ()
    given = read(categories=["dog"])
    assert given.notes == ("2 boxes of 2 categories left out",) and given.labels.tolist() == [0]


def test_pictures_that_are_not_chosen_need_not_be_there(read, tmp_path):
    read()
    (tmp_path / "images" / "b.jpg").unlink()
    files = tmp_path / "instances.json", tmp_path / "images"
    assert len(load_coco(*files, only=["sub/a.jpg"])) == 1
    with pytest.raises(DataError, match=r"b\.jpg: This file cannot be read"):
        load_coco(*files)


def test_the_digest_is_of_pictures_annotations_and_choice(read, tmp_path):
    digests = {
        read().source.digest,
        read(only=["b.jpg"]).source.digest,
        read(categories=["dog"]).source.digest,
    }
    digests.add(read(changed("annotations", 0, area=14)).source.digest)
    (tmp_path / "images" / "b.jpg").write_bytes(jpeg(100, 50) + b"\0")
    digests |= {read().source.digest, read().source.digest}
    assert len(digests) == 5


def test_a_world_is_synthetic(read, tmp_path):
    WorldMarker("voc", 1, 3, {"images": 3}).write(tmp_path)
    assert read().source.caption == "coco: a synthetic world (3 pictures, 3 boxes, seed 3, 3 images)"


def test_boxes_that_stand_out_a_little_are_cut_and_counted(read):
    given = read(changed("annotations", 1, bbox=[-0.5, 0, 101, 51]))
    assert given.boxes_of(0).tolist() == [[0, 0, 100, 50]]
    assert given.notes == ("1 boxes stood out of their picture, by 2% of its side at most, and were cut",)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", r"instances\.json: This is not complete JSON"),
        ("[]", "This must be one JSON object"),
        ({**SOUND, "categories": None}, "field 'categories': This must be a list of objects"),
        ({**SOUND, "annotations": [1]}, "field 'annotations': This must be a list of objects"),
        ({**SOUND, "images": [], "annotations": []}, "field 'images': There is no picture"),
        (changed("images", 1, id=5), r"record 1, field 'images\.id': This id occurs twice"),
        (changed("annotations", 1, id="2"), r"record 1, field 'annotations\.id': The id must be an integer"),
        (changed("categories", 0, name="car"), r"record 7, field 'categories\.name': 'car' is named twice"),
        (changed("categories", 0, name=None), r"record 7, field 'categories\.name': Not a name: None"),
        (
            changed("images", 0, file_name="c.jpg"),
            r"record 9, field 'images\.file_name': 'c\.jpg' is there twice",
        ),
        (changed("images", 0, file_name=4), r"record 5, field 'images\.file_name': Not a file's name: 4"),
        (
            changed("images", 0, width=50, height=100),
            r"record 5.* is 100 x 50, and this says 50 x 100\. Boxes",
        ),
        (changed("images", 0, width=None), "is 100 x 50, and this says None x 50"),
        (changed("annotations", 2, image_id=4), r"record 3, field 'annotations\.image_id': .*no picture 4"),
        (
            changed("annotations", 2, category_id=4),
            r"record 3, field 'annotations\.category_id': .*category 4",
        ),
        (
            changed("annotations", 2, bbox=[1, 2, 3]),
            r"record 3, field 'annotations\.bbox': .*not \[1, 2, 3\]",
        ),
        (
            changed("annotations", 2, bbox=None),
            r"'annotations\.bbox': This must be x, y, width, height, not None",
        ),
        (
            changed("annotations", 2, bbox=[1, 2, 0, 3]),
            r"record 3, field 'annotations\.bbox\[2\]': .*no area",
        ),
        (changed("annotations", 2, bbox=[1, 2, 3, -3]), r"'annotations\.bbox\[3\]': .*no area"),
        (
            changed("annotations", 2, bbox=[1, float("nan"), 3, 3]),
            r"bbox\[1\]': This must be a finite number",
        ),
        (changed("annotations", 2, bbox=[30, 2, 15, 3]), r"bbox\[2\]': The box lies outside the frame"),
    ],
)
def test_damage_is_named(read, content, problem):
    with pytest.raises(DataError, match=problem):
        read(content)


def test_an_unreadable_picture(read, tmp_path):
    read()
    (tmp_path / "images" / "c.jpg").write_bytes(b"")
    with pytest.raises(DataError, match=r"c\.jpg: This is not a readable JPEG"):
        read()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"categories": ["dog", "hen"]},
            r"there is no category 'hen'; .* of 3, such as \['person', 'car', 'dog'\]",
        ),
        ({"categories": []}, "each category must be chosen once"),
        ({"categories": ["dog", "dog"]}, "each category must be chosen once"),
        ({"only": ["d.jpg"]}, r"there is no picture 'd\.jpg'"),
        ({"only": ["b.jpg", "b.jpg"]}, "each picture must be chosen once"),
    ],
)
def test_impossible_choices(read, options, problem):
    with pytest.raises(ParameterError, match=problem):
        read(**options)


# ---------------------------------------------------------------- real photos


def test_real_photos_are_read(real_data):
    folder = real_data / "coco128"
    given = load_coco(folder / "instances.json", folder / "images")
    assert (len(given), len(given.boxes)) == (128, 929)
    assert given.source.kind == "subset" and len(given.categories) == 80
    content = json.loads((folder / "instances.json").read_text())
    names = {record["id"]: record["name"] for record in content["categories"]}
    expected = Counter(names[record["category_id"]] for record in content["annotations"])
    assert {n: c for n, c in zip(given.categories, given.counts.tolist(), strict=True) if c} == expected
    first = [record for record in content["annotations"] if record["image_id"] == content["images"][0]["id"]]
    corners = [[x, y, x + w, y + h] for x, y, w, h in (record["bbox"] for record in first)]
    np.testing.assert_allclose(given.boxes_of(0), corners, atol=0.01)
    pixels = read_image(given.images[0])
    assert pixels.shape == (*given.sizes[0][::-1], 3) and pixels.std() > 10


def test_real_photos_by_category(real_data):
    folder = real_data / "coco128"
    chosen = ["person", "car"]
    given = load_coco(folder / "instances.json", folder / "images", categories=chosen)
    assert given.categories == ("person", "car") and given.counts.tolist() == [254, 46]
    assert given.notes == (f"{929 - 300} boxes of 78 categories left out",)
