from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import ParameterError
from driftlab.data.skeletons.nucla import CLASSES, load_nucla
from driftlab.data.skeletons.records import SkeletonSet, prepare
from driftlab.worlds.skeletons.nucla_layout import nucla_world
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    return nucla_world(tmp_path_factory.mktemp("nucla") / "world")


@pytest.fixture(scope="module")
def skeletons(world) -> SkeletonSet:
    return load_nucla(world)


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_files_are_n_uclas(world):
    assert sorted(path.name for path in world.iterdir()) == ["all_sqe", "feeder_split.json", "world.json"]
    record = json.loads((world / "all_sqe" / "a12_s03_e00_v02.json").read_text())
    assert list(record) == ["file_name", "skeletons", "label"]
    assert record["label"] == 10 and np.array(record["skeletons"]).shape[1:] == (20, 3)
    assert sum(path.stat().st_size for path in world.rglob("*.json")) < 15e6


def test_it_loads_as_synthetic(skeletons):
    assert skeletons.counts.tolist() == [40] * 10 and skeletons.classes == CLASSES
    caption = "nucla: a synthetic world (400 sequences, seed 0, 40 sequences per class)"
    assert skeletons.source.caption == caption
    assert skeletons.notes == (), "no duplicates, no single frames, nothing flat"
    assert 25 <= np.median(skeletons.lengths) <= 36 and len(set(skeletons.lengths.tolist())) > 20


def test_view_3_comes_last_and_views_share_executions(skeletons):
    views = [name[-3:] for name in skeletons.names]
    assert set(views[: views.index("v03")]) == {"v01", "v02"} and set(views[views.index("v03") :]) == {"v03"}
    assert list(skeletons.names) != sorted(skeletons.names), "the order is shuffled as the feeder's"
    lengths = dict(zip(skeletons.names, skeletons.lengths.tolist(), strict=True))
    assert lengths["a04_s02_e00_v01"] == lengths["a04_s02_e00_v02"] == lengths["a04_s02_e00_v03"]


def test_people_stand_before_the_camera(skeletons):
    points = np.concatenate([sequence.reshape(-1, 3) for sequence in skeletons.sequences])
    assert points[:, 2].min() > 0.3 and points[:, 2].max() < 6, "metres of depth"
    assert points[:, 1].min() > -1.8 and points[:, 1].max() < 1.6


def test_deterministic_and_different_by_seed(tmp_path):
    first = nucla_world(tmp_path / "one", sequences_per_class=4, seed=1)
    repeated = nucla_world(tmp_path / "again", sequences_per_class=4, seed=1)
    other = nucla_world(tmp_path / "other", sequences_per_class=4, seed=2)
    assert contents(first) == contents(repeated)
    assert load_nucla(first).source.digest != load_nucla(other).source.digest


def test_a_larger_world_contains_the_smaller_one(tmp_path, world):
    small = nucla_world(tmp_path / "small", sequences_per_class=4)
    for path in (small / "all_sqe").iterdir():
        assert path.read_bytes() == (world / "all_sqe" / path.name).read_bytes()


@pytest.mark.parametrize("size", [0, 3001])
def test_impossible_sizes(tmp_path, size):
    with pytest.raises(ParameterError, match=f"from 1 to 3000, not {size}"):
        nucla_world(tmp_path / "world", sequences_per_class=size)


def test_difficulty(skeletons):
    """Linear and nearest-neighbour classifiers do well, not perfectly (real N-UCLA: 0.81 and 0.90)."""
    features = prepare(skeletons, 13).reshape(len(skeletons), -1)
    train, test = [], []
    for label in range(10):
        of_class = np.flatnonzero(skeletons.labels == label)
        train += of_class[:-8].tolist()
        test += of_class[-8:].tolist()
    linear = LogisticRegression(C=0.1, max_iter=200).fit(features[train], skeletons.labels[train])
    nearest = KNeighborsClassifier(1).fit(features[train], skeletons.labels[train])
    assert 0.75 <= linear.score(features[test], skeletons.labels[test]) <= 0.96
    assert 0.75 <= nearest.score(features[test], skeletons.labels[test]) <= 0.96
