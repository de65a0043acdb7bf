"""Notebooks in JupyterLab, as a reader sees them after Run All: pictures, tables, bars, and no errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import driftlab
import nbformat
import pytest
import yaml
from driftlab.reporting.printed_papers import papers
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from playwright.sync_api import Page, TimeoutError

from .jupyter_lab import jupyter_lab

ROOT = Path(__file__).resolve().parents[2]
FIRST_OF_PAPERS = [paper.notebooks[0] for paper in papers() if "smoke" in paper.finished_scales]
NOTEBOOKS = ["00_start_here", *FIRST_OF_PAPERS]
MINUTES = 8

LOOK = """() => {
  const outputs = [...document.querySelectorAll('.jp-OutputArea-output')];
  const shown = selector => [...document.querySelectorAll('.jp-OutputArea-output ' + selector)];
  const texts = selector => [...document.querySelectorAll(selector)].map(found => found.innerText);
  return {
    pictures: shown('img').map(image => [image.naturalWidth, image.getBoundingClientRect().width]),
    tables: shown('table').map(table => table.rows.length),
    bars: shown('.progress-bar').map(bar => bar.getBoundingClientRect().height),
    unrendered: outputs.map(output => output.innerText)
      .filter(text => /<Figure |HBox\\(children|object at 0x|^ *\\d+%\\|/.test(text)),
    stderr: texts('[data-mime-type="application/vnd.jupyter.stderr"]'),
    errors: texts('[data-mime-type="application/vnd.jupyter.error"]'),
  };
}"""
STARTED = """() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]
  .some(prompt => /\\[(\\d+|\\*)\\]/.test(prompt.innerText))"""
FINISHED = """count => {
  const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];
  const failed = document.querySelector('[data-mime-type="application/vnd.jupyter.error"]');
  return failed || prompts.filter(prompt => /\\[\\d+\\]/.test(prompt.innerText)).length === count;
}"""


@pytest.fixture(scope="module")
def address(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab with the notebooks at smoke scale; `{name}` stands for a notebook."""
    assert chromium
    folder, home, outputs = (tmp_path_factory.mktemp(name) for name in ("notebooks", "lab", "outputs"))
    for name in NOTEBOOKS:
        notebook: Any = load_notebook_node(str(ROOT / "notebooks" / f"{name}.ipynb"))
        values = yaml.safe_load((ROOT / "params" / "smoke" / f"{name}.yaml").read_text("utf-8"))
        nbformat.write(parameterize_notebook(notebook, values), folder / f"{name}.ipynb")
    library = str(Path(driftlab.__file__).parents[1])
    path = os.pathsep.join([library, *filter(None, [os.environ.get("PYTHONPATH")])])
    with jupyter_lab(folder, home, {"DRIFTLAB_OUTPUTS": str(outputs), "PYTHONPATH": path}) as started:
        yield started


def run_all(page: Page) -> None:
    """Choose Run All Cells; once more if nothing has started, as JupyterLab loses clicks while it loads."""
    for attempt in range(3):
        page.get_by_role("menuitem", name="Run", exact=True).click(timeout=120_000)
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click(timeout=120_000)
        try:
            page.wait_for_function(STARTED, timeout=60_000)
        except TimeoutError:
            if attempt == 2:
                raise
            page.keyboard.press("Escape")  # whatever menu is open
        else:
            return


@pytest.mark.timeout(60 * (MINUTES + 2))
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_run_all_shows_pictures_tables_and_bars_and_no_error(
    name: str, address: str, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1300, "height": 1000})
    page.goto(address.format(name=name))
    page.locator(".jp-CodeCell").first.wait_for(timeout=90_000)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first.wait_for(timeout=120_000)
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    # JupyterLab counts a cell when it has run; one more holds the smoke scale's parameters.
    cells = 1 + sum(cell.cell_type == "code" for cell in notebook.cells)
    page.locator(".jp-CodeCell").nth(cells - 1).wait_for(state="attached", timeout=60_000)
    run_all(page)
    page.wait_for_function(FINISHED, arg=cells, timeout=60_000 * MINUTES)
    page.wait_for_timeout(500)
    seen = page.evaluate(LOOK)
    for place, picture in enumerate(page.locator(".jp-OutputArea-output").all()):
        if picture.locator("img, table, .progress-bar").count():
            picture.screenshot(path=tmp_path / f"{name}_{place}.png")

    assert not seen["errors"], seen["errors"]
    assert not seen["stderr"], seen["stderr"]
    assert not seen["unrendered"], seen["unrendered"]
    source = (ROOT / "notebooks" / f"{name}.ipynb").read_text("utf-8")
    assert seen["pictures"] and all(min(widths) >= 200 for widths in seen["pictures"]), seen["pictures"]
    if ".table(" in source or "pd.DataFrame(" in source:
        assert seen["tables"] and all(rows >= 2 for rows in seen["tables"]), seen["tables"]
    if ".runs(" in source:
        assert seen["bars"] and all(height > 0 for height in seen["bars"]), seen["bars"]


def test_one_of_the_notebooks_has_everything_that_is_looked_at() -> None:
    source = (ROOT / "notebooks" / f"{NOTEBOOKS[0]}.ipynb").read_text("utf-8")
    assert "pd.DataFrame(" in source and ".runs(" in source
