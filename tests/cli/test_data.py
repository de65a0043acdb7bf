"""`driftlab data`."""

import shutil
from pathlib import Path

import pytest
from driftlab.data.catalog import DATASETS
from driftlab.worlds.walk.layout import oak_world
from notebook_project import Project

from .driving import Driver


def test_every_dataset_says_what_where_and_how(project: Project, driftlab: Driver) -> None:
    result = driftlab("data")

    assert result.code == 0
    for dataset in DATASETS.values():
        for text in (dataset.title, dataset.what, dataset.terms, dataset.obtain, dataset.layout):
            assert " ".join(text.split()) in result.out
    assert result.out.count("not there") == len(DATASETS)


def test_one_dataset(project: Project, driftlab: Driver) -> None:
    result = driftlab("data", "nucla")
    assert DATASETS["nucla"].title in result.out
    assert DATASETS["ntu"].title not in result.out
    assert driftlab("data", "show", "nucla").out == result.out


def test_an_unknown_one_suggests_the_nearest(project: Project, driftlab: Driver) -> None:
    result = driftlab("data", "nulca")
    assert result.code == 2
    assert "Did you mean 'nucla'?" in result.err


def test_verifying_what_is_not_there_says_what_to_get(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    result = driftlab("data", "verify", "nucla", "--folder", str(tmp_path))
    assert result.code == 2
    assert f"{tmp_path}: " in result.err
    assert DATASETS["nucla"].obtain in result.err


def test_verifying_a_stream_of_frames(project: Project, driftlab: Driver, tmp_path: Path) -> None:
    folder = oak_world(tmp_path / "stream", steps=2, frames_per_step=1)
    result = driftlab("data", "verify", "oak", "--folder", str(folder))
    assert result.code == 1
    assert "steps about 1,996 2 differs" in result.out
    (folder / "OAK_TRAIN" / "Raw" / "00001").rename(folder / "OAK_TRAIN" / "Raw" / "00004")
    result = driftlab("data", "verify", "oak", "--folder", str(folder))
    assert result.code == 2
    assert "3 step folders are missing between 00000 and 00004: 1, 2, 3." in result.err


def test_verifying_the_official_data(project: Project, driftlab: Driver, real_data: Path) -> None:
    result = driftlab("data", "verify", "nucla", "--folder", str(real_data / "nucla"))
    assert result.code == 0
    assert "records 1,484 1,484 ok" in result.out
    assert "differs" not in result.out


@pytest.fixture
def two_of_nucla(real_data: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "few" / "all_sqe"
    folder.mkdir(parents=True)
    for source in sorted((real_data / "nucla" / "all_sqe").glob("*_v03.json"))[:2]:
        shutil.copy(source, folder)
    return folder.parent


def test_a_difference_is_exit_code_1(project: Project, driftlab: Driver, two_of_nucla: Path) -> None:
    result = driftlab("data", "verify", "nucla", "--folder", str(two_of_nucla))
    assert result.code == 1
    assert "records 1,484 2 differs" in result.out


def test_verify_takes_a_tilde_for_the_home_folder(
    driftlab: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    result = driftlab("data", "verify", "nucla", "--folder=~/mine")
    assert result.code == 2
    assert f"{tmp_path / 'mine'}: " in result.err and "there is no such folder" in result.err
