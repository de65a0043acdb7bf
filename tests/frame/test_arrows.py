"""Which parts of the library may import which, and that no module imports itself through others."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import driftlab
import pytest

ROOT = Path(driftlab.__file__).parent
BELOW: dict[str, set[str]] = {
    "core": set(),
    "data": {"core"},
    "worlds": {"core", "data"},
    "scenarios": {"core", "data"},
    "models": {"core", "data", "scenarios"},
    "metrics": {"core"},
    "methods": {"core", "models"},
    "training": {"core", "data", "scenarios", "models", "methods", "metrics"},
    "runs": {"core"},
    "reporting": {"core", "metrics"},
    "notebooks": {"core"},
    "papers": {"core", "data", "worlds", "scenarios", "models", "methods", "metrics", "training", "runs"}
    | {"reporting", "notebooks"},
}  # fmt: skip
"""What each part may import beside itself; `cli` and `bench` may import everything."""


@cache
def modules() -> dict[str, Path]:
    """Every module of the library by its dotted name."""
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        parts = ("driftlab", *file.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def imports(module: str) -> frozenset[str]:
    """What a module imports anywhere, also inside functions and for type checking only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(modules()[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update({name for name in inner if name in modules()} or {str(node.module)})
    return frozenset(found)


def part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("package", BELOW)
def test_no_part_reaches_up(package: str) -> None:
    own = [module for module in modules() if part(module) == package]
    assert own
    for module in own:
        used = {part(name) for name in imports(module) if name.startswith("driftlab.")}
        assert used <= BELOW[package] | {package}, f"{module} imports too much"


def test_every_part_has_its_place() -> None:
    parts = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert parts - {"cli", "bench"} == set(BELOW)


def test_no_module_imports_itself_through_others() -> None:
    graph = {module: {name for name in imports(module) if name in modules()} for module in modules()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        raise AssertionError(f"a circle: {' imports '.join(reversed(error.args[1]))}") from None


def test_no_paper_imports_another_and_nothing_below_names_one() -> None:
    papers = {path.name for path in (ROOT / "papers").iterdir() if (path / "paper.yaml").is_file()}
    assert len(papers) >= 4
    for module in modules():
        named = {name.split(".")[2] for name in imports(module) if name.startswith("driftlab.papers.")}
        own = module.split(".")[2] if module.startswith("driftlab.papers.") else ""
        if part(module) == "papers":
            assert named & papers <= {own}, f"{module} imports another paper"
        elif part(module) not in ("cli", "bench"):
            assert not named, f"{module} imports a paper"


def test_kernels_are_used_through_their_interface() -> None:
    kernels = "driftlab.models.graphs.kernels"
    assert any(kernels in imports(module) for module in modules())
    for module in modules():
        if not module.startswith(kernels):
            inner = [name for name in imports(module) if name.startswith(f"{kernels}.")]
            assert not inner, f"{module} imports {inner}: use what {kernels} names"


def test_parameters_are_light() -> None:
    files = [module for module in modules() if module.endswith(".parameters") and part(module) == "papers"]
    assert len(files) >= 3
    code = (
        f"import sys, {', '.join(files)}\n"
        "from driftlab.notebooks.declared import declared_notebooks\n"
        "assert declared_notebooks()\n"
        "print(sorted({'torch', 'numpy', 'pandas', 'mmdet', 'matplotlib', 'ray'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "[]\n", "a wrong parameter has to be refused in about a second"
