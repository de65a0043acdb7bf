"""The rules that every notebook keeps, and the parameter files that belong to it."""

import json
from pathlib import Path
from typing import Any

import pytest
from driftlab.notebooks import find, read, resolve
from driftlab.notebooks.cell import write_cell
from driftlab.notebooks.declared import declared_notebooks
from driftlab.notebooks.parameters import meaning_of
from driftlab.notebooks.values import Scale

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
REGRESSION = sorted((ROOT / "tests" / "regression").glob("*.ipynb"))
SCALES: list[Scale] = ["smoke", "paper"]

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def tags(cell: dict[str, Any]) -> list[str]:
    return list(cell["metadata"].get("tags", []))


def test_there_are_notebooks_and_each_is_found() -> None:
    assert NOTEBOOKS
    assert [notebook.path for notebook in find()] == NOTEBOOKS


@each_notebook
def test_it_is_small(path: Path) -> None:
    cells = load(path)["cells"]
    code = [line for cell in cells if cell["cell_type"] == "code" for line in source(cell).splitlines()]
    assert len(cells) <= 20
    assert len(code) <= 120
    assert path.stat().st_size <= 50_000


@each_notebook
def test_it_holds_no_results(path: Path) -> None:
    code = [cell for cell in load(path)["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)


@each_notebook
def test_it_runs_on_python3(path: Path) -> None:
    metadata = load(path)["metadata"]
    assert metadata["kernelspec"]["name"] == "python3"
    assert metadata["language_info"]["name"] == "python", "papermill needs it"


@each_notebook
def test_it_begins_with_its_one_title_and_explains_before_it_computes(path: Path) -> None:
    cells = load(path)["cells"]
    prose = [source(cell).splitlines() for cell in cells if cell["cell_type"] == "markdown"]
    titles = [line for lines in prose for line in lines if line.startswith("# ")]
    assert len(titles) == 1
    assert cells[0]["cell_type"] == "markdown"
    assert source(cells[0]).startswith(titles[0])


@each_notebook
def test_it_has_a_parameters_cell_that_explains_each(path: Path) -> None:
    (cell,) = [source(cell) for cell in load(path)["cells"] if "parameters" in tags(cell)]
    # `driftlab params NN --cell` prints it: names, the demo's values, meanings and groups.
    assert cell == write_cell(declared_notebooks()[path.stem])
    assert read(path).values == declared_notebooks()[path.stem].defaults()


def test_every_model_belongs_to_a_notebook() -> None:
    assert list(declared_notebooks()) == [path.stem for path in NOTEBOOKS]


@each_notebook
def test_its_demo_values_are_possible(path: Path) -> None:
    model = declared_notebooks()[path.stem]
    model.model_validate(model.defaults())
    assert all(meaning_of(field).text for field in model.model_fields.values())


@each_notebook
def test_it_names_no_place_of_one_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not [root for root in ("/home/", "/root/", "/Users/", "C:\\\\") if root in text]


@each_notebook
@pytest.mark.parametrize("scale", SCALES)
def test_its_scales_are_defined_and_fit_its_parameters(path: Path, scale: Scale) -> None:
    notebook = read(path)
    values = resolve(notebook, scale)
    if "scale" in notebook.values:
        assert values["scale"] == scale, "plain papermill knows it from the file alone"


@pytest.mark.parametrize("scale", SCALES)
def test_every_parameter_file_belongs_to_a_notebook(scale: str) -> None:
    files = {path.stem for path in (ROOT / "params" / scale).glob("*")}
    assert files == {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("path", REGRESSION, ids=lambda path: path.stem)
def test_a_regression_notebook_is_its_notebook_executed(path: Path) -> None:
    executed = [source(cell) for cell in load(path)["cells"] if "injected-parameters" not in tags(cell)]
    assert executed == [source(cell) for cell in load(ROOT / "notebooks" / path.name)["cells"]]
