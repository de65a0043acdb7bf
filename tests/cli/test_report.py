"""`driftlab report`."""

from pathlib import Path

from .driving import Driver


def test_writes_the_page_and_says_where(driftlab: Driver, tmp_path: Path) -> None:
    result = driftlab("report")
    page = tmp_path / "outputs" / "report.html"
    assert (result.code, result.out) == (0, str(page))
    assert "<html" in page.read_text(encoding="utf-8")


def test_the_summary_is_printed_and_nothing_is_written(driftlab: Driver, tmp_path: Path) -> None:
    result = driftlab("report", "--summary")
    assert result.code == 0
    assert "CGL: Continual graph learning 13 artifacts: 13 not yet 45 claims:" in result.out
    assert not (tmp_path / "outputs" / "report.html").exists()
