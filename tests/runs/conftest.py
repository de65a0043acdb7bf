"""The toy experiment lies beside the tests, and spawned workers must find it too."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from driftlab.runs.store import Store


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Where the toy experiment leaves a file for every stage that it executes."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def no_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a power cut would tell the difference, and a busy disk makes a sweep of many tiny stages slow."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
