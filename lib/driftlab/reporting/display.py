"""Results as a notebook shows them: tables, pictures and verdicts with caption and provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from driftlab.reporting.html import artifact_html, verdicts_html
from driftlab.reporting.sidecars import Artifact, Provenance
from driftlab.reporting.verdicts import Verdict


@dataclass(frozen=True)
class ShownArtifact:
    """A saved table or figure, shown by Jupyter as HTML.

    Attributes:
        artifact: What was saved.
        outputs: The outputs folder that its files lie in.
    """

    artifact: Artifact
    outputs: Path

    def _repr_html_(self) -> str:
        return artifact_html(self.artifact, self.outputs)

    def __repr__(self) -> str:
        """One line, for a terminal."""
        return f"{self.artifact.title} ({self.artifact.paper} {self.artifact.artifact})"


@dataclass(frozen=True)
class ShownVerdicts:
    """Verdicts, shown by Jupyter as HTML.

    Attributes:
        verdicts: In the order in which they were given.
        provenance: Which data and runs decided.
    """

    verdicts: Sequence[Verdict]
    provenance: Provenance

    def _repr_html_(self) -> str:
        return verdicts_html(self.verdicts, provenance=self.provenance.caption)

    def __repr__(self) -> str:
        """One line per verdict, for a terminal."""
        return "\n".join(f"{verdict.claim}: {verdict.outcome}" for verdict in self.verdicts)
