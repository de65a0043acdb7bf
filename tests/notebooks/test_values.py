"""A notebook's own values, its scale's file, the command line: which wins, and what is refused."""

import pytest
import yaml
from driftlab.core.errors import ParameterError
from driftlab.core.paths import project_root
from driftlab.notebooks import Notebook, changes, check_parameters, find, resolve
from driftlab.notebooks.cell import write_cell
from driftlab.notebooks.declared import declaration, declared_notebooks
from notebook_project import Project

CELL = """\
epochs = 100  # passes
rate = 0.1  # step size
seeds = [0]  # repetitions
methods: list[Literal["BARE", "EWC", "REPLAY"]] = ["BARE"]  # which
data_folder = ""  # where
strengths = {"EWC": 1e6, "MAS": 100}  # penalties
jobs: int | None = None  # processes
augment = False  # whether
"""


@pytest.fixture
def notebook(project: Project) -> Notebook:
    project.notebook("41_x", CELL)
    return find(["41"])[0]


def test_the_command_line_wins_over_options_over_the_file_over_the_notebook(
    project: Project, notebook: Notebook
) -> None:
    project.scale("smoke", "41_x", "epochs: 2\nrate: 0.5\njobs: 3\n")
    found = resolve(notebook, "smoke", [("epochs", "7")], {"epochs": 6, "jobs": 4, "unknown": 1})
    assert found == {"epochs": 7, "rate": 0.5, "jobs": 4}


def test_demo_is_the_notebook_as_it_stands(project: Project, notebook: Notebook) -> None:
    project.scale("smoke", "41_x", "epochs: 2")
    assert resolve(notebook, "demo") == {}
    assert resolve(notebook, "demo", [("epochs", "100")]) == {}, "its own values need no override"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("rate", "1e-3", 1e-3),
        ("rate", "2", 2),
        ("seeds", "[0, 1]", [0, 1]),
        ("methods", "[EWC, REPLAY]", ["EWC", "REPLAY"]),
        ("data_folder", "2024", "2024"),
        ("data_folder", "no", "no"),
        ("data_folder", "/data: here", "/data: here"),
        ("data_folder", '"quoted"', "quoted"),
        ("strengths", "{EWC: 1e3}", {"EWC": 1e3}),
        ("jobs", "12", 12),
        ("augment", "true", True),
    ],
)
def test_values_are_read_as_the_parameter_wants_them(
    notebook: Notebook, name: str, text: str, value: object
) -> None:
    found = resolve(notebook, "demo", [(name, text)])
    assert found == {name: value}
    assert type(found[name]) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("epocs", "5", "41_x has no parameter 'epocs'. Did you mean 'epochs'? Its parameters: epochs, rate,"),
        ("zzz", "5", "41_x has no parameter 'zzz'. Its parameters"),
        (
            "epochs",
            "5.5",
            "41_x's parameter 'epochs' cannot be 5.5: it should be a whole number, as its default 100 is",
        ),
        ("epochs", "many", "'epochs' cannot be 'many'"),
        ("epochs", "true", "'epochs' cannot be True"),
        ("epochs", "", "'epochs' cannot be None"),
        ("rate", "[0.1]", "'rate' cannot be [0.1]: it should be a number"),
        ("seeds", "3", "'seeds' cannot be 3: it should be a list of whole numbers"),
        ("seeds", "[0, one]", "'seeds' cannot be [0, 'one']"),
        ("methods", "[RELPAY]", "it should be a list of BARE, EWC, REPLAY"),
        ("jobs", "2.5", "'jobs' cannot be 2.5: it should be a whole number or null"),
        ("augment", "1", "'augment' cannot be 1: it should be true or false"),
        ("seeds", "[0, 1", "'seeds' cannot be '[0, 1'"),
        ("seeds", "2024-13-45", "'seeds' cannot be '2024-13-45'"),
    ],
)
def test_refuses_with_the_nearest_valid(notebook: Notebook, name: str, text: str, message: str) -> None:
    with pytest.raises(ParameterError) as error:
        resolve(notebook, "demo", [(name, text)])
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("epocs: 5", "smoke/41_x.yaml: 41_x has no parameter 'epocs'. Did you mean 'epochs'?"),
        ("rate: 1e-3", "Write 0.001"),
        ("- epochs", "should map parameter names to values"),
        ("", "should map parameter names to values"),
        ("epochs: [", "is not readable YAML"),
        ("epochs: 2024-13-45", "is not readable YAML"),
        ("[" * 100_000, "is not readable YAML"),
        ("1: 2", "smoke/41_x.yaml: 1 is not a parameter's name"),
    ],
)
def test_a_scales_file_is_held_to_the_same(
    project: Project, notebook: Notebook, yaml: str, message: str
) -> None:
    project.scale("smoke", "41_x", yaml)
    with pytest.raises(ParameterError) as error:
        resolve(notebook, "smoke")
    assert message in str(error.value)


