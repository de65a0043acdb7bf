"""The report in a real browser: it opens, asks for nothing, and shows its headings and pictures."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from driftlab.core.provenance import Source
from driftlab.reporting.figures import save_figure
from driftlab.reporting.report import write_report
from driftlab.reporting.sidecars import provenance_of
from driftlab.reporting.tables import save_table
from matplotlib.figure import Figure

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PROBE = """<script>
addEventListener("load", () => {
  const pictures = [...document.images];
  document.title = JSON.stringify({
    requests: performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("data:")),
    drawn: pictures.filter(p => p.complete && p.naturalWidth > 0).length,
    pictures: pictures.length,
    wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    dark: getComputedStyle(document.body).backgroundColor,
  });
});
</script></head>"""


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser here: none of {', '.join(NAMES)} is on the path")
    return found


@pytest.fixture
def report(tmp_path: Path) -> Path:
    source = Source("synthetic", "nucla", "400 sequences, seed 0", "ab" * 32)
    made = provenance_of(source, scale="demo", notebook="41_cgl_task_order")
    frame = pd.DataFrame({"task UCLA AOPD": [96.0, 60.0]}, index=["BARE", "REPLAY"])
    save_table(
        frame,
        paper="cgl",
        artifact="table_2",
        title="Order sensitivity",
        caption="Lower is better.",
        provenance=made,
        outputs=tmp_path,
    )
    figure = Figure(figsize=(3, 2))
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
    return write_report(tmp_path)


def opened(browser: str, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-extensions",
            "--disable-background-networking",
            f"--user-data-dir={page.parent / 'browser'}",
            "--enable-logging=stderr",
            *options,
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=90,
    )


def test_the_page_opens_without_an_error(browser: str, report: Path) -> None:
    done = opened(browser, report)
    assert done.returncode == 0, done.stderr
    for heading in ("Continual graph learning", "Online continual object detection", "Table 2", "Figure 2"):
        assert re.search(rf"<h[23][^>]*>{heading}", done.stdout), heading
    assert "CONSOLE" not in done.stderr, done.stderr  # what the page itself complains about


@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_is_requested_every_picture_is_drawn_and_the_page_is_not_too_wide(
    browser: str, report: Path, width: int
) -> None:
    # The page has no script and forbids them; a copy that allows one is asked what it loaded.
    text = report.read_text("utf-8")
    allowed = text.replace("default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'")
    assert allowed != text
    probe = report.with_name("probe.html")
    probe.write_text(allowed.replace("</head>", PROBE, 1), "utf-8")
    done = opened(browser, probe, f"--window-size={width},900")
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None, done.stderr
    assert '"requests":[],"drawn":1,"pictures":1,"wide":false' in title[1]
    assert "CONSOLE" not in done.stderr, done.stderr
