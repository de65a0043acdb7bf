"""Reading files, whatever else an operating system has put beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from driftlab.core.errors import DataError
from driftlab.data.files import entries, read_bytes


def test_files_of_operating_systems_are_no_entries(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "._a.json", ".DS_Store", "Thumbs.db", "desktop.ini", "c.txt"):
        (tmp_path / name).touch()
    (tmp_path / "__MACOSX").mkdir()
    assert [path.name for path in entries(tmp_path)] == ["a.json", "b.json", "c.txt"]
    assert [path.name for path in entries(tmp_path, "*.json")] == ["a.json", "b.json"]
    assert list(entries(tmp_path / "absent")) == []


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="This cannot be a file's name"):
        read_bytes(tmp_path / name)
