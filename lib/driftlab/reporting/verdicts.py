"""Verdicts on the papers' claims: making, saving and loading them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import PrivateAttr

from driftlab.core.errors import ParameterError
from driftlab.core.files import slug, write_atomic
from driftlab.core.lineage import NOTHING, Lineage
from driftlab.core.paths import outputs_dir
from driftlab.reporting.artifacts import UnreadableFile, artifact_folder, artifact_roots, brief
from driftlab.reporting.decisions import Decision
from driftlab.reporting.printed_papers import paper
from driftlab.reporting.sidecars import Provenance, Record, now, sidecar_bytes

Outcome = Literal["holds", "does not hold", "undecided", "not testable"]
OUTCOMES: dict[Decision, Outcome] = {"holds": "holds", "fails": "does not hold", "undecided": "undecided"}


class Verdict(Record):
    """A claim judged on one set of results.

    Attributes:
        claim: Id of the claim, for example `cgl-2`.
        outcome: Whether it holds; `undecided` within the noise, `not testable` on these data or runs.
        test: The criterion, in words.
        evidence: The numbers that decided, or why it cannot be tested.
    """

    claim: str
    outcome: Outcome
    test: str
    evidence: str
    _lineage: Lineage = PrivateAttr(default=NOTHING)


class VerdictFile(Record):
    """The verdicts of one notebook on one source.

    Attributes:
        paper: Key of the paper.
        provenance: Which data and runs decided.
        created: UTC time, ISO 8601.
        verdicts: In the order of the claims.
    """

    schema_version: Literal[1] = 1
    paper: str
    provenance: Provenance
    created: str
    verdicts: list[Verdict]


@dataclass(frozen=True)
class SavedVerdicts:
    """A file of verdicts that was read from the outputs folder.

    Attributes:
        file: Its content.
        reference: Name of the committed reference result that it belongs to; empty for the user's own.
    """

    file: VerdictFile
    reference: str


def judge(claim: str, test: str, decided: bool | Decision, evidence: str) -> Verdict:
    """Make a verdict from a decision.

    Args:
        claim: Id of the claim.
        test: The criterion, in words.
        decided: A decision from `driftlab.reporting.decisions`, or a plain truth where there is no noise.
        evidence: The numbers that decided.
    """
    decision: Decision = decided if isinstance(decided, str) else ("holds" if decided else "fails")
    return Verdict(claim=claim, outcome=OUTCOMES[decision], test=test, evidence=evidence)


def not_testable(claim: str, test: str, reason: str) -> Verdict:
    """Make a verdict that these data or runs cannot decide, with the reason."""
    return Verdict(claim=claim, outcome="not testable", test=test, evidence=reason)


def save_verdicts(
    verdicts: Sequence[Verdict], *, paper: str, provenance: Provenance, outputs: Path | None = None
) -> VerdictFile:
    """Save a notebook's verdicts for the scoreboard, in place of those that it saved before on this source.

    Raises:
        ParameterError: The paper makes no such claim.
        StoreError: The outputs folder cannot be written to.
    """
    _check(paper, verdicts)
    saved = VerdictFile(paper=paper, provenance=provenance, created=now(), verdicts=list(verdicts))
    name = f"{slug(provenance.notebook, 'notebook').replace('-', '_')}.json"
    write_atomic(artifact_folder("claim", provenance, outputs) / name, sidecar_bytes(saved))
    return saved


def load_verdicts(outputs: Path | None = None) -> tuple[list[SavedVerdicts], list[UnreadableFile]]:
    """Read every file of verdicts in the outputs folder and in its reference results.

    Returns:
        The files, and those that could not be read.
    """
    saved: list[SavedVerdicts] = []
    unreadable: list[UnreadableFile] = []
    for root, reference in artifact_roots(outputs or outputs_dir()):
        for path in sorted(root.glob("claims/*/[!.]*.json")):
            try:
                file = VerdictFile.model_validate_json(path.read_bytes())
                _check(file.paper, file.verdicts)
            except Exception as error:  # whatever is wrong with the file, the page shows it
                unreadable.append(
                    UnreadableFile(path, f"This is not a readable file of verdicts ({brief(error)}).")
                )
            else:
                saved.append(SavedVerdicts(file, reference))
    return saved, unreadable


def verdict_frame(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Convert verdicts to a frame with the columns claim, outcome, test and evidence."""
    return pd.DataFrame([verdict.model_dump() for verdict in verdicts], columns=list(Verdict.model_fields))


def _check(key: str, verdicts: Sequence[Verdict]) -> None:
    judged_paper = paper(key)
    for verdict in verdicts:
        judged_paper.claim(verdict.claim)
    if not verdicts:
        raise ParameterError("There are no verdicts to keep.")
