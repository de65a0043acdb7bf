"""Which parts of the library may import which: the arrows run one way."""

from __future__ import annotations

import ast
from pathlib import Path

import driftlab
import pytest

BASE = {"errors", "paths", "provenance", "table", "__version__"}
BELOW = {
    "data": BASE,
    "worlds": BASE | {"data"},
    "scenarios": BASE | {"data"},
    "models": BASE | {"data", "scenarios"},
    "metrics": BASE,
    "methods": BASE | {"models"},
    "training": BASE | {"data", "scenarios", "models", "methods", "metrics"},
    "runs": BASE,
    "reporting": BASE | {"data", "metrics", "runs"},
    "notebooks": BASE,
    "papers": BASE | {"data", "worlds", "scenarios", "models", "methods", "metrics", "training"}
    | {"runs", "reporting"},
}  # fmt: skip
ROOT = Path(driftlab.__file__).parent


@pytest.mark.parametrize("package", BELOW)
def test_no_part_reaches_up(package: str) -> None:
    files = list((ROOT / package).rglob("*.py"))
    assert files
    for file in files:
        names = {
            name.split(".")[1]
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            for name in _imported(node)
            if name.startswith("driftlab.")
        }
        assert names <= BELOW[package] | {package}, f"{file.relative_to(ROOT)} imports too much"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == "driftlab":
        return [f"driftlab.{alias.name}" for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def test_every_part_has_its_place() -> None:
    parts = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert parts - {"cli", "bench"} == set(BELOW), "cli and bench may import everything"
