"""Executed notebooks as HTML pages, and the report's links to them."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from driftlab.reporting.notebook_pages import notebook_html, with_mathml, write_notebook_pages
from driftlab.reporting.report import write_report
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from .test_artifacts import draw

WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "100%|####| 3/3"}


def executed(outputs: Path, name: str = "41_cgl_task_order", run: str = "demo") -> Path:
    """A notebook with a formula, a table, a progress bar, an error and a warning."""
    outputs_of_code = [
        new_output("stream", name="stdout", text="<script>alert(1)</script>"),
        new_output("display_data", data={"text/html": "<table><tr><td>97.14</td></tr></table>"}),
        new_output("display_data", data=WIDGET),
        new_output(
            "error", ename="ValueError", evalue="wrong", traceback=["\x1b[31mValueError\x1b[0m: wrong"]
        ),
    ]
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# A title\n\nIt is $a_{1}$, and `cost = $5 or $6` stays."),
            new_code_cell("1 + 1", outputs=outputs_of_code),
        ]
    )
    path = outputs / "notebooks" / run / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


def test_a_page_has_no_scripts_and_shows_formulas_tables_bars_and_errors(tmp_path: Path) -> None:
    page = notebook_html(executed(tmp_path))
    assert "<script" not in page and "http://" not in page.replace("http://www.w3.org/1998/Math/MathML", "")
    assert "default-src 'none'" in page
    assert "<math" in page and "<msub>" in page and "cost = $5 or $6" in page
    assert "<td>97.14</td>" in page
    assert "100%|####| 3/3" in page and "widget-view" not in page
    assert "ValueError" in page and "\x1b" not in page
    assert 'href="../../report.html"' in page


def test_the_report_links_to_pages_of_runs_that_finished(tmp_path: Path) -> None:
    draw(tmp_path)
    executed(tmp_path)
    executed(tmp_path, "00_start_here", "smoke")
    executed(tmp_path, "42_cgl_class_order-unfinished")
    text = write_report(tmp_path).read_text("utf-8")
    assert '<a href="notebooks/demo/41_cgl_task_order.html">41_cgl_task_order (demo)</a>' in text
    assert '<a href="notebooks/smoke/00_start_here.html">00_start_here (smoke)</a>' in text
    assert '<a href="notebooks/demo/41_cgl_task_order.html">Open the notebook</a>' in text
    assert "unfinished" not in text
    assert (tmp_path / "notebooks" / "demo" / "41_cgl_task_order.html").is_file()


def test_a_result_of_another_run_does_not_link_to_the_page(tmp_path: Path) -> None:
    draw(tmp_path)
    executed(tmp_path, run="smoke")
    executed(tmp_path, run="demo-changed-123456")
    assert "Open the notebook" not in write_report(tmp_path).read_text("utf-8")


def test_a_page_is_written_again_after_its_notebook_only(tmp_path: Path) -> None:
    notebook = executed(tmp_path)
    ((page,), unreadable) = write_notebook_pages(tmp_path)
    assert not unreadable
    page.path.write_text("kept")
    os.utime(notebook, (1, 1))
    write_notebook_pages(tmp_path)
    assert page.path.read_text() == "kept"
    os.utime(page.path, (0, 0))
    write_notebook_pages(tmp_path)
    assert "A title" in page.path.read_text("utf-8")


@pytest.mark.parametrize("content", [b"", b'{"cells": [', b"[]", b"\xff"])
def test_a_broken_notebook_is_named_in_the_report(tmp_path: Path, content: bytes) -> None:
    draw(tmp_path)
    executed(tmp_path, run="smoke")
    executed(tmp_path).write_bytes(content)
    text = write_report(tmp_path).read_text("utf-8")
    assert (
        "<code>notebooks/demo/41_cgl_task_order.ipynb</code>: This executed notebook cannot be shown" in text
    )
    assert "41_cgl_task_order (smoke)" in text and "41_cgl_task_order (demo)" not in text


def test_formulas() -> None:
    assert with_mathml("no formula, 5 $ and 6 $ here") == "no formula, 5 $ and 6 $ here"
    assert with_mathml("$$x^2$$").startswith("<math") and 'display="block"' in with_mathml("$$x^2$$")
    assert with_mathml("```\n$x$\n```") == "```\n$x$\n```"
