from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from driftlab.core.errors import MissingDataError, ParameterError
from driftlab.data import catalog
from driftlab.data.checkpoints import find_checkpoint
from driftlab.worlds.skeletons.ntu_layout import ntu_world
from driftlab.worlds.skeletons.nucla_layout import nucla_world
from driftlab.worlds.walk.layout import oak_world
from driftlab.worlds.walk.static_images import static_world


def test_every_entry_tells_what_a_reader_needs():
    for name, entry in catalog.DATASETS.items():
        assert entry.name == name and entry.papers
        assert f"driftlab data verify {name}" in entry.obtain
        assert entry.layout.startswith(f"{name}/\n") and entry.terms and entry.title and entry.what
        first = next(iter((dict(entry.rounded) | dict(entry.totals)).values()))
        assert f"{first:,}" in entry.what
        assert entry.label and entry.world and entry.world.name.startswith("world")
        assert (entry.preparation is not None) == (entry.records == "skeletons")
    prepared = {entry.label: entry.preparation for entry in catalog.DATASETS.values() if entry.preparation}
    assert prepared == {
        "UCLA": catalog.Preparation(52, "resample"),
        "NTU": catalog.Preparation(300, "pad"),
    }


def test_what_a_notebooks_data_may_be():
    assert catalog.data_names("skeletons") == ["world", "world-ntu", "nucla", "ntu"]
    assert catalog.data_names("stream") == ["world", "oak"]
    entry, world = catalog.by_data_name("world-ntu", "skeletons")
    assert entry.name == "ntu" and world is entry.world
    entry, world = catalog.by_data_name("nucla", "skeletons")
    assert entry.name == "nucla" and world is None
    with pytest.raises(
        ParameterError, match=r"no value of data 'oak'.* There are: world, world-ntu, nucla, ntu"
    ):
        catalog.by_data_name("oak", "skeletons")


def test_a_world_is_written_once_and_read_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", str(tmp_path))
    for data, name in (("world", "nucla"), ("world-ntu", "ntu")):
        skeletons = catalog.load_by_data_name(data, "skeletons", sequences_per_class=1, seed=3)
        assert len(skeletons) == 10
        assert (skeletons.source.name, skeletons.source.kind) == (name, "synthetic")
        assert "seed 3" in skeletons.source.detail
    with pytest.raises(ParameterError, match="data is 'world', which is made, not read"):
        catalog.load_by_data_name("world", "skeletons", str(tmp_path), sequences_per_class=1)


@pytest.mark.parametrize("name", catalog.DATASETS)
def test_a_missing_dataset_says_what_to_get_and_where(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTLAB_DATA", str(tmp_path))
    for attempt in (catalog.find, catalog.load, catalog.verify):
        with pytest.raises(MissingDataError) as caught:
            attempt(name)
        text = str(caught.value)
        assert str(tmp_path / name) in text and "there is no such folder" in text
        assert catalog.DATASETS[name].obtain in text
    (tmp_path / name).mkdir()
    with pytest.raises(MissingDataError, match="this folder holds none of its files"):
        catalog.find(name)


def test_an_unknown_dataset_suggests_the_nearest(tmp_path):
    for attempt in (catalog.find, catalog.load, catalog.verify):
        with pytest.raises(ParameterError, match=r"no dataset 'nulca'.* Did you mean 'nucla'"):
            attempt("nulca", tmp_path)


def test_the_default_folder_and_a_given_one(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTLAB_DATA", str(tmp_path))
    made = nucla_world(tmp_path / "nucla", sequences_per_class=3)
    assert catalog.find("nucla") == made
    other = ntu_world(tmp_path / "elsewhere", sequences_per_class=1)
    assert catalog.find("ntu", other) == other
    assert catalog.load("ntu", str(other)).source.name == "ntu"


def test_verify_a_world_shows_that_it_is_none_of_the_official_data(tmp_path):
    checks = {
        check.what: check
        for check in catalog.verify("nucla", nucla_world(tmp_path / "w", sequences_per_class=3))
    }
    assert checks["origin"].found == "synthetic" and not checks["origin"].ok
    assert (checks["records"].expected, checks["records"].found) == ("1,484", "30")
    assert checks["class donning"].found == "3" and not checks["class donning"].ok
    assert checks["feeder_split.json or feeder_ucla.py"].ok


def test_verify_a_stream_of_frames(tmp_path):
    folder = oak_world(tmp_path / "w", steps=2, frames_per_step=2)
    checks = {check.what: check for check in catalog.verify("oak", folder)}
    assert list(checks) == [
        "origin",
        "steps",
        "training frames",
        "test frames",
        "boxes",
        "categories in the map",
        "categories in training and test",
    ]
    assert (checks["steps"].expected, checks["steps"].found) == ("about 1,996", "2")
    assert (checks["training frames"].found, checks["test frames"].found) == ("4", "2")
    assert checks["categories in the map"].expected == "113" and not checks["categories in the map"].ok
    assert not any(check.ok for check in checks.values())


def test_counts_that_are_published_rounded_need_not_be_exact(tmp_path, monkeypatch):
    entry = catalog.DATASETS["oak"]
    folder = oak_world(tmp_path / "w", steps=2, frames_per_step=2)
    found = catalog.load("oak", folder)
    boxes = len(found.train.boxes) + len(found.test.boxes)
    for about, ok in ((boxes, True), (1.1 * boxes, False)):
        monkeypatch.setitem(
            catalog.DATASETS, "oak", replace(entry, rounded={"boxes": round(about)}, rounding=0.05)
        )
        (check,) = [check for check in catalog.verify("oak", folder) if check.what == "boxes"]
        assert check.ok is ok


def test_verify_static_pictures(tmp_path):
    checks = catalog.verify("voc", static_world(tmp_path / "w", images=2))
    assert [(check.what, check.expected, check.found) for check in checks] == [
        ("origin", "official", "synthetic"),
        ("pictures", "16,551", "2"),
        ("categories", "20", "8"),
    ]


def test_verify_says_what_lacks(tmp_path):
    folder = nucla_world(tmp_path / "w", sequences_per_class=3)
    (folder / "feeder_split.json").unlink()
    check = catalog.verify("nucla", folder)[-1]
    assert check.what == "feeder_split.json or feeder_ucla.py"
    assert not check.ok and check.found == "absent: the split differs from the literature's"


def test_real_nucla_is_verified(real_data):
    checks = catalog.verify("nucla", real_data / "nucla")
    assert all(check.ok for check in checks), [check for check in checks if not check.ok]
    assert [check.what for check in checks[-3:]] == [
        "pairs of equal sequences",
        "sequences of one frame",
        "feeder_split.json or feeder_ucla.py",
    ]


def test_a_world_without_its_sequences_is_to_be_deleted(tmp_path):
    folder = nucla_world(tmp_path / "w", sequences_per_class=1)
    (folder / "all_sqe").rename(tmp_path / "away")
    with pytest.raises(MissingDataError, match=f"none of its files.*delete {folder}, and it is made anew"):
        catalog.find("nucla", folder)


def test_a_tilde_in_a_notebooks_parameter_is_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model.pth").touch()
    assert find_checkpoint("~/model.pth") == tmp_path / "model.pth"
    with pytest.raises(MissingDataError, match=f"{tmp_path / 'mine'}: .*there is no such folder"):
        catalog.find("nucla", "~/mine")
