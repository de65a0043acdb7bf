"""Writes requirements.txt: every package that driftlab and its development tools need, each pinned.

    make lock                          pin what is new in pyproject.toml, keep every other version
    make lock LOCK_FLAGS=--upgrade     take the newest versions that fit

pip resolves pyproject.toml's dependencies, its `dev` extra and tools/later.in in one go; what only the latter
needs is then left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.txt"
LINUX = 'sys_platform == "linux" and platform_machine == "x86_64"'
HEADER = """\
# The lock: what driftlab and its development tools need, complete and pinned, for Python 3.11.
# Made by `make lock` (tools/lock.py) from pyproject.toml, such that the packages of tools/later.in will fit.
# Do not edit by hand. Install with: pip install -r requirements.txt
"""

STAND_INS = {"opencv-python": "./tools/opencv-python"}
"""Packages of our own in the place of others; each says why."""

Packages = dict[str, dict[str, Any]]


def resolve(requirements: Iterable[str], keep: list[str]) -> Packages:
    """What pip would install for these requirements: metadata by canonical name."""
    with tempfile.TemporaryDirectory() as folder:
        constraints, report = Path(folder, "constraints.txt"), Path(folder, "report.json")
        constraints.write_text("\n".join(keep), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        options = ["--constraint", str(constraints), "--report", str(report)]
        subprocess.run(
            [*command, *options, *requirements, *STAND_INS.values()],
            check=True,
            stdout=sys.stderr,
            cwd=ROOT,
        )
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {canonicalize_name(one["metadata"]["name"]): one["metadata"] for one in found}


def needed(roots: Iterable[Requirement], packages: Packages) -> set[str]:
    """The names that the roots need, directly or not, of all that was resolved."""
    waiting = [
        (canonicalize_name(root.name), frozenset(root.extras)) for root in roots if _applies(root, {""})
    ]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        for line in packages[name].get("requires_dist", []):
            requirement = Requirement(line)
            if _applies(requirement, {"", *extras}):
                waiting.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return {name for name, _ in seen}


def _applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    return requirement.marker is None or any(
        requirement.marker.evaluate({"extra": extra}) for extra in extras
    )


def write(groups: dict[str, Iterable[str]], packages: Packages) -> str:
    """The text of the lock."""
    lines = [HEADER]
    for title, names in groups.items():
        lines.append(f"# {title}")
        for name in sorted(names):
            marker = f" ; {LINUX}" if is_linux_only(name) else ""
            lines.append(f"{name}=={packages[name]['version']}{marker}")
        lines.append("")
    lines += ["# in the place of packages that do harm", *STAND_INS.values(), ""]
    lines += ["# the project itself", "-e ."]
    return "\n".join(lines) + "\n"


def is_linux_only(name: str) -> bool:
    """Whether PyTorch asks for a package on Linux only: CUDA's libraries and Triton."""
    return name.startswith(("nvidia-", "cuda-")) or name == "triton"


def main() -> None:
    """Resolve and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--upgrade", action="store_true", help="do not keep the versions of the present lock")
    upgrade = parser.parse_args().upgrade
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    run, dev = project["dependencies"], project["optional-dependencies"]["dev"]
    later = _lines(ROOT / "tools" / "later.in")
    keep = (
        []
        if upgrade or not LOCK.is_file()
        else [line for line in _lines(LOCK) if not line.startswith(("-", "."))]
    )

    packages = resolve([*run, *dev, *later], keep)
    run_names, dev_names = (
        {canonicalize_name(Requirement(line).name) for line in lines} for lines in (run, dev)
    )
    everything = needed(map(Requirement, [*run, *dev]), packages)
    rest = everything - run_names - dev_names
    groups = {
        "asked for in pyproject.toml": run_names,
        "development tools": dev_names - run_names,
        "what these need": {name for name in rest if not is_linux_only(name) and name not in STAND_INS},
        "what PyTorch needs on Linux": {name for name in rest if is_linux_only(name)},
    }
    LOCK.write_text(write(groups, packages), encoding="utf-8")
    print(f"{LOCK}: {len(everything)} packages")


def _lines(path: Path) -> list[str]:
    lines = [line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line]


if __name__ == "__main__":
    main()
