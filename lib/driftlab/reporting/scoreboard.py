"""The state of every artifact and claim of every paper, from what lies in the outputs folder."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from driftlab.core.provenance import Kind
from driftlab.reporting.artifacts import SavedArtifact, UnreadableFile, load_artifacts
from driftlab.reporting.evidence import strongest_artifacts, strongest_verdicts
from driftlab.reporting.printed_papers import ArtifactSpec, Claim, Paper, papers
from driftlab.reporting.sidecars import Provenance
from driftlab.reporting.verdicts import Outcome, SavedVerdicts, Verdict, load_verdicts

State = Literal["official", "subset", "synthetic", "not yet"]
STATES: dict[State, str] = {
    "official": "official data",
    "subset": "a real subset",
    "synthetic": "a synthetic world",
    "not yet": "not yet",
}
"""What an artifact was regenerated from."""
COUNTED = {
    "official data": "on official data",
    "a real subset": "on a real subset",
    "a synthetic world": "on a synthetic world",
    "holds": "hold",
    "does not hold": "do not hold",
    "needs other data": "need other data",
}
"""States and standings after a number."""

OUTCOMES: tuple[Outcome, ...] = ("does not hold", "undecided", "holds", "not testable")
"""Outcomes by precedence: verdicts of several notebooks on one dataset give the first that occurs."""

STANDINGS = ("holds", "does not hold", "undecided", "not testable", "needs other data", "not yet")
"""What is known of a claim, over all datasets."""


@dataclass(frozen=True)
class Entry:
    """An artifact of a paper and its saved results.

    Attributes:
        spec: The artifact.
        saved: What was saved of it, the strongest evidence first; of results from the same kind of data,
            those of the largest scale only. Additions of our own (`Artifact.ours`) are shown beside it and do
            not count as the artifact.
    """

    spec: ArtifactSpec
    saved: tuple[SavedArtifact, ...]

    @property
    def regenerated(self) -> tuple[SavedArtifact, ...]:
        """What was saved of the paper's artifact itself."""
        return tuple(result for result in self.saved if not result.artifact.ours)

    @property
    def state(self) -> State:
        """The strongest data that regenerated any part of it."""
        return self.regenerated[0].artifact.provenance.source.kind if self.regenerated else "not yet"

    @property
    def sources(self) -> dict[State, str]:
        """Datasets by state, with the parts if only parts were saved: "nucla (by task)"."""
        parts: dict[State, dict[str, list[str]]] = {}
        for result in self.regenerated:
            source = result.artifact.provenance.source
            parts.setdefault(source.kind, {}).setdefault(source.name, []).append(result.artifact.part)
        return {
            state: "; ".join(
                f"{name} ({', '.join(saved_parts)})" if all(saved_parts) else name
                for name, saved_parts in by_name.items()
            )
            for state, by_name in parts.items()
        }


@dataclass(frozen=True)
class Judged:
    """A verdict with the data that it was reached on."""

    verdict: Verdict
    provenance: Provenance
    reference: str


@dataclass(frozen=True)
class Chip:
    """A claim's outcome on one dataset, in a few words.

    Attributes:
        dataset: Name of the dataset, for example "nucla"; empty where no dataset was used.
        kind: Its kind; None where no dataset was used.
        outcome: An outcome, "needs NTU", or "not yet".
    """

    dataset: str
    kind: Kind | None
    outcome: str


@dataclass(frozen=True)
class ClaimEntry:
    """A claim and its verdicts.

    Attributes:
        claim: The claim.
        judged: Its verdicts, the strongest evidence first.
    """

    claim: Claim
    judged: tuple[Judged, ...]

    @property
    def chips(self) -> list[Chip]:
        """One chip per dataset, the strongest evidence first; what is missing where nothing was decided."""
        outcomes: dict[tuple[Kind, str], set[Outcome]] = defaultdict(set)
        for judged in self.judged:
            source = judged.provenance.source
            outcomes[source.kind, source.name].add(judged.verdict.outcome)
        chips = [
            Chip(name, kind, next(outcome for outcome in OUTCOMES if outcome in of_dataset))
            for (kind, name), of_dataset in outcomes.items()
        ]
        decided = [chip for chip in chips if chip.outcome != "not testable"]
        if decided or (chips and not self.claim.needs):
            return chips
        return [Chip("", None, f"needs {self.claim.needs}" if self.claim.needs else "not yet")]

    @property
    def standing(self) -> str:
        """One of `STANDINGS`: the outcome on the strongest data that decided it."""
        outcomes = [chip.outcome for chip in self.chips]
        decided = next((outcome for outcome in outcomes if outcome != "not testable"), outcomes[0])
        return "needs other data" if decided.startswith("needs ") else decided


