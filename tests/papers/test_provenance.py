"""Every table, figure and verdict that a session saves says which experiment, version and package made it."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from driftlab import __version__
from driftlab.core.lineage import carries_lineage, lineage
from driftlab.papers.cgl.session import CglSession
from driftlab.reporting.verdicts import Verdict
from matplotlib.figure import Figure

ORDER = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
MADE_BY = "cgl version {version} on cpu"


@carries_lineage
def mean_accuracy(table: pd.DataFrame) -> pd.DataFrame:
    return table.groupby("method", observed=True)[["value"]].mean()


@carries_lineage
def drawn(table: pd.DataFrame) -> Figure:
    figure, axes = plt.subplots()
    axes.plot(table["value"])
    return figure


@carries_lineage
def judged(table: pd.DataFrame) -> Verdict:
    return Verdict(claim="cgl-1", outcome="undecided", test="a test", evidence=f"{len(table)} rows")


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", str(tmp_path))
    monkeypatch.setenv("DRIFTLAB_DEVICE", "cpu")
    return tmp_path


def test_tables_figures_and_verdicts_name_their_makers(outputs: Path) -> None:
    from driftlab.papers.cgl.experiment import ContinualSkeletons

    made_by = MADE_BY.format(version=ContinualSkeletons().version)
    session = CglSession("41_cgl_task_order", scale="smoke", data="world", world_sequences=10, jobs=1)
    settings = {"width": 4, "depth": 1, "epochs": 1, "learning_rate": 1e-2}
    table = session.runs(["BARE"], [ORDER], [0], **settings)
    session.table("table_2", mean_accuracy(table), "A table", "Its caption")
    session.figure("figure_2", drawn(table), "A figure", "Its caption")
    session.verdicts(judged(table))

    sidecars = [path for path in outputs.rglob("*.json") if "runs" not in path.relative_to(outputs).parts]
    kinds = set()
    for sidecar in sidecars:
        content = json.loads(sidecar.read_text())
        if "provenance" not in content:  # a world's marker
            continue
        kinds.add(content.get("kind", "verdicts"))
        provenance = content["provenance"]
        assert (provenance["made_by"], provenance["package"]) == ([made_by], __version__), sidecar
        assert provenance["runs"] == 1 and provenance["runs_digest"]
    assert kinds == {"table", "figure", "verdicts"}
    for suffix in ("tex", "html"):
        (saved,) = (outputs / "tables").rglob(f"*table_2*.{suffix}")
        assert made_by in saved.read_text() and f"driftlab {__version__}" in saved.read_text()


def test_a_lineage_survives_a_parquet_file(outputs: Path) -> None:
    session = CglSession("41_cgl_task_order", scale="smoke", data="world", world_sequences=10, jobs=1)
    table = session.runs(["BARE"], [ORDER], [0], width=4, depth=1, epochs=1, learning_rate=1e-2)
    table.to_parquet(outputs / "table.parquet")
    back = pd.read_parquet(outputs / "table.parquet")
    assert lineage(back) == lineage(table) != ((), ())
    assert lineage(mean_accuracy(back)).digest == lineage(table).digest
