"""The report in a real browser: it opens, asks for nothing, and is legible on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from driftlab.core.provenance import Source
from driftlab.reporting.figures import save_figure
from driftlab.reporting.printed_papers import papers
from driftlab.reporting.report import write_report
from driftlab.reporting.sidecars import provenance_of
from driftlab.reporting.tables import save_table
from driftlab.reporting.verdicts import judge, save_verdicts
from matplotlib.figure import Figure
from playwright.sync_api import Page

LOOK = """() => ({
  pictures: [...document.images].map(image => image.naturalWidth),
  page: [document.documentElement.scrollWidth, document.documentElement.clientWidth],
  scripts: document.scripts.length,
  chips: [...document.querySelectorAll('.chip')].map(chip => chip.innerText),
  lines: document.querySelectorAll('.line .id').length,
})"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report with a picture, a wide table, official cells and a verdict with a long text."""
    made = provenance_of(
        Source("official", "nucla", "1,484 sequences, 20 joints", "ab" * 32),
        scale="demo",
        notebook="41_cgl_task_order",
    )
    wide = pd.DataFrame({f"task UCLA AOPD {k}": [96.0, 60.0] for k in range(30)}, index=["BARE", "REPLAY"])
    wide["task UCLA AOPD"] = [96.74, 58.21]
    save_table(
        wide,
        paper="cgl",
        artifact="table_2",
        title="Order sensitivity",
        caption="Lower is better.",
        provenance=made,
        outputs=tmp_path,
    )
    figure = Figure(figsize=(12, 3))
    figure.subplots().plot([0, 1])
    save_figure(
        figure,
        paper="cgl",
        artifact="figure_2",
        title="A line",
        caption="It rises.",
        provenance=made,
        outputs=tmp_path,
    )
    evidence = "BARE 96.74 % against REPLAY 58.21 %; " * 20 + "x" * 80
    verdict = judge("cgl-2", "GREATER(BARE, m) for every m.", "undecided", evidence)
    save_verdicts([verdict], paper="cgl", provenance=made, outputs=tmp_path)
    return write_report(tmp_path)


@pytest.mark.parametrize("width", [1400, 360])
@pytest.mark.parametrize("opened", [False, True], ids=["folded", "opened"])
def test_the_page_asks_for_nothing_and_fits_the_screen(
    page: Page, report: Path, tmp_path: Path, width: int, opened: bool
) -> None:
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(report.as_uri())
    if opened:
        page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    page.screenshot(path=tmp_path / f"report_{width}.png", full_page=True)
    seen = page.evaluate(LOOK)
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [report.as_uri()]
    assert seen["scripts"] == 0
    assert len(seen["pictures"]) == 1 and seen["pictures"][0] > 0
    assert seen["page"][0] <= seen["page"][1], "the page itself scrolls sideways"
    assert seen["lines"] == sum(len(paper.claims) + len(paper.artifacts) for paper in papers())
    assert "nucla, official: undecided" in seen["chips"] and "needs NTU" in seen["chips"]


def test_what_is_folded_opens_with_a_click(page: Page, report: Path) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(report.as_uri())
    claim = page.locator("details.line", has_text="cgl-2")
    evidence = claim.get_by_text("BARE 96.74 % against REPLAY")
    assert not evidence.is_visible()
    claim.locator("summary").click()
    assert evidence.is_visible()
