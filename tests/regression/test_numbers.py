"""The numbers that the regression notebooks wrote, against those of the committed run.

Labels, texts and counts are the same on every machine. A measured number is not: on another processor the
last bits of a product differ, and after a few epochs a record may fall on the other side. A number may differ
by a share of its own size, or by what few records make; but one that is not about zero may not become zero.
"""

import csv
from pathlib import Path

import pytest

EXPECTED = sorted((Path(__file__).parent / "expected").glob("*.csv"))
PAPERS = sorted({path.name.split("_")[0] for path in EXPECTED})
RELATIVE = 0.5
"""By which share of its own size a number may differ."""

FEW_RECORDS = 15.0
"""Points that a number may differ by, however small it is: the smallest world has ten test records, and one
of them moves a run's accuracy by 10 points."""

LOOSER = {"MOPD": 50.0, "slack": 50.0, "std": 25.0}
"""The same for columns whose name ends with the word: extremes and deviations of few runs. One record moves a
task's range by 50 points."""

ABOUT_ZERO = 0.5
"""Points below which a number may be zero on another machine."""

MAY_BE_ZERO = ("MOPD", "AF", "AOPD", "slack", "std")
"""Endings of the names of columns of differences, which may be zero though they were not."""

CHOSEN = "cgl_table_3_nucla"
"""Table 3 names the best settings; which they are is decided by an accuracy."""


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def find(outputs: Path, name: str) -> Path:
    found = sorted((outputs / "tables").rglob(name))
    assert len(found) == 1, f"the notebooks wrote {len(found)} files {name}: run all of tests/regression"
    return found[0]


def agrees(column: str, was: float, now: float) -> bool:
    """Whether a number of another machine agrees with the committed one."""
    if now == 0 and abs(was) > ABOUT_ZERO and not column.endswith(MAY_BE_ZERO):
        return False
    few = next((points for word, points in LOOSER.items() if column.endswith(word)), FEW_RECORDS)
    return abs(now - was) <= max(RELATIVE * abs(was), few)


def disagreements(before: list[list[str]], now: list[list[str]], texts: bool = True) -> list[str]:
    """The cells of a table that do not agree with the committed ones.

    Args:
        before: The committed table, its header first.
        now: The table of this run, with the same rows and columns.
        texts: Whether texts and counts have to be equal.
    """
    found = []
    for old, new in zip(before[1:], now[1:], strict=True):
        for column, was, value in zip(before[0][1:], old[1:], new[1:], strict=True):
            if is_measured(was):
                same = is_measured(value) and agrees(column, float(was), float(value))
            else:
                same = value == was or not texts
            if not same:
                found.append(f"row {old[0]}, column {column}: {value or 'empty'} instead of {was or 'empty'}")
    return found


def is_measured(text: str) -> bool:
    """Counts are written without a point."""
    try:
        float(text)
    except ValueError:
        return False
    return "." in text


def test_there_are_expected_tables() -> None:
    assert len(EXPECTED) >= 8


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.stem)
def test_a_table_has_its_labels_and_counts_and_about_its_numbers(
    expected: Path, regression_outputs: Path
) -> None:
    before, now = rows(expected), rows(find(regression_outputs, expected.name))
    assert now[0] == before[0], "columns"
    assert [row[0] for row in now] == [row[0] for row in before], "rows"
    assert disagreements(before, now, texts=expected.stem != CHOSEN) == [], expected.name


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.stem)
def test_a_table_of_zeros_does_not_pass(expected: Path) -> None:
    before = rows(expected)
    measured = {
        column for row in before[1:] for column, cell in zip(before[0], row, strict=True) if is_measured(cell)
    }
    if all(column.endswith("slack") for column in measured):
        pytest.skip("a bound that holds exactly has no slack")
    zeros = [[row[0], *("0.0" if is_measured(cell) else cell for cell in row[1:])] for row in before[1:]]
    assert disagreements(before, [before[0], *zeros]), "it measures nothing: choose a larger smoke scale"


@pytest.mark.parametrize(
    ("column", "was", "now", "agree"),
    [
        ("AA", 60.0, 80.0, True),
        ("AA", 60.0, 95.0, False),
        ("AA", 4.0, 18.0, True),
        ("AA", 4.0, 20.0, False),
        ("AA", 4.0, 0.0, False),
        ("CAP", 0.4, 0.0, True),
        ("BWT", -4.0, 0.0, False),
        ("AOPD", 4.0, 0.0, True),
        ("MOPD", 20.0, 60.0, True),
    ],
)
def test_which_numbers_agree(column: str, was: float, now: float, agree: bool) -> None:
    assert agrees(column, was, now) == agree


def test_the_chosen_settings_of_cgl_are_of_the_grid(regression_outputs: Path) -> None:
    grid = {row[0] for row in rows(find(regression_outputs, f"{CHOSEN}-ours-all.csv"))}
    chosen = rows(find(regression_outputs, f"{CHOSEN}.csv"))[1:]
    assert chosen
    assert {f"{method}: {settings}" for method, settings in chosen} <= grid


@pytest.mark.parametrize("paper", PAPERS)
def test_no_other_table_was_written(paper: str, regression_outputs: Path) -> None:
    written = {path.name for path in (regression_outputs / "tables").rglob("*.csv")}
    assert {name.split("_")[0] for name in written} <= set(PAPERS)
    own = {name for name in written if name.startswith(f"{paper}_")}
    assert own == {path.name for path in EXPECTED if path.name.startswith(f"{paper}_")}
