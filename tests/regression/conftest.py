"""The regression notebooks write into one temporary folder, where `test_numbers.py` finds their tables."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

OUTPUTS = pytest.StashKey[Path]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """A notebook's kernel starts in here and takes the environment as it is now."""
    with pytest.MonkeyPatch.context() as environment:
        if not isinstance(item, pytest.Function):
            environment.setenv("DRIFTLAB_OUTPUTS", str(_outputs(item.config)))
            environment.setenv("TQDM_DISABLE", "1")
            # Warnings of other packages differ from machine to machine; errors show as outputs of their own.
            environment.setenv("PYTHONWARNINGS", "ignore")
            if "stderr" not in (skipped := getattr(item.parent, "skip_compare", ("stderr",))):
                item.parent.skip_compare = (*skipped, "stderr")  # type: ignore[union-attr]
        yield


@pytest.fixture
def regression_outputs(request: pytest.FixtureRequest) -> Path:
    """What the regression notebooks have written in this session."""
    if not request.config.getoption("nbval", default=False):
        pytest.skip("the regression notebooks are executed with --nbval only (make regression)")
    return _outputs(request.config)


def _outputs(config: pytest.Config) -> Path:
    if OUTPUTS not in config.stash:
        folder = tempfile.TemporaryDirectory(prefix="driftlab-regression-")
        config.add_cleanup(folder.cleanup)
        config.stash[OUTPUTS] = Path(folder.name)
    return config.stash[OUTPUTS]
