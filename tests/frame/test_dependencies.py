"""environment.yml, requirements.txt, pyproject.toml and the imports of the library say the same."""

import ast
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.txt").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DECLARED = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
DEVELOPMENT = [Requirement(line) for line in PROJECT["project"]["optional-dependencies"]["dev"]]


STAND_INS = {"opencv-python": Requirement("opencv-python==4.12")}


def pins() -> dict[str, Requirement]:
    lines = [line.partition("#")[0].strip() for line in LOCK.splitlines()]
    found = [Requirement(line) for line in lines if line and not line.startswith(("-", "."))]
    return {canonicalize_name(one.name): one for one in found} | STAND_INS


def test_the_lock_pins_each_package_once_and_installs_the_project() -> None:
    names = [line.split("==")[0] for line in LOCK.splitlines() if "==" in line and not line.startswith("#")]
    assert len(names) == len(set(names)) == len(pins()) - len(STAND_INS)
    assert all([one.operator for one in pin.specifier] == ["=="] for pin in pins().values())
    assert LOCK.splitlines()[-1] == "-e ."


@pytest.mark.parametrize("asked", [*DECLARED, *DEVELOPMENT], ids=lambda one: one.name)
def test_the_lock_satisfies_pyproject(asked: Requirement) -> None:
    pin = pins()[canonicalize_name(asked.name)]
    version = next(iter(pin.specifier)).version
    assert pin.marker is None, "a direct dependency is pinned on every machine"
    assert asked.specifier.contains(version), f"the lock has {version}; run `make lock`"


def test_the_lock_is_complete() -> None:
    """What each pinned package requires is pinned as well, in a version that it accepts."""
    locked = pins()
    for name, pin in locked.items():
        if pin.marker and not pin.marker.evaluate():
            continue
        for line in metadata.distribution(name).requires or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert canonicalize_name(needed.name) in locked, (
                    f"{name} needs {needed.name}; run `make lock`"
                )
                version = next(iter(locked[canonicalize_name(needed.name)].specifier)).version
                assert needed.specifier.contains(version, prereleases=True), (
                    f"{name} needs {line}, not {version}"
                )


def test_one_python_everywhere() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (conda,) = [line for line in environment["dependencies"] if str(line).startswith("python=")]
    version = conda.removeprefix("python=")

    allowed = SpecifierSet(PROJECT["project"]["requires-python"])
    assert [minor for minor in range(8, 20) if f"3.{minor}.0" in allowed] == [int(version.split(".")[1])]
    assert PROJECT["tool"]["mypy"]["python_version"] == version
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{version.replace('.', '')}"
    assert f"python{version}" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_conda_installs_the_lock() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert "pip" in environment["dependencies"]
    assert {"pip": ["-r requirements.txt"]} in environment["dependencies"]


def test_every_import_of_the_library_is_a_declared_dependency() -> None:
    declared = {canonicalize_name(one.name) for one in DECLARED}
    providers = metadata.packages_distributions()
    undeclared = {}
    for file in (ROOT / "lib").rglob("*.py"):
        for module in imported(file) - sys.stdlib_module_names - {"driftlab"}:
            if not declared & {canonicalize_name(name) for name in providers.get(module, [])}:
                undeclared[module] = str(file.relative_to(ROOT))
    assert undeclared == {}


def imported(file: Path) -> set[str]:
    """The top-level modules that a file imports, at whatever depth."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    from_ = {
        node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }
    return {name.split(".")[0] for name in plain | from_}
