"""`driftlab params`."""

import pytest
from driftlab.notebooks.cell import write_cell
from driftlab.notebooks.declared import declared_notebooks
from notebook_project import Project

from .driving import Driver


def test_every_parameter_with_meaning_limit_and_the_values_of_the_scales(driftlab: Driver) -> None:
    result = driftlab("params", "41")
    assert result.code == 0
    assert (
        "question: what is compared, and on which data scale name of the scale, kept with every result"
        in result.out
    )
    assert (
        "orders task orders of 120; each task equally often first and last, if a multiple of 5 "
        "a whole number; from 2 to 120 smoke: 3 demo: 5 paper: 120"
    ) in result.out
    assert "depth GCN layers a whole number; at least 1 at every scale: 2" in result.out
    assert "machine: where it runs" in result.out
    assert "TWP beta = 0.01 price of new importance" in result.out, "what hyper can change"
    assert result.out.index("methods methods to compare") < result.out.index("epochs full-batch")
    for name in declared_notebooks()["41_cgl_task_order"].model_fields:
        assert f" {name} " in result.out


@pytest.mark.parametrize("name", ["20", "90_scoreboard", "notebooks/44_cgl_hyperparameters.ipynb"])
def test_every_notebook_has_them(driftlab: Driver, name: str) -> None:
    assert driftlab("params", name).code == 0


def test_the_cell_is_printed_to_be_restored(driftlab: Driver) -> None:
    result = driftlab("params", "21", "--cell")
    assert result.out == " ".join(write_cell(declared_notebooks()["21_oak_known_vocabulary"]).split())


def test_a_notebook_of_ones_own(project: Project, driftlab: Driver) -> None:
    project.notebook("50_mine", "epochs = 3  # passes\nname: str | None = None")
    result = driftlab("params", "50")
    assert result.code == 0
    assert "epochs a whole number at every scale: 3" in result.out
    assert "name text or null at every scale: None" in result.out
    project.scale("smoke", "50_mine", "epochs: 1")
    assert "smoke: 1 demo: 3" in driftlab("params", "50").out


def test_an_unknown_notebook(driftlab: Driver) -> None:
    result = driftlab("params", "cgl_taks_order")
    assert result.code == 2 and "Did you mean 'cgl_task_order'?" in result.err
