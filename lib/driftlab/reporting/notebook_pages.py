"""Executed notebooks as HTML pages beside them, so that a report can link to what it was computed by."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftlab.core.files import write_atomic
from driftlab.core.provenance import of_change
from driftlab.reporting.artifacts import UnreadableFile, brief
from driftlab.reporting.html import render, stylesheet
from driftlab.reporting.sidecars import Provenance

CODE_OR_FORMULA = re.compile(r"(```.*?```|`[^`\n]*`)|\$\$(.+?)\$\$|\$(?!\s)([^$\n]+?)(?<!\s)\$", re.DOTALL)
WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class NotebookPage:
    """An executed notebook as an HTML page.

    Attributes:
        notebook: Its name, for example `41_task_order`.
        run: Folder of the executed notebook: a scale, with a suffix where parameters were changed.
        path: The page's file.
    """

    notebook: str
    run: str
    path: Path


def write_notebook_pages(outputs: Path) -> tuple[list[NotebookPage], list[UnreadableFile]]:
    """Convert every executed notebook in the outputs folder to HTML; pages that are up to date stay.

    A page holds no scripts and asks for nothing: pictures are in it, formulas are MathML.

    Args:
        outputs: The outputs folder; executed notebooks lie in `notebooks/RUN/`.

    Returns:
        The pages, in order of run and name, and the notebooks that could not be converted.

    Raises:
        StoreError: A page cannot be written.
    """
    pages: list[NotebookPage] = []
    unreadable: list[UnreadableFile] = []
    for executed in sorted((outputs / "notebooks").glob("*/[!.]*.ipynb")):
        if executed.stem.endswith("-unfinished"):
            continue
        path = executed.with_suffix(".html")
        if not path.exists() or path.stat().st_mtime < executed.stat().st_mtime:
            try:
                text = notebook_html(executed)
            except Exception as error:  # whatever is wrong with the file, the report names it
                reason = f"This executed notebook cannot be shown ({brief(error)})."
                unreadable.append(UnreadableFile(executed, reason))
                continue
            write_atomic(path, text.encode())
        pages.append(NotebookPage(executed.stem, executed.parent.name, path))
    return pages, unreadable


def page_of(provenance: Provenance, pages: list[NotebookPage]) -> NotebookPage | None:
    """The page of the notebook run that made a result; None if there is none."""
    run = f"{provenance.scale}{of_change(provenance.changed)}"
    return next((page for page in pages if (page.notebook, page.run) == (provenance.notebook, run)), None)


def notebook_html(executed: Path) -> str:
    """Convert an executed notebook to a self-contained HTML page.

    Args:
        executed: The notebook's file.

    Raises:
        Exception: It is not a notebook; the kind depends on what is wrong with it.
    """
    # These imports take two seconds, and most reports have no notebook to convert.
    import nbformat
    from nbconvert import HTMLExporter
    from pygments.formatters import HtmlFormatter

    notebook: Any = nbformat.read(executed, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)  # needs scripts; its text stays
    quiet = logging.getLogger(__name__)
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    exporter: Any = HTMLExporter(template_name="basic", log=quiet)  # type: ignore[no-untyped-call]
    body, _ = exporter.from_notebook_node(notebook)
    return render(
        "notebook.html.j2",
        title=f"{executed.stem} ({executed.parent.name})",
        body=body,
        css=stylesheet("page") + stylesheet("notebook") + HtmlFormatter().get_style_defs(".highlight"),
    )


def with_mathml(markdown: str) -> str:
    """Replace the formulas in a Markdown text, `$…$` and `$$…$$`, by MathML; code stays as it is."""
    from latex2mathml.converter import convert

    def replaced(match: re.Match[str]) -> str:
        code, display, inline = match.groups()
        if code:
            return str(code)
        return str(convert(display or inline, display="block" if display else "inline"))

    return CODE_OR_FORMULA.sub(replaced, markdown)
