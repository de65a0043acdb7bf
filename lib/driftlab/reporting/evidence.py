"""Choose among saved results: the largest scale, the user's own before a reference, the newest."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from driftlab.core.provenance import Kind
from driftlab.reporting.artifacts import SavedArtifact
from driftlab.reporting.sidecars import Provenance
from driftlab.reporting.verdicts import SavedVerdicts

STRENGTH: list[Kind] = ["official", "subset", "synthetic"]
"""Kinds of data, the strongest evidence first."""
SCALES = ["paper", "demo", "smoke"]
"""Scales, the largest first; a scale of the user's own ranks as demo."""

T = TypeVar("T")


def strongest_artifacts(saved: Iterable[SavedArtifact]) -> list[SavedArtifact]:
    """Choose one result per part and dataset of an artifact; the strongest evidence comes first."""
    return _strongest(
        saved,
        describe=lambda found: (found.artifact.provenance, found.reference, found.artifact.created),
        part=lambda found: (found.artifact.part, found.artifact.kind),
    )


def strongest_verdicts(saved: Iterable[SavedVerdicts]) -> list[SavedVerdicts]:
    """Choose one file of verdicts per notebook and dataset; the strongest evidence comes first."""
    return _strongest(
        saved,
        describe=lambda found: (found.file.provenance, found.reference, found.file.created),
        part=lambda found: (found.file.provenance.notebook,),
    )


def _strongest(
    saved: Iterable[T],
    *,
    describe: Callable[[T], tuple[Provenance, str, str]],
    part: Callable[[T], tuple[str, ...]],
) -> list[T]:
    """Choose one result per part, dataset and kind of data.

    Args:
        saved: The results.
        describe: Provenance, name of the reference result (or "") and time of a result.
        part: What a result is part of.
    """
    chosen: dict[Hashable, T] = {}
    newest_first = sorted(saved, key=lambda result: describe(result)[2], reverse=True)
    for result in sorted(newest_first, key=lambda result: _rank(*describe(result)[:2])):
        source = describe(result)[0].source
        chosen.setdefault((part(result), source.name, source.kind), result)
    return sorted(chosen.values(), key=lambda result: (*_place(describe(result)[0]), part(result)))


def _rank(provenance: Provenance, reference: str) -> tuple[int, bool, bool, str]:
    scale = provenance.scale if provenance.scale in SCALES else "demo"
    return (SCALES.index(scale), bool(provenance.changed), bool(reference), reference)


def _place(provenance: Provenance) -> tuple[int, str]:
    return (STRENGTH.index(provenance.source.kind), provenance.source.name)
