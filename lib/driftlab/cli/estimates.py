"""The cost of a notebook's sweeps, from its paper's `estimate` module."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from driftlab.papers.estimate import Estimate
from driftlab.reporting.printed_papers import papers
from driftlab.runs.workers import usable_cores


def estimate_of(notebook: str, values: Mapping[str, Any]) -> Estimate | None:
    """The cost of a notebook; None where it belongs to no paper, or trains nothing.

    Args:
        notebook: Its name.
        values: Every parameter's value.
    """
    for paper in papers():
        module = f"driftlab.papers.{paper.key}.estimate"
        if notebook in paper.notebooks and find_spec(module):
            jobs = int(values.get("jobs") or usable_cores())
            estimate: Estimate | None = import_module(module).estimate(notebook, values, jobs)
            return estimate
    return None