def test_a_scales_file_that_is_no_text(project: Project, notebook: Notebook) -> None:
    project.scale("smoke", "41_x", "")
    path = project.root / "params" / "smoke" / "41_x.yaml"
    path.write_bytes(b"epochs: \xff")
    with pytest.raises(ParameterError, match=r"smoke/41_x\.yaml is not text in UTF-8"):
        resolve(notebook, "smoke")
    path.unlink()
    path.mkdir()
    with pytest.raises(ParameterError, match=r"smoke/41_x\.yaml cannot be read \(Is a directory\)"):
        resolve(notebook, "smoke")


def test_a_scale_without_a_file_is_not_silently_the_demo(notebook: Notebook) -> None:
    with pytest.raises(
        ParameterError, match=r"'paper' is not defined for 41_x: .*params/paper/41_x\.yaml is not there"
    ):
        resolve(notebook, "paper")


def test_check_parameters_returns_the_running_notebooks_values(notebook: Notebook) -> None:
    running = notebook.values | {"epochs": 3, "rate": 1, "jobs": 3}
    values = check_parameters("41", running | {"something": "else", "In": ["", "epocs = 3"]})
    assert values == running | {"changed": {"epochs": 3, "rate": 1}}


def test_check_parameters_finds_a_cell_that_was_not_run(notebook: Notebook) -> None:
    running = {name: value for name, value in notebook.values.items() if name not in ("rate", "jobs")}
    with pytest.raises(ParameterError, match="41_x: its parameters cell does not assign rate, jobs, or was"):
        check_parameters("41", running)


def test_check_parameters_refuses_a_wrong_kind(notebook: Notebook) -> None:
    with pytest.raises(ParameterError, match="'seeds' cannot be 3: it should be a list"):
        check_parameters("41", notebook.values | {"seeds": 3})


def test_check_parameters_finds_what_papermill_injected_in_vain(notebook: Notebook) -> None:
    running = {"epochs": 3, "epocs": 5, "In": ["", "epochs = 100", "# Parameters\nepochs = 3\nepocs = 5\n"]}
    with pytest.raises(ParameterError, match=r"no parameter 'epocs'\. Did you mean 'epochs'\?"):
        check_parameters("41", running)


def test_changes_are_told_from_the_scales_own_values() -> None:
    declared = declaration("41_cgl_task_order")
    assert declared
    demo = declared.model.defaults()
    assert changes(declared, demo) == {}
    assert changes(declared, demo | {"epochs": 7, "jobs": 3, "data": "nucla"}) == {"epochs": 7}
    file = project_root() / "params" / "smoke" / f"{declared.name}.yaml"
    smoke = demo | yaml.safe_load(file.read_text(encoding="utf-8"))
    assert changes(declared, smoke) == {}
    assert changes(declared, smoke | {"hyper": {"MAS": {"power": 1.0}}}) == {"hyper": {"MAS": {"power": 1.0}}}
    assert changes(declared, smoke | {"scale": "paper"})["epochs"] == 4, "not what the scale is"


def test_an_edit_that_is_saved_in_the_notebook_is_a_change(project: Project) -> None:
    cell = write_cell(declared_notebooks()["40_cgl_data"])
    edited = cell.replace("world_sequences = 60", "world_sequences = 12")
    assert edited != cell
    project.notebook("40_cgl_data", edited)
    (notebook,) = find(["40"])
    assert notebook.values["world_sequences"] == 12
    assert resolve(notebook, "demo") == {}, "it runs with what is saved"
    assert changes(notebook.declared, notebook.values) == {"world_sequences": 12}
    assert check_parameters("40", notebook.values)["changed"] == {"world_sequences": 12}
    assert resolve(notebook, "demo", [("world_sequences", "80")]) == {"world_sequences": 80}


def test_a_running_notebook_learns_what_is_changed() -> None:
    values = declared_notebooks()["41_cgl_task_order"].defaults()
    assert check_parameters("41", values | {"epochs": 9})["changed"] == {"epochs": 9}
    assert check_parameters("41", values)["changed"] == {}
