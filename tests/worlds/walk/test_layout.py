from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.data.detection.oak import load_oak
from driftlab.data.detection.records import FrameStream, read_image
from driftlab.worlds.walk.habits import itinerary
from driftlab.worlds.walk.kinds import CATEGORIES
from driftlab.worlds.walk.layout import clip_name, oak_world
from driftlab.worlds.walk.town import METRES_PER_DEGREE, POSITIONS
from driftlab.worlds.walk.walker import clip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's 150 steps, of 3 frames instead of 16."""
    return oak_world(tmp_path_factory.mktemp("oak") / "world", frames_per_step=3)


@pytest.fixture(scope="module")
def stream(world: Path) -> FrameStream:
    return load_oak(world)


@pytest.fixture(scope="module")
def presence(stream: FrameStream) -> np.ndarray:
    """(categories, steps) how many boxes of each category each step has for training."""
    found = np.zeros((len(stream.categories), stream.length), dtype=int)
    steps = np.repeat(stream.steps, np.diff(stream.train.starts))
    np.add.at(found, (stream.train.labels, steps), 1)
    return found


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_files_are_oaks(world):
    assert sorted(path.name for path in world.iterdir()) == [
        "OAK_TEST",
        "OAK_TRAIN",
        "locations.json",
        "mapping.json",
        "world.json",
    ]
    assert json.loads((world / "mapping.json").read_text()) == {name: i for i, name in enumerate(CATEGORIES)}
    frames = sorted((world / "OAK_TRAIN" / "Raw" / "00003").iterdir())
    assert len(frames) == 3
    assert all(re.fullmatch(r"201\d{5}_\d{6}_\d{3}_\d{5}_\d+\.jpg", path.name) for path in frames)
    (label,) = json.loads((world / "OAK_TRAIN" / "Label" / "00003" / f"{frames[0].stem}.json").read_text())[
        :1
    ]
    assert list(label) == ["id", "category", "box2d"] and list(label["box2d"]) == ["x1", "y1", "x2", "y2"]


def test_it_loads_as_synthetic(stream):
    assert stream.source.kind == "synthetic"
    assert stream.source.detail.startswith("450 + 150 frames, ")
    assert stream.source.detail.endswith(" boxes, seed 0, 150 steps, 3 frames per step, 128 pixels")
    assert stream.length == 150 and stream.categories == CATEGORIES
    assert not [note for note in stream.train.notes if "stood out" in note or "begin before" in note]
    assert (stream.train.sizes == 128).all()
    assert 3 < len(stream.train.boxes) / len(stream.train) < 9
    assert (np.prod(stream.train.boxes[:, 2:] - stream.train.boxes[:, :2], axis=1) >= 64).all()


def test_one_frame_of_each_step_is_held_out_amid_the_others(stream):
    assert stream.test_steps.tolist() == list(range(150))
    for step in (0, 70, 149):
        times = [stream.train.names[i].split("/")[1] for i in np.flatnonzero(stream.steps == step)]
        assert times[0] < stream.test.names[step] < times[-1]


def test_files_hold_what_the_walker_saw(world, stream):
    first = itinerary(150, 0)[0]
    shots = list(clip(first, 4 * first.steps, 128, 0))
    trained = [shot for index, shot in enumerate(shots) if index % 4 != 2]
    for index, shot in enumerate(trained):
        difference = read_image(stream.train.images[index]).astype(float) - shot.pixels
        assert np.abs(difference).mean() < 4, "but for JPEG"
        np.testing.assert_array_equal(stream.train.boxes_of(index), [seen.box for seen in shot.seen])
        names = [stream.categories[label] for label in stream.train.labels_of(index)]
        assert names == [seen.category for seen in shot.seen]


def test_each_clip_has_the_place_of_its_visit(world, stream):
    visits = itinerary(150, 0)
    assert [place.clip for place in stream.places] == [clip_name(visit) for visit in visits]
    for visit, place in zip(visits, stream.places, strict=True):
        east, north = (place.longitude * METRES_PER_DEGREE, place.latitude * METRES_PER_DEGREE)
        assert np.abs(np.array([east, north]) - POSITIONS[visit.place]).max() < 250, visit.place
    assert json.loads((world / "locations.json").read_text()).keys() == {p.clip for p in stream.places}


