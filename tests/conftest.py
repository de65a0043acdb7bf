"""What every test shares."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


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
