"""`driftlab doctor`."""

import json
import sys
from importlib import metadata
from pathlib import Path

import pytest
from driftlab.cli import checks, kernel
from driftlab.core.errors import DriftlabError
from notebook_project import Project

from .driving import Driver


def found(look: object) -> list[tuple[str, str]]:
    assert callable(look)
    return [(finding.state, finding.detail) for finding in look()]


def test_looks_at_everything(project: Project, driftlab: Driver) -> None:
    result = driftlab("doctor")

    assert result.code == 0
    for what in (
        "Python",
        "packages",
        "PyTorch",
        "OpenCV",
        "detection operators",
        "accelerator",
        "cores",
        "memory",
        "kernel python3",
        "outputs",
    ):
        assert f" {what} " in result.out
    assert (
        "warn dataset nucla not there; only the paper scale needs it, see: driftlab data nucla" in result.out
    )


def test_packages_against_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.txt"
    rich = metadata.version("rich")

    def state(text: str) -> list[tuple[str, str]]:
        lock.write_text(text)
        return found(lambda: checks.packages(lock))

    assert state(f"# a lock\nrich=={rich}  # pretty\n./tools/some-stand-in\n-e .\n") == [
        ("ok", "1, all as locked in requirements.txt")
    ]
    repair = f"run in {tmp_path}: pip install -r requirements.txt"
    assert state("rich==0.1") == [
        ("warn", f"other versions than locked: rich {rich} (locked: 0.1); {repair}")
    ]
    assert state("no-such-package==1") == [("fail", f"missing: no-such-package; {repair}")]
    assert state('no-such-package==1 ; sys_platform == "plan9"') == [
        ("ok", "0, all as locked in requirements.txt")
    ]


def test_a_missing_package_is_exit_code_1(project: Project, driftlab: Driver) -> None:
    (project.root / "requirements.txt").write_text("no-such-package==1\n")
    result = driftlab("doctor")
    assert result.code == 1
    assert "fail packages missing: no-such-package" in result.out


def test_an_unwritable_outputs_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", str(tmp_path / "file"))
    ((state, detail),) = found(checks.outputs)
    assert state == "fail"
    assert "cannot be written to" in detail


def test_a_kernel_of_another_python_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = tmp_path / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = ["/elsewhere/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))

    with pytest.raises(
        DriftlabError, match=r"starts /elsewhere/bin/python, not .*jupyter kernelspec remove python3"
    ):
        kernel.kernel_python()
    assert found(checks.kernel)[0][0] == "fail"


def test_two_opencvs_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.metadata, "files", lambda name: ["cv2/cv2.abi3.so"])
    ((state, detail), _) = found(checks.detection)
    assert state == "warn" and "overwrite each other's cv2; pip uninstall opencv-python" in detail


def test_a_broken_opencv_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    ((state, detail),) = found(checks.detection)
    assert state == "fail" and "ModuleNotFoundError" in detail and "requirements.txt" in detail


@pytest.mark.parametrize(
    "content",
    ["{broken", "[]", "{}", '{"argv": [], "display_name": "x", "language": "python"}', '{"argv": 3}'],
)
def test_a_damaged_kernel_of_the_user_is_told_in_run_and_doctor(
    project: Project, driftlab: Driver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str
) -> None:
    spec = tmp_path / "data" / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(content)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    project.notebook("10_x", None, "1")

    result = driftlab("run")
    ((state, detail),) = found(checks.kernel)

    assert result.code == 2 and state == "fail"
    for message in (result.err, " ".join(detail.split())):
        assert f"{spec} is damaged. Delete it, or install the kernel anew: {sys.executable} -m" in message


def test_a_check_that_raises_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("no == requirement ==\n")
    monkeypatch.setenv("DRIFTLAB_ROOT", str(tmp_path))
    ((state, detail),) = [(one.state, one.detail) for one in checks.guarded(checks.packages)]
    assert state == "fail" and detail.startswith("could not be checked: InvalidRequirement: ")
    monkeypatch.setenv("DRIFTLAB_ROOT", "relative")
    failed = [finding.what for finding in checks.all_findings() if finding.state == "fail"]
    assert failed == ["packages", "outputs", "datasets"]


def test_a_full_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("driftlab.cli.temporary.is_full", lambda folder: folder == tmp_path)
    ((state, detail),) = found(checks.temporary)
    assert state == "fail"
    assert f"cannot be written to {tmp_path} (No space left on device); free some space" in detail
