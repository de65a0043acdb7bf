"""What every test shares."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]
LONG = (
    "browser/test_notebooks",
    "regression/",
    "papers/cgl/test_sweeps",
    "runs/test_engines",
    "cli/test_run",
    "papers/oak/test_session",
    "runs/test_interruption",
    "training/graphs/test_task_trainer",
    "cli/test_stopping",
    "training/detection/",
    "bench/",
)
"""Tests that take longest; they begin first, so that no process works alone at the end."""
PAPERS = [file.parent.name for file in (ROOT / "lib" / "driftlab" / "papers").glob("*/paper.yaml")]


class OneProcessPerFile(LoadScopeScheduling):
    """Tests of one file run in one process, as they share fixtures.

    So do a paper's regression notebooks and the tests that read what they wrote.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if Path(file).parent.name == "regression":
            words = re.split("[^a-z]+", f"{Path(file).stem} {test}")
            return next((paper for paper in PAPERS if paper in words), file)
        return file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests of `LONG` first, in its order."""

    def rank(item: pytest.Item) -> int:
        return next((i for i, part in enumerate(LONG) if f"tests/{part}" in item.nodeid), len(LONG))

    items.sort(key=rank)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneProcessPerFile:
    config.option.loadscopereorder = False  # files are given out in the order of collection
    return OneProcessPerFile(config, log)


@pytest.fixture(scope="session", autouse=True)
def _as_in_a_terminal() -> None:
    """What tests start can be interrupted, even where a shell has made a background job ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _own_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test writes into the checkout's outputs folder."""
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", str(tmp_path / "outputs"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets that developers share; the test is skipped where there is none."""
    folder = Path(os.environ.get("DRIFTLAB_REAL_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is not there (set DRIFTLAB_REAL_DATA to its folder)")
    return folder
