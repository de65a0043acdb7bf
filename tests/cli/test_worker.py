"""The process that executes one notebook, called without one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from driftlab.cli import worker


def test_a_full_disk_names_the_file_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = {
        "notebook": str(tmp_path / "41_x.ipynb"),
        "output": str(tmp_path / "out.ipynb"),
        "parameters": {},
        "events": str(tmp_path / "events"),
    }
    (tmp_path / "job.json").write_text(json.dumps(job))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(worker, "execute_notebook", full)
    monkeypatch.setattr(worker, "_end_with_parent", lambda: None)
    monkeypatch.setattr(sys, "argv", ["worker", str(tmp_path / "job.json")])
    try:
        worker.main()
    finally:
        worker._ending.release()
    event = json.loads((tmp_path / "events").read_text())
    assert event["message"] == (
        f"{tmp_path / 'out.ipynb'} cannot be written (No space left on device). "
        "Free some space, or set DRIFTLAB_OUTPUTS to a folder on another disk."
    )
