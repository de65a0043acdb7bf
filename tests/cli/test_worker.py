"""What the process that executes a notebook says about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
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
