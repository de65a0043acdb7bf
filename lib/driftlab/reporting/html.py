"""Tables, figures and verdicts as HTML; the same pieces serve notebooks, saved tables and the report."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from driftlab.core.errors import StoreError
from driftlab.reporting.artifacts import artifact_folder, read_stored
from driftlab.reporting.sidecars import Artifact, TableContent
from driftlab.reporting.verdicts import Verdict

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Configure Jinja so that every value is escaped and an unknown name is an error."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {"words": _holds_words, "has_marks": _has_marks}
    return templates


def render(template: str, **values: Any) -> str:
    """Fill in a template of this folder."""
    return environment().get_template(template).render(**values)


def stylesheet(name: str) -> str:
    """Read a stylesheet: `page`, `pieces` (tables and figures), `report` or `notebook`."""
    return (TEMPLATES / f"{name}.css").read_text("utf-8")


def table_page(content: TableContent, *, title: str, caption: str, provenance: str) -> str:
    """Render a page with one table."""
    return render(
        "table.html.j2",
        table=content,
        title=title,
        caption=caption,
        provenance=provenance,
        css=stylesheet("page") + stylesheet("pieces"),
        page=True,
    )


def png_uri(content: bytes) -> str:
    """Encode a picture as a data URI, so that a page needs no other file."""
    return "data:image/png;base64," + base64.b64encode(content).decode()


def artifact_html(artifact: Artifact, outputs: Path) -> str:
    """Render a saved table or picture for a notebook, with caption and provenance."""
    values = {
        "title": artifact.title,
        "caption": artifact.caption,
        "provenance": artifact.provenance.caption,
        "css": stylesheet("pieces"),
        "page": False,
    }
    if artifact.table is not None:
        return render("table.html.j2", table=artifact.table, **values)
    folder = artifact_folder(artifact.kind, artifact.provenance, outputs)
    try:
        picture, missing = png_uri(read_stored(folder, artifact, "png")), ""
    except StoreError as error:
        picture, missing = "", str(error)
    return render("figure.html.j2", picture=picture, alt=artifact.alt, missing=missing, **values)


def verdicts_html(verdicts: Sequence[Verdict], *, provenance: str) -> str:
    """Render verdicts for a notebook."""
    return render("verdicts.html.j2", verdicts=verdicts, provenance=provenance, css=stylesheet("pieces"))


def _holds_words(table: TableContent, place: int) -> bool:
    """Whether a column holds texts, which are aligned left."""
    return any(isinstance(line[place], str) for line in table.values)


def _has_marks(table: TableContent) -> bool:
    return any(mark for line in table.marks for mark in line)
