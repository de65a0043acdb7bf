"""README and CONTRIBUTING name what exists, and the gallery is small."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from driftlab.reporting.printed_papers import paper_keys

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PLACES = [ROOT, ROOT / "lib" / "driftlab"]


def test_every_file_that_the_trace_names_exists_and_defines_what_it_names() -> None:
    trace = README.partition("## From `epochs` to a cell of Table 2")[2].partition("\n## ")[0]
    rows = [line.split("|")[2] for line in trace.splitlines() if re.match(r"\| \d", line)]
    assert len(rows) >= 8
    for row in rows:
        for part in row.split(";"):
            files = re.findall(r"`([\w/]+\.(?:py|ipynb|yaml))`", part)
            found = [place / file for file in files for place in PLACES if (place / file).is_file()]
            assert files or part.strip(), row
            assert len(found) == len(files), row
            text = "".join(file.read_text(encoding="utf-8") for file in found)
            for name in re.findall(r"`([\w.]+)`", part):
                if not re.search(r"\.(py|ipynb|yaml)$", name):
                    assert name.rpartition(".")[2] in text, f"{row}: {name}"


def test_every_link_and_picture_exists_and_pictures_are_small() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert len(links) >= 6
    for link in links:
        assert (ROOT / link).is_file(), link
    pictures = [ROOT / link for link in links if link.endswith(".png")]
    assert len(pictures) >= 4 and all(file.stat().st_size <= 60_000 for file in pictures)


def test_the_map_has_every_room() -> None:
    folder = ROOT / "lib" / "driftlab"
    rooms = [path.name for path in folder.iterdir() if (path / "__init__.py").is_file()]
    drawn = README.partition("## Map")[2].partition("Imports run")[0]
    assert [room for room in rooms if f" {room}/ " not in drawn and f" {room}/\n" not in drawn] == []
    assert all(f" {key}/" in drawn for key in paper_keys())


@pytest.mark.parametrize(
    ("target", "command"),
    [("paper", "run finished"), ("tour", "run start_here"), *((key, f"run {key}") for key in paper_keys())],
)
def test_make_runs_papers_without_a_list_of_notebooks(target: str, command: str) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed here")
    planned = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
    assert planned.returncode == 0, planned.stderr
    assert f"driftlab {command} --scale demo" in planned.stdout
    assert not re.search(r"driftlab run .*\d\d", planned.stdout)
