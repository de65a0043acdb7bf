"""Tables: marks, digits, formats."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.reporting.display import ShownArtifact
from driftlab.reporting.latex import escape
from driftlab.reporting.sidecars import Artifact, provenance_of
from driftlab.reporting.tables import save_table, table_content

from .plausible import SYNTHETIC

FRAME = pd.DataFrame(
    {"AOPD": [96.7412, 58.2, 58.201], "MOPD": [100.0, 80.25, 75.0], "runs": [120, 120, 120]},
    index=pd.Index(["BARE", "REPLAY", "LwF"], name="method"),
)
DEVIATION = pd.DataFrame(
    {"AOPD": [0.72, 7.5, np.nan], "MOPD": [np.nan] * 3, "runs": [np.nan] * 3}, index=FRAME.index
)


def save(tmp_path: Path, frame: pd.DataFrame = FRAME, **options: object) -> tuple[Artifact, Path]:
    given: dict[str, object] = {
        "paper": "cgl",
        "artifact": "table_2",
        "title": "Order sensitivity",
        "caption": "Lower is better & 100 % is worst.",
        "units": "%",
        "provenance": provenance_of(SYNTHETIC, scale="demo", notebook="41_cgl_task_order"),
        "outputs": tmp_path,
    }
    saved = save_table(frame, **(given | options))  # type: ignore[arg-type]
    return saved, tmp_path / "tables" / "nucla-synthetic-demo"


def test_cells_marks_and_deviations() -> None:
    content = table_content(
        FRAME, deviation=DEVIATION, better={"AOPD": "low", "MOPD": "high", "runs": "low"}, units="%", digits=2
    )
    assert content.text == [
        ["96.74 ± 0.72", "100.00", "120"],
        ["58.20 ± 7.50", "80.25", "120"],
        ["58.20", "75.00", "120"],
    ]
    # 58.2 and 58.201 look the same and share the mark; a column of equal numbers has none.
    assert content.marks == [["worst", "best", ""], ["best", "", ""], ["best", "worst", ""]]
    assert content.values[0] == [96.7412, 100.0, 120]


def test_missing_cells_and_texts() -> None:
    frame = pd.DataFrame({"a": [np.nan, 1.0], "b": ["T 2", None], "c": [None, pd.NA]}, index=["x", "y"])
    content = table_content(frame, deviation=None, better={"a": "high"}, units="", digits=1)
    assert content.text == [["–", "T 2", "–"], ["1.0", "–", "–"]]
    assert content.values == [[None, "T 2", None], [1.0, None, None]]
    assert content.marks == [["", "", ""], ["", "", ""]]


def test_csv_keeps_all_digits(tmp_path: Path) -> None:
    _, folder = save(tmp_path, deviation=DEVIATION)
    with (folder / "cgl_table_2.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["method", "AOPD", "AOPD std", "MOPD", "runs"]
    assert rows[1] == ["BARE", "96.7412", "0.72", "100.0", "120"]
    assert rows[3] == ["LwF", "58.201", "", "75.0", "120"]


def test_latex(tmp_path: Path) -> None:
    _, folder = save(tmp_path, deviation=DEVIATION, better={"AOPD": "low"}, part="task_orders")
    text = (folder / "cgl_table_2_task-orders.tex").read_text("utf-8")
    assert r"\caption{Order sensitivity (\%). Lower is better \& 100 \% is worst.}" in text
    assert r"\label{tab:cgl-table-2-task-orders}" in text
    assert r"BARE & \underline{96.74 $\pm$ 0.72} & 100.00 & 120 \\" in text
    assert r"REPLAY & \textbf{58.20 $\pm$ 7.50} & 80.25 & 120 \\" in text
    assert r"a synthetic world" in text and r"41\_cgl\_task\_order" in text
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert rule in text


def test_latex_escapes_all_special_characters() -> None:
    assert escape(r"a\b{c}_d^e~f#g$h") == (
        r"a\textbackslash{}b\{c\}\_d\textasciicircum{}e\textasciitilde{}f\#g\$h"
    )


def test_latex_compiles(tmp_path: Path) -> None:
    latex = shutil.which("pdflatex")
    if latex is None:
        pytest.skip("no LaTeX here: pdflatex is not on the path")
    odd = pd.DataFrame({"λ & β_1 [%]": ["a\\b {c} ~ ^", "5 ± 1 – ≤ × |#$"]}, index=["[x]", "é"])
    _, folder = save(tmp_path, frame=odd)
    source = tmp_path / "page.tex"
    table = (folder / "cgl_table_2.tex").read_text("utf-8")
    source.write_text(
        "\\documentclass{article}\\usepackage[utf8]{inputenc}\\usepackage{booktabs}\\begin{document}\n"
        + table
        + "\\end{document}\n",
        "utf-8",
    )
    command = [latex, "-interaction=nonstopmode", "-halt-on-error", source.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]


def test_html_is_a_page_of_its_own_and_escapes(tmp_path: Path) -> None:
    frame = FRAME.rename(index={"BARE": "<b>BARE</b>"})
    _, folder = save(tmp_path, frame=frame, better={"AOPD": "low"})
    page = (folder / "cgl_table_2.html").read_text("utf-8")
    assert page.lstrip().startswith("<!doctype html>")
    assert "&lt;b&gt;BARE&lt;/b&gt;" in page and "<b>BARE</b>" not in page
    assert '<td class="best">58.20</td>' in page and '<td class="worst">96.74</td>' in page
    assert "http" not in page


def test_a_notebook_shows_the_table(tmp_path: Path) -> None:
    saved, _ = save(tmp_path)
    shown = ShownArtifact(saved, tmp_path)._repr_html_()
    assert "Order sensitivity" in shown and "96.74" in shown and "a synthetic world" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"artifact": "table_9"}, "no artifact of the paper cgl 'table_9'. Did you mean 'table_"),
        ({"better": {"AOPDs": "low"}}, "columns that the table does not have: AOPDs"),
        ({"better": {"AOPD": "lower"}}, "'low' or 'high', not 'lower'"),
        ({"deviation": DEVIATION.iloc[:2]}, "`deviation` has other rows or columns"),
        ({"frame": pd.concat([FRAME, FRAME])}, "distinct row labels"),
    ],
)
def test_wrong_arguments_are_named(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        save(tmp_path, **options)
    assert not list(tmp_path.rglob("*.*"))


def test_a_baseline_is_never_marked_as_the_worst() -> None:
    """As in the CGL paper's Table 2: the highest is underlined with BARE left out."""
    column = pd.DataFrame({"AOPD": [99.0, 58.0, 80.0, 80.0]}, index=["BARE", "REPLAY", "EWC", "GEM"])
    content = table_content(
        column, deviation=None, better={"AOPD": "low"}, never_worst=["BARE"], units="%", digits=2
    )
    assert [row[0] for row in content.marks] == ["", "best", "worst", "worst"]
    best = column.assign(AOPD=[10.0, 58.0, 80.0, 70.0])
    content = table_content(
        best, deviation=None, better={"AOPD": "low"}, never_worst=["BARE"], units="%", digits=2
    )
    assert [row[0] for row in content.marks] == ["best", "", "worst", ""]
