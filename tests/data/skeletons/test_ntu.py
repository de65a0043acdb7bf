from __future__ import annotations

import json
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import DataError, MissingDataError
from driftlab.data.skeletons.ntu import BONES, TOTALS, load_ntu
from driftlab.data.skeletons.ntu_names import CLASSES, TRAIN_PERFORMERS, SampleName
from driftlab.data.skeletons.records import SkeletonSet, prepare
from driftlab.worlds.skeletons.ntu_layout import ntu_world

FRAMES = 160  # more than the longest of the world


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    return ntu_world(tmp_path_factory.mktemp("ntu") / "world", sequences_per_class=6, seed=3)


@pytest.fixture(scope="module")
def skeletons(world) -> SkeletonSet:
    return load_ntu(world)


@pytest.fixture
def text_folder(world, tmp_path) -> Path:
    """Two of the world's files, as real data: no marker, no list of damaged samples."""
    folder = tmp_path / "real"
    folder.mkdir()
    for name in ("S001C001P001R001A001", "S001C001P001R001A010"):
        shutil.copy(world / "nturgb+d_skeletons" / f"{name}.skeleton", folder)
    return folder


def padded(skeletons: SkeletonSet) -> np.ndarray:
    """(N, FRAMES, 2, 25, 3), zeros after each sequence."""
    array = np.zeros((len(skeletons), FRAMES, 2, 25, 3), dtype=np.float32)
    for target, sequence in zip(array, skeletons.sequences, strict=True):
        target[: len(sequence)] = sequence
    return array


