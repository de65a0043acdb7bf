"""Sidecars: what made a result, and what happens to broken ones."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from driftlab import __version__
from driftlab.core.errors import ParameterError, StoreError
from driftlab.core.lineage import lineage, stamp
from driftlab.core.provenance import Source
from driftlab.reporting.artifacts import load_artifacts
from driftlab.reporting.display import ShownArtifact
from driftlab.reporting.figures import save_figure
from driftlab.reporting.report import write_report
from driftlab.reporting.sidecars import Artifact, Provenance, provenance_of
from driftlab.reporting.style import DPI
from driftlab.reporting.tables import save_table
from matplotlib.figure import Figure
from PIL import Image

from .plausible import OFFICIAL, SYNTHETIC, plausible_table, task_orders


def made(source: Source = SYNTHETIC, scale: str = "demo") -> Provenance:
    return provenance_of(source, scale=scale, notebook="41_cgl_task_order")


def save_one(outputs: Path, of: Provenance, value: float = 1.0, part: str = "") -> Artifact:
    return save_table(
        pd.DataFrame({"AA": [value]}, index=["BARE"]),
        paper="cgl",
        artifact="table_2",
        title="A title",
        caption="A caption.",
        provenance=of,
        part=part,
        outputs=outputs,
    )


def draw(outputs: Path) -> Artifact:
    figure = Figure(figsize=(2, 2))
    figure.subplots().plot([0, 1])
    return save_figure(
        figure,
        paper="cgl",
        artifact="figure_2",
        title="A line",
        caption="It rises.",
        provenance=made(),
        outputs=outputs,
    )


def test_a_picture_is_no_wider_than_its_figure_for_what_is_written_under_it(tmp_path: Path) -> None:
    figure = Figure(figsize=(4, 2), layout="constrained")
    figure.subplots().plot([0, 1])
    source = replace(SYNTHETIC, detail="a synthetic world of many, many words that say how it was made, " * 2)
    saved = save_figure(
        figure,
        paper="cgl",
        artifact="figure_2",
        title="A line",
        caption="It rises.",
        provenance=made(source),
        outputs=tmp_path,
    )
    (found,), _ = load_artifacts(tmp_path)
    with Image.open(io.BytesIO(found.content("png"))) as picture:
        assert picture.width <= 4.3 * DPI, saved.provenance.caption


def test_provenance_counts_runs_and_notices_a_changed_value() -> None:
    table = plausible_table(task_orders(2), methods=["BARE", "EWC"], seeds=2)

    def described(frame: pd.DataFrame) -> Provenance:
        runs = lineage(stamp(frame, "cgl version 3 on cpu"))
        return provenance_of(SYNTHETIC, scale="demo", notebook="41_cgl_task_order", runs=runs)

    first = described(table)
    assert first.runs == 8
    assert described(table.iloc[::-1]) == first
    table.loc[0, "value"] = 0.123
    assert described(table).runs_digest != first.runs_digest
    assert first.caption == (
        "nucla: a synthetic world (400 sequences, seed 0); demo scale, 8 runs "
        f"({first.runs_digest[:8]}) of cgl version 3 on cpu; notebook 41_cgl_task_order; "
        f"driftlab {__version__}"
    )


def test_official_and_synthetic_results_and_scales_do_not_overwrite_each_other(tmp_path: Path) -> None:
    for value, (source, scale) in enumerate(
        [(SYNTHETIC, "demo"), (OFFICIAL, "demo"), (OFFICIAL, "paper"), (SYNTHETIC, "smoke")]
    ):
        save_one(tmp_path, made(source, scale), float(value))
    found, unreadable = load_artifacts(tmp_path)
    assert not unreadable
    assert {one.folder.name: one.artifact.table.values for one in found if one.artifact.table} == {
        "nucla-synthetic-demo": [[0.0]],
        "nucla-official-demo": [[1.0]],
        "nucla-official-paper": [[2.0]],
        "nucla-synthetic-smoke": [[3.0]],
    }


def test_what_was_saved_is_read_back(tmp_path: Path) -> None:
    saved = save_one(tmp_path, made(), part="by task")
    (found,), _ = load_artifacts(tmp_path)
    assert found.artifact == saved
    assert found.artifact.provenance.source == SYNTHETIC
    assert found.content("csv") == b",AA\nBARE,1.0\n"


def test_saving_again_replaces(tmp_path: Path) -> None:
    save_one(tmp_path, made(), 1.0)
    save_one(tmp_path, made(), 2.0)
    (found,), _ = load_artifacts(tmp_path)
    assert found.artifact.table is not None and found.artifact.table.values == [[2.0]]
    assert b"2.0" in found.content("csv")


def test_reference_results_are_found_by_name(tmp_path: Path) -> None:
    save_one(tmp_path, made())
    save_one(tmp_path / "reference" / "nucla", made(OFFICIAL, "paper"))
    found, _ = load_artifacts(tmp_path)
    assert [(one.reference, one.artifact.provenance.source.kind) for one in found] == [
        ("", "synthetic"),
        ("nucla", "official"),
    ]


def test_figures_are_saved_as_png_and_pdf_with_provenance(tmp_path: Path) -> None:
    saved = draw(tmp_path)
    (found,), _ = load_artifacts(tmp_path)
    assert found.content("png").startswith(b"\x89PNG") and found.content("pdf").startswith(b"%PDF")
    assert saved.alt == "A line. It rises."
    assert saved.provenance.caption.startswith("nucla: a synthetic world")
    elsewhere = ShownArtifact(saved, tmp_path / "elsewhere")._repr_html_()
    assert "cannot be shown" in elsewhere and "<img" not in elsewhere


def test_equal_figures_are_equal_files(tmp_path: Path) -> None:
    assert draw(tmp_path / "a").files == draw(tmp_path / "b").files


def test_a_notebook_shows_the_picture(tmp_path: Path) -> None:
    artifact = ShownArtifact(draw(tmp_path), tmp_path)
    assert repr(artifact) == "A line (cgl figure_2)"
    shown = artifact._repr_html_()
    assert 'src="data:image/png;base64,' in shown and 'alt="A line. It rises."' in shown


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    draw(tmp_path)
    (found,), _ = load_artifacts(tmp_path)
    (found.folder / "cgl_figure_2.png").write_bytes(b"\x89PNG half")
    with pytest.raises(StoreError, match=r"cgl_figure_2\.png is not what was saved .* run 41_cgl_task_order"):
        found.content("png")
    (found.folder / "cgl_figure_2.png").unlink()
    with pytest.raises(StoreError, match=r"cgl_figure_2\.png cannot be read .*No such file"):
        found.content("png")
    with pytest.raises(StoreError, match="names no csv file"):
        found.content("csv")


def _edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"artifact": "table_77"}, "no artifact of the paper cgl 'table_77'"),
        ({"surprise": 1}, "surprise: Extra inputs"),
        ({"files": {"csv": {"name": "../../secret", "sha256": ""}}}, "files of its own folder only"),
        ({"title": None}, "title: Input should be a valid string"),
    ],
)
def test_a_wrong_sidecar_is_a_problem_and_hides_no_other(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    save_one(tmp_path, made())
    save_one(tmp_path, made(), part="other")
    _edit(tmp_path / "tables" / "nucla-synthetic-demo" / "cgl_table_2.json", **changes)
    found, unreadable = load_artifacts(tmp_path)
    assert [one.artifact.part for one in found] == ["other"]
    assert len(unreadable) == 1 and message in unreadable[0].reason
    assert unreadable[0].file.name == "cgl_table_2.json"


@pytest.mark.parametrize("content", [b"", b'{"kind": "tab', b"\xff\xfe", b"[]"])
def test_a_truncated_sidecar_is_a_problem(tmp_path: Path, content: bytes) -> None:
    save_one(tmp_path, made())
    (tmp_path / "tables" / "nucla-synthetic-demo" / "cgl_table_2.json").write_bytes(content)
    found, unreadable = load_artifacts(tmp_path)
    assert not found
    assert "not a readable sidecar" in unreadable[0].reason


def test_a_name_that_names_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="The scale '' has no letter or digit"):
        save_one(tmp_path, made(scale=""))


def test_an_unwritable_outputs_folder_is_explained(tmp_path: Path) -> None:
    blocked = tmp_path / "outputs"
    blocked.write_text("not a folder")
    with pytest.raises(StoreError, match=r"cannot be written .* set DRIFTLAB_OUTPUTS"):
        save_one(blocked, made())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": [[]]}, "table.values, row 'BARE': 1 columns are labelled and it has 0 cells"),
        ({"values": []}, "table.values: 1 rows are labelled and it has 0"),
        ({"text": []}, "table.text: 1 rows are labelled and it has 0"),
        ({"marks": []}, "table.marks: 1 rows are labelled and it has 0"),
        ({"deviations": [[None, 1.0]]}, "table.deviations, row 'BARE': 1 columns are labelled and it has 2"),
        ({"rows": []}, "table.values: 0 rows are labelled and it has 1"),
        ({"columns": ["AA", "BB"]}, "table.values, row 'BARE': 2 columns are labelled and it has 1 cells"),
        (None, "table: its cells are missing"),
    ],
)
def test_a_ragged_table_is_a_problem_and_the_report_shows_the_others(
    tmp_path: Path, changes: dict[str, object] | None, message: str
) -> None:
    saved = save_one(tmp_path, made(OFFICIAL))
    save_one(tmp_path, made(OFFICIAL), part="other")
    assert saved.table is not None
    file = tmp_path / "tables" / "nucla-official-demo" / "cgl_table_2.json"
    _edit(file, table=None if changes is None else saved.table.model_dump() | changes)
    found, unreadable = load_artifacts(tmp_path)
    assert [one.artifact.part for one in found] == ["other"]
    assert [entry.reason for entry in unreadable] == [unreadable[0].reason] and message in unreadable[
        0
    ].reason
    assert "cgl_table_2.json" in write_report(tmp_path).read_text("utf-8")
