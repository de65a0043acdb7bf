"""Write the regression notebooks again: every notebook executed at smoke scale, as CI will compare it.

    python tools/regression.py            all of them
    python tools/regression.py 43         this one and those before it in its paper, whose runs it reuses

Writes `tests/regression/*.ipynb` (no pictures, no progress bars, no places of this machine) and
`tests/regression/expected/*.csv`. Look at the difference before you commit it: it says what your change did.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import papermill
import yaml
from driftlab.cli.worker import papermill_path
from driftlab.reporting.printed_papers import papers
from nbval.plugin import get_sanitize_patterns

ROOT = Path(__file__).resolve().parents[1]
REGRESSION = ROOT / "tests" / "regression"
EXPECTED = REGRESSION / "expected"
SANITIZE = REGRESSION / "sanitize.cfg"
NUMBERS_PER_PAPER = [[name[:2] for name in paper.notebooks] for paper in papers()]
NUMBERS = tuple(number for numbers in NUMBERS_PER_PAPER for number in numbers)
IGNORED = {"44-09": "the best of the grid is decided by measured accuracies"}
"""Cells whose output nbval shall not compare, and why."""

PLACES = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users|var)/")


def main() -> int:
    """Execute, strip, check and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("numbers", nargs="*", metavar="NUMBER", help=f"of {', '.join(NUMBERS)}")
    asked = parser.parse_args().numbers or NUMBERS
    if unknown := sorted(set(asked) - set(NUMBERS)):
        parser.error(f"there is no regression notebook {', '.join(unknown)}: only {', '.join(NUMBERS)}")
    numbers = with_earlier(asked)
    EXPECTED.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DRIFTLAB_OUTPUTS"] = folder
        for number in numbers:
            source = next((ROOT / "notebooks").glob(f"{number}_*.ipynb"))
            print(source.stem, flush=True)
            notebook = execute(source, Path(folder) / source.name)
            nbformat.write(notebook, REGRESSION / source.name)
        collect(Path(folder), everything=len(numbers) == len(NUMBERS))
    return 0


def with_earlier(asked: Sequence[str]) -> list[str]:
    """Also the notebooks of the same paper before the last that is asked for, in order.

    What a notebook prints says which runs it took from the store; CI runs all of them in this order.
    """
    return [
        number
        for numbers in NUMBERS_PER_PAPER
        for place, number in enumerate(numbers)
        if set(asked) & set(numbers[place:])
    ]


def execute(source: Path, result: Path) -> Any:
    """A notebook executed with its smoke parameters, and stripped."""
    parameters = yaml.safe_load((ROOT / "params" / "smoke" / f"{source.stem}.yaml").read_text()) or {}
    papermill.execute_notebook(
        papermill_path(source),
        papermill_path(result),
        parameters={"scale": "smoke"} | parameters,
        kernel_name="python3",
        cwd=result.parent,
        progress_bar=False,
    )
    notebook = nbformat.read(result, as_version=4)
    notebook.metadata = {key: notebook.metadata[key] for key in ("kernelspec", "language_info")}
    for place, cell in enumerate(notebook.cells):
        cell.metadata = {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {}
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.id = f"{source.stem[:2]}-injected"  # otherwise random, and different every time
        if cell.id in IGNORED:
            cell.metadata["tags"] = ["nbval-ignore-output"]
        if cell.cell_type == "code":
            cell.outputs = [stripped(output) for output in cell.outputs if output.get("name") != "stderr"]
            if PLACES.search(str(cell.outputs)):
                raise SystemExit(f"{source.name}: cell {place} shows a place of this machine: {cell.outputs}")
    return notebook


def stripped(output: Any) -> Any:
    """An output without pictures and without what nbval does not compare."""
    output.get("metadata", {}).clear()
    shown = output.get("data", output)
    for kind in ("text", "text/plain", "text/html"):
        if kind in shown:
            for pattern, replacement in get_sanitize_patterns(SANITIZE.read_text(encoding="utf-8")):
                shown[kind] = re.sub(pattern, replacement, shown[kind])
    for kind in [kind for kind in shown if kind.startswith("image/")]:
        del shown[kind]
    return output


def collect(outputs: Path, *, everything: bool) -> None:
    """Keep the tables that the notebooks wrote."""
    tables = sorted((outputs / "tables").rglob("*.csv"))
    if not tables:
        raise SystemExit("The notebooks wrote no table.")
    if everything:
        for old in EXPECTED.glob("*.csv"):
            old.unlink()
    for table in tables:
        shutil.copyfile(table, EXPECTED / table.name)


if __name__ == "__main__":
    sys.exit(main())
