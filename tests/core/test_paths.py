"""Where things lie, whatever the working directory is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from driftlab.core.errors import ParameterError
from driftlab.core.paths import data_dir, outputs_path, project_root


@pytest.mark.parametrize(
    ("variable", "folder"), [("DRIFTLAB_OUTPUTS", outputs_path), ("DRIFTLAB_DATA", data_dir)]
)
def test_a_relative_folder_counts_from_the_projects_root_in_every_process(
    variable: str, folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DRIFTLAB_ROOT", str(tmp_path))
    monkeypatch.setenv(variable, "mine")
    (tmp_path / "notebooks").mkdir()
    for working_directory in (tmp_path, tmp_path / "notebooks"):
        monkeypatch.chdir(working_directory)
        assert folder() == tmp_path / "mine"


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", "~/results")
    assert outputs_path() == tmp_path / "results"
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", "~no-such-user/results")
    with pytest.raises(ParameterError, match="'~no-such-user/results': there is no such home folder"):
        outputs_path()


def test_a_relative_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLAB_ROOT", "checkout")
    with pytest.raises(ParameterError, match=r"relative path 'checkout'.*Set it to an absolute path"):
        project_root()
