"""Atomic writing."""

from __future__ import annotations

from pathlib import Path

import pytest
from driftlab.core.errors import ParameterError, StoreError
from driftlab.core.files import slug, write_atomic


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "new" / "file.txt"
    write_atomic(target, b"first, and longer")
    write_atomic(target, b"second")
    assert target.read_bytes() == b"second"
    assert [path.name for path in target.parent.iterdir()] == ["file.txt"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file.txt"
    write_atomic(target, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("driftlab.core.files.os.fsync", full)
    with pytest.raises(
        StoreError, match=r"file\.txt cannot be written \(No space left on device\)\. Free some space"
    ):
        write_atomic(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_an_impossible_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file, not a folder")
    with pytest.raises(StoreError, match="set DRIFTLAB_OUTPUTS to a folder that is"):
        write_atomic(tmp_path / "outputs" / "tables" / "a.csv", b"")


def test_slug() -> None:
    assert slug("Task orders (N-UCLA)", "part") == "task-orders-n-ucla"
    assert slug("../../etc", "part") == "etc"
    with pytest.raises(ParameterError, match="The part '…' has no letter or digit"):
        slug("…", "part")
