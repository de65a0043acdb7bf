"""What the table at the end of `driftlab run` shows of an error."""

from __future__ import annotations

import io

import pytest
from driftlab.cli.batch import Batch, Turn
from driftlab.cli.progress import Progress, print_summary
from rich.console import Console


def shown(error: str) -> str:
    console = Console(width=140)
    with console.capture() as captured:
        print_summary(console, Batch([Turn("41_x", state="failed", error=error)]))
    return "".join(captured.get().split())


def test_an_error_of_usual_length_is_shown_whole() -> None:
    error = " ".join(f"word{number}" for number in range(80))
    assert len(error) > 500 and "".join(error.split()) in shown(error)


def test_a_long_error_keeps_its_beginning_and_its_end() -> None:
    words = [f"word{number}" for number in range(1000)]
    found = shown("In [4]: SweepError: " + " ".join(words))
    assert "SweepError:" + "".join(words[:50]) in found
    assert "…" in found and found.endswith("".join(words[-20:]))
    assert words[500] not in found


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress_lines(console: Console) -> str:
    """What is shown of a notebook that runs for 30 seconds, looked at five times a second."""
    turn = Turn("41_cgl_task_order", state="running", cell=3, of=7, says="epoch 1")
    with Progress(console, [turn.name]) as shown:
        for step in range(150):
            turn.seconds = step / 5
            shown.show(turn)
        turn.state = "passed"
        shown.show(turn)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_colours_forced_into_a_file_do_not_bring_a_line_for_each_refresh(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    text = progress_lines(Console(file=io.StringIO(), width=140))
    assert "\x1b[" in text, "colours"
    assert text.count("\n") == text.count("41_cgl_task_order") == 3, "two while it runs, one at its end"


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert progress_lines(Console(file=Terminal(), width=80)).count("cell 3/7") == 3


def test_a_terminal_gets_one_line_that_is_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("TTY_INTERACTIVE", raising=False)
    assert "\x1b[2K" in progress_lines(Console(file=Terminal(), width=80))


def test_a_narrow_console_shows_result_and_cell_before_the_name() -> None:
    lines = progress_lines(Console(file=io.StringIO(), width=20)).splitlines()
    assert lines[0].startswith("cell 3/7  0:10") and lines[-1].startswith("passed  0:29")
    console = Console(file=io.StringIO(), width=20)
    print_summary(console, Batch([Turn("41_x", state="failed", cell=2, of=7, error="Boom [x] :bug:")]))
    assert isinstance(console.file, io.StringIO)
    said = " ".join(console.file.getvalue().split())
    assert said == "41_x result failed cell 2/7 time 0:00 error Boom [x] :bug:"
