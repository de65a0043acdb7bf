"""The report: one page with all pictures, claims and tables; no scripts, no requests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from driftlab.core.errors import StoreError
from driftlab.core.files import write_atomic
from driftlab.core.paths import outputs_dir
from driftlab.reporting.artifacts import SavedArtifact
from driftlab.reporting.comparison import ComparedCell, comparison
from driftlab.reporting.html import png_uri, render, stylesheet
from driftlab.reporting.notebook_pages import NotebookPage, page_of, write_notebook_pages
from driftlab.reporting.printed_papers import ArtifactSpec, Paper
from driftlab.reporting.scoreboard import COUNTED, STATES, PaperBoard, Scoreboard, scoreboard
from driftlab.reporting.sidecars import Artifact, Provenance, now


@dataclass(frozen=True)
class Piece:
    """A saved artifact, ready for the page.

    Attributes:
        spec: The paper's artifact.
        artifact: What was saved.
        part: Which part of the artifact, without the dataset's name; may be empty.
        line: Provenance, time and reference result, in one line.
        link: The executed notebook's page, relative to the report; empty where there is none.
        picture: The picture as a data URI; empty for a table or where it cannot be shown.
        missing: Why the picture cannot be shown; empty otherwise.
        cells: The table's cells beside the paper's, for official data.
        has_printed_table: Whether the paper prints a table for this artifact.
    """

    spec: ArtifactSpec
    artifact: Artifact
    part: str
    line: str
    link: str
    picture: str
    missing: str
    cells: list[ComparedCell]
    has_printed_table: bool


@dataclass(frozen=True)
class Link:
    """A link to an executed notebook: its target, relative to the report, and its text."""

    target: str
    text: str


@dataclass(frozen=True)
class Section:
    """A paper's section of the page.

    Attributes:
        board: Its artifacts and claims.
        figures: Its pictures, in order of the paper's artifacts.
        tables: Its tables, likewise.
        notebooks: Its executed notebooks.
    """

    board: PaperBoard
    figures: list[Piece]
    tables: list[Piece]
    notebooks: list[Link]


def write_report(outputs: Path | None = None) -> Path:
    """Write `report.html` into the outputs folder, and the executed notebooks' pages that it links to.

    The page is self-contained: styles and pictures are in it, and it links to executed notebooks only. A
    broken sidecar, picture or notebook is named on the page and hides nothing else.

    Args:
        outputs: The folder to read and write; by default the project's.

    Returns:
        The page's path.

    Raises:
        StoreError: The folder cannot be written to.
    """
    folder = outputs or outputs_dir()
    path = folder / "report.html"
    board = scoreboard(folder)
    pages, unreadable = write_notebook_pages(folder)
    board = replace(board, unreadable=(*board.unreadable, *unreadable))
    write_atomic(path, report_html(board, folder, pages).encode())
    return path


def report_html(board: Scoreboard, outputs: Path, pages: list[NotebookPage]) -> str:
    """Render the page.

    Args:
        board: What is to be shown.
        outputs: The folder that paths and links are relative to.
        pages: The executed notebooks' pages.
    """
    by_results = sorted(board.papers, key=lambda paper: not paper.has_results)
    of_papers = {name for paper in board.papers for name in paper.paper.notebooks}
    return render(
        "report.html.j2",
        sections=[_section(paper, outputs, pages) for paper in by_results],
        notebooks=_links([page for page in pages if page.notebook not in of_papers], outputs),
        states=STATES,
        counted=COUNTED,
        unreadable=[(_relative(entry.file, outputs), entry.reason) for entry in board.unreadable],
        created=now(),
        css=stylesheet("page") + stylesheet("pieces") + stylesheet("report"),
    )


def _section(board: PaperBoard, outputs: Path, pages: list[NotebookPage]) -> Section:
    pieces = [
        _piece(saved, board.paper, entry.spec, outputs, pages)
        for entry in board.entries
        for saved in entry.saved
    ]
    return Section(
        board=board,
        figures=[piece for piece in pieces if piece.artifact.table is None],
        tables=[piece for piece in pieces if piece.artifact.table is not None],
        notebooks=_links([page for page in pages if page.notebook in board.paper.notebooks], outputs),
    )


def _piece(
    saved: SavedArtifact, paper: Paper, spec: ArtifactSpec, outputs: Path, pages: list[NotebookPage]
) -> Piece:
    artifact = saved.artifact
    picture, missing = "", ""
    if artifact.kind == "figure":
        try:
            picture = png_uri(saved.content("png"))
        except StoreError as error:
            missing = str(error)
    page = None if saved.reference else page_of(artifact.provenance, pages)
    printed = paper.tables.get(spec.id)
    return Piece(
        spec=spec,
        artifact=artifact,
        part=artifact.part.removeprefix(artifact.provenance.source.name).lstrip("-"),
        line=_line(artifact.provenance, artifact.created, saved.reference),
        link=_relative(page.path, outputs) if page else "",
        picture=picture,
        missing=missing,
        cells=comparison(artifact, printed),
        has_printed_table=printed is not None,
    )


def _line(provenance: Provenance, created: str, reference: str) -> str:
    where = f"; committed reference result “{reference}”" if reference else ""
    return f"{provenance.caption}; written {created[:16].replace('T', ' ')} UTC{where}"


def _links(pages: Sequence[NotebookPage], outputs: Path) -> list[Link]:
    return [Link(_relative(page.path, outputs), f"{page.notebook} ({page.run})") for page in pages]


def _relative(file: Path, outputs: Path) -> str:
    inside = file.is_relative_to(outputs)
    return file.relative_to(outputs).as_posix() if inside else os.fspath(file)
