"""What a sidecar holds: the data and runs that made a result, its files, and a table's cells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from driftlab import __version__
from driftlab.core.files import slug
from driftlab.core.lineage import NOTHING, Lineage
from driftlab.core.provenance import Source, of_change

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
        changed: Parameters that differ from the scale's own.
        runs: How many runs it rests on; 0 for a result that needs none.
        runs_digest: SHA-256 over those runs' measurements; empty without runs.
        made_by: What computed the runs: experiment, version and kind of device.
        package: Version of driftlab.
    """

    source: Source
    scale: str
    notebook: str
    changed: dict[str, Any] = {}
    runs: int = 0
    runs_digest: str = ""
    made_by: list[str] = []
    package: str = ""

    @property
    def folder(self) -> str:
        """The folder that keeps results of such data apart from all others.

        With changed parameters they do not take the place of the scale's own, nor of those of another change.
        """
        name, scale = slug(self.source.name, "source's name"), slug(self.scale, "scale")
        return f"{name}-{self.source.kind}-{scale}{of_change(self.changed)}"

    @property
    def caption(self) -> str:
        """The line that stands under every table and figure."""
        made_by = f" of {', '.join(self.made_by)}" if self.made_by else ""
        runs = f", {self.runs:,} runs ({self.runs_digest[:8]}){made_by}" if self.runs else ""
        changed = ", ".join(f"{name} {value}" for name, value in self.changed.items())
        scale = f"{self.scale} scale{f' changed to {changed}' if changed else ''}"
        package = f"; driftlab {self.package}" if self.package else ""
        return f"{self.source.caption}; {scale}{runs}; notebook {self.notebook}{package}"


def provenance_of(
    source: Source,
    *,
    scale: str,
    notebook: str,
    runs: Lineage = NOTHING,
    changed: Mapping[str, Any] | None = None,
) -> Provenance:
    """Describe which data and runs a result was computed from.

    Args:
        source: The data.
        scale: Name of the scale, from the notebook's parameters.
        notebook: Name of the notebook without its suffix.
        runs: What the result carries (`driftlab.core.lineage.lineage`).
        changed: The notebook's parameters that differ from the scale's own.
    """
    return Provenance(
        source=source,
        scale=scale,
        notebook=notebook,
        changed=dict(changed or {}),
        runs=len(runs.runs),
        runs_digest=runs.digest,
        made_by=sorted(runs.made_by),
        package=__version__,
    )


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
    def _has_no_folder(cls, name: str) -> str:
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

    @property
    def ours(self) -> bool:
        """Whether it is an addition of our own beside the paper's artifact: a part whose name has "ours"."""
        return "ours" in self.part.split("-")


def sidecar_bytes(record: Record) -> bytes:
    """Convert a record to JSON, indented so that changes can be read line by line."""
    content: dict[str, Any] = record.model_dump(mode="json")
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def now() -> str:
    """The present time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
