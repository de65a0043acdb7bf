"""Verdicts are kept and read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from driftlab.core.errors import ParameterError
from driftlab.reporting.sidecars import provenance
from driftlab.reporting.verdicts import judge, load_verdicts, not_testable, save_verdicts, verdict_frame

from .plausible import OFFICIAL, SYNTHETIC

VERDICTS = [
    judge("cgl-1", "A above B.", True, "A 2 against B 1."),
    judge("cgl-2", "A above B.", False, "A 1 against B 2."),
    not_testable("cgl-3", "A above B.", "Without runs of A."),
]


def test_outcomes() -> None:
    assert verdict_frame(VERDICTS)["outcome"].tolist() == ["holds", "does not hold", "not testable"]


def test_saved_and_read_back_per_source(tmp_path: Path) -> None:
    for source in (SYNTHETIC, OFFICIAL):
        made = provenance(source, scale="demo", notebook="41_cgl_task_order")
        save_verdicts(VERDICTS[:1], paper="cgl", made=made, outputs=tmp_path)
        save_verdicts(VERDICTS, paper="cgl", made=made, outputs=tmp_path)
    found, problems = load_verdicts(tmp_path)
    assert not problems
    assert [one.file.provenance.source.kind for one in found] == ["official", "synthetic"]
    assert found[0].file.verdicts == VERDICTS


def test_a_notebook_shows_them(tmp_path: Path) -> None:
    made = provenance(SYNTHETIC, scale="demo", notebook="41_cgl_task_order")
    shown = save_verdicts(VERDICTS, paper="cgl", made=made, outputs=tmp_path)._repr_html_()
    assert "does not hold" in shown and "A 1 against B 2." in shown and "a synthetic world" in shown


def test_an_unknown_claim_and_no_claim_are_errors(tmp_path: Path) -> None:
    made = provenance(SYNTHETIC, scale="demo", notebook="41_cgl_task_order")
    with pytest.raises(ParameterError, match="no claim of 'oak' named 'cgl-1'"):
        save_verdicts(VERDICTS, paper="oak", made=made, outputs=tmp_path)
    with pytest.raises(ParameterError, match="no verdicts to keep"):
        save_verdicts([], paper="cgl", made=made, outputs=tmp_path)


def test_a_broken_file_is_a_problem(tmp_path: Path) -> None:
    made = provenance(SYNTHETIC, scale="demo", notebook="41_cgl_task_order")
    save_verdicts(VERDICTS, paper="cgl", made=made, outputs=tmp_path)
    (file,) = tmp_path.rglob("*.json")
    file.write_text(file.read_text("utf-8").replace("does not hold", "maybe"), "utf-8")
    found, problems = load_verdicts(tmp_path)
    assert not found
    assert (
        "verdicts.1.outcome: Input should be 'holds', 'does not hold' or 'not testable'" in problems[0].text
    )
