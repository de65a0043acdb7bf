"""The report's text: complete, self-contained, and never stopped by a broken file."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from driftlab.core.errors import StoreError
from driftlab.core.provenance import Source
from driftlab.reporting.report import write_report
from driftlab.reporting.sidecars import provenance_of
from driftlab.reporting.tables import save_table
from driftlab.reporting.verdicts import judge, save_verdicts

from .plausible import OFFICIAL, SYNTHETIC
from .test_artifacts import draw

LABEL = "task UCLA AOPD"


def save(
    outputs: Path, source: Source = SYNTHETIC, title: str = "Order sensitivity", scale: str = "demo"
) -> None:
    save_table(
        pd.DataFrame({LABEL: [96.0, 60.0]}, index=pd.Index(["BARE", "REPLAY"], name="method")),
        paper="cgl",
        artifact="table_2",
        title=title,
        caption="Lower is better.",
        provenance=provenance_of(source, scale=scale, notebook="41_cgl_task_order"),
        better={LABEL: "low"},
        outputs=outputs,
    )


def written(outputs: Path) -> str:
    path = write_report(outputs)
    assert path == outputs / "report.html"
    return path.read_text("utf-8")


class Checker(HTMLParser):
    """Collects ids, links, pictures and what is left open."""

    VOID = frozenset({"meta", "link", "img", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.pictures: list[dict[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))
        if tag == "img":
            self.pictures.append(found)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.getpos())


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert not checker.open
    return checker


def test_an_empty_outputs_folder_gives_a_page(tmp_path: Path) -> None:
    page = written(tmp_path)
    checked(page)
    assert page.lstrip().startswith("<!doctype html>")
    assert page.count('<span class="chip not-yet">not yet</span>') >= 200
    assert "could not be used" not in page


def test_the_page_is_well_formed_and_self_contained(tmp_path: Path) -> None:
    save(tmp_path)
    save(tmp_path / "reference" / "nucla", OFFICIAL, scale="paper")
    draw(tmp_path)
    made = provenance_of(SYNTHETIC, scale="demo", notebook="41_cgl_task_order")
    save_verdicts([judge("cgl-1", "A > B.", True, "A 2.")], paper="cgl", provenance=made, outputs=tmp_path)
    page = written(tmp_path)
    found = checked(page)
    assert len(found.ids) == len(set(found.ids))
    assert all(link.startswith("#") and link[1:] in found.ids for link in found.links)
    assert {"cgl-table-table_2", "cgl-figure_2", "cgl-claims"} <= set(found.ids)
    assert not re.search(r"https?://|<script|@import|url\(", page)
    (picture,) = found.pictures
    assert str(picture["src"]).startswith("data:image/png;base64,iVBOR")
    assert picture["alt"] == "A line. It rises."
    assert "committed reference result “nucla”" in page
    assert '<td class="best">60.00</td>' in page and '<td class="worst">96.00</td>' in page


def test_only_official_data_stand_beside_the_paper(tmp_path: Path) -> None:
    save(tmp_path)
    page = written(tmp_path)
    assert "Cell by cell against the paper" not in page and "96.74" not in page
    save(tmp_path, OFFICIAL, scale="paper")
    page = written(tmp_path)
    assert page.count("Cell by cell against the paper.") == 1
    assert "<td>96.74 ± 0.72</td><td>-0.74</td>" in page
    assert "not of the paper's settings" not in page


def test_official_data_at_another_scale_say_so(tmp_path: Path) -> None:
    save(tmp_path, OFFICIAL, scale="demo")
    assert "These runs are of demo scale, not of the paper's settings." in written(tmp_path)


def test_what_notebooks_wrote_is_escaped(tmp_path: Path) -> None:
    save(tmp_path, title="<img src=x onerror=alert(1)>")
    page = written(tmp_path)
    assert "&lt;img src=x" in page
    assert not checked(page).pictures


def test_a_broken_sidecar_and_a_missing_picture_are_notes(tmp_path: Path) -> None:
    save(tmp_path)
    draw(tmp_path)
    (tmp_path / "figures" / "nucla-synthetic-demo" / "cgl_figure_2.png").unlink()
    (tmp_path / "tables" / "nucla-synthetic-demo" / "half.json").write_text('{"kind": "ta')
    page = written(tmp_path)
    checked(page)
    assert "1 file could not be used." in page
    assert "<code>tables/nucla-synthetic-demo/half.json</code>: This is not a readable sidecar" in page
    assert "The picture cannot be shown." in page and "run 41_cgl_task_order again" in page
    assert "Order sensitivity" in page


def test_an_unwritable_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(StoreError, match=r"report\.html cannot be written"):
        write_report(tmp_path)
