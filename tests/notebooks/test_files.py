"""Finding notebooks by what a person types, and reading damaged ones."""

from collections.abc import Sequence

import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.notebooks import find
from notebook_project import Project

NAMES = ["00_start_here", "40_cgl_data", "41_cgl_task_order", "42_cgl_class_order", "90_scoreboard"]


@pytest.fixture
def five(project: Project) -> Project:
    for name in reversed(NAMES):
        project.notebook(name, "seed = 0")
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
