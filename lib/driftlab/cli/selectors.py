"""Papers as selectors of notebooks: `driftlab run cgl`, `driftlab run finished`."""

from __future__ import annotations

from collections.abc import Sequence

from driftlab.core.errors import ParameterError
from driftlab.reporting.printed_papers import papers

FINISHED = "finished"


def expand(asked: Sequence[str], scale: str) -> list[str]:
    """Replace keys of papers by the names of their notebooks, and `finished` by those of finished papers.

    Args:
        asked: Numbers or names of notebooks, keys of papers, or `finished`.
        scale: At which a paper has to be finished; its `paper.yaml` says so.

    Raises:
        ParameterError: A paper has no notebooks yet, or none is finished at that scale.
    """
    by_key = {paper.key: paper for paper in papers()}
    names: list[str] = []
    for selector in asked:
        if selector == FINISHED:
            done = [name for paper in papers() if scale in paper.finished_scales for name in paper.notebooks]
            if not done:
                raise ParameterError(
                    f"No paper is finished at {scale} scale. Name notebooks or a paper instead."
                )
            names += done
        elif selector in by_key:
            paper = by_key[selector]
            if not paper.notebooks:
                having = ", ".join(key for key, paper in by_key.items() if paper.notebooks)
                raise ParameterError(f"{paper.short} has no notebooks yet. These papers have: {having}.")
            names += paper.notebooks
        else:
            names.append(selector)
    return names
