"""`driftlab report`."""

from pathlib import Path

from .driving import Driver


def test_writes_the_page_and_says_where(driftlab: Driver, tmp_path: Path) -> None:
    result = driftlab("report")
    page = tmp_path / "outputs" / "report.html"
    assert (result.code, result.out) == (0, str(page))
    assert "<html" in page.read_text(encoding="utf-8")
