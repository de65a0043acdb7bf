from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from driftlab.core.errors import DataError, MissingDataError
from driftlab.data.detection import oak
from driftlab.data.detection.oak import load_oak
from PIL import Image

CAR = {"id": 7, "category": "car", "box2d": {"x1": 4, "y1": 5, "x2": 20.5, "y2": 25}}
DOG = {"id": 8, "category": "dog", "box2d": {"x1": 0, "y1": 0, "x2": 100, "y2": 50}}
MAPPING = {"car": 1, "dog": 0, "ship": 2}


def jpeg(size: tuple[int, int] = (100, 50)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, "JPEG")
    return buffer.getvalue()


def frame_name(second: int) -> str:
    return f"20140913_172950_458_{second:05d}_{30 * second}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three steps of two training frames; one test frame after the first of each step."""
    place = tmp_path / "oak"
    (place / "OAK_TRAIN" / "Raw").mkdir(parents=True)
    (place / "mapping.json").write_text(json.dumps(MAPPING))
    for second in range(9):
        step, kind = divmod(second, 3)
        add(place, "" if kind == 1 else f"{step:05d}", frame_name(second), [CAR, DOG] if kind else [CAR])
    return place


def add(place: Path, step: str, name: str, labels: object) -> None:
    for kind, suffix, content in (("Raw", "jpg", jpeg()), ("Label", "json", json.dumps(labels).encode())):
        inside = place / ("OAK_TRAIN" if step else "OAK_TEST") / kind / step
        inside.mkdir(parents=True, exist_ok=True)
        (inside / f"{name}.{suffix}").write_bytes(content)


def label_file(folder: Path) -> Path:
    return folder / "OAK_TRAIN" / "Label" / "00001" / f"{frame_name(3)}.json"


def changed(**changes: Any) -> dict[str, Any]:
    """A car's label with fields changed (box2d's corners by name), or without those that are None."""
    label: dict[str, Any] = {**CAR, "box2d": dict(CAR["box2d"])}  # type: ignore[call-overload]
    for field, value in changes.items():
        owner = label["box2d"] if field in ("x1", "y1", "x2", "y2") else label
        owner[field] = value
        if value is None:
            del owner[field]
    return label


# ---------------------------------------------------------------- sound data


def test_a_stream_in_order(folder):
    stream = load_oak(folder)
    assert stream.categories == ("dog", "car", "ship"), "by id"
    assert stream.train.names == tuple(f"{s // 3:05d}/{frame_name(s)}" for s in (0, 2, 3, 5, 6, 8))
    assert stream.steps.tolist() == [0, 0, 1, 1, 2, 2]
    assert stream.test.names == tuple(frame_name(s) for s in (1, 4, 7))
    assert stream.test_steps.tolist() == [0, 1, 2]
    assert stream.evaluated == (0, 1)
    assert stream.train.labels_of(1).tolist() == [1, 0]
    np.testing.assert_array_equal(stream.train.boxes_of(1), [[4, 5, 20.5, 25], [0, 0, 100, 50]])
    assert (stream.train.sizes == [100, 50]).all() and not stream.train.crowd.any()
    assert stream.source.kind == "subset"
    assert stream.source.caption == "oak: a real subset (6 + 3 frames, 15 boxes, 3 steps)"
    vocabulary = (
        "of 3 categories in mapping.json, 2 occur in training and 2 in test; the 2 that occur in both enter "
        "the averages"
    )
    assert stream.train.notes == stream.test.notes == (vocabulary,)


def test_a_field_that_is_there_twice(folder):
    text = label_file(folder).read_text()
    label_file(folder).write_text(text.replace('"category"', '"category": "dog", "category"', 1))
    with pytest.raises(DataError, match=r"json, record 7, field 'category': An object has this field more"):
        load_oak(folder)


