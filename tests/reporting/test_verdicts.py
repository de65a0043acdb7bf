"""Verdicts are kept and read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from driftlab.core.errors import ParameterError
from driftlab.reporting.display import ShownVerdicts
from driftlab.reporting.sidecars import provenance_of
from driftlab.reporting.verdicts import judge, load_verdicts, not_testable, save_verdicts, verdict_frame

from .plausible import OFFICIAL, SYNTHETIC

VERDICTS = [
    judge("cgl-1", "A above B.", True, "A 2 against B 1."),
    judge("cgl-2", "A above B.", False, "A 1 against B 2."),
    not_testable("cgl-3", "A above B.", "Without runs of A."),
    judge("cgl-4", "A above B.", "undecided", "A 1.0 ± 0.4 against B 0.8."),
]


def test_outcomes() -> None:
    assert verdict_frame(VERDICTS)["outcome"].tolist() == [
        "holds",
        "does not hold",
        "not testable",
        "undecided",
    ]


def test_saved_and_read_back_per_source(tmp_path: Path) -> None:
    for source in (SYNTHETIC, OFFICIAL):
        made = provenance_of(source, scale="demo", notebook="41_cgl_task_order")
        save_verdicts(VERDICTS[:1], paper="cgl", provenance=made, outputs=tmp_path)
        save_verdicts(VERDICTS, paper="cgl", provenance=made, outputs=tmp_path)
    found, unreadable = load_verdicts(tmp_path)
    assert not unreadable
    assert [one.file.provenance.source.kind for one in found] == ["official", "synthetic"]
    assert found[0].file.verdicts == VERDICTS


def test_a_notebook_shows_them() -> None:
    made = provenance_of(SYNTHETIC, scale="demo", notebook="41_cgl_task_order")
    verdicts = ShownVerdicts(VERDICTS, made)
    assert repr(verdicts).splitlines()[:2] == ["cgl-1: holds", "cgl-2: does not hold"]
    shown = verdicts._repr_html_()
    assert "does not hold" in shown and "A 1 against B 2." in shown and "a synthetic world" in shown


def test_an_unknown_claim_and_no_claim_are_errors(tmp_path: Path) -> None:
    made = provenance_of(SYNTHETIC, scale="demo", notebook="41_cgl_task_order")
    with pytest.raises(ParameterError, match="no claim of the paper oak 'cgl-1'"):
        save_verdicts(VERDICTS, paper="oak", provenance=made, outputs=tmp_path)
    with pytest.raises(ParameterError, match="no verdicts to keep"):
        save_verdicts([], paper="cgl", provenance=made, outputs=tmp_path)


def test_a_broken_file_is_a_problem(tmp_path: Path) -> None:
    made = provenance_of(SYNTHETIC, scale="demo", notebook="41_cgl_task_order")
    save_verdicts(VERDICTS, paper="cgl", provenance=made, outputs=tmp_path)
    (file,) = tmp_path.rglob("*.json")
    file.write_text(file.read_text("utf-8").replace("does not hold", "maybe"), "utf-8")
    found, unreadable = load_verdicts(tmp_path)
    assert not found
    assert (
        "verdicts.1.outcome: Input should be 'holds', 'does not hold', 'undecided' or" in unreadable[0].reason
    )