def write_npy(folder: Path, skeletons: SkeletonSet, labels: str = "json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "train_data_joint.npy", padded(skeletons).transpose(0, 4, 1, 3, 2))
    names = [f"{name}.skeleton" for name in skeletons.names]
    numbers = skeletons.labels.tolist()
    pairs = list(zip(names, numbers, strict=True))
    path = folder / f"train_label.{labels}"
    if labels == "json":
        path.write_text(json.dumps([names, numbers]))
    elif labels == "csv":
        path.write_text("".join(f"{name},{number}\n" for name, number in pairs))
    elif labels == "txt":
        path.write_text("".join(f"{name} {number}\n" for name, number in pairs))
    elif labels == "npy":
        np.save(path, skeletons.labels)
    return folder


def write_npz(folder: Path, skeletons: SkeletonSet, **changes: np.ndarray) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {
        "x_train": padded(skeletons).reshape(len(skeletons), FRAMES, 150),
        "y_train": np.eye(60)[skeletons.labels],
        "x_test": np.zeros((1, FRAMES, 150), dtype=np.float32),
        "y_test": np.eye(60)[:1],
    }
    np.savez(folder / "NTU60_CS.npz", **(arrays | changes))
    return folder


# ---------------------------------------------------------------- facts


def test_official_totals():
    assert sum(TOTALS) == 6667 and len(TOTALS) == len(CLASSES) == 10
    assert len(TRAIN_PERFORMERS) == 20 and len(BONES) == 24
    assert {joint for bone in BONES for joint in bone} == set(range(25))


def test_names():
    name = SampleName.parse("S001C002P003R002A013.skeleton", Path("list"))
    assert (name.setup, name.camera, name.performer, name.replication, name.action) == (1, 2, 3, 2, 13)
    assert str(name) == "S001C002P003R002A013"
    assert SampleName(1, 1, 38, 1, 10).wanted
    assert not SampleName(1, 1, 38, 1, 11).wanted and not SampleName(1, 1, 3, 1, 10).wanted
    with pytest.raises(DataError, match="list, record A001S001: A sample is named"):
        SampleName.parse("A001S001", Path("list"))
    with pytest.raises(DataError, match=r"list, record S001C001P001R001A000: .* count from 1"):
        SampleName.parse("S001C001P001R001A000", Path("list"))


# ---------------------------------------------------------------- text


def test_world_as_text(skeletons):
    assert skeletons.counts.tolist() == [6] * 10
    assert (skeletons.bodies, skeletons.joints, skeletons.classes) == (2, 25, CLASSES)
    assert skeletons.source.kind == "synthetic"
    assert skeletons.source.detail == "60 sequences, text, seed 3, 6 sequences per class"
    assert "10 samples left out that the authors list as damaged" in skeletons.notes
    assert list(skeletons.names) == sorted(skeletons.names)
    second = [bool(sequence[:, 1].any()) for sequence in skeletons.sequences]
    assert any(second) and not all(second)


def test_text_files_directly_in_the_folder(text_folder):
    found = load_ntu(text_folder)
    assert found.names == ("S001C001P001R001A001", "S001C001P001R001A010")
    assert found.labels.tolist() == [0, 9]
    assert found.source.kind == "subset"
    assert found.notes[0].startswith("no missing_skeletons.txt")


def test_the_authors_list_of_damaged_samples(text_folder):
    authors = text_folder / "NTU_RGBD_samples_with_missing_skeletons.txt"
    authors.write_text("302 of the captured samples have missing data.\n\nS001C001P001R001A010\n")
    found = load_ntu(text_folder)
    assert found.names == ("S001C001P001R001A001",)
    assert found.notes == ("1 samples left out that the authors list as damaged",)
    authors.write_text("nothing\n")
    with pytest.raises(DataError, match="no sample name in this list"):
        load_ntu(text_folder)


def test_all_lists_of_damaged_samples_are_read_beside_the_texts_and_above(text_folder):
    inside = text_folder / "nturgb+d_skeletons"
    inside.mkdir()
    for file in text_folder.glob("*.skeleton"):
        file.rename(inside / file.name)
    shutil.copy(inside / "S001C001P001R001A001.skeleton", inside / "S001C001P002R001A001.skeleton")
    (text_folder / "NTU_RGBD_samples_with_missing_skeletons.txt").write_text("S001C001P001R001A010\n")
    (text_folder / "NTU_RGBD120_samples_with_missing_skeletons.txt").write_text("S018C001P008R001A061\n")
    (inside / "missing_skeletons.txt").write_text("S001C001P002R001A001\n")
    found = load_ntu(text_folder)
    assert found.names == ("S001C001P001R001A001",)
    assert found.notes == ("2 samples left out that the authors list as damaged",)


def test_where_the_list_belongs_is_where_it_is_read(text_folder):
    inside = text_folder / "nturgb+d_skeletons"
    inside.mkdir()
    for file in text_folder.glob("*.skeleton"):
        file.rename(inside / file.name)
    (inside / "S001C001P001R001A010.skeleton").write_text("1\n0\n")
    with pytest.raises(DataError, match="None of the 1 frames holds a body") as caught:
        load_ntu(text_folder)
    place = str(caught.value).split("put their list at ")[1].removesuffix(".")
    assert place == str(text_folder / "missing_skeletons.txt")
    Path(place).write_text("S001C001P001R001A010\n")
    assert load_ntu(text_folder).names == ("S001C001P001R001A001",)


def test_files_of_the_operating_system_are_no_samples(text_folder):
    for name in ("._S001C001P001R001A001.skeleton", "._missing_skeletons.txt", ".DS_Store", "Thumbs.db"):
        (text_folder / name).write_bytes(b"\0\5\x16\7\0")
    (text_folder / "__MACOSX").mkdir()
    assert len(load_ntu(text_folder)) == 2


def test_other_performers_and_actions_are_left_out_and_counted(text_folder):
    file = text_folder / "S001C001P001R001A001.skeleton"
    shutil.copy(file, text_folder / "S001C001P003R001A001.skeleton")
    (text_folder / "S001C001P001R001A060.skeleton").write_text("never read")
    found = load_ntu(text_folder)
    assert len(found) == 2
    assert "2 files of other actions or performers left out" in found.notes


def test_frames_without_a_body_are_counted(text_folder):
    path = text_folder / "S001C001P001R001A001.skeleton"
    count, rest = path.read_text().split("\n", 1)
    path.write_text(f"{int(count) + 2}\n0\n0\n{rest}")
    before = len(load_ntu(text_folder).sequences[0])
    assert "2 frames without a body left out" in load_ntu(text_folder).notes
    assert before == int(count)


def test_a_sample_cut_short_names_file_and_line(text_folder):
    path = text_folder / "S001C001P001R001A010.skeleton"
    lines = path.read_text().splitlines()[:100]
    path.write_text("\n".join(lines))
    with pytest.raises(
        DataError, match=r"S001C001P001R001A010\.skeleton: The file ends after line 100.*cut short"
    ):
        load_ntu(text_folder)


def test_a_file_with_another_name(text_folder):
    (text_folder / "first.skeleton").write_text("1\n")
    with pytest.raises(DataError, match=r"first\.skeleton, record first: A sample is named"):
        load_ntu(text_folder)


def test_an_action_0_names_the_file(text_folder):
    (text_folder / "S001C001P001R001A000.skeleton").write_text("1\n")
    with pytest.raises(DataError, match=r"A000\.skeleton, record .*A000: The numbers .* count from 1"):
        load_ntu(text_folder)


def test_the_inner_folder_of_a_world_is_a_world(world):
    assert load_ntu(world / "nturgb+d_skeletons").source.kind == "synthetic"


def test_a_damaged_world_is_to_be_deleted_and_not_to_be_got_again(world, tmp_path):
    copy = shutil.copytree(world, tmp_path / "copy")
    path = copy / "nturgb+d_skeletons" / "S001C001P001R001A001.skeleton"
    path.write_text(path.read_text().partition("\n")[0])
    for given in (copy, path.parent):
        with pytest.raises(DataError, match="cut short") as caught:
            load_ntu(given)
        text = str(caught.value)
        assert str(path) in text and "Unpack it again" not in text
        assert f"delete {copy}, and it is made anew" in text


def test_nothing_of_the_benchmark(tmp_path):
    (tmp_path / "S001C001P003R001A001.skeleton").write_text("1\n0\n")
    with pytest.raises(DataError, match="No sample is of A001–A010"):
        load_ntu(tmp_path)


@pytest.mark.parametrize("made", [True, False])
def test_a_folder_without_data(tmp_path, made):
    folder = tmp_path / "ntu"
    if made:
        folder.mkdir()
    with pytest.raises(MissingDataError) as caught:
        load_ntu(folder)
    text = str(caught.value)
    assert str(folder) in text and "ROSE Lab" in text and "driftlab data verify ntu" in text


# ---------------------------------------------------------------- arrays


@pytest.mark.parametrize("labels", ["json", "csv", "txt"])
def test_round_trip_through_npy(skeletons, tmp_path, labels):
    found = load_ntu(write_npy(tmp_path / "xsub", skeletons, labels).parent)
    assert found.names == skeletons.names
    assert found.source.kind == "subset" and found.source.detail == "60 sequences, npy"
    np.testing.assert_array_equal(found.labels, skeletons.labels)
    for one, other in zip(found.sequences, skeletons.sequences, strict=True):
        np.testing.assert_array_equal(one, other)


def test_npy_with_labels_alone(skeletons, tmp_path):
    found = load_ntu(write_npy(tmp_path, skeletons, "npy"))
    assert found.names[1] == "train_data_joint.npy[1]"
    np.testing.assert_array_equal(prepare(found, FRAMES, fit="pad"), prepare(skeletons, FRAMES, fit="pad"))


def test_round_trip_through_npz(skeletons, tmp_path):
    labels = np.eye(60)[skeletons.labels]
    labels[1] = np.eye(60)[42]
    found = load_ntu(write_npz(tmp_path, skeletons, y_train=labels))
    assert found.names[:2] == ("x_train[0]", "x_train[2]")
    assert found.notes[0] == "1 samples of other actions or performers left out"
    kept = [index for index in range(60) if index != 1]
    np.testing.assert_array_equal(found.labels, skeletons.labels[kept])
    np.testing.assert_array_equal(
        prepare(found, FRAMES, fit="pad"), prepare(skeletons, FRAMES, fit="pad")[kept]
    )


def test_compressed_npz_reads_the_same(skeletons, tmp_path):
    plain = load_ntu(write_npz(tmp_path / "plain", skeletons))
    arrays = dict(np.load(tmp_path / "plain" / "NTU60_CS.npz"))
    (tmp_path / "small").mkdir()
    np.savez_compressed(tmp_path / "small" / "NTU60_CS.npz", **arrays)
    assert load_ntu(tmp_path / "small").source.digest == plain.source.digest


def test_text_goes_before_arrays_and_a_note_says_so(text_folder, skeletons):
    write_npz(text_folder, skeletons)
    write_npy(text_folder, skeletons)
    found = load_ntu(text_folder)
    assert len(found) == 2
    assert "also there and not read: npz, npy" in found.notes


def test_digest_follows_the_content(skeletons, tmp_path):
    one = load_ntu(write_npy(tmp_path / "one", skeletons)).source.digest
    changed = padded(skeletons)
    changed[5, 3, 0, 2, 1] += 0.001
    write_npy(tmp_path / "two", skeletons)
    np.save(tmp_path / "two" / "train_data_joint.npy", changed.transpose(0, 4, 1, 3, 2))
    assert one == load_ntu(tmp_path / "one").source.digest != load_ntu(tmp_path / "two").source.digest


# ---------------------------------------------------------------- damaged arrays


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def test_a_pickle_is_never_read(skeletons, tmp_path):
    folder = write_npy(tmp_path, skeletons, "none")
    (folder / "train_label.pkl").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(MissingDataError, match="only as a pickle") as caught:
        load_ntu(folder)
    assert "json.dump(pickle.load" in str(caught.value) and "train_label.json" in str(caught.value)
    np.save(
        folder / "train_label.npy", np.array([Trap(tmp_path / "sprung")], dtype=object), allow_pickle=True
    )
    with pytest.raises(DataError, match=r"train_label\.npy: These labels cannot be read"):
        load_ntu(folder)
    np.save(folder / "train_label.npy", skeletons.labels)
    array = np.array([Trap(tmp_path / "sprung")] * 60, dtype=object)
    np.save(folder / "train_data_joint.npy", array, allow_pickle=True)
    with pytest.raises(DataError, match="not a readable npy file"):
        load_ntu(folder)
    for key in ("x_train", "y_train"):
        write_npz(tmp_path / key, skeletons, **{key: array})
        with pytest.raises(DataError, match=rf"NTU60_CS\.npz, field '{key}'"):
            load_ntu(tmp_path / key)
    assert not (tmp_path / "sprung").exists()


def test_the_advice_for_pickles_works(skeletons, tmp_path):
    """The published pickle holds (names, labels); the command in the message makes readable labels of it."""
    folder = write_npy(tmp_path / "it's {mine}", skeletons, "none")
    names = [f"{name}.skeleton" for name in skeletons.names]
    labels = list(skeletons.labels)  # NumPy integers, as there
    (folder / "train_label.pkl").write_bytes(pickle.dumps((names, labels)))
    with pytest.raises(MissingDataError) as caught:
        load_ntu(folder)
    subprocess.run(str(caught.value).split("convert it once:  ")[1], shell=True, check=True)
    assert load_ntu(folder).names == skeletons.names


def test_labels_that_are_missing(skeletons, tmp_path):
    with pytest.raises(MissingDataError, match=r"The labels are missing.*\.json, \.csv, \.txt, \.npy"):
        load_ntu(write_npy(tmp_path, skeletons, "none"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train_label.json", "[[", "cannot be read"),
        ("train_label.json", "[" * 100_000, r"train_label\.json: These labels cannot be read"),
        ("train_label.json", '{"names": []}', "cannot be read.*labels"),
        ("train_label.json", '[["S001C001P001R001A001"], ["0"]]', "a label must be an integer, not '0'"),
        ("train_label.json", '[["S001C001P001R001A001"], [0, 1]]', "1 names and 2 labels"),
        ("train_label.json", '[["S001C001P001R001A001"], [1]]', r"action 1 \(label 0\), the label is 1"),
        ("train_label.json", '[["first"], [1]]', "record first: A sample is named"),
        ("train_label.csv", "S001C001P001R001A001,0,3\n", "line 1 must be a name and a label"),
        ("train_label.txt", "S001C001P001R001A001 one\n", "cannot be read.*'one'"),
        (
            "train_label.json",
            '[["S001C001P001R001A001"], [0]]',
            r"Expected floats of shape \(1, 3, T, 25, 2\)",
        ),
    ],
)
def test_wrong_labels(skeletons, tmp_path, name, content, message):
    folder = write_npy(tmp_path, skeletons, "none")
    (folder / name).write_text(content)
    with pytest.raises(DataError, match=message):
        load_ntu(folder)


def test_negative_labels(skeletons, tmp_path):
    folder = write_npy(tmp_path, skeletons, "none")
    np.save(folder / "train_label.npy", skeletons.labels - 1)
    with pytest.raises(DataError, match=r"train_label\.npy, field 'labels': Labels are 0-based"):
        load_ntu(folder)


def test_an_npy_cut_short(skeletons, tmp_path):
    path = write_npy(tmp_path, skeletons) / "train_data_joint.npy"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(DataError, match=r"train_data_joint\.npy: This is not a readable npy file"):
        load_ntu(tmp_path)


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "a NaN or an infinity"), (0, "all zeros"), (1e30, "a position beyond 1,000,000 m")],
)
def test_unusable_samples(skeletons, tmp_path, value, message):
    array = padded(skeletons)
    array[7] = value
    write_npy(tmp_path / "npy", skeletons)
    np.save(tmp_path / "npy" / "train_data_joint.npy", array.transpose(0, 4, 1, 3, 2))
    with pytest.raises(DataError, match=rf"train_data_joint\.npy, record 7: .*{message}"):
        load_ntu(tmp_path / "npy")
    write_npz(tmp_path / "npz", skeletons, x_train=array.reshape(60, FRAMES, 150))
    with pytest.raises(DataError, match=rf"NTU60_CS\.npz, record 7: .*{message}"):
        load_ntu(tmp_path / "npz")


