from __future__ import annotations

import io
import sys

import pytest
from driftlab.core.progress import Progress


def test_where_nobody_watches_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr("driftlab.core.progress.time.perf_counter", lambda: clock[0])
    shown = Progress(1000, "cgl")
    shown.advance(reused=100)
    for _ in range(900):
        clock[0] += 0.0625
        shown.advance(computed=1)
    shown.close()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "cgl: 180 of 1000 stages after 5 s (0.06 s/stage, 51 s left)"
    assert lines[-1] == "cgl: 1000 of 1000 stages after 56 s (0.06 s/stage)"
    assert len(lines) == 12


def test_a_bar_where_somebody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = Progress(10, "cgl")
    shown.advance(reused=4)
    shown.advance(computed=6)
    shown.close()
    text = terminal.getvalue()
    assert "cgl" in text and "10/10" in text and "s/stage" in text


def test_silence(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Progress(2, "cgl", shown=False)
    shown.advance(computed=2)
    shown.close()
    assert capsys.readouterr().err == ""


def test_all_from_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Progress(2, "cgl")
    shown.advance(reused=2)
    shown.close()
    assert capsys.readouterr().err == "cgl: 2 of 2 stages after 0 s (all from the store)\n"