def test_numbers_order_steps_and_frames_not_letters(tmp_path):
    for step in (2, 10, 1, 9, *range(3, 9), 11):
        for frame in (8, 9, 10):
            add(tmp_path, f"{step}", f"clip_{12 * step + frame}", [CAR])
    add(tmp_path, "", "clip_99", [CAR])
    add(tmp_path, "", "clip_131", [CAR])
    (tmp_path / "mapping.json").write_text(json.dumps(MAPPING))
    stream = load_oak(tmp_path)
    assert [name.split("/")[0] for name in stream.train.names[::3]] == [str(step) for step in range(1, 12)]
    assert stream.train.names[:3] == ("1/clip_20", "1/clip_21", "1/clip_22")
    assert stream.test.names == ("clip_99", "clip_131")
    # 99 is after step 7's last frame (94) and before step 8's first (104); 131 before step 11's first (140)
    assert stream.test_steps.tolist() == [6, 9]


def test_a_test_frame_before_all_others_belongs_to_the_first_step(folder):
    add(folder, "", "20140901_000000_000_00000_0", [CAR])
    assert load_oak(folder).test_steps.tolist() == [0, 0, 1, 2]


def test_categories_in_training_or_test_alone_do_not_enter_the_averages(folder):
    ship = {"id": 1, "category": "ship", "box2d": {"x1": 1, "y1": 1, "x2": 9, "y2": 9}}
    add(folder, "00002", frame_name(8), [ship])
    stream = load_oak(folder)
    assert stream.evaluated == (0, 1)
    assert "3 occur in training and 2 in test; the 2 that" in stream.train.notes[0]


def test_the_digest_is_of_everything_that_was_read(folder):
    before = load_oak(folder).source.digest
    assert load_oak(folder).source.digest == before
    digests = {before}
    for path, content in (
        (label_file(folder), json.dumps([DOG]).encode()),
        (folder / "OAK_TRAIN" / "Raw" / "00001" / f"{frame_name(3)}.jpg", jpeg() + b"\0"),
        (folder / "mapping.json", json.dumps({**MAPPING, "cow": 3}).encode()),
    ):
        path.write_bytes(content)
        digests.add(load_oak(folder).source.digest)
    assert len(digests) == 4


def test_official_if_the_counts_are_about_the_published_ones(folder, monkeypatch):
    monkeypatch.setattr(oak, "TOTALS", {"steps": 3, "training frames": 6, "test frames": 3, "boxes": 15})
    assert load_oak(folder).source.kind == "official"
    monkeypatch.setattr(oak, "TOTALS", {"steps": 3, "training frames": 6, "test frames": 3, "boxes": 16})
    assert load_oak(folder).source.kind == "subset"


# ---------------------------------------------------------------- repairs and oddities, counted


def test_boxes_that_stand_out_a_little_are_cut_and_counted(folder):
    # 2 % of 100 pixels are 2; of 50 pixels 1
    label_file(folder).write_text(json.dumps([changed(x1=-2, y1=-1, x2=102, y2=51), changed(x2=100.4)]))
    stream = load_oak(folder)
    np.testing.assert_array_equal(stream.train.boxes_of(2), [[0, 0, 100, 50], [4, 5, 100, 25]])
    assert (
        stream.train.notes[1] == "2 boxes stood out of their frame, by 2% of its side at most, and were cut"
    )


def test_frames_without_boxes_stay_and_are_counted(folder):
    label_file(folder).write_text("[]")
    stream = load_oak(folder)
    assert len(stream.train) == 6 and len(stream.train.boxes_of(2)) == 0
    assert stream.train.notes[1] == f"1 frames without any box: 00001/{frame_name(3)}"


def test_other_files_are_counted_and_hidden_ones_are_not(folder):
    (folder / "OAK_TRAIN" / "Raw" / "00001" / "notes.txt").touch()
    (folder / "OAK_TEST" / "Label" / ".DS_Store").touch()
    assert load_oak(folder).train.notes[1] == "1 files that are neither frames nor labels: notes.txt"


def test_a_step_of_another_length_is_counted(folder):
    add(folder, "00001", f"{frame_name(5)}1", [CAR])
    assert load_oak(folder).train.notes[1] == "1 steps have not 2 training frames as the others: 00001"


def test_steps_that_overlap_in_time_are_counted(folder):
    add(folder, "00002", frame_name(0), [CAR])
    (note,) = [note for note in load_oak(folder).train.notes if "neighbouring step" in note]
    assert note.startswith("1 steps begin before the last one has ended") and note.endswith("00002")


