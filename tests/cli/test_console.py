"""What is printed arrives as it is meant, whatever the terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from driftlab.cli.console import print_literally, print_rows
from notebook_project import Project
from rich.console import Console
from rich.text import Text

from .driving import Driver


def printed(width: int, *rows: tuple[str, ...], header: tuple[str, ...] = ()) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    print_rows(console, rows, header)
    assert isinstance(console.file, io.StringIO)
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]


def test_rows_are_a_table_where_it_fits_and_paragraphs_where_it_does_not() -> None:
    row = ("steps", "1,996", "2", "differs")
    header = ("oak", "official", "found", "")
    assert printed(80, row, header=header) == ["oak official found", "steps 1,996 2 differs"]
    assert printed(20, row, header=header) == ["steps official 1,996 found 2 differs"]


def test_cells_and_lines_are_printed_literally() -> None:
    assert printed(80, ("[red]x[/red]", "/a[1]/:bug:/{x}")) == ["[red]x[/red] /a[1]/:bug:/{x}"]
    console = Console(file=io.StringIO(), width=20)
    print_literally(console, "/a[1]/:bug:/a path that is longer than the console")
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "/a[1]/:bug:/a path that is longer than the console\n"
    assert Text.from_markup("[red]x[/red]").plain == "x", "what print would have made of it"


def test_doctor_shows_each_verdict_at_20_columns(
    project: Project, driftlab: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftlab.cli.console.HEADLESS_WIDTH", 20)
    result = driftlab("doctor")
    assert "ok Python 3.11" in result.out
    assert "warn dataset nucla not there; only the paper scale needs it" in result.out


@pytest.mark.parametrize("encoding", ["iso8859-1", "ascii"])
def test_a_terminal_that_lacks_a_character(project: Project, encoding: str) -> None:
    project.notebook("10_x", "label = 'grün'  # a label\n", "print('… → 日本')\nraise ValueError('… → 日本')")
    found = subprocess.run(
        [sys.executable, "-m", "driftlab.cli", "run", "10"],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        check=False,
    )
    out = found.stdout.decode(encoding)
    assert "ValueError: ... -> \\u65e5\\u672c" in " ".join(out.split())
    assert found.returncode == 1 and b"Traceback" not in found.stderr
    plan = subprocess.run(
        [sys.executable, "-m", "driftlab.cli", "run", "10", "--dry-run"],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        check=True,
    )
    assert "  -> " in plan.stdout.decode(encoding)
