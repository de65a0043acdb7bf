"""Every command explains itself to a newcomer."""

import pytest
from driftlab import __version__

from .driving import Driver


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.parametrize(
    "command",
    [["run"], ["params"], ["report"], ["doctor"], ["bench"], ["data"], ["data", "show"], ["data", "verify"]],
)
def test_help_has_an_example(driftlab: Driver, command: list[str]) -> None:
    result = driftlab(*command, "--help")
    assert result.code == 0
    assert f"For example: driftlab {' '.join(command).removesuffix(' show')}" in result.out


def test_help_explains_arguments(driftlab: Driver) -> None:
    assert "Numbers (41), names (cgl_task_order" in driftlab("run", "-h").out
    assert "The dataset, as 'driftlab data' lists it" in driftlab("data", "verify", "-h").out


def test_alone_it_lists_its_commands_and_first_steps(driftlab: Driver) -> None:
    out = driftlab("--help").out
    for word in ("run", "params", "report", "doctor", "data", "bench", "the five-minute tour"):
        assert word in out


def test_version(driftlab: Driver) -> None:
    result = driftlab("--version")
    assert (result.code, result.out) == (0, f"driftlab {__version__}")