# ---------------------------------------------------------------- damaged labels


@pytest.mark.parametrize(
    ("labels", "field", "problem"),
    [
        ([changed(category="carr")], "category", r"There is no category 'carr'\. Add it to mapping\.json"),
        ([changed(category=None)], "category", "This field is missing"),
        ([changed(category=3)], "category", "There is no category 3"),
        ([changed(box2d=None)], "box2d", "This field is missing"),
        ([changed(box2d=[1, 2, 3, 4])], "box2d", "This must be an object with x1, y1, x2, y2, not a list"),
        ([changed(y2=None)], r"box2d\.y2", "This field is missing"),
        ([changed(x1="4")], r"box2d\.x1", "This must be a finite number, not '4'"),
        ([changed(x1=True)], r"box2d\.x1", "This must be a finite number, not True"),
        ([changed(x1=float("nan"))], r"box2d\.x1", "This must be a finite number, not nan"),
        ([changed(y2=float("inf"))], r"box2d\.y2", "This must be a finite number, not inf"),
        ([changed(y2=10**400)], r"box2d\.y2", "This must be a finite number, not 1000"),
        ([changed(x2=3)], r"box2d\.x2", r"no area: it reaches from 4 to 3 in x\. Correct the corners"),
        ([changed(y2=5)], r"box2d\.y2", "no area: it reaches from 5 to 5 in y"),
        (
            [changed(x2=103)],
            r"box2d\.x2",
            "outside the frame: .* from 4 to 103 in x, .* 100 pixels wide.*Are",
        ),
        ([changed(y1=-2)], r"box2d\.y2", "outside the frame: .* from -2 to 25 in y, .* 50 pixels high"),
        ([changed(x1=-1, x2=0)], r"box2d\.x2", "outside the frame"),
        ([changed(x1=100, x2=101)], r"box2d\.x2", "outside the frame"),
    ],
)
def test_a_damaged_label_names_file_box_and_field(folder, labels, field, problem):
    label_file(folder).write_text(json.dumps([CAR, *labels]))
    with pytest.raises(DataError, match=rf"{frame_name(3)}\.json, record 1, field '{field}': .*{problem}"):
        load_oak(folder)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[{", r"00003_90\.json: This is not complete JSON"),
        ('{"labels": []}', r"00003_90\.json: A label file must hold a list of boxes, not an object"),
        ("null", "a list of boxes, not null"),
        ("[3]", r"00003_90\.json, record 0: A box must be an object, not 3"),
    ],
)
def test_a_damaged_label_file(folder, content, problem):
    label_file(folder).write_text(content)
    with pytest.raises(DataError, match=problem):
        load_oak(folder)


# ---------------------------------------------------------------- damaged tree


def test_an_unreadable_jpeg(folder):
    (folder / "OAK_TEST" / "Raw" / f"{frame_name(4)}.jpg").write_bytes(b"\xff\xd8 cut")
    with pytest.raises(DataError, match=r"00004_120\.jpg: This is not a readable image .*get it again"):
        load_oak(folder)


@pytest.mark.parametrize("part", ["OAK_TRAIN", "OAK_TEST"])
@pytest.mark.parametrize(
    ("kind", "problem"), [("Label", "1 frames without labels"), ("Raw", "1 labels without a frame")]
)
def test_frames_and_labels_that_are_alone(folder, part, kind, problem):
    alone = sorted((folder / part / kind).rglob("2014*"))[1]
    alone.unlink()
    with pytest.raises(DataError, match=rf"record (0000\d/)?{alone.stem}: There are {problem}\. Complete"):
        load_oak(folder)


def test_a_step_folder_that_is_named_by_its_date(folder):
    for kind in ("Raw", "Label"):
        (folder / "OAK_TRAIN" / kind / "20140913172950").mkdir()
    with pytest.raises(DataError, match=r"20140913172947 step folders are missing .*: 3, 4, 5, 6, 7, …"):
        load_oak(folder)


def test_a_missing_step(folder):
    for kind in ("Raw", "Label"):
        shutil.rmtree(folder / "OAK_TRAIN" / kind / "00001")
    with pytest.raises(DataError, match=r"Raw: 1 step folders are missing between 00000 and 00002: 1\. "):
        load_oak(folder)


