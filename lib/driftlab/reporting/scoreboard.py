"""The state of every artifact and claim of the four papers, from what lies in the outputs folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from driftlab.core.provenance import Kind
from driftlab.reporting.artifacts import Found, Problem, load_artifacts
from driftlab.reporting.printed_papers import ArtifactSpec, Claim, Paper, PaperTable, papers
from driftlab.reporting.sidecars import Artifact, Provenance
from driftlab.reporting.verdicts import FoundVerdicts, Verdict, load_verdicts

State = Literal["official", "subset", "synthetic", "not yet"]
STATES: dict[State, str] = {
    "official": "regenerated from official data",
    "subset": "regenerated from a real subset",
    "synthetic": "regenerated from a synthetic world",
    "not yet": "not yet",
}
EVIDENCE: list[Kind] = ["official", "subset", "synthetic"]
SCALES = ["paper", "demo", "smoke"]


@dataclass(frozen=True)
class ComparedCell:
    """A cell beside the paper's.

    Attributes:
        row: Row label.
        column: Column label.
        ours: As shown.
        paper: As printed.
        difference: Ours minus the paper's, for two numbers; for two texts "same" or "differs".
    """

    row: str
    column: str
    ours: str
    paper: str
    difference: str


@dataclass(frozen=True)
class Entry:
    """An artifact of a paper and what there is of it.

    Attributes:
        spec: The artifact.
        saved: What was saved of it, the strongest evidence first; of results from the same kind of data,
            those of the largest scale only. Additions of our own (`Artifact.ours`) are shown beside it and do
            not count as the artifact.
    """

    spec: ArtifactSpec
    saved: tuple[Found, ...]

    @property
    def regenerated(self) -> tuple[Found, ...]:
        """What was saved of the paper's artifact itself."""
        return tuple(found for found in self.saved if not found.artifact.ours)

    @property
    def state(self) -> State:
        """The state by the strongest data that regenerated any part of it."""
        return self.regenerated[0].artifact.provenance.source.kind if self.regenerated else "not yet"

    @property
    def sources(self) -> dict[State, str]:
        """Which datasets stand behind each state, and parts if only parts were saved: "nucla (by task)"."""
        parts: dict[State, dict[str, list[str]]] = {}
        for found in self.regenerated:
            source = found.artifact.provenance.source
            parts.setdefault(source.kind, {}).setdefault(source.name, []).append(found.artifact.part)
        return {
            state: "; ".join(f"{name} ({', '.join(own)})" if all(own) else name for name, own in of.items())
            for state, of in parts.items()
        }


@dataclass(frozen=True)
class Judged:
    """A verdict with the data that it was reached on."""

    verdict: Verdict
    provenance: Provenance
    reference: str


@dataclass(frozen=True)
class PaperBoard:
    """One paper's artifacts and claims."""

    paper: Paper
    entries: tuple[Entry, ...]
    claims: tuple[tuple[Claim, tuple[Judged, ...]], ...]

    def count(self, state: State) -> int:
        """How many artifacts are in that state."""
        return sum(entry.state == state for entry in self.entries)


@dataclass(frozen=True)
class Scoreboard:
    """All four papers.

    Attributes:
        papers: In the order of the notebooks.
        problems: Files in the outputs folder that could not be used.
    """

    papers: tuple[PaperBoard, ...]
    problems: tuple[Problem, ...]

    def artifacts(self) -> pd.DataFrame:
        """One row an artifact: paper, artifact, title, state, sources, notebooks."""
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
        """One row a claim and verdict; a claim without a verdict has the outcome "not yet"."""
        rows = []
        for board in self.papers:
            for claim, judged in board.claims:
                if not judged:
                    rows.append((claim.id, claim.text, "not yet", "", "", ""))
                rows += [
                    (
                        claim.id,
                        claim.text,
                        one.verdict.outcome,
                        one.provenance.folder,
                        one.verdict.test,
                        one.verdict.evidence,
                    )
                    for one in judged
                ]
        return pd.DataFrame(rows, columns=["claim", "text", "outcome", "source", "test", "evidence"])


