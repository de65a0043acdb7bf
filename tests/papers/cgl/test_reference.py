"""The committed results on the official N-UCLA are what the tool makes of their evaluation tables."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
from driftlab.core.evaluation_table import read_table
from driftlab.metrics.accuracy_matrix import class_accuracy
from driftlab.papers.cgl.order_runs import sequences_per_class
from driftlab.reporting.artifacts import load_artifacts
from driftlab.reporting.printed_papers import paper
from driftlab.reporting.verdicts import load_verdicts

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "outputs" / "reference" / "nucla"


@pytest.fixture(scope="module")
def remade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = ROOT / "tools" / "nucla_reference.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    outputs = tmp_path_factory.mktemp("reference")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DRIFTLAB_OUTPUTS", "")
        assert tool.main(["--outputs", str(outputs)]) == 0
    return outputs


def test_the_test_parts_have_the_sizes_that_the_printed_table_implies() -> None:
    rows = class_accuracy(read_table(REFERENCE / "evaluation" / "task_orders.parquet"))
    assert list(sequences_per_class(rows).values()) == [15, 15, 14, 17, 14, 14, 14, 14, 14, 14]


def test_tables_are_the_committed_ones(remade: Path) -> None:
    tables = sorted(path.relative_to(REFERENCE) for path in REFERENCE.glob("tables/*/*.csv"))
    assert tables
    for table in tables:
        assert (remade / table).read_text() == (REFERENCE / table).read_text(), table


def test_figures_3a_and_5a_are_there_with_their_provenance(remade: Path) -> None:
    for folder in (remade, REFERENCE):
        found, problems = load_artifacts(folder)
        assert not problems
        panels = {one.artifact.artifact: one.artifact for one in found if one.artifact.part == "nucla-a"}
        assert set(panels) == {"figure_2", "figure_3", "figure_5"}
        made = panels["figure_5"].provenance
        assert made.source.kind == "official" and made.changed == {"seeds": [0]}
        assert made.made_by == ["cgl version 1 on cpu", "cgl version 2 on cpu"] and made.runs == 1540


def test_verdicts_are_the_committed_ones(remade: Path) -> None:
    judged = []
    for folder in (remade, REFERENCE):
        files, problems = load_verdicts(folder)
        assert not problems
        judged.append([(v.claim, v.outcome, v.evidence) for one in files for v in one.file.verdicts])
    assert judged[0] == judged[1]
    known = {claim.id for claim in paper("cgl").claims}
    assert {claim for claim, _, _ in judged[1]} < known


def test_the_readme_has_the_tables_numbers() -> None:
    """Every row of the README's table of AOPD is the committed table's."""
    text = (REFERENCE / "README.md").read_text("utf-8")
    (sidecar,) = REFERENCE.glob("tables/*/cgl_table_2_nucla-task-orders.json")
    table = json.loads(sidecar.read_text("utf-8"))["table"]
    for method, values in zip(table["rows"], table["values"], strict=True):
        (row,) = re.findall(rf"^\| {method} \| ([\d.]+) \| [^|]+ \| ([\d.]+) \|", text, flags=re.MULTILINE)
        assert [float(cell) for cell in row] == pytest.approx(values, abs=0.005), method
