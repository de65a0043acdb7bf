from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.data.skeletons.ntu import load_ntu
from driftlab.data.skeletons.ntu_names import SampleName
from driftlab.worlds.skeletons.ntu_layout import ntu_world


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    return ntu_world(tmp_path_factory.mktemp("ntu") / "world", sequences_per_class=9, seed=1)


def test_the_files_are_ntus(world):
    assert sorted(path.name for path in world.iterdir()) == [
        "missing_skeletons.txt",
        "nturgb+d_skeletons",
        "world.json",
    ]
    files = list((world / "nturgb+d_skeletons").iterdir())
    assert len(files) == 100
    assert all(SampleName.parse(path.stem, path).wanted for path in files)
    assert sum(path.stat().st_size for path in files) < 25e6


def test_a_world_that_lacks_a_sequence_is_to_be_deleted(tmp_path):
    world = ntu_world(tmp_path / "w", sequences_per_class=2)
    (world / "nturgb+d_skeletons" / "S001C002P001R001A004.skeleton").unlink()
    with pytest.raises(
        DataError, match=r"was made with 2 sequences per class, and 1 are here\. It belongs to a synth"
    ):
        load_ntu(world)


def test_every_column_is_plausible(world):
    lines = (world / "nturgb+d_skeletons" / "S001C002P001R001A004.skeleton").read_text().splitlines()
    body = lines[2].split()
    assert len(body) == 10 and body[0].isdigit() and int(body[0]) > 2**55 and lines[3] == "25"
    rows = np.array([line.split() for line in lines[4:29]], dtype=float)
    xyz, depth, colour, orientation, tracking = np.split(rows, [3, 5, 7, 11], axis=1)
    assert ((depth > 0) & (depth < (512, 424))).all()
    assert ((colour > -50) & (colour < (1970, 1130))).all()
    right = xyz[:, 0].argmax()
    assert depth[right, 0] > 256 and colour[right, 0] > 960, "right of the middle is right in both pictures"
    norms = np.linalg.norm(orientation, axis=1)
    np.testing.assert_allclose(np.delete(norms, 20), 1, atol=1e-3)
    assert norms[20] == 0, "the shoulders' centre is the root of the tree and has no bone"
    assert set(tracking.ravel()) <= {1.0, 2.0}


def test_orientation_turns_the_y_axis_into_the_bone(world):
    lines = (world / "nturgb+d_skeletons" / "S001C002P001R001A004.skeleton").read_text().splitlines()
    rows = np.array([line.split() for line in lines[4:29]], dtype=float)
    w, x, y, z = rows[5, 7:11]  # the left elbow, whose parent is the left shoulder
    turned = np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])
    bone = rows[5, :3] - rows[4, :3]
    np.testing.assert_allclose(turned, bone / np.linalg.norm(bone), atol=2e-3)


def test_cameras_see_one_execution_and_bystanders_come_second(world):
    skeletons = load_ntu(world)
    lengths = dict(zip(skeletons.names, skeletons.lengths.tolist(), strict=True))
    assert lengths["S001C001P002R001A003"] == lengths["S001C002P002R001A003"]
    assert skeletons.counts.tolist() == [9] * 10
    assert any(sequence[:, 1].any() for sequence in skeletons.sequences)
    assert all(sequence[:, 0].any(axis=(1, 2)).all() for sequence in skeletons.sequences)


def test_damaged_samples_are_listed(world):
    listed = (world / "missing_skeletons.txt").read_text().split()
    assert len(listed) == 10
    for name in listed:
        lines = (world / "nturgb+d_skeletons" / f"{name}.skeleton").read_text().split()
        assert lines == ["12"] + ["0"] * 12


def test_deterministic_and_different_by_seed(tmp_path, world):
    again = ntu_world(tmp_path / "again", sequences_per_class=9, seed=1)
    assert load_ntu(again).source == load_ntu(world).source
    small = ntu_world(tmp_path / "small", sequences_per_class=1, seed=2)
    other = ntu_world(tmp_path / "other", sequences_per_class=1, seed=3)
    assert load_ntu(small).source.digest != load_ntu(other).source.digest


@pytest.mark.parametrize("size", [0, 2040])
def test_impossible_sizes(tmp_path, size):
    with pytest.raises(ParameterError, match=f"from 1 to 2039, not {size}"):
        ntu_world(tmp_path / "world", sequences_per_class=size)
