import pytest
from notebook_project import project

from .driving import Driver

__all__ = ["project"]


@pytest.fixture
def driftlab(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Driver:
    return Driver(monkeypatch, capfd)