@pytest.mark.parametrize(
    ("key", "array", "message"),
    [
        (
            "x_train",
            np.zeros((60, FRAMES, 75), np.float32),
            r"Expected floats of shape \(60, T, 150\), found float32",
        ),
        ("x_train", np.ones((60, FRAMES, 150), np.int64), "found int64"),
        ("x_train", np.asfortranarray(np.ones((60, FRAMES, 150))), "Fortran order"),
        ("y_train", np.ones((60, 60)), r"must be one-hot \(N, classes\), not \(60, 60\)"),
        ("y_train", np.zeros(60), r"not \(60,\)"),
    ],
)
def test_wrong_npz_arrays(skeletons, tmp_path, key, array, message):
    with pytest.raises(DataError, match=rf"NTU60_CS\.npz, field '{key}': .*{message}"):
        load_ntu(write_npz(tmp_path, skeletons, **{key: array}))


def test_an_npz_cut_short_or_incomplete(skeletons, tmp_path):
    path = write_npz(tmp_path, skeletons) / "NTU60_CS.npz"
    arrays = dict(np.load(path))
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(DataError, match=r"NTU60_CS\.npz, field 'y_train': This is not a readable npz file"):
        load_ntu(tmp_path)
    del arrays["x_train"]
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=r"field 'x_train': This is not a readable npz file"):
        load_ntu(tmp_path)


def test_arrays_under_the_other_kind_of_name(skeletons, tmp_path):
    one = write_npz(tmp_path / "one", skeletons)
    np.save(tmp_path / "array.npy", skeletons.labels)
    (tmp_path / "array.npy").rename(one / "NTU60_CS.npz")
    with pytest.raises(DataError, match=r"NTU60_CS\.npz, field 'y_train': .*not a zip archive.*renamed"):
        load_ntu(one)
    for file in ("train_data_joint.npy", "train_label.npy"):
        other = write_npy(tmp_path / file, skeletons, "npy")
        with (other / file).open("wb") as stream:
            np.savez(stream, skeletons.labels)
        with pytest.raises(DataError, match=rf"{file}: .*an archive of several arrays; was it renamed"):
            load_ntu(other)
