from __future__ import annotations

import json

import numpy as np
import pytest
from driftlab.core.errors import DataError, MissingDataError
from driftlab.data.skeletons.nucla import BONES, CLASSES, TOTALS, load_nucla
from driftlab.data.skeletons.records import prepare
from driftlab.worlds.skeletons.nucla_layout import nucla_world

GOOD = "a01_s01_e00_v01"


def some_frames(count: int, joints: int = 20) -> list[list[list[float]]]:
    return np.random.default_rng(count).normal(size=(count, joints, 3)).tolist()


def damaged(value: object) -> list[list[list[object]]]:
    skeletons = some_frames(3)
    skeletons[1][4] = value
    return skeletons


# ---------------------------------------------------------------- real data


def test_real_counts(real_nucla):
    assert len(real_nucla) == 1484
    assert tuple(real_nucla.counts) == TOTALS
    assert real_nucla.source.kind == "official"
    assert real_nucla.source.caption == "nucla: official data (1,484 sequences)"
    assert (real_nucla.lengths.min(), np.median(real_nucla.lengths), real_nucla.lengths.max()) == (1, 31, 201)
    assert real_nucla.classes == CLASSES and real_nucla.classes[6] == "donning"
    assert (real_nucla.bodies, real_nucla.joints) == (1, 20)


def test_real_order_is_the_feeders(real_nucla, real_data):
    split = json.loads((real_data / "nucla" / "feeder_split.json").read_text())
    assert list(real_nucla.names) == split["train"] + split["val"]
    assert {name[-3:] for name in real_nucla.names[1020:]} == {"v03"}


def test_real_faults_are_counted(real_nucla):
    duplicates, singles = real_nucla.notes
    assert duplicates.startswith("95 pairs of equal sequences")
    assert duplicates.endswith("of: drop trash, pick up with two hands")
    assert singles == "2 sequences of one frame: a02_s09_e04_v02, a02_s09_e04_v03"


def test_real_digest_is_stable(real_nucla, real_data):
    again = load_nucla(real_data / "nucla")
    assert again.source == real_nucla.source
    assert len(again.source.digest) == 64


def test_real_without_duplicates(real_nucla, real_data):
    kept = load_nucla(real_data / "nucla", drop_duplicates=True)
    assert len(kept) == 1484 - 95
    assert kept.source.kind == "subset"
    assert kept.source.digest != real_nucla.source.digest
    assert kept.counts.tolist() == [150, 102, 96, 173, 148, 149, 142, 142, 145, 142]


def test_bones_are_a_tree_of_real_limbs(real_nucla):
    linked = {0}
    for _ in BONES:
        linked |= {joint for bone in BONES if linked & set(bone) for joint in bone}
    assert len(BONES) == 19 and linked == set(range(20))
    sequences = [sequence[:, 0] for sequence in real_nucla.sequences]
    for child, parent in BONES:
        length = np.median([np.linalg.norm(x[:, child] - x[:, parent], axis=-1).mean() for x in sequences])
        assert 0.04 < length < 0.5, (child, parent)


# ---------------------------------------------------------------- order


def test_order_file_decides(nucla_folder):
    names = (GOOD, "a02_s01_e00_v03", "a03_s01_e00_v02")
    skeletons = load_nucla(nucla_folder(*names, order={"train": [names[2], names[0]], "val": [names[1]]}))
    assert skeletons.names == (names[2], names[0], names[1])
    assert skeletons.labels.tolist() == [2, 0, 1]
    assert skeletons.source.kind == "subset" and skeletons.notes == ()


def test_without_an_order_file_view_3_comes_last_and_a_note_says_so(nucla_folder):
    names = ("a01_s01_e00_v03", "a03_s01_e00_v02", "a02_s01_e00_v01", "a01_s02_e00_v02")
    skeletons = load_nucla(nucla_folder(*names))
    assert skeletons.names == ("a01_s02_e00_v02", "a02_s01_e00_v01", "a03_s01_e00_v02", "a01_s01_e00_v03")
    (note,) = skeletons.notes
    assert "no feeder_split.json" in note and "feeder_ucla.py" in note and "0.95" in note


