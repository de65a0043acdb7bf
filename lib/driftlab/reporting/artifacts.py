"""What a notebook leaves behind: a table or figure with a sidecar that says which data made it (contract 5).

    outputs/tables/nucla-synthetic-demo/cgl_table_2_task-orders.json   the sidecar, beside .csv .tex .html
    outputs/figures/nucla-synthetic-demo/cgl_figure_2.json             beside .png .pdf
    outputs/claims/nucla-synthetic-demo/41_cgl_task_order.json         see driftlab.reporting.claims
    outputs/reference/NAME/…                                           the same folders, committed

The folder carries the data's name and kind and the scale, so official and synthetic results never overwrite
each other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from driftlab.errors import StoreError
from driftlab.paths import outputs_dir
from driftlab.provenance import Source
from driftlab.reporting.files import slug, write_atomic
from driftlab.reporting.papers import paper as find_paper

Mark = Literal["", "best", "worst"]


class Record(BaseModel):
    """Base of what sidecars hold: nothing unknown is accepted, nothing is changed afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(Record):
    """Which data and runs made a result.

    Attributes:
        source: The data.
        scale: `smoke`, `demo`, `paper`, or a name of the user's own.
        notebook: The notebook that made it, for example `41_cgl_task_order`.
        runs: How many runs it rests on; 0 for a result that needs none.
        runs_digest: SHA-256 over those runs' rows; empty without runs.
    """

    source: Source
    scale: str
    notebook: str
    runs: int = 0
    runs_digest: str = ""

    @property
    def folder(self) -> str:
        """The folder that keeps results of such data apart from all others."""
        return "-".join(
            (slug(self.source.name, "source's name"), self.source.kind, slug(self.scale, "scale"))
        )

    @property
    def caption(self) -> str:
        """The line that stands under every table and figure."""
        runs = f", {self.runs:,} runs ({self.runs_digest[:8]})" if self.runs else ""
        return f"{self.source.caption}; {self.scale} scale{runs}; notebook {self.notebook}"


def provenance(source: Source, *, scale: str, notebook: str, table: pd.DataFrame | None = None) -> Provenance:
    """The provenance of results that were computed from an evaluation table.

    Args:
        source: The data.
        scale: Name of the scale, from the notebook's parameters.
        notebook: Name of the notebook without its suffix.
        table: The evaluation table, if there were runs.
    """
    if table is None or table.empty:
        return Provenance(source=source, scale=scale, notebook=notebook)
    ordered = table.sort_values(list(table.columns), ignore_index=True)
    digest = hashlib.sha256(ordered.to_csv(index=False, float_format="%.12g").encode()).hexdigest()
    runs = len(table[["paper", "scenario", "method", "seed", "order"]].drop_duplicates())
    return Provenance(source=source, scale=scale, notebook=notebook, runs=runs, runs_digest=digest)


class StoredFile(Record):
    """A file beside its sidecar.

    Attributes:
        name: File name without a folder.
        sha256: Of its content.
    """

    name: str
    sha256: str

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if name != Path(name).name:
            raise ValueError("a sidecar names files of its own folder only")
        return name


class TableContent(Record):
    """A table's cells.

    Attributes:
        index: Heading of the row labels.
        columns: Column labels.
        rows: Row labels.
        values: Numbers or texts, [row][column]; missing is None.
        deviations: Standard deviations, [row][column]; missing is None.
        text: The cells as shown.
        marks: `best` (bold) or `worst` (underlined) of a column.
        units: Unit of the numbers; may be empty.
    """

    index: str
    columns: list[str]
    rows: list[str]
    values: list[list[int | float | str | None]]
    deviations: list[list[float | None]]
    text: list[list[str]]
    marks: list[list[Mark]]
    units: str


class Artifact(Record):
    """A table or figure that was saved, as its sidecar describes it.

    Attributes:
        kind: `table` or `figure`.
        paper: Key of the paper.
        artifact: Id of the paper's artifact, for example `table_2`.
        part: Which part of it, where it has several; may be empty.
        title: One line.
        caption: What is shown and how to read it.
        alt: The picture in words, for those who cannot see it; empty for a table.
        provenance: Which data and runs made it.
        created: UTC time, ISO 8601.
        files: By kind (`csv`, `tex`, `html`, `png`, `pdf`).
        table: The cells, for a table.
    """

    schema_version: Literal[1] = 1
    kind: Literal["table", "figure"]
    paper: str
    artifact: str
    part: str
    title: str
    caption: str
    alt: str
    provenance: Provenance
    created: str
    files: dict[str, StoredFile]
    table: TableContent | None = None

    def _repr_html_(self) -> str:
        from driftlab.reporting.html import artifact_html

        return artifact_html(self, outputs_dir())