def test_a_step_without_frames_and_a_step_without_labels(folder):
    shutil.rmtree(folder / "OAK_TRAIN" / "Raw" / "00002")
    with pytest.raises(DataError, match="labels of steps without frames: 2"):
        load_oak(folder)
    shutil.rmtree(folder / "OAK_TRAIN" / "Label" / "00002")
    shutil.rmtree(folder / "OAK_TRAIN" / "Label" / "00001")
    with pytest.raises(DataError, match=r"Raw/00001, record 00001/.*There are 2 frames without labels"):
        load_oak(folder)


def test_an_empty_step(folder):
    for kind in ("Raw", "Label"):
        (folder / "OAK_TRAIN" / kind / "00003").mkdir()
    with pytest.raises(DataError, match=r"Raw/00003: This step has no frame"):
        load_oak(folder)


@pytest.mark.parametrize("name", ["last", "00003_b2", "1"])
def test_step_folders_that_are_no_numbers(folder, name):
    (folder / "OAK_TRAIN" / "Raw" / name).mkdir()
    with pytest.raises(DataError, match=rf"{name}: A step folder's name must be its number, once"):
        load_oak(folder)


def test_an_empty_stream(folder):
    shutil.rmtree(folder / "OAK_TRAIN" / "Raw")
    (folder / "OAK_TRAIN" / "Raw").mkdir()
    with pytest.raises(DataError, match=r"OAK_TRAIN/Raw: The stream is empty: there is no step folder"):
        load_oak(folder)


def test_no_test_frames(folder):
    shutil.rmtree(folder / "OAK_TEST")
    with pytest.raises(DataError, match=r"OAK_TEST/Raw: There is no test frame\. Evaluation needs them"):
        load_oak(folder)


def test_a_frame_in_training_and_test(folder):
    add(folder, "", frame_name(5), [CAR])
    with pytest.raises(DataError, match=r"This test frame is also a training frame, 00001/.*Take it out"):
        load_oak(folder)


def test_two_files_of_one_name(folder):
    (folder / "OAK_TEST" / "Raw" / f"{frame_name(4)}.jpeg").write_bytes(jpeg())
    with pytest.raises(DataError, match=r"\.jpg has the same name|\.jpeg has the same name"):
        load_oak(folder)


# ---------------------------------------------------------------- damaged map, nothing at all


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[", r"mapping\.json: This is not complete JSON"),
        ("[]", "This must be an object"),
        ("{}", "This must be an object"),
        (
            '{"car": 0, "dog": 2}',
            "record dog: The id of one of 2 categories must be an integer from 0 to 1, not 2",
        ),
        ('{"car": "0"}', "record car: .*not '0'"),
        ('{"car": 0, "dog": 0}', "record dog: 'car' has the same id, 0"),
    ],
)
def test_a_damaged_map(folder, content, problem):
    (folder / "mapping.json").write_text(content)
    with pytest.raises(DataError, match=problem):
        load_oak(folder)


def test_a_missing_map_says_where_it_is(folder):
    (folder / "mapping.json").unlink()
    with pytest.raises(DataError, match=r"names to ids is missing\. It is .*github\.com/oakdata/benchmark"):
        load_oak(folder)


def test_a_folder_without_data_says_what_to_get(tmp_path):
    with pytest.raises(
        MissingDataError, match=r"no OAK frames here\. Get OAK at oakdata\.github\.io .*KrishnaCam"
    ):
        load_oak(tmp_path)


def test_the_official_map_is_read(real_data, folder):
    listed = json.loads((real_data / "oak" / "oak_classes.json").read_text())
    official = listed["mapping_name_to_id (113; ids 0-19 = VOC order)"]
    (folder / "mapping.json").write_text(json.dumps(official))
    stream = load_oak(folder)
    assert len(stream.categories) == oak.VOCABULARY["categories in the map"] == 113
    assert stream.categories[6] == "car" and stream.categories[112] == "pillow"
    assert len(listed["eval_classes_in_train_and_test (83)"]) == 83
    assert oak.VOCABULARY["categories in training and test"] == 83
