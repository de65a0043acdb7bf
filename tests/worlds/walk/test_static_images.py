from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.data.detection.oak import load_oak
from driftlab.data.detection.records import read_image
from driftlab.data.detection.voc import load_voc
from driftlab.worlds.walk.kinds import VOC_CATEGORIES
from driftlab.worlds.walk.layout import oak_world
from driftlab.worlds.walk.static_images import static_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return static_world(tmp_path_factory.mktemp("voc") / "world", images=120)


def test_the_files_are_cocos(world):
    assert sorted(path.name for path in world.iterdir()) == ["images", "instances.json", "world.json"]
    content = json.loads((world / "instances.json").read_text())
    assert content["categories"][0] == {"id": 1, "name": "bicycle"}
    assert content["images"][0] == {"id": 1, "file_name": "000001.jpg", "width": 128, "height": 128}
    annotation = content["annotations"][0]
    assert annotation["area"] == pytest.approx(annotation["bbox"][2] * annotation["bbox"][3])


def test_a_world_that_lacks_a_picture_is_to_be_deleted(tmp_path):
    folder = static_world(tmp_path / "w", images=2, pixels=64)
    (folder / "images" / "000002.jpg").unlink()
    with pytest.raises(DataError, match=r"000002\.jpg.* It belongs to a synthetic world: delete "):
        load_voc(folder)


@pytest.mark.parametrize(
    ("table", "problem"),
    [("images", "made with 2 images, and 1 are here"), ("annotations", "No picture of this world has a box")],
)
def test_a_world_that_lacks_records_is_to_be_deleted(tmp_path, table, problem):
    folder = static_world(tmp_path / "w", images=2, pixels=64)
    content = json.loads((folder / "instances.json").read_text())
    first = content["images"].pop(0)["id"] if table == "images" else None
    kept = [one for one in content["annotations"] if table == "images" and one["image_id"] != first]
    (folder / "instances.json").write_text(json.dumps({**content, "annotations": kept}))
    with pytest.raises(DataError, match=rf"instances\.json: .*{problem}.* delete "):
        load_voc(folder)


def test_it_loads_as_synthetic(world):
    given = load_voc(world)
    assert given.source.kind == "synthetic" and given.source.name == "voc"
    assert given.source.detail.endswith("seed 0, 120 images, 128 pixels")
    assert given.categories == VOC_CATEGORIES and given.notes == ()
    per_picture = np.diff(given.starts)
    assert per_picture.max() <= 4 and 1.5 < per_picture.mean() < 3
    assert given.counts.min() > 0.5 * given.counts.max(), "no category is rare"


def test_things_are_larger_and_scenes_other_than_the_walkers(world, tmp_path):
    given = load_voc(world)
    stream = load_oak(oak_world(tmp_path / "w", steps=20, frames_per_step=1)).train

    def median_side(boxes: np.ndarray) -> float:
        return float(np.median(np.sqrt(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1))))

    assert median_side(given.boxes) > 1.5 * median_side(stream.boxes)
    hues = [read_image(path)[:20].mean(axis=(0, 1)) for path in given.images]
    assert np.std(hues, axis=0).min() > 25, "backgrounds of every colour"


def test_deterministic_and_a_larger_one_contains_the_smaller(world, tmp_path):
    small = static_world(tmp_path / "small", images=5)
    for path in (small / "images").iterdir():
        assert path.read_bytes() == (world / "images" / path.name).read_bytes()
    other = static_world(tmp_path / "other", images=5, seed=1)
    assert load_voc(other).source.digest != load_voc(small).source.digest


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"images": 0}, "images must be at least 1, not 0"),
        ({"pixels": 63}, "pixels must be at least 64, not 63"),
    ],
)
def test_impossible_sizes(tmp_path, sizes, message):
    with pytest.raises(ParameterError, match=message):
        static_world(tmp_path / "w", **sizes)