@dataclass(frozen=True)
class PaperBoard:
    """One paper's artifacts and claims."""

    paper: Paper
    entries: tuple[Entry, ...]
    claims: tuple[ClaimEntry, ...]

    @property
    def has_results(self) -> bool:
        """Whether anything of it was saved."""
        return any(entry.saved for entry in self.entries) or any(entry.judged for entry in self.claims)

    @property
    def states(self) -> dict[State, int]:
        """How many artifacts are in each state."""
        counts = Counter(entry.state for entry in self.entries)
        return {state: counts[state] for state in STATES}

    @property
    def standings(self) -> dict[str, int]:
        """How many claims have each standing."""
        counts = Counter(entry.standing for entry in self.claims)
        return {standing: counts[standing] for standing in STANDINGS}


@dataclass(frozen=True)
class Scoreboard:
    """All papers.

    Attributes:
        papers: In the order of the notebooks.
        unreadable: Files in the outputs folder that could not be used.
    """

    papers: tuple[PaperBoard, ...]
    unreadable: tuple[UnreadableFile, ...]

    def artifacts(self) -> pd.DataFrame:
        """One row per artifact: paper, artifact, title, state, sources, notebooks."""
        rows = [
            (
                board.paper.key,
                entry.spec.label,
                entry.spec.title,
                STATES[entry.state],
                "; ".join(f"{state}: {names}" for state, names in entry.sources.items()),
                ", ".join(entry.spec.notebooks),
            )
            for board in self.papers
            for entry in board.entries
        ]
        return pd.DataFrame(rows, columns=["paper", "artifact", "title", "state", "sources", "notebooks"])

    def claims(self) -> pd.DataFrame:
        """One row per claim and verdict; a claim without a verdict is "not yet" or says what it needs."""
        rows: list[tuple[str, ...]] = []
        for board in self.papers:
            for entry in board.claims:
                name, text = entry.claim.id, entry.claim.text
                if not entry.judged:
                    rows.append((name, text, entry.chips[0].outcome, "", "", ""))
                for judged in entry.judged:
                    verdict, folder = judged.verdict, judged.provenance.folder
                    rows.append((name, text, verdict.outcome, folder, verdict.test, verdict.evidence))
        return pd.DataFrame(rows, columns=["claim", "text", "outcome", "source", "test", "evidence"])

    def summary(self) -> pd.DataFrame:
        """One row per paper: how many artifacts are in each state, and how many claims have each standing."""
        rows = {
            board.paper.short: {("artifacts", STATES[state]): count for state, count in board.states.items()}
            | {("claims", standing): count for standing, count in board.standings.items()}
            for board in self.papers
        }
        return pd.DataFrame.from_dict(rows, orient="index")

    def summary_text(self, width: int = 80) -> str:
        """The summary for a terminal: two sentences per paper, wrapped to the width; zeros are left out."""
        lines = []
        for board in self.papers:
            states = {STATES[state]: count for state, count in board.states.items()}
            for text, indent in (
                (f"{board.paper.short}: {board.paper.subject}", "  "),
                (f"  {len(board.entries)} artifacts: {_counted(states)}", "    "),
                (f"  {len(board.claims)} claims: {_counted(board.standings)}", "    "),
            ):
                lines += textwrap.wrap(text, max(width, 20), subsequent_indent=indent)
        if self.unreadable:
            count = len(self.unreadable)
            files, them = ("file", "it") if count == 1 else ("files", "them")
            text = f"{count} {files} could not be used; the report names {them}."
            lines += textwrap.wrap(text, max(width, 20))
        return "\n".join(lines)


def scoreboard(outputs: Path | None = None) -> Scoreboard:
    """Collect what lies in the outputs folder and its reference results.

    Args:
        outputs: The folder; by default the project's.
    """
    saved, unreadable = load_artifacts(outputs)
    verdicts, unreadable_verdicts = load_verdicts(outputs)
    return Scoreboard(
        papers=tuple(_board(paper, saved, verdicts) for paper in papers()),
        unreadable=(*unreadable, *unreadable_verdicts),
    )


def _board(paper: Paper, saved: Sequence[SavedArtifact], verdicts: Sequence[SavedVerdicts]) -> PaperBoard:
    by_artifact: dict[str, list[SavedArtifact]] = defaultdict(list)
    for result in saved:
        if result.artifact.paper == paper.key:
            by_artifact[result.artifact.artifact].append(result)
    by_claim: dict[str, list[Judged]] = defaultdict(list)
    for judgement in strongest_verdicts(file for file in verdicts if file.file.paper == paper.key):
        for verdict in judgement.file.verdicts:
            by_claim[verdict.claim].append(Judged(verdict, judgement.file.provenance, judgement.reference))
    return PaperBoard(
        paper=paper,
        entries=tuple(
            Entry(spec, tuple(strongest_artifacts(by_artifact[spec.id]))) for spec in paper.artifacts
        ),
        claims=tuple(ClaimEntry(claim, tuple(by_claim[claim.id])) for claim in paper.claims),
    )


def _counted(counts: dict[str, int]) -> str:
    return (
        ", ".join(f"{count} {COUNTED.get(name, name)}" for name, count in counts.items() if count) or "none"
    )
