"""Saving and loading tables and figures; a sidecar beside each says which data made it (contract 5).

    outputs/tables/nucla-synthetic-demo/cgl_table_2_task-orders.json   the sidecar, beside .csv .tex .html
    outputs/figures/nucla-synthetic-demo/cgl_figure_2.json             beside .png .pdf
    outputs/claims/nucla-synthetic-demo/41_cgl_task_order.json         see driftlab.reporting.verdicts
    outputs/reference/NAME/…                                           the same folders, committed

The folder carries the data's name and kind and the scale, so official and synthetic results never overwrite
each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from driftlab.core.errors import StoreError
from driftlab.core.files import slug, write_atomic
from driftlab.core.paths import outputs_dir
from driftlab.reporting.printed_papers import paper as find_paper
from driftlab.reporting.sidecars import (
    Artifact,
    Provenance,
    StoredFile,
    TableContent,
    now,
    sidecar_bytes,
)


@dataclass(frozen=True)
class SavedArtifact:
    """An artifact that was read from the outputs folder.

    Attributes:
        artifact: What its sidecar says.
        folder: Where its files lie.
        reference: Name of the committed reference result that it belongs to; empty for the user's own.
    """

    artifact: Artifact
    folder: Path
    reference: str

    def content(self, kind: str) -> bytes:
        """The bytes of its file of that kind (`csv`, `tex`, `html`, `png`, `pdf`).

        Raises:
            StoreError: It is missing or not what was written.
        """
        return read_stored(self.folder, self.artifact, kind)


@dataclass(frozen=True)
class UnreadableFile:
    """A file in the outputs folder that could not be used.

    Attributes:
        file: Which file.
        reason: What is wrong with it.
    """

    file: Path
    reason: str


def save_artifact(
    *,
    kind: Literal["table", "figure"],
    paper: str,
    artifact: str,
    part: str,
    title: str,
    caption: str,
    alt: str,
    provenance: Provenance,
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
    folder = artifact_folder(kind, provenance, outputs)
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
        provenance=provenance,
        created=now(),
        files=files,
        table=table,
    )
    write_atomic(folder / f"{stem}.json", sidecar_bytes(saved))
    return saved


def artifact_folder(kind: str, provenance: Provenance, outputs: Path | None = None) -> Path:
    """The folder for artifacts of a kind (`table`, `figure`, `claim`) and a provenance."""
    return (outputs or outputs_dir()) / f"{kind}s" / provenance.folder


def load_artifacts(outputs: Path | None = None) -> tuple[list[SavedArtifact], list[UnreadableFile]]:
    """Read every artifact in the outputs folder and in its reference results.

    Returns:
        The artifacts, and the sidecars that could not be read: one bad file must not hide the others.
    """
    saved: list[SavedArtifact] = []
    unreadable: list[UnreadableFile] = []
    for root, reference in artifact_roots(outputs or outputs_dir()):
        for file in sorted([*root.glob("tables/*/[!.]*.json"), *root.glob("figures/*/[!.]*.json")]):
            try:
                artifact = Artifact.model_validate_json(file.read_bytes())
                find_paper(artifact.paper).artifact(artifact.artifact)
                _check_shape(artifact)
            except Exception as error:  # whatever is wrong with the file, the page shows it
                unreadable.append(UnreadableFile(file, f"This is not a readable sidecar ({brief(error)})."))
            else:
                saved.append(SavedArtifact(artifact, file.parent, reference))
    return saved, unreadable


def _check_shape(artifact: Artifact) -> None:
    """Compare the sizes of a table's grids with its labels.

    Raises:
        StoreError: They differ; the text says which grid and row.
    """
    table = artifact.table
    if table is None:
        if artifact.kind == "table":
            raise StoreError("table: its cells are missing")
        return
    grids: dict[str, Sequence[Sequence[object]]] = {
        "values": table.values,
        "deviations": table.deviations,
        "text": table.text,
        "marks": table.marks,
    }
    rows, columns = len(table.rows), len(table.columns)
    for name, grid in grids.items():
        if len(grid) != rows:
            raise StoreError(f"table.{name}: {rows} rows are labelled and it has {len(grid)}")
        for row, line in zip(table.rows, grid, strict=True):
            if len(line) != columns:
                raise StoreError(
                    f"table.{name}, row '{row}': {columns} columns are labelled and it has {len(line)} cells"
                )


def artifact_roots(outputs: Path) -> Iterator[tuple[Path, str]]:
    """List the folders that hold `tables/`, `figures/` and `claims/`, with a reference's name or ""."""
    yield outputs, ""
    for folder in sorted((outputs / "reference").glob("*/")):
        yield folder, folder.name


def read_stored(folder: Path, artifact: Artifact, kind: str) -> bytes:
    """Read a file of an artifact and compare its checksum.

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


def brief(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    return str(error).splitlines()[0] if str(error) else type(error).__name__
