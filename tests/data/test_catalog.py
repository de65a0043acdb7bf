from __future__ import annotations

import pytest
from driftlab.data import catalog
from driftlab.errors import MissingDataError, ParameterError
from driftlab.worlds.ntu_layout import ntu_world
from driftlab.worlds.nucla_layout import nucla_world


def test_every_entry_tells_what_a_reader_needs():
    for name, entry in catalog.DATASETS.items():
        assert entry.name == name and entry.papers
        assert f"driftlab data verify {name}" in entry.obtain
        assert entry.layout.startswith(f"{name}/\n") and entry.terms and entry.title and entry.what
        assert f"{sum(entry.totals.values()):,}" in entry.what
    assert {name: (entry.frames, entry.fit) for name, entry in catalog.DATASETS.items()} == {
        "nucla": (52, "resample"),
        "ntu": (300, "pad"),
    }


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
