"""The optional file of recording places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driftlab.core.errors import DataError
from driftlab.data.detection.oak import load_oak
from driftlab.data.detection.oak_locations import ClipLocation, clip_of

from .test_oak import CAR, add

FIRST, SECOND = "20140913_172950_458", "20141001_080000_000"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two clips of two frames each."""
    for step, clip in (("00000", SECOND), ("00001", FIRST)):
        add(tmp_path, step, f"{clip}_00000_0", [CAR])
        add(tmp_path, "", f"{clip}_00002_60", [CAR])
    (tmp_path / "mapping.json").write_text('{"car": 0}')
    return tmp_path


def give(folder: Path, content: Any) -> None:
    (folder / "locations.json").write_text(json.dumps(content))


def test_a_frame_names_its_clip() -> None:
    assert clip_of(f"00012/{FIRST}_00034_1020") == FIRST


def test_places_in_time_order(folder: Path) -> None:
    give(folder, {SECOND: {"longitude": 8, "latitude": -1.5}, FIRST: {"longitude": 7.5, "latitude": 0}})
    stream = load_oak(folder)
    assert stream.places == (ClipLocation(FIRST, 7.5, 0.0), ClipLocation(SECOND, 8.0, -1.5))


def test_without_the_file_there_are_none_and_nothing_else_changes(folder: Path) -> None:
    without = load_oak(folder)
    assert without.places == ()
    give(folder, {FIRST: {"longitude": 7.5, "latitude": 0}})
    assert load_oak(folder).source.digest == without.source.digest, "stored runs stay valid"


def test_clips_without_a_place_are_counted(folder: Path) -> None:
    give(folder, {FIRST: {"longitude": 7.5, "latitude": 0}})
    assert f"1 of 2 clips have no place in locations.json: {SECOND}" in load_oak(folder).train.notes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], r"locations.json.*must be an object \{\"CLIP\""),
        ({"20150101_000000_000": {"longitude": 1, "latitude": 1}}, "No frame's name begins with"),
        ({FIRST: [7.5, 0]}, f"{FIRST}.*longitude.*needs longitude and latitude"),
        ({FIRST: {"longitude": 7.5}}, f"{FIRST}.*latitude.*needs longitude and latitude"),
        ({FIRST: {"longitude": 7.5, "latitude": 91}}, "from -90 to 90, not 91"),
        ({FIRST: {"longitude": float("nan"), "latitude": 0}}, "from -180 to 180, not nan"),
        ({FIRST: {"longitude": "7.5", "latitude": 0}}, "from -180 to 180, not '7.5'"),
        ({FIRST: {"longitude": True, "latitude": 0}}, "from -180 to 180, not True"),
    ],
)
def test_impossible_files_are_named(folder: Path, content: Any, message: str) -> None:
    give(folder, content)
    with pytest.raises(DataError, match=message):
        load_oak(folder)
