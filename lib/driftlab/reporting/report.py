"""The report: one page that holds everything and asks for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from driftlab.core.errors import StoreError
from driftlab.core.files import write_atomic
from driftlab.core.paths import outputs_dir
from driftlab.reporting.artifacts import Found
from driftlab.reporting.html import png_uri, render, stylesheet
from driftlab.reporting.printed_papers import ArtifactSpec, Paper
from driftlab.reporting.scoreboard import STATES, ComparedCell, Scoreboard, comparison, scoreboard
from driftlab.reporting.sidecars import now


@dataclass(frozen=True)
class Shown:
    """A saved artifact, ready for the page.

    Attributes:
        found: The artifact.
        picture: Its picture as a data URI; empty for a table or where there is none.
        problem: Why there is no picture; empty where all is well.
        cells: Its cells beside the paper's, for official data.
    """

    found: Found
    picture: str
    problem: str
    cells: list[ComparedCell]


def write_report(outputs: Path | None = None) -> Path:
    """Write `report.html` into the outputs folder.

    The page is self-contained: styles and pictures are in it, there are no scripts and no links to other
    hosts. A broken sidecar or picture is named on the page and hides nothing else.

    Args:
        outputs: The folder to read and write; by default the project's.

    Returns:
        The page's path.

    Raises:
        StoreError: The folder cannot be written to.
    """
    folder = outputs or outputs_dir()
    path = folder / "report.html"
    write_atomic(path, report_html(scoreboard(folder), folder).encode())
    return path


def report_html(board: Scoreboard, outputs: Path) -> str:
    """The page's text.

    Args:
        board: What is to be shown.
        outputs: The folder that paths of problems are shown relative to.
    """
    shown = {
        (one.paper.key, entry.spec.id): [_shown(found, one.paper, entry.spec) for found in entry.saved]
        for one in board.papers
        for entry in one.entries
    }
    return render(
        "report.html.j2",
        board=board,
        shown=shown,
        states=STATES,
        names={one.paper.key: one.paper.subject for one in board.papers},
        problems=[(_relative(problem.file, outputs), problem.text) for problem in board.problems],
        created=now(),
        css=stylesheet("page") + stylesheet("pieces"),
    )


def _shown(found: Found, paper: Paper, spec: ArtifactSpec) -> Shown:
    picture, problem = "", ""
    if found.artifact.kind == "figure":
        try:
            picture = png_uri(found.content("png"))
        except StoreError as error:
            problem = str(error)
    return Shown(found, picture, problem, comparison(found.artifact, paper.tables.get(spec.id)))


def _relative(file: Path, outputs: Path) -> str:
    return str(file.relative_to(outputs) if file.is_relative_to(outputs) else file)
