"""States, comparisons and claims on the scoreboard."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from driftlab.core.provenance import Source
from driftlab.reporting.comparison import comparison
from driftlab.reporting.decisions import Decision
from driftlab.reporting.printed_papers import Claim, paper, papers
from driftlab.reporting.scoreboard import ClaimEntry, Entry, Judged, scoreboard
from driftlab.reporting.sidecars import Artifact, provenance_of
from driftlab.reporting.tables import save_table
from driftlab.reporting.verdicts import judge, not_testable, save_verdicts

from .plausible import OFFICIAL, SUBSET, SYNTHETIC

FRAME = pd.DataFrame(
    {"task UCLA AOPD": [96.0, 60.0], "ours only": [1.0, 2.0]},
    index=pd.Index(["BARE", "replay"], name="method"),
)
DEVIATION = pd.DataFrame({"task UCLA AOPD": [0.5, None], "ours only": [None, None]}, index=FRAME.index)


def save(
    outputs: Path, source: Source, scale: str = "demo", part: str = "", frame: pd.DataFrame = FRAME
) -> Artifact:
    return save_table(
        frame,
        paper="cgl",
        artifact="table_2",
        title="Order sensitivity",
        caption="Lower is better.",
        provenance=provenance_of(source, scale=scale, notebook="41_cgl_task_order"),
        part=part,
        deviation=DEVIATION if frame is FRAME else None,
        outputs=outputs,
    )


def entry(outputs: Path, artifact: str = "table_2") -> Entry:
    board = scoreboard(outputs)
    (cgl,) = [one for one in board.papers if one.paper.key == "cgl"]
    (found,) = [one for one in cgl.entries if one.spec.id == artifact]
    return found


def test_nothing_is_there_yet(tmp_path: Path) -> None:
    board = scoreboard(tmp_path)
    frame = board.artifacts()
    assert len(frame) == 13 + 13 + 24 + 10
    assert set(frame["state"]) == {"not yet"}
    claims = board.claims()
    assert len(claims) == sum(len(paper.claims) for paper in papers())
    needs = {f"needs {claim.needs}" for paper in papers() for claim in paper.claims if claim.needs}
    assert set(claims["outcome"]) == {"not yet"} | needs and "needs NTU" in needs
    assert [one.paper.key for one in board.papers] == [paper.key for paper in papers()]
    assert not any(one.has_results for one in board.papers)


def judged(outcomes: dict[Source, Decision | None], needs: str = "") -> ClaimEntry:
    """A claim with one verdict per source; None is "not testable"."""
    return ClaimEntry(
        Claim("cgl-1", "3.3", "A is above B", needs),
        tuple(
            Judged(
                judge("cgl-1", "A > B", decision, "A 2.")
                if decision
                else not_testable("cgl-1", "A > B", "No A."),
                provenance_of(source, scale="demo", notebook="41_cgl_task_order"),
                "",
            )
            for source, decision in outcomes.items()
        ),
    )


@pytest.mark.parametrize(
    ("outcomes", "needs", "chips", "standing"),
    [
        ({}, "", [("", "not yet")], "not yet"),
        ({}, "NTU", [("", "needs NTU")], "needs other data"),
        ({SYNTHETIC: None}, "NTU", [("", "needs NTU")], "needs other data"),
        ({SYNTHETIC: None}, "", [("nucla", "not testable")], "not testable"),
        ({OFFICIAL: "undecided"}, "NTU", [("nucla", "undecided")], "undecided"),
        (
            {OFFICIAL: "fails", SYNTHETIC: "holds"},
            "",
            [("nucla", "does not hold"), ("nucla", "holds")],
            "does not hold",
        ),
        ({OFFICIAL: None, SYNTHETIC: "holds"}, "", [("nucla", "not testable"), ("nucla", "holds")], "holds"),
    ],
)
def test_a_claim_has_one_chip_per_dataset_and_the_strongest_decision_counts(
    outcomes: dict[Source, Decision | None], needs: str, chips: list[tuple[str, str]], standing: str
) -> None:
    claim = judged(outcomes, needs)
    assert [(chip.dataset, chip.outcome) for chip in claim.chips] == chips
    assert claim.standing == standing


def test_verdicts_of_two_notebooks_on_one_dataset_share_a_chip() -> None:
    claim = ClaimEntry(
        Claim("cgl-6", "Theorem 1", "AF is bounded"),
        judged({SYNTHETIC: "holds"}).judged + judged({SYNTHETIC: "undecided"}).judged,
    )
    assert [chip.outcome for chip in claim.chips] == ["undecided"]


def test_the_summary_counts_states_and_standings_and_fits_a_narrow_terminal(tmp_path: Path) -> None:
    save(tmp_path, OFFICIAL)
    made = provenance_of(OFFICIAL, scale="paper", notebook="41_cgl_task_order")
    verdicts = [judge("cgl-1", "A > B", "holds", "A 2."), judge("cgl-2", "A > B", "undecided", "A 2.")]
    save_verdicts(verdicts, paper="cgl", provenance=made, outputs=tmp_path)
    (tmp_path / "claims" / "x").mkdir(parents=True)
    (tmp_path / "claims" / "x" / "broken.json").write_text("{")
    board = scoreboard(tmp_path)
    cgl = board.summary().loc["CGL"]
    assert cgl["artifacts"].to_dict() == {
        "official data": 1,
        "a real subset": 0,
        "a synthetic world": 0,
        "not yet": 12,
    }
    assert cgl["claims"][["holds", "undecided", "needs other data"]].tolist() == [1, 1, 4]
    assert cgl["claims"].sum() == len(paper("cgl").claims)
    text = board.summary_text(40)
    assert max(map(len, text.splitlines())) <= 40
    folded = " ".join(text.split())
    assert (
        "CGL: Continual graph learning 13 artifacts: 1 on official data, 12 not yet 45 claims: 1 hold, "
        in folded
    )
    assert "1 undecided" in folded and "1 files could not be used" not in folded
    assert folded.endswith("1 file could not be used; the report names it.")


def test_the_strongest_data_give_the_state(tmp_path: Path) -> None:
    save(tmp_path, SYNTHETIC)
    assert entry(tmp_path).state == "synthetic"
    save(tmp_path, SUBSET)
    assert entry(tmp_path).state == "subset"
    save(tmp_path, OFFICIAL)
    found = entry(tmp_path)
    assert found.state == "official"
    assert [one.artifact.provenance.source.kind for one in found.saved] == ["official", "subset", "synthetic"]
    assert entry(tmp_path, "table_1").state == "not yet"


def test_parts_are_named_where_only_parts_were_saved(tmp_path: Path) -> None:
    save(tmp_path, OFFICIAL, part="by task")
    save(tmp_path, Source("synthetic", "ntu", "seed 0", "00"), part="by task")
    save(tmp_path, Source("synthetic", "ntu", "seed 0", "00"))
    assert entry(tmp_path).sources == {"official": "nucla (by task)", "synthetic": "ntu"}


def test_the_larger_scale_and_the_users_own_results_are_shown(tmp_path: Path) -> None:
    save(tmp_path, OFFICIAL, "smoke")
    save(tmp_path, OFFICIAL, "demo")
    save(tmp_path / "reference" / "nucla", OFFICIAL, "demo")
    (one,) = entry(tmp_path).saved
    assert (one.artifact.provenance.scale, one.reference) == ("demo", "")
    save(tmp_path / "reference" / "nucla", OFFICIAL, "paper")
    (one,) = entry(tmp_path).saved
    assert (one.artifact.provenance.scale, one.reference) == ("paper", "nucla")


def test_official_cells_are_compared_where_labels_agree(tmp_path: Path) -> None:
    cells = comparison(save(tmp_path, OFFICIAL), paper("cgl").tables["table_2"])
    # The paper prints 96.74 ± 0.72 for BARE and 58.21 ± 7.54 for REPLAY.
    assert [(one.row, one.column, one.ours, one.paper, one.difference) for one in cells] == [
        ("BARE", "task UCLA AOPD", "96.00 ± 0.50", "96.74 ± 0.72", "-0.74"),
        ("replay", "task UCLA AOPD", "60.00", "58.21 ± 7.54", "+1.79"),
    ]


@pytest.mark.parametrize("source", [SYNTHETIC, SUBSET])
def test_other_data_are_never_laid_beside_the_papers_numbers(tmp_path: Path, source: Source) -> None:
    assert comparison(save(tmp_path, source), paper("cgl").tables["table_2"]) == []


def test_texts_are_compared_as_texts(tmp_path: Path) -> None:
    saved = save_table(
        pd.DataFrame({"UCLA": ["strength 1000000", "strength 1"]}, index=["EWC", "MAS"]),
        paper="cgl",
        artifact="table_3",
        title="Best",
        caption="By validation accuracy.",
        provenance=provenance_of(OFFICIAL, scale="demo", notebook="44_cgl_hyperparameters"),
        outputs=tmp_path,
    )
    cells = comparison(saved, paper("cgl").tables["table_3"])
    assert [(one.row, one.paper, one.difference) for one in cells] == [
        ("EWC", "strength 1000000", "same"),
        ("MAS", "strength 100", "differs"),
    ]


def test_claims_have_one_verdict_a_notebook_and_source(tmp_path: Path) -> None:
    def keep(source: Source, scale: str, decided: bool, outputs: Path = tmp_path) -> None:
        made = provenance_of(source, scale=scale, notebook="41_cgl_task_order")
        save_verdicts(
            [judge("cgl-1", "A > B.", decided, "A 2.")], paper="cgl", provenance=made, outputs=outputs
        )

    keep(SYNTHETIC, "smoke", False)
    keep(SYNTHETIC, "demo", True)
    keep(OFFICIAL, "paper", False, tmp_path / "reference" / "nucla")
    claims = scoreboard(tmp_path).claims()
    first = claims[claims["claim"] == "cgl-1"]
    assert first[["outcome", "source"]].to_numpy().tolist() == [
        ["does not hold", "nucla-official-paper"],
        ["holds", "nucla-synthetic-demo"],
    ]
    assert first["text"].iloc[0].startswith("JOINT is an upper")
    assert claims[claims["claim"] == "cgl-2"]["outcome"].tolist() == ["not yet"]


def test_broken_files_are_listed(tmp_path: Path) -> None:
    save(tmp_path, SYNTHETIC)
    for name in ("tables/x/broken.json", "claims/x/broken.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("{")
    board = scoreboard(tmp_path)
    assert [entry.file.parent.parent.name for entry in board.unreadable] == ["tables", "claims"]
    assert entry(tmp_path).state == "synthetic"


def test_additions_of_our_own_do_not_count_as_the_papers_artifact(tmp_path: Path) -> None:
    save(tmp_path, OFFICIAL, part="nucla-ours-means")
    added = entry(tmp_path)
    assert added.state == "not yet" and not added.sources and len(added.saved) == 1
    save(tmp_path, SYNTHETIC, part="nucla")
    assert entry(tmp_path).state == "synthetic"