def test_the_feeders_own_file_gives_the_order_and_is_not_run(nucla_folder, tmp_path):
    names = ("a01_s01_e00_v03", "a03_s01_e00_v02", "a02_s01_e00_v01")
    folder = nucla_folder(*names)
    feeder = folder / "feeder_ucla.py"
    listed = "".join(f'{{"file_name": "{name}", "length": 3, "label": 1}}, ' for name in names)
    feeder.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\ndata_dict = [{listed}]\n")
    skeletons = load_nucla(folder)
    assert skeletons.names == ("a03_s01_e00_v02", "a02_s01_e00_v01", "a01_s01_e00_v03")
    assert skeletons.notes == () and not (tmp_path / "sprung").exists()
    feeder.write_text("nothing")
    with pytest.raises(DataError, match=r"feeder_ucla\.py: There is no sequence name in this file"):
        load_nucla(folder)


def test_another_order_is_another_digest(nucla_folder):
    names = (GOOD, "a02_s01_e00_v01")
    one = load_nucla(nucla_folder(*names, order={"train": list(names), "val": []}))
    other = load_nucla(nucla_folder(*names, order={"train": list(names[::-1]), "val": []}))
    assert one.source.digest != other.source.digest


def test_files_that_the_order_does_not_list_come_last_and_are_counted(nucla_folder):
    skeletons = load_nucla(nucla_folder(GOOD, "a02_s01_e00_v01", order={"train": [], "val": [GOOD]}))
    assert skeletons.names == (GOOD, "a02_s01_e00_v01")
    assert skeletons.notes == (
        "1 sequences that feeder_split.json does not list come last: a02_s01_e00_v01, …",
    )


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ({"train": [GOOD, "a01_s09_e00_v01"], "val": []}, "record a01_s09_e00_v01: 1 of the 2 names listed"),
        ({"train": [GOOD, GOOD], "val": []}, "listed twice"),
        ({"train": [GOOD]}, "field 'val': This must be a list of sequence names"),
        ([GOOD], "field 'train'"),
    ],
)
def test_wrong_order_file(nucla_folder, order, message):
    with pytest.raises(DataError, match=f"feeder_split.json.*{message}"):
        load_nucla(nucla_folder(GOOD, order=order))


# ---------------------------------------------------------------- layouts


def test_json_files_directly_in_the_folder(nucla_folder):
    folder = nucla_folder(GOOD, order={"train": [GOOD], "val": []})
    for path in (folder / "all_sqe").iterdir():
        path.rename(folder / path.name)
    (folder / "all_sqe").rmdir()
    assert load_nucla(folder).names == (GOOD,)


def test_other_json_files_are_counted(nucla_folder):
    folder = nucla_folder(GOOD, order={"train": [GOOD], "val": []})
    (folder / "all_sqe" / "notes.json").write_text("{}")
    assert load_nucla(folder).notes == ("1 JSON files not named as sequences: notes.json",)


@pytest.mark.parametrize("made", [True, False])
def test_a_folder_without_data(tmp_path, made):
    folder = tmp_path / "nucla"
    if made:
        folder.mkdir()
    with pytest.raises(MissingDataError) as caught:
        load_nucla(folder)
    text = str(caught.value)
    assert str(folder) in text and "all_sqe.zip" in text and "driftlab data verify nucla" in text


# ---------------------------------------------------------------- damaged files


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"label": 11}, "label", "from 1 to 10, not 11"),
        ({"label": 0}, "label", "from 1 to 10, not 0"),
        ({"label": "1"}, "label", "not '1'"),
        ({"label": True}, "label", "not True"),
        ({"label": 1.0}, "label", "not 1.0"),
        ({"label": 2}, "label", "Label 2 stands for action a02, and the name says a01"),
        ({"label": None}, "label", "This field is missing"),
        ({"skeletons": None}, "skeletons", "This field is missing"),
        ({"file_name": None}, "file_name", "This field is missing"),
        ({"file_name": "a01_s01_e00_v02"}, "file_name", "says that it is 'a01_s01_e00_v02'"),
        ({"skeletons": []}, "skeletons", "The sequence is empty"),
        ({"skeletons": {}}, "skeletons", "Expected a list of frames, not dict"),
        ({"skeletons": some_frames(4, joints=19)}, "skeletons", "Frame 0 must have 20 joints; it has 19"),
        ({"skeletons": [*some_frames(3), 7]}, "skeletons", "Frame 3 must have 20 joints; it has int"),
        ({"skeletons": damaged([0.1, float("nan"), 0.2])}, "skeletons", "Joint 4 of frame 1 is not finite"),
        ({"skeletons": damaged([0.1, 0.2, float("inf")])}, "skeletons", "Joint 4 of frame 1 is not finite"),
        ({"skeletons": damaged([0.1, 0.2])}, "skeletons", r"Joint 4 of frame 1 .* it is \[0.1, 0.2\]"),
        ({"skeletons": damaged([0.1, "x", 0.2])}, "skeletons", "Joint 4 of frame 1 must be three numbers"),
        ({"skeletons": damaged([0.1, None, 0.2])}, "skeletons", "Joint 4 of frame 1 must be three numbers"),
        ({"skeletons": damaged([0.1, 10**30, 0.2])}, "skeletons", "Joint 4 of frame 1 .* up to 1,000,000"),
        ({"skeletons": damaged([0.1, 10**4000, 0.2])}, "skeletons", r"Joint 4 .* it is \[0\.1, 1000*\.\.\."),
        ({"skeletons": damaged([0.1, 1e39, 0.2])}, "skeletons", r"Joint 4 of frame 1 .* it is .*1e\+39"),
        ({"skeletons": [[[0, 0, -(2**63)]] * 20]}, "skeletons", "Joint 0 of frame 0 .* up to 1,000,000"),
    ],
)
def test_a_damaged_record_names_file_record_and_field(nucla_folder, change, field, message):
    folder = nucla_folder("a02_s01_e00_v01", **{GOOD: change})
    with pytest.raises(DataError, match=message) as caught:
        load_nucla(folder)
    assert f"{GOOD}.json, record {GOOD}, field '{field}'" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [("half", "not complete JSON.*cut short"), ("[1, 2]", "must hold one JSON object")],
)
def test_a_damaged_file(nucla_folder, content, message):
    path = nucla_folder(GOOD) / "all_sqe" / f"{GOOD}.json"
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2] if content == "half" else content)
    with pytest.raises(DataError, match=f"{GOOD}.json: .*{message}"):
        load_nucla(path.parent.parent)


