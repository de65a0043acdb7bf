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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
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
    records = read()
    assert records.names == ("b.jpg", "sub/a.jpg", "c.jpg")
    assert records.categories == ("person", "car", "dog")
    assert records.sizes.tolist() == [[100, 50], [40, 60], [100, 50]]
    assert records.boxes_of(1).tolist() == [[1, 2, 4, 6.5], [10, 10, 30, 30]]
    assert records.labels_of(1).tolist() == [2, 0] and records.crowd_of(1).tolist() == [False, True]
    assert len(records.boxes_of(2)) == 0, "a picture without boxes stays"
    assert records.source.caption == "coco: a real subset (3 pictures, 3 boxes)" and records.notes == ()
    assert read_image(records.images[1]).shape == (60, 40, 3)


def test_chosen_categories_and_pictures(read):
    records = read(categories=["dog", "person"], only=["c.jpg", "sub/a.jpg"])
    assert records.names == ("c.jpg", "sub/a.jpg")
    assert records.categories == ("dog", "person")
    assert records.labels.tolist() == [0, 1] and records.notes == ()
    records = read(categories=["dog"])
    assert records.notes == ("2 boxes of 2 categories left out",) and records.labels.tolist() == [0]


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
    records = read(changed("annotations", 1, bbox=[-0.5, 0, 101, 51]))
    assert records.boxes_of(0).tolist() == [[0, 0, 100, 50]]
    assert records.notes == ("1 boxes stood out of their picture, by 2% of its side at most, and were cut",)


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
        (changed("categories", 0, name="car"), r"record 7, field 'categories\.name': 'car' occurs twice"),
        (
            changed("categories", 0, name=None),
            r"record 7, field 'categories\.name': This must be a name, not None",
        ),
        (
            changed("images", 0, file_name="c.jpg"),
            r"record 9, field 'images\.file_name': 'c\.jpg' occurs twice",
        ),
        (
            changed("images", 0, file_name=4),
            r"record 5, field 'images\.file_name': This must be a name, not 4",
        ),
        (
            changed("images", 0, width=50, height=100),
            r"record 5.* is 100 x 50, and this says 50 x 100\. Boxes",
        ),
        (changed("images", 0, width=None), "is 100 x 50, and this says None x 50"),
        (changed("images", 1, id=[5]), r"record 1, field 'images\.id': The id must be an integer, not \[5\]"),
        (changed("annotations", 2, id={}), r"record 2, field 'annotations\.id': The id must be an integer"),
        (changed("images", 0, file_name=["c"]), r"'images\.file_name': This must be a name, not \['c'\]"),
        (changed("images", 0, file_name=""), r"'images\.file_name': This must be a name, not ''"),
        (changed("images", 0, file_name="\ud800.jpg"), r"'images\.file_name': This is not valid text"),
        (changed("images", 0, file_name="a\0.jpg"), r"This cannot be a file's name \(embedded null byte"),
        (changed("categories", 0, name={"en": "dog"}), r"'categories\.name': This must be a name, not {"),
        (changed("annotations", 2, image_id=4), r"record 3, field 'annotations\.image_id': .*no image 4"),
        (changed("annotations", 2, image_id=[2]), r"'annotations\.image_id': There is no image \[2\]"),
        (changed("annotations", 2, image_id=True), r"'annotations\.image_id': There is no image True"),
        (changed("annotations", 2, iscrowd="0"), r"'annotations\.iscrowd': This must be 0 or 1, not '0'"),
        (
            changed("annotations", 2, category_id={"id": 7}),
            r"record 3, field 'annotations\.category_id': There is no category {'id': 7}",
        ),
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
    with pytest.raises(DataError, match=r"c\.jpg: This is not a readable image"):
        read()


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
NESTED = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
)
PLACES = [
    (table, place, field) for table, records in SOUND.items() for place in (0, -1) for field in records[place]
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), value=NESTED)
def test_whatever_a_field_holds_is_read_or_named(read, place, value):
    table, number, field = place
    content = copy.deepcopy(SOUND)
    content[table][number][field] = value
    try:
        read(content)
    except DataError as error:
        assert "instances.json" in str(error) or "images" in str(error)


@pytest.mark.parametrize("suffix", ["png", "webp", "bmp", "tiff", "gif"])
def test_other_formats_than_jpeg(read, tmp_path, suffix):
    name = f"c.{suffix}"
    (tmp_path / "images").mkdir()
    Image.new("RGB", (100, 50), (250, 10, 10)).save(tmp_path / "images" / name)
    records = read(changed("images", 2, file_name=name))
    assert records.sizes.tolist()[2] == [100, 50]
    assert np.abs(read_image(records.images[2])[5, 5].astype(int) - (250, 10, 10)).max() < 6


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
    records = load_coco(folder / "instances.json", folder / "images")
    assert (len(records), len(records.boxes)) == (128, 929)
    assert records.source.kind == "subset" and len(records.categories) == 80
    content = json.loads((folder / "instances.json").read_text())
    names = {record["id"]: record["name"] for record in content["categories"]}
    expected = Counter(names[record["category_id"]] for record in content["annotations"])
    assert {n: c for n, c in zip(records.categories, records.counts.tolist(), strict=True) if c} == expected
    first = [record for record in content["annotations"] if record["image_id"] == content["images"][0]["id"]]
    corners = [[x, y, x + w, y + h] for x, y, w, h in (record["bbox"] for record in first)]
    np.testing.assert_allclose(records.boxes_of(0), corners, atol=0.01)
    pixels = read_image(records.images[0])
    assert pixels.shape == (*records.sizes[0][::-1], 3) and pixels.std() > 10


def test_real_photos_by_category(real_data):
    folder = real_data / "coco128"
    chosen = ["person", "car"]
    records = load_coco(folder / "instances.json", folder / "images", categories=chosen)
    assert records.categories == ("person", "car") and records.counts.tolist() == [254, 46]
    assert records.notes == (f"{929 - 300} boxes of 78 categories left out",)
