"""Finding notebooks by what a person types, and reading damaged ones."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.notebooks import find
from driftlab.notebooks.cell import write_cell
from driftlab.notebooks.declared import declared_notebooks
from notebook_project import Project

NAMES = ["00_start_here", "40_cgl_data", "41_cgl_task_order", "42_cgl_class_order", "90_scoreboard"]


@pytest.fixture
def five(project: Project) -> Project:
    for name in reversed(NAMES):
        project.notebook(name, write_cell(declared_notebooks()[name]))
    return project


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([], NAMES),
        (["41"], ["41_cgl_task_order"]),
        (["41_cgl_task_order"], ["41_cgl_task_order"]),
        (["cgl_task_order"], ["41_cgl_task_order"]),
        (["cgl_t"], ["41_cgl_task_order"]),
        (["41_c"], ["41_cgl_task_order"]),
        (["notebooks/41_cgl_task_order.ipynb"], ["41_cgl_task_order"]),
        (["90", "00", "scoreboard", "40"], ["00_start_here", "40_cgl_data", "90_scoreboard"]),
    ],
)
def test_finds_each_once_in_order_of_number(five: Project, asked: Sequence[str], expected: list[str]) -> None:
    assert [notebook.name for notebook in find(asked)] == expected


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("cgl", "'cgl' means several notebooks: 40_cgl_data, 41_cgl_task_order, 42_cgl_class_order"),
        ("4", "'4' means several notebooks"),
        ("cgl_taks_order", "There is no notebook 'cgl_taks_order'. Did you mean 'cgl_task_order'?"),
        ("77", "There are: 00_start_here, 40_cgl_data"),
        ("", "There is no notebook ''"),
    ],
)
def test_says_what_it_could_have_meant(five: Project, asked: str, message: str) -> None:
    with pytest.raises(ParameterError) as error:
        find([asked])
    assert message in str(error.value)


def test_no_notebooks_says_which_folder(project: Project) -> None:
    with pytest.raises(
        ParameterError, match=r"There is no notebook NN_name\.ipynb in .*project/notebooks.*DRIFTLAB_ROOT"
    ):
        find()


@pytest.mark.parametrize("content", ['{"cells": [', '{"worksheets": []}', "[]", "", "[" * 100_000])
def test_a_damaged_notebook_is_named(project: Project, content: str) -> None:
    project.notebook("41_x", "seed = 0").write_text(content)
    with pytest.raises(DataError, match=r"41_x\.ipynb: This is not a notebook of format 4"):
        find(["41"])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("3", "its cells are no list but int"),
        ("[3]", "cell 1 is no object but int"),
        ('[{}, {"metadata": 3}]', "cell 2 has metadata or tags of another form"),
        ('[{"metadata": {"tags": 3}}]', "cell 1 has metadata or tags of another form"),
        ('[{"source": 3}]', "cell 1 has a source that is no text"),
        ('[{"source": [3]}]', "cell 1 has a source that is no text"),
    ],
)
def test_cells_of_another_form_are_named(project: Project, cells: str, message: str) -> None:
    project.notebook("41_x", "seed = 0").write_text(f'{{"cells": {cells}}}')
    with pytest.raises(DataError) as error:
        find(["41"])
    assert f"41_x.ipynb: This is not a notebook of format 4 ({message})" in str(error.value)


def test_a_damaged_notebook_is_no_obstacle_to_the_others(project: Project) -> None:
    project.notebook("40_x", "seed = 0").write_text("")
    project.notebook("41_y", "seed = 0")
    assert [notebook.name for notebook in find(["41"])] == ["41_y"]


def test_two_parameters_cells_are_an_error(project: Project) -> None:
    path = project.notebook("41_x", "seed = 0", "other = 1")
    path.write_text(
        path.read_text().replace(
            '"metadata": {}, "source": "other', '"metadata": {"tags": ["parameters"]}, "source": "other'
        )
    )
    with pytest.raises(ParameterError, match="2 cells are tagged 'parameters'"):
        find(["41"])


@pytest.mark.parametrize(
    "copy", ["00_start_here-Copy1", "00_start_here 2", "00_start_here (1)", "00_start_here_mine", "00_mine"]
)
def test_a_copy_beside_a_notebook_is_not_the_projects(five: Project, copy: str) -> None:
    folder = five.root / "notebooks"
    shutil.copy(folder / "00_start_here.ipynb", folder / f"{copy}.ipynb")
    assert [notebook.name for notebook in find()] == NAMES
    for asked in ("00", "00_start_here", "start", "00_start_here.ipynb"):
        assert [notebook.path for notebook in find([asked])] == [folder / "00_start_here.ipynb"]


def test_a_copy_runs_when_its_path_is_given_with_the_parameters_of_its_original(five: Project) -> None:
    path = five.root / "notebooks" / "00_start_here-Copy1.ipynb"
    shutil.copy(path.with_name("00_start_here.ipynb"), path)
    (notebook,) = find([str(path)])
    assert (notebook.path, notebook.name) == (path, "00_start_here-Copy1")
    assert notebook.declared.name == "00_start_here"


def test_a_path_is_the_file_that_runs(five: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "home" / "mine" / "00_start_here.ipynb"
    mine.parent.mkdir(parents=True)
    shutil.copy(five.root / "notebooks" / mine.name, mine)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(mine.parent)
    for asked in (str(mine), "~/mine/00_start_here.ipynb", "./00_start_here.ipynb", "00_start_here.ipynb"):
        assert [notebook.path for notebook in find([asked])] == [mine]
    assert find(["notebooks/00_start_here.ipynb"])[0].path == five.root / "notebooks" / mine.name
    assert len(find([str(mine), "../mine/00_start_here.ipynb"])) == 1
    with pytest.raises(ParameterError, match=r"00_start_here\.ipynb and .* have the same name"):
        find(["00", str(mine)])


@pytest.mark.parametrize(
    "asked", ["nowhere/00_start_here.ipynb", "/00_start_here.ipynb", "00_start.ipynb", "notebooks/"]
)
def test_a_path_that_is_not_there(five: Project, asked: str) -> None:
    with pytest.raises(ParameterError, match=r"There is no notebook file /.*Give an existing \.ipynb file"):
        find([asked])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("epochs = 4.0", "cannot be 4.0: it should be a whole number, as its default 25 is; write 4."),
        ("epochs = 0", "parameter 'epochs' has to be at least 1, not 0."),
        ("epocs = 50", "41_cgl_task_order has no parameter 'epocs'. Did you mean 'epochs'?"),
        ("# epochs = 25", "its parameters cell lacks epochs. Restore it from `driftlab params 41 --cell`."),
        ("epochs = 2 * 25", "cannot hold `epochs = 2 * 25`"),
    ],
)
def test_a_parameters_cell_that_cannot_be(five: Project, line: str, message: str) -> None:
    path = five.root / "notebooks" / "41_cgl_task_order.ipynb"
    path.write_text(path.read_text().replace(r"\nepochs = 25", rf"\n{line}"))
    with pytest.raises(ParameterError) as error:
        find(["41"])
    assert "41_cgl_task_order.ipynb" in str(error.value) and message in str(error.value)


def test_a_parameters_cell_that_has_lost_its_tag(five: Project) -> None:
    path = five.root / "notebooks" / "41_cgl_task_order.ipynb"
    path.write_text(path.read_text().replace('"parameters"', '"parametres"'))
    with pytest.raises(ParameterError) as error:
        find(["41"])
    assert str(error.value).startswith(
        f"{path}: no cell is tagged 'parameters', so that no value could be set."
    )
    assert "add the cell tag `parameters`" in str(error.value)
