"""The tools beside the library: the lock, and what the pre-commit hooks do."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from conftest import LONG
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(name: str, version: str, *needs: str) -> dict[str, object]:
    return {"name": name, "version": version, "requires_dist": list(needs)}


PACKAGES = {
    "alpha": package(
        "Alpha", "1.0", "beta[fast]>=2", 'delta ; extra == "more"', 'epsilon ; python_version < "3"'
    ),
    "beta": package("beta", "2.1", 'gamma ; extra == "fast"', "alpha"),
    "gamma": package("gamma", "0.1"),
    "delta": package("delta", "4.0"),
    "nvidia-zeta": package("nvidia-zeta", "5.0"),
}


def test_the_lock_holds_what_is_needed_and_nothing_else() -> None:
    lock = tool("lock")
    assert lock.needed([Requirement("alpha")], PACKAGES) == {"alpha", "beta", "gamma"}
    assert lock.needed([Requirement("alpha[more]")], PACKAGES) == {"alpha", "beta", "gamma", "delta"}
    assert lock.needed([Requirement('alpha ; sys_platform == "plan9"')], PACKAGES) == set()


def test_the_locks_text() -> None:
    text = tool("lock").write({"some": ["gamma", "alpha"], "cuda": ["nvidia-zeta"]}, PACKAGES)
    assert text.splitlines()[3:] == [
        "",
        "# some",
        "alpha==1.0",
        "gamma==0.1",
        "",
        "# cuda",
        'nvidia-zeta==5.0 ; sys_platform == "linux" and platform_machine == "x86_64"',
        "",
        "# in the place of packages that do harm",
        "./tools/opencv-python",
        "",
        "# the project itself",
        "-e .",
    ]


def test_large_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(bytes(500_000))
    large.write_bytes(bytes(500_001))
    main = tool("large_files").main
    assert main([str(small)]) == 0
    assert main([str(small), str(large)]) == 1
    assert capsys.readouterr().out.startswith(f"{large}: 500 KB; the limit is 500 KB.")


def test_the_hook_strips_outputs_and_keeps_the_parameters_tag(tmp_path: Path) -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = {hook["id"]: hook for hook in config["repos"][0]["hooks"]}
    _, program, *options = hooks["nbstripout"]["entry"].split()
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {"tags": ["parameters"]},
        "source": "seed = 0",
        "execution_count": 3,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "out"}],
    }
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "P"},
        "language_info": {"name": "python", "version": "3"},
    }
    path = tmp_path / "41_x.ipynb"
    path.write_text(json.dumps({"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))

    subprocess.run([sys.executable, "-m", program, *options, str(path)], check=True)

    stripped = json.loads(path.read_text())
    assert stripped["cells"][0]["metadata"] == {"tags": ["parameters"]}
    assert stripped["cells"][0]["outputs"] == []
    assert stripped["cells"][0]["execution_count"] is None
    assert stripped["metadata"]["language_info"] == {"name": "python"}, "papermill needs the name"


def test_a_regression_notebook_comes_after_those_whose_runs_it_takes_over() -> None:
    regression = tool("regression")
    assert regression.with_earlier(["22"]) == ["20", "21", "22"]
    assert regression.with_earlier(["41", "20"]) == ["20", "40", "41"]
    assert regression.with_earlier(regression.NUMBERS) == list(regression.NUMBERS)


def test_the_tests_that_begin_first_are_there() -> None:
    for part in LONG:
        assert list((ROOT / "tests").glob(f"{part}*")), f"tests/conftest.py names {part} in LONG"