def test_the_tail_is_long(stream):
    counts = np.sort(stream.train.counts)[::-1]
    assert counts[0] > 10 * counts[-1] > 0
    assert counts[:6].sum() > 0.5 * counts.sum()
    assert len(stream.evaluated) >= 20


def test_new_categories_appear_less_and_less_often(presence):
    first = (presence > 0).argmax(axis=1)
    new = [int(((first >= start) & (first < start + 50)).sum()) for start in (0, 50, 100)]
    assert new[0] >= 15 and new[0] > new[1] >= 1 and new[1] + new[2] >= 2
    halves = [(first < 10).sum(), ((first >= 10) & (first < 20)).sum()]
    assert halves[0] > halves[1]


def test_some_categories_are_away_for_long_and_come_back(presence):
    gaps = {}
    for name, row in zip(CATEGORIES, presence, strict=True):
        gaps[name] = int(np.diff(np.flatnonzero(row)).max(initial=0))
    assert gaps["booth"] > 45 and gaps["bus"] > 45, gaps
    assert sum(gap > 20 for gap in gaps.values()) >= 6, gaps
    assert gaps["person"] < 20


def test_the_test_frames_cover_all_the_time(stream):
    for part in np.array_split(np.arange(150), 10):
        assert sum(len(stream.test.boxes_of(int(index))) for index in part) > 10


def test_deterministic_to_the_byte_and_different_by_seed(tmp_path):
    sizes = {"steps": 3, "frames_per_step": 2, "pixels": 64}
    one, again, other = (
        oak_world(tmp_path / name, seed=seed, **sizes)
        for name, seed in (("one", 1), ("again", 1), ("other", 2))
    )
    assert contents(one) == contents(again)
    assert load_oak(one).source.digest != load_oak(other).source.digest


@pytest.mark.parametrize(
    ("gone", "problem"),
    [
        ("OAK_TRAIN/*/00002", "OAK_TRAIN: This world was made with 3 steps, and 2 are here"),
        ("OAK_TEST/*/{frame}.*", "OAK_TEST: This world was made with 3 steps, and 2 are here"),
        (
            "OAK_TRAIN/*/00001/{frame}.*",
            "record 00001: This world was made with 2 frames per step, and 1 are here",
        ),
        ("OAK_TRAIN/Raw/00001", "1 step folders are missing between 00000 and 00002: 1"),
    ],
)
def test_a_world_that_lacks_something_is_to_be_deleted(tmp_path, gone, problem):
    folder = oak_world(tmp_path / "w", steps=3, frames_per_step=2, pixels=64)
    part = folder.joinpath(*Path(gone.replace("*", "Raw", 1)).parts[:-1])
    frame = min(path.stem for path in part.iterdir())
    for path in list(folder.glob(gone.format(frame=frame))):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(DataError, match=f"{problem}.*delete {re.escape(str(folder))}, and it is made anew"):
        load_oak(folder)


def test_another_size_is_another_world(tmp_path):
    folder = oak_world(tmp_path / "w", steps=2, frames_per_step=1, pixels=64)
    assert oak_world(folder, steps=2, frames_per_step=1, pixels=64) == folder
    assert (load_oak(folder).train.sizes == 64).all()
    with pytest.raises(DataError, match=r"another world .*2 steps, 1 frames per step, 64 pixels"):
        oak_world(folder, steps=2, frames_per_step=1)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"steps": 1}, "steps must be at least 2, not 1"),
        ({"frames_per_step": 0}, "frames_per_step must be at least 1, not 0"),
        ({"pixels": 32}, "pixels must be at least 64, not 32"),
    ],
)
def test_impossible_sizes(tmp_path, sizes, message):
    with pytest.raises(ParameterError, match=message):
        oak_world(tmp_path / "w", **sizes)
    assert not (tmp_path / "w").exists()
