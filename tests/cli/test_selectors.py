"""Papers as selectors of notebooks."""

from __future__ import annotations

import pytest
from driftlab.cli.selectors import expand
from driftlab.core.errors import ParameterError
from driftlab.reporting.printed_papers import Paper, papers

from .driving import Driver

WITH_NOTEBOOKS = [paper for paper in papers() if paper.notebooks]
WITHOUT = [paper for paper in papers() if not paper.notebooks]


@pytest.mark.parametrize("paper", WITH_NOTEBOOKS, ids=lambda paper: paper.key)
def test_a_paper_stands_for_its_notebooks(paper: Paper, driftlab: Driver) -> None:
    names = expand([paper.key], "smoke")
    assert names == list(paper.notebooks)
    planned = driftlab("run", paper.key, "--scale", "smoke", "--dry-run")
    assert planned.code == 0
    assert all(name in planned.out for name in names)


def test_finished_stands_for_every_paper_that_is_finished_at_the_scale() -> None:
    finished = [name for paper in papers() if "demo" in paper.finished_scales for name in paper.notebooks]
    assert finished and expand(["finished"], "demo") == finished
    with pytest.raises(ParameterError, match="No paper is finished at some-other scale"):
        expand(["finished"], "some-other")


def test_other_names_stay_as_they_are() -> None:
    assert expand(["41", "cgl_task", "no-such"], "demo") == ["41", "cgl_task", "no-such"]
    assert expand([], "demo") == []


@pytest.mark.parametrize("paper", WITHOUT, ids=lambda paper: paper.key)
def test_a_paper_without_notebooks_is_an_error(paper: Paper, driftlab: Driver) -> None:
    failed = driftlab("run", paper.key)
    assert failed.code == 2
    assert f"{paper.short} has no notebooks yet. These papers have: " in failed.err