def test_a_file_that_is_not_text(nucla_folder):
    path = nucla_folder(GOOD) / "all_sqe" / f"{GOOD}.json"
    path.write_bytes(b"\xff\xfe\x00\x01" * 10)
    with pytest.raises(DataError, match="not complete JSON"):
        load_nucla(path.parent.parent)


def test_an_unreadable_file(nucla_folder):
    path = nucla_folder("a02_s01_e00_v01") / "all_sqe" / f"{GOOD}.json"
    path.mkdir()
    with pytest.raises(DataError, match=f"{GOOD}.json: This file cannot be read"):
        load_nucla(path.parent.parent)


def test_a_sequence_of_one_frame_is_usable(nucla_folder):
    skeletons = load_nucla(nucla_folder(**{GOOD: {"skeletons": some_frames(1)}}))
    assert "1 sequences of one frame: a01_s01_e00_v01" in skeletons.notes
    prepared = prepare(skeletons)
    assert np.isfinite(prepared).all() and (prepared == prepared[:, :1]).all()


@pytest.mark.parametrize("file", [f"all_sqe/{GOOD}.json", "feeder_split.json"])
def test_json_that_is_nested_too_deeply(nucla_folder, file):
    folder = nucla_folder(GOOD, order={"train": [GOOD], "val": []})
    (folder / file).write_text("[" * 100_000)
    with pytest.raises(DataError, match=f"{file}: This JSON is nested too deeply"):
        load_nucla(folder)


# ---------------------------------------------------------------- synthetic worlds


@pytest.fixture
def world(tmp_path):
    return nucla_world(tmp_path / "world", sequences_per_class=1)


def test_the_inner_folder_of_a_world_is_a_world(world, tmp_path):
    link = tmp_path / "mine"
    link.symlink_to(world / "all_sqe")
    for given in (world, world / "all_sqe", link):
        assert load_nucla(given).source.caption.startswith("nucla: a synthetic world"), given


def test_a_folder_beside_a_marker_is_no_world(nucla_folder, world):
    folder = nucla_folder(GOOD)
    (world / "world.json").rename(folder.parent / "world.json")
    assert load_nucla(folder).source.kind == "subset"


@pytest.mark.parametrize("file", ["all_sqe", "feeder_split.json"])
def test_a_damaged_world_is_to_be_deleted_and_not_to_be_got_again(world, file):
    path = world / file
    path = next(path.iterdir()) if path.is_dir() else path
    path.write_text(path.read_text()[:20])
    with pytest.raises(DataError) as caught:
        load_nucla(world)
    text = str(caught.value)
    assert text.startswith(f"{path}: This is not complete JSON")
    assert f"delete {world}, and it is made anew" in text and "get it again" not in text


def test_a_world_that_lacks_a_sequence_is_to_be_deleted(world):
    next((world / "all_sqe").iterdir()).unlink()
    with pytest.raises(DataError, match=f"have no file. It belongs to a synthetic world: delete {world}"):
        load_nucla(world / "all_sqe" / "..")
