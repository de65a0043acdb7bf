"""CONTRIBUTING followed to the letter, in a copy of the package: a method and a dataset of one's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(heading: str) -> list[str]:
    """The Python of a section of CONTRIBUTING: the file, then the line or entry that registers it."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```(?:python|text)\n(.*?)```", section, flags=re.DOTALL)


def insert(file: Path, before: str, text: str) -> None:
    """Put text before the only place of `before` in a file."""
    content = file.read_text(encoding="utf-8")
    assert content.count(before) == 1
    file.write_text(content.replace(before, text + before), encoding="utf-8")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of `lib/` with the toy method and the toy dataset."""
    lib = tmp_path_factory.mktemp("copy") / "lib"
    shutil.copytree(ROOT / "lib" / "driftlab", lib / "driftlab", ignore=shutil.ignore_patterns("__pycache__"))
    method, registration = blocks("A method")
    (lib / "driftlab" / "methods" / "toy.py").write_text(method, encoding="utf-8")
    insert(lib / "driftlab" / "methods" / "__init__.py", '        "JOINT": ', registration)
    reader, entry = blocks("A dataset")
    (lib / "driftlab" / "data" / "skeletons" / "toy.py").write_text(reader, encoding="utf-8")
    catalog = lib / "driftlab" / "data" / "catalog.py"
    (line,) = re.findall(r"`(from driftlab\.data\.skeletons import toy)`", TEXT)
    insert(catalog, "from driftlab.data.skeletons import ntu, nucla\n", f"{line}\n")
    insert(catalog, '        Dataset(\n            name="voc"', entry)
    return lib


def run(package: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": str(package),
        "DRIFTLAB_ROOT": str(ROOT),
        "DRIFTLAB_DATA": str(folder / "data"),
        "DRIFTLAB_OUTPUTS": str(folder / "outputs"),
        "COLUMNS": "200",
    }
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False
    )


def driftlab(package: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(package, folder, "-m", "driftlab.cli", *arguments)


def write_toy_data(folder: Path) -> None:
    place = folder / "data" / "toy"
    place.mkdir(parents=True)
    coordinates = np.random.default_rng(0).normal(size=(60, 9, 1, 3, 3))
    np.savez(place / "toy.npz", coordinates=coordinates, labels=np.repeat(np.arange(10), 6))


def test_a_method_is_one_file_and_one_line(package: Path, tmp_path: Path) -> None:
    given = ["--scale", "smoke", "-p", "methods", "[BARE, TOY]", "--dry-run"]
    accepted = driftlab(package, tmp_path, "run", "41", *given)
    assert accepted.returncode == 0, accepted.stderr
    assert "methods = ['BARE', 'TOY']" in accepted.stdout
    refused = driftlab(package, tmp_path, "run", "41", "-p", "hyper", "{TOY: {strength: -1}}", "--dry-run")
    assert "TOY's 'strength' has to be at least 0, not -1" in refused.stderr
    assert (
        "TOY strength = 0.001  weight of the squared parameters"
        in driftlab(package, tmp_path, "params", "41").stdout
    )


def test_a_dataset_is_one_file_and_one_entry(package: Path, tmp_path: Path) -> None:
    assert "toy  Toy skeletons" in driftlab(package, tmp_path, "data").stdout
    given = ["run", "41", "--scale", "smoke", "-p", "data", "toy", "--dry-run"]
    missing = driftlab(package, tmp_path, *given)
    assert missing.returncode == 2 and "dataset toy: missing" in missing.stdout
    write_toy_data(tmp_path)
    accepted = driftlab(package, tmp_path, *given)
    assert accepted.returncode == 0, accepted.stderr
    assert "dataset toy: there" in accepted.stdout
    assert "All 2 agree" in driftlab(package, tmp_path, "data", "verify", "toy").stdout


def test_the_method_learns_the_dataset(package: Path, tmp_path: Path) -> None:
    write_toy_data(tmp_path)
    code = (
        "from driftlab.papers.cgl.session import CglSession\n"
        "session = CglSession('41_cgl_task_order', scale='smoke', data='toy', jobs=1)\n"
        "table = session.runs(['BARE', 'TOY'], [tuple(range(10))], [0], epochs=2, width=4, depth=1)\n"
        "print(session.label, sorted(table['method'].unique()), table['value'].notna().all())"
    )
    result = run(package, tmp_path, "-c", code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "TOY ['BARE', 'TOY'] True"