def scoreboard(outputs: Path | None = None) -> Scoreboard:
    """The scoreboard of what lies in the outputs folder and its reference results.

    Args:
        outputs: The folder; by default the project's.
    """
    found, problems = load_artifacts(outputs)
    verdicts, unreadable = load_verdicts(outputs)
    return Scoreboard(
        papers=tuple(_board(one, found, verdicts) for one in papers()),
        problems=(*problems, *unreadable),
    )


def comparison(artifact: Artifact, printed: PaperTable | None) -> list[ComparedCell]:
    """A table's cells beside the paper's, where rows and columns bear the paper's labels.

    Contract 5: only a table made from official data is compared; from any other data the list is empty.
    """
    table = artifact.table
    if artifact.provenance.source.kind != "official" or table is None or printed is None:
        return []
    rows = {_label(row): cells for row, cells in printed.rows.items()}
    columns = {_label(column): place for place, column in enumerate(printed.columns)}
    compared = []
    for line, row in enumerate(table.rows):
        for place, column in enumerate(table.columns):
            ours = table.values[line][place]
            if _label(row) not in rows or _label(column) not in columns or ours is None:
                continue
            theirs = rows[_label(row)][columns[_label(column)]]
            if theirs is None:
                continue
            number = theirs[0] if isinstance(theirs, tuple) else theirs
            if isinstance(ours, str) or isinstance(number, str):
                difference = "same" if str(ours) == printed.text(theirs) else "differs"
            else:
                difference = f"{ours - number:+.2f}"
            compared.append(
                ComparedCell(row, column, table.text[line][place], printed.text(theirs), difference)
            )
    return compared


def _board(of: Paper, found: Sequence[Found], verdicts: Sequence[FoundVerdicts]) -> PaperBoard:
    saved: dict[str, list[Found]] = defaultdict(list)
    for one in found:
        if one.artifact.paper == of.key:
            saved[one.artifact.artifact].append(one)
    judged: dict[str, list[Judged]] = defaultdict(list)
    for file in _strongest_verdicts([one for one in verdicts if one.file.paper == of.key]):
        for verdict in file.file.verdicts:
            judged[verdict.claim].append(Judged(verdict, file.file.provenance, file.reference))
    return PaperBoard(
        paper=of,
        entries=tuple(Entry(spec, tuple(_strongest(saved[spec.id]))) for spec in of.artifacts),
        claims=tuple((claim, tuple(judged[claim.id])) for claim in of.claims),
    )


def _strongest(saved: Sequence[Found]) -> list[Found]:
    """One result a part and kind of data: the largest scale, the user's before a reference, the newest."""
    best: dict[tuple[str, ...], Found] = {}
    newest = sorted(saved, key=lambda found: found.artifact.created, reverse=True)
    for one in sorted(newest, key=lambda found: _rank(found.artifact.provenance, found.reference)):
        made = one.artifact.provenance
        best.setdefault((one.artifact.part, one.artifact.kind, made.source.name, made.source.kind), one)
    return sorted(
        best.values(),
        key=lambda found: (
            EVIDENCE.index(found.artifact.provenance.source.kind),
            found.artifact.provenance.source.name,
            found.artifact.part,
        ),
    )


def _strongest_verdicts(files: Sequence[FoundVerdicts]) -> list[FoundVerdicts]:
    """The same for files of verdicts: one a notebook and kind of data."""
    best: dict[tuple[str, ...], FoundVerdicts] = {}
    newest = sorted(files, key=lambda found: found.file.created, reverse=True)
    for one in sorted(newest, key=lambda found: _rank(found.file.provenance, found.reference)):
        made = one.file.provenance
        best.setdefault((made.notebook, made.source.name, made.source.kind), one)
    return sorted(
        best.values(),
        key=lambda found: (
            EVIDENCE.index(found.file.provenance.source.kind),
            found.file.provenance.source.name,
            found.file.provenance.notebook,
        ),
    )


def _rank(made: Provenance, reference: str) -> tuple[int, bool, bool, str]:
    scale = SCALES.index(made.scale) if made.scale in SCALES else SCALES.index("demo")
    return (scale, bool(made.changed), bool(reference), reference)


def _label(text: str) -> str:
    return " ".join(text.casefold().split())
