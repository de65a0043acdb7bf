"""What the table at the end of `driftlab run` shows of an error."""

from __future__ import annotations

from driftlab.cli.batch import Batch, Turn
from driftlab.cli.progress import summary
from rich.console import Console


def shown(error: str) -> str:
    console = Console(width=140)
    with console.capture() as captured:
        console.print(summary(Batch([Turn("41_x", state="failed", error=error)])))
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