@dataclass(frozen=True)
class Found:
    """An artifact with the place where it was found.

    Attributes:
        artifact: The artifact.
        folder: Where its files lie.
        reference: Name of the committed reference result that it belongs to; empty for the user's own.
    """

    artifact: Artifact
    folder: Path
    reference: str

    def content(self, kind: str) -> bytes:
        """One of its files.

        Raises:
            StoreError: It is missing or not what was written.
        """
        return read_stored(self.folder, self.artifact, kind)


@dataclass(frozen=True)
class Problem:
    """Something in the outputs folder that could not be used.

    Attributes:
        file: Which file.
        text: What is wrong and what to do.
    """

    file: Path
    text: str


def save_artifact(
    *,
    kind: Literal["table", "figure"],
    paper: str,
    artifact: str,
    part: str,
    title: str,
    caption: str,
    alt: str,
    made: Provenance,
    contents: Mapping[str, bytes],
    table: TableContent | None = None,
    outputs: Path | None = None,
) -> Artifact:
    """Write an artifact's files and, last, its sidecar.

    Use `save_table` and `save_figure`.

    Raises:
        ParameterError: The paper has no such artifact.
        StoreError: The outputs folder cannot be written to.
    """
    find_paper(paper).artifact(artifact)
    folder = artifact_folder(kind, made, outputs)
    stem = "_".join((paper, artifact, *([slug(part, "part")] if part else [])))
    files = {}
    for suffix, content in contents.items():
        write_atomic(folder / f"{stem}.{suffix}", content)
        files[suffix] = StoredFile(name=f"{stem}.{suffix}", sha256=hashlib.sha256(content).hexdigest())
    saved = Artifact(
        kind=kind,
        paper=paper,
        artifact=artifact,
        part=part,
        title=title,
        caption=caption,
        alt=alt,
        provenance=made,
        created=now(),
        files=files,
        table=table,
    )
    write_atomic(folder / f"{stem}.json", sidecar_bytes(saved))
    return saved


def artifact_folder(kind: str, made: Provenance, outputs: Path | None = None) -> Path:
    """Where artifacts of a kind (`table`, `figure`, `claim`) and provenance lie."""
    return (outputs or outputs_dir()) / f"{kind}s" / made.folder


def load_artifacts(outputs: Path | None = None) -> tuple[list[Found], list[Problem]]:
    """Every artifact in the outputs folder and in its reference results, and every sidecar that is none.

    Nothing is raised for a broken sidecar: one bad file must not hide the others.
    """
    found: list[Found] = []
    problems: list[Problem] = []
    for root, reference in artifact_roots(outputs or outputs_dir()):
        for file in sorted([*root.glob("tables/*/*.json"), *root.glob("figures/*/*.json")]):
            try:
                artifact = Artifact.model_validate_json(file.read_bytes())
                find_paper(artifact.paper).artifact(artifact.artifact)
            except Exception as error:  # whatever is wrong with the file, the page shows it
                problems.append(Problem(file, f"This is not a readable sidecar ({brief(error)})."))
            else:
                found.append(Found(artifact, file.parent, reference))
    return found, problems


def artifact_roots(outputs: Path) -> Iterator[tuple[Path, str]]:
    """The folders that hold `tables/`, `figures/` and `claims/`, each with its reference's name, or none."""
    yield outputs, ""
    for folder in sorted((outputs / "reference").glob("*/")):
        yield folder, folder.name


def read_stored(folder: Path, artifact: Artifact, kind: str) -> bytes:
    """A file of an artifact, checked against its checksum.

    Raises:
        StoreError: It is missing or not what was written.
    """
    stored = artifact.files.get(kind)
    if stored is None:
        raise StoreError(f"{artifact.title}: its sidecar names no {kind} file; run its notebook again.")
    try:
        content = (folder / stored.name).read_bytes()
    except OSError as error:
        raise StoreError(
            f"{folder / stored.name} cannot be read ({error.strerror}); "
            f"run {artifact.provenance.notebook} again."
        ) from error
    if hashlib.sha256(content).hexdigest() != stored.sha256:
        raise StoreError(
            f"{folder / stored.name} is not what was saved (its checksum differs); "
            f"run {artifact.provenance.notebook} again."
        )
    return content


def sidecar_bytes(record: Record) -> bytes:
    """A record as JSON, one value a line in lists of lists kept short."""
    content: dict[str, Any] = record.model_dump(mode="json")
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def now() -> str:
    """UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def brief(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    return str(error).splitlines()[0] if str(error) else type(error).__name__
