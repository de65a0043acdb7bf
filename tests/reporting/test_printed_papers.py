"""The papers' values, claims and artifacts as they are read."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml
from driftlab.core.errors import ParameterError
from driftlab.reporting import printed_papers
from driftlab.reporting.printed_papers import paper, paper_keys, papers, settings_text


def test_cgl_tables_as_printed() -> None:
    table = paper("cgl").tables["table_2"]
    assert table.columns[4] == "class UCLA AOPD"
    assert table.rows["LwF"][0] == (63.21, 2.46)
    assert table.text(table.rows["LwF"][0]) == "63.21 ± 2.46"


def test_nested_tables_become_text() -> None:
    cgl = paper("cgl")
    assert cgl.tables["table_3"].columns == ("UCLA", "NTU")
    assert cgl.tables["table_3"].rows["TWP"][1] == "lambda_l 100, lambda_t 10000, beta 0.01"
    assert cgl.tables["table_5"].rows["GEM"] == ("strength 0.05|0.5|5, fraction 0.05|0.1|0.2",)
    assert cgl.tables["table_4"].rows["depth"] == ("1|2|4|8|16",)


def test_blocks_of_a_table_become_rows_and_pairs_of_metrics_are_no_deviations() -> None:
    table = paper("flpsg").tables["table_II"]
    assert table.rows["K20 IMP"][0] == (16.54, 6.55)
    assert table.text(table.rows["K20 IMP"][0]) == "16.54 / 6.55"
    assert paper("oak").tables["table_2"].rows["Non-adaptation"][-1] is None


@pytest.mark.parametrize("key", paper_keys())
def test_every_printed_table_has_its_artifact_and_every_row_its_columns(key: str) -> None:
    found = paper(key)
    for name, table in found.tables.items():
        assert found.artifact(name).notebooks
        assert table.rows
        assert all(len(cells) == len(table.columns) for cells in table.rows.values()), name


def test_the_lists_are_complete() -> None:
    counts = {key: (len(paper(key).artifacts), len(paper(key).claims)) for key in paper_keys()}
    # cgl: Tables 1-5, Figures 2-8, Theorem 1; oak: Tables 1-4, Figures 2, 3a-f, 7, 8;
    # csegg: Table 1, Figures 3, 5, 6, S1-S20; flpsg: Tables I-VII, Figures 4, 6, 7
    assert counts == {"csegg": (24, 85), "oak": (13, 36), "flpsg": (10, 75), "cgl": (13, 45)}
    assert list(counts) == ["csegg", "oak", "flpsg", "cgl"], "in order of the notebooks' numbers"
    assert len({spec.id for spec in paper("csegg").artifacts}) == 24
    assert paper("oak").artifact("figure_3a").label == "Figure 3a"
    assert paper("cgl").artifact("figure_4").notebooks == ("45_cgl_stgcn",)


def test_unknown_names_offer_the_nearest() -> None:
    with pytest.raises(ParameterError, match=r"no paper 'cgi'. Did you mean 'cgl'"):
        paper("cgi")
    with pytest.raises(
        ParameterError, match=r"no artifact of the paper cgl 'table2'. Did you mean 'table_2'"
    ):
        paper("cgl").artifact("table2")
    with pytest.raises(ParameterError, match=r"no claim of the paper cgl 'cgl-111'. Did you mean 'cgl-1"):
        paper("cgl").claim("cgl-111")


def test_settings_are_written_without_exponents() -> None:
    assert settings_text({"strength": 1e6, "beta": 0.01}) == "strength 1000000, beta 0.01"


RATE = re.compile(
    r"\b(images|annotations|frames|categories|boxes|clients|parameters|runs|steps|points|instances) an? "
    r"(class|category|cluster|client|image|predicate|round|second|task|participant|replica|stage)\b"
)


@pytest.mark.parametrize("key", paper_keys())
def test_titles_and_claims_are_complete_and_read_well(key: str) -> None:
    found = paper(key)
    ids = [claim.id for claim in found.claims]
    assert sorted(ids, key=lambda name: int(name.rpartition("-")[2])) == [
        f"{key}-{number}" for number in range(1, len(ids) + 1)
    ]
    assert len({spec.id for spec in found.artifacts}) == len(found.artifacts)
    for spec in found.artifacts:
        assert spec.title[0].isupper() and not spec.title.endswith("."), spec
        assert spec.notebooks and all(re.fullmatch(rf"\d\d_{key}_\w+", name) for name in spec.notebooks)
        assert not set(spec.notebooks) & set(found.notebooks) or set(spec.notebooks) <= set(found.notebooks)
    for claim in found.claims:
        assert claim.where and len(claim.text) > 15 and not claim.text.endswith("."), claim
    for text in [*(spec.title for spec in found.artifacts), *(claim.text for claim in found.claims)]:
        assert not RATE.search(text), f"'per' is meant: {text}"


@pytest.mark.parametrize("key", paper_keys())
def test_every_artifact_and_claim_of_the_papers_specification_is_listed_once(
    key: str, real_data: Path
) -> None:
    file = real_data.parent / "artifacts" / f"{key}.yaml"
    if not file.is_file():
        pytest.skip(f"no specification of the paper here: {file} is not there")
    wanted = yaml.safe_load(file.read_text("utf-8"))
    drawn = {spec["id"] for spec in wanted["artifacts"] if spec["kind"] != "schematic"}
    assert {spec.id for spec in paper(key).artifacts} == drawn
    assert {claim.id for claim in paper(key).claims} == {claim["id"] for claim in wanted["claims"]}
    official_only = {claim["id"] for claim in wanted["claims"] if claim.get("judge_on") == ["official"]}
    assert {claim.id for claim in paper(key).claims if claim.needs} >= official_only


def test_nothing_in_reporting_names_a_paper() -> None:
    names = {word for one in papers() for word in (one.key, one.short)}
    folder = Path(printed_papers.__file__).parent
    for file in folder.glob("templates/*"):
        assert not names & set(re.findall(r"[\w-]+", file.read_text("utf-8"))), file
    for file in folder.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        docstrings = {
            ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)
        }
        texts = {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        for text in texts - docstrings:
            assert not names & set(re.findall(r"[\w-]+", text)), f"{file.name}: {text}"
