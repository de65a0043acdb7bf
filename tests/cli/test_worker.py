"""What the process that executes a notebook says about it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from driftlab.cli import worker
from driftlab.cli.figure_outputs import figures_without_picture
from driftlab.cli.worker import Reporter


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("first\nsecond\n", "second"),
        ("\r 10%\r 20%", "20%"),
        ("\x1b[31mred\x1b[0m\n\n", "red"),
        (
            "/lib/a.py:3: UserWarning: a worker has ended\n  warnings.warn(\n",
            "/lib/a.py:3: UserWarning: a worker has ended",
        ),
        ("  indented only\n", "indented only"),
    ],
)
def test_the_last_line_that_says_something(text: str, said: str, tmp_path: Path) -> None:
    Reporter(tmp_path / "events").write(text)
    assert json.loads((tmp_path / "events").read_text()) == {"says": said}


def test_nothing_is_reported_of_nothing(tmp_path: Path) -> None:
    Reporter(tmp_path / "events").write(" \n\n")
    assert not (tmp_path / "events").exists()


def test_events_that_cannot_be_written_do_not_end_the_notebook(tmp_path: Path) -> None:
    reporter = Reporter(tmp_path / "gone" / "events")
    reporter.report(says="x")
    assert reporter.lost
    (tmp_path / "gone").mkdir()
    reporter.report(passed=True)
    assert not reporter.lost


@pytest.mark.parametrize(
    ("full", "message"),
    [
        ("temporary", r"temporary files cannot be written to .*tmp \(No space left.*TMPDIR"),
        (
            "outputs",
            r"x\.ipynb cannot be written \(No space left on device\)\. Free some space, or set",
        ),
    ],
)
def test_a_full_disk_is_told_from_the_folder_that_is_full(
    full: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"temporary": tmp_path / "tmp", "outputs": tmp_path / "outputs"}
    for place in places.values():
        place.mkdir()
    monkeypatch.setenv("TMPDIR", str(places["temporary"]))
    for module in ("temporary", "worker"):
        monkeypatch.setattr(f"driftlab.cli.{module}.is_full", lambda folder: folder == places[full])
    problem = worker._file_problem(OSError(28, "No space left on device"), places["outputs"] / "x.ipynb")
    assert re.search(message, problem)
    assert (
        worker._file_problem(PermissionError(13, "Permission denied"), tmp_path)
        == "[Errno 13] Permission denied"
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-9, "was killed by SIGKILL. Most likely the machine ran out of memory."),
        (None, "was ended from outside. Most likely the machine ran out of memory."),
        (-11, "crashed with SIGSEGV."),
        (3, "ended itself with exit code 3."),
    ],
)
def test_how_a_kernel_died(code: int | None, message: str) -> None:
    assert message in worker._death(code)


def test_figures_that_are_text_only() -> None:
    figure = {"text/plain": ["<Figure size 10x10 with 1 Axes>"]}
    cells = [
        {"cell_type": "markdown"},
        {"execution_count": 1, "outputs": [{"data": figure | {"image/png": "iVBOR"}}, {"text": "<Figure >"}]},
        {"execution_count": 2, "outputs": [{"data": {"text/plain": "'<Figure >'"}}, {"data": figure}]},
    ]
    assert figures_without_picture({"cells": cells}) == [2]
