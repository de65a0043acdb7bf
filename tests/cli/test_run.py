"""`driftlab run`: what is refused before anything starts, what is executed, and what is said at the end."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from driftlab.notebooks.cell import write_cell
from driftlab.notebooks.declared import declared_notebooks
from notebook_project import Project

from .driving import Driver

# In a folder and with an outputs folder whose names papermill, rich and globs would interpret.
ODD = "x {x} [red] :bug: {"
CELL = (
    "epochs = 3  # passes\nengine = 'local'  # where\njobs: int | None = None  # processes\nscale = 'demo'\n"
)
DATA_CELL = 'data = "world"  # or a dataset\ndata_folder = ""  # where it lies\n'


def executed(path: Path) -> str:
    """Everything that the cells of an executed notebook printed."""
    cells = json.loads(path.read_text())["cells"]
    return "".join("".join(out.get("text", [])) for cell in cells for out in cell.get("outputs", []))


def test_a_batch_goes_on_past_failures_and_says_what_became_of_each(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    project.notebook("10_good", CELL, "print('epochs', epochs, engine, jobs, scale)")
    project.notebook(
        "11_bad",
        CELL,
        "print('so far', flush=True)",
        "raise ValueError('no [bold] such thing')",
        "print('not reached')",
    )
    project.notebook("12_dead", None, "import os\nos._exit(3)")
    project.notebook("90_last", None, "print('last')")
    for name in ("10_good", "11_bad"):
        project.scale("smoke", name, "epochs: 1")
    for name in ("12_dead", "90_last"):
        project.scale("smoke", name, "{}")
    folder = tmp_path / "outputs" / "notebooks" / "smoke"
    folder.mkdir(parents=True)
    (folder / "11_bad.ipynb").write_text("one that passed")
    (folder / "10_good-unfinished.ipynb").write_text("one that did not")

    result = driftlab("run", "--scale", "smoke", "--engine", "ray", "--jobs", "2")

    assert result.code == 1
    assert "10_good passed 3/3" in result.out
    assert "11_bad failed 4/5" in result.out
    assert "In [4]: ValueError: no [bold] such thing" in result.out
    assert "12_dead failed 2/2" in result.out
    assert "DeadKernelError: Kernel died: its process ended itself with exit code 3." in result.out
    assert "90_last passed 2/2" in result.out
    assert f"Executed notebooks: {folder}" in result.out
    assert sorted(path.name for path in folder.iterdir()) == [
        "10_good.ipynb",
        "11_bad-unfinished.ipynb",
        "11_bad.ipynb",
        "12_dead-unfinished.ipynb",
        "90_last.ipynb",
    ]
    assert (folder / "11_bad.ipynb").read_text() == "one that passed"
    kept = folder / "11_bad-unfinished.ipynb"
    assert f"Unfinished: {kept} (an earlier one that passed stays: 11_bad.ipynb)" in result.out
    assert f"Unfinished: {folder / '12_dead-unfinished.ipynb'} Everything" in result.out
    assert executed(folder / "10_good.ipynb") == "epochs 1 ray 2 smoke\n"
    assert executed(folder / "11_bad-unfinished.ipynb") == "so far\n", "kept as far as it came"


def test_fail_fast_stops_at_the_first_failure(project: Project, driftlab: Driver) -> None:
    project.notebook("10_bad", None, "1 / 0")
    project.notebook("11_good", None, "1")

    result = driftlab("run", "--fail-fast")

    assert result.code == 1
    assert "ZeroDivisionError: division by zero" in result.out
    assert "11_good not run" in result.out


def test_all_passed_is_exit_code_0_and_outputs_go_where_they_are_told(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    project.notebook(
        "10_good", CELL, "from driftlab.core.paths import outputs_dir\nprint(outputs_dir(), epochs)"
    )

    result = driftlab("run", "10", "-p", "epochs", "7", "--outputs", str(tmp_path / "elsewhere"))

    assert result.code == 0
    folder = tmp_path / "elsewhere"
    # What another value has made does not take the place of the scale's own.
    (output,) = (folder / "notebooks").glob("demo-changed-??????/10_good.ipynb")
    assert executed(output) == f"{folder} 7\n"
    assert driftlab("run", "10", "--outputs", str(folder)).code == 0
    assert executed(folder / "notebooks" / "demo" / "10_good.ipynb") == f"{folder} 3\n"
    assert executed(output) == f"{folder} 7\n"


def test_every_folder_of_executed_notebooks_is_named(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    project.notebook("10_x", "epochs = 3  # of training\n")
    project.notebook("11_y", "epochs = 7  # of training\n")
    result = driftlab("run", "-p", "epochs", "7")
    changed, own = sorted(tmp_path.glob("outputs/notebooks/*"), reverse=True)
    assert own.name == "demo" and f"Executed notebooks: {changed}, {own}" in result.out


def test_the_scale_has_an_option_of_its_own(project: Project, driftlab: Driver) -> None:
    project.notebook("10_good", 'scale = "demo"  # its name\n')
    result = driftlab("run", "10", "-p", "scale", "paper")
    assert result.code == 2
    assert "The scale is chosen with --scale paper, not with -p." in result.err


def test_a_killed_process_is_a_failure(project: Project, driftlab: Driver) -> None:
    project.notebook(
        "10_x", None, "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)"
    )

    result = driftlab("run")

    assert result.code == 1
    assert (
        "the notebook's process was killed from outside by SIGKILL. Most likely the machine ran out of memory"
        in result.out
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "41", "-p", "epocs", "5"], "41_x has no parameter 'epocs'. Did you mean 'epochs'?"),
        (["run", "41", "-p", "epochs", "5.5"], "'epochs' cannot be 5.5: it should be a whole number"),
        (["run", "42", "--jobs", "2"], "--jobs has no effect here: no parameter 'jobs' in 42_y."),
        (["run", "42", "--engine", "ray"], "--engine has no effect here"),
        (["run", "43"], "There is no notebook '43'."),
        (["run", "41", "--scale", "paper"], "The scale 'paper' is not defined for 41_x"),
        (["run", "41", "-p", "epochs"], "Option '-p' requires 2 arguments."),
        (["run", "41", "--scale", "huge"], "'huge' is not one of 'smoke', 'demo', 'paper'."),
        (["run", "41", "--jobs", "0"], "0 is not in the range x>=1."),
    ],
)
def test_what_cannot_be_meant_is_refused_with_exit_code_2(
    project: Project, driftlab: Driver, tmp_path: Path, arguments: list[str], message: str
) -> None:
    project.notebook("41_x", CELL)
    project.notebook("42_y", "epochs = 1")

    result = driftlab(*arguments)

    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err
    assert not (tmp_path / "outputs" / "notebooks").exists(), "nothing may start"


def test_missing_data_are_found_before_anything_starts(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    project.notebook("40_x", CELL, "print('must not run')")
    project.notebook("41_y", DATA_CELL)
    project.scale("paper", "40_x", "{}")
    project.scale("paper", "41_y", "data: nucla")

    result = driftlab("run", "--scale", "paper")

    assert result.code == 2
    assert "Nothing was started. 41_y: " in result.err
    assert f"{tmp_path / 'no-data' / 'nucla'}" in result.err, "where to put it"
    assert "all_sqe.zip" in result.err, "what to get"
    assert "driftlab data verify nucla" in result.err, "how to check it"
    assert not (tmp_path / "outputs" / "notebooks").exists()


def test_an_unwritable_outputs_folder_is_found_before_anything_starts(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    project.notebook("41_x", CELL)
    (tmp_path / "file").touch()

    result = driftlab("run", "--outputs", str(tmp_path / "file"))

    assert result.code == 2
    assert f"The outputs folder {tmp_path / 'file'} cannot be written to" in result.err


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (False, "The folder {}/smoke for executed notebooks cannot be made (Not a directory). Move away"),
        (True, "{}/smoke/41_x.ipynb is a folder, and the executed notebook belongs there. Move it away"),
    ],
)
def test_what_is_in_the_way_of_executed_notebooks_is_found_before_anything_starts(
    project: Project, driftlab: Driver, tmp_path: Path, folder: bool, message: str
) -> None:
    project.notebook("41_x", CELL)
    project.scale("smoke", "41_x", "{}")
    place = tmp_path / "outputs" / "notebooks"
    place.parent.mkdir()
    if folder:
        (place / "smoke" / "41_x.ipynb").mkdir(parents=True)
    else:
        place.touch()

    result = driftlab("run", "--scale", "smoke")

    assert result.code == 2
    assert f"Nothing was started. {message.format(place)}" in result.err


def test_an_executed_notebook_that_cannot_be_kept_is_a_failure_and_leftovers_are_removed(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    folder = tmp_path / "outputs" / "notebooks" / "demo"
    folder.mkdir(parents=True)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (folder / f".41_x.{gone.pid}.ipynb").write_text("left by a killed command line")
    output = folder / "41_x.ipynb"
    project.notebook("41_x", None, f"import os\nos.mkdir({str(output)!r})")

    result = driftlab("run")

    assert result.code == 1
    assert (
        f"the executed notebook could not be put at {output} (Is a directory) and is {folder}/" in result.out
    )
    assert [path.name for path in folder.iterdir() if path != output] == [f".41_x.{os.getpid()}.ipynb"]


def test_a_folder_in_the_place_of_an_unfinished_notebook(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    place = tmp_path / "outputs" / "notebooks" / "demo" / "41_x-unfinished.ipynb"
    place.mkdir(parents=True)
    project.notebook("41_x", None, "import os\nassert not os.environ.get('FAIL')")
    assert driftlab("run").code == 0
    project.notebook("41_x", None, "assert False")
    assert f"the executed notebook could not be put at {place} (Is a directory)" in driftlab("run").out


def test_a_tilde_is_the_home_folder(
    project: Project, driftlab: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.notebook("41_y", DATA_CELL)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    there = driftlab("run", "--dry-run", "--outputs", "~/x")
    nobody = driftlab("run", "--dry-run", "--outputs", "~no-such-user/x")

    assert f"→ {tmp_path / 'home' / 'x' / 'notebooks' / 'demo' / '41_y.ipynb'}" in there.out
    assert nobody.code == 2
    assert "'~no-such-user/x': there is no such home folder" in nobody.err


def test_dry_run_shows_and_executes_nothing(project: Project, driftlab: Driver, tmp_path: Path) -> None:
    project.notebook("40_x", CELL, "print('must not run')")
    project.notebook("41_y", DATA_CELL)

    there = driftlab("run", "--dry-run", "40", "-p", "epochs", "9")
    missing = driftlab("run", "--dry-run", "41", "-p", "data", "ntu", "-p", "data_folder", "some/where")

    assert there.code == 0
    assert "40_x epochs = 9 (changed; demo: 3) scale = 'demo' engine = 'local' jobs = None" in there.out
    assert f"→ {tmp_path / 'outputs' / 'notebooks' / 'demo-changed-'}" in there.out
    assert missing.code == 2
    assert f"dataset ntu: missing: {Path.cwd() / 'some' / 'where'}: NTU RGB+D" in missing.out
    assert not (tmp_path / "outputs").exists()


def test_official_data_need_a_checkpoint_where_the_notebook_takes_one(
    project: Project, driftlab: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.notebook("21_y", DATA_CELL + 'checkpoint = ""  # a detector\n')
    detector = tmp_path / "detector.pth"
    detector.touch()
    monkeypatch.chdir(tmp_path)

    world = driftlab("run", "--dry-run", "21")
    none = driftlab("run", "--dry-run", "21", "-p", "data", "oak")
    given = driftlab("run", "--dry-run", "21", "-p", "data", "oak", "-p", "checkpoint", "detector.pth")
    absent = driftlab("run", "21", "-p", "checkpoint", "absent.pth")

    assert world.code == 0 and "checkpoint:" not in world.out
    assert none.code == 2 and "checkpoint: missing: There is no pretrained detector. The paper's" in none.out
    assert f"checkpoint {detector}: there" in given.out and "dataset oak: missing" in given.out
    assert absent.code == 2 and f"There is no checkpoint {tmp_path / 'absent.pth'}." in absent.err
    assert "give the file with the parameter `checkpoint`" in absent.err


def test_the_papers_scale_names_data_and_checkpoint(
    driftlab: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLAB_DATA", str(tmp_path))
    asked = driftlab("run", "21", "22", "23", "24", "--scale", "paper", "--dry-run")
    assert asked.code == 2
    assert asked.out.count("dataset oak: missing: ") == asked.out.count("checkpoint: missing: ") == 4
    assert asked.out.count("costs about") == 4
    assert "costs about 9 runs in 1,801 stages; memory about" in asked.out and "disk about 30." in asked.out


def test_an_unknown_dataset_suggests_the_nearest(project: Project, driftlab: Driver) -> None:
    project.notebook("41_y", DATA_CELL)
    result = driftlab("run", "41", "-p", "data", "nukla")
    assert result.code == 2
    assert "Did you mean 'nucla'?" in result.err


def test_debug_shows_where_an_error_came_from(
    project: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project.notebook("41_x", CELL)
    command = [sys.executable, "-m", "driftlab.cli", "--debug", "run", "41", "-p", "epocs", "5"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" in found.stderr
    assert "Did you mean 'epochs'?" in found.stderr


def test_a_wrong_parameter_is_refused_without_importing_anything_heavy(project: Project) -> None:
    project.notebook("41_x", CELL)
    code = (
        "import sys; sys.argv[1:] = ['run', '41', '-p', 'epocs', '5']\n"
        "from driftlab.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'ray', 'pandas', 'papermill', 'nbformat'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_plain_papermill_is_held_to_the_same_parameters(project: Project, tmp_path: Path) -> None:
    check = "from driftlab.notebooks import check_parameters\ncheck_parameters('41', globals())"
    path = project.notebook("41_x", CELL, check, "print('must not run')")
    command = [sys.executable, "-m", "papermill", str(path), str(tmp_path / "out.ipynb"), "-p", "epocs", "5"]

    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert found.returncode != 0
    assert "ParameterError: 41_x has no parameter 'epocs'. Did you mean 'epochs'?" in found.stderr
    assert "must not run" not in executed(tmp_path / "out.ipynb")


def test_a_killed_kernel_speaks_of_memory(project: Project, driftlab: Driver) -> None:
    project.notebook("10_x", None, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    result = driftlab("run")
    assert result.code == 1
    assert "DeadKernelError: Kernel died: its process was killed by SIGKILL. Most likely the" in result.out


def test_paths_are_literal(tmp_path: Path, driftlab: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path / ODD)
    monkeypatch.setenv("DRIFTLAB_ROOT", str(project.root))
    project.notebook("10_x", CELL, "from driftlab.core.paths import outputs_dir\nprint(outputs_dir())")
    outputs = tmp_path / "res_{epochs} [bold]{0}"

    result = driftlab("run", "10", "-p", "epochs", "5", "--outputs", str(outputs))

    (output,) = (outputs / "notebooks").glob("demo-changed-??????/10_x.ipynb")
    assert executed(output) == f"{outputs}\n"
    assert f"Executed notebooks: {output.parent} Everything else: {outputs}" in result.out
    assert result.code == 0
    assert (
        f"→ {outputs}/notebooks/demo/10_x.ipynb"
        in driftlab("run", "--dry-run", "--outputs", str(outputs)).out
    )


def test_a_relative_outputs_variable_means_one_folder(
    project: Project, driftlab: Driver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project.notebook(
        "10_x",
        None,
        "from driftlab.core.paths import data_dir, outputs_dir\nprint(outputs_dir(), data_dir())",
    )
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", "results")
    monkeypatch.setenv("DRIFTLAB_DATA", "mydata")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert driftlab("run").code == 0
    output = project.root / "results" / "notebooks" / "demo" / "10_x.ipynb"
    assert executed(output) == f"{project.root / 'results'} {project.root / 'mydata'}\n"


def test_a_relative_data_folder_of_the_notebook_counts_from_the_notebook(
    project: Project, driftlab: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.notebook("41_y", DATA_CELL.replace('""', '"mine"').replace('"world"', '"ntu"'))
    monkeypatch.chdir(tmp_path)
    assert f"missing: {project.root / 'notebooks' / 'mine'}: NTU" in driftlab("run", "--dry-run").out


def test_modules_of_the_working_directory_do_not_replace_those_of_the_standard_library(
    project: Project, tmp_path: Path
) -> None:
    project.notebook("10_x", None, "print('fine')")
    for module in ("queue", "random", "json"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('the wrong module')")
    code = "from driftlab.cli import main; main()"
    command = [sys.executable, "-P", "-c", code, "run", "10"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr


def test_a_notebook_need_not_name_its_language(project: Project, driftlab: Driver) -> None:
    kernel = {"name": "python3", "display_name": "Python 3"}
    for number, metadata in enumerate(({}, {"kernelspec": kernel}, {"language_info": {}})):
        path = project.notebook(f"1{number}_x", CELL, "print(epochs)")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"metadata": metadata}))
    result = driftlab("run", "-p", "epochs", "5")
    assert result.code == 0, result.out


def test_a_full_folder_for_temporary_files_is_found_before_anything_starts(
    project: Project, driftlab: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.notebook("10_x", None, "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("driftlab.cli.temporary.is_full", lambda folder: folder == tmp_path)
    result = driftlab("run")
    assert result.code == 2
    assert (
        f"Nothing was started: temporary files cannot be written to {tmp_path} (No space left" in result.err
    )


def test_a_figure_without_a_picture_is_a_failure(project: Project, driftlab: Driver) -> None:
    bare = "from matplotlib.figure import Figure\nfigure = Figure()\nfigure.subplots()\nfigure"
    project.notebook("10_bare", None, bare)
    project.notebook("11_good", None, "import driftlab.reporting.style", bare)
    result = driftlab("run")
    assert "In [1]: NoPicture: the output is the text '<Figure …>' without a picture" in result.out
    assert "10_bare failed" in result.out and "11_good passed" in result.out


def test_an_edit_saved_in_the_notebook_does_not_take_the_place_of_the_scales_own_results(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    cell = write_cell(declared_notebooks()["40_cgl_data"])
    place = tmp_path / "outputs" / "notebooks" / "demo" / "40_cgl_data.ipynb"
    project.notebook("40_cgl_data", cell)
    assert f"→ {place}" in driftlab("run", "40", "--dry-run").out

    project.notebook("40_cgl_data", cell.replace("world_sequences = 60", "world_sequences = 12"))

    shown = driftlab("run", "40", "--dry-run").out
    assert "world_sequences = 12 (changed; demo: 60)" in shown
    assert f"→ {tmp_path / 'outputs' / 'notebooks' / 'demo-changed-'}" in shown
    assert f"→ {place}" in driftlab("run", "40", "--dry-run", "-p", "world_sequences", "60").out
    project.scale("smoke", "40_cgl_data", "world_sequences: 12")
    assert "notebooks/smoke/40_cgl_data.ipynb" in driftlab("run", "--scale", "smoke", "--dry-run").out


def test_a_duplicate_is_no_obstacle(project: Project, driftlab: Driver) -> None:
    path = project.notebook("00_start_here", write_cell(declared_notebooks()["00_start_here"]))
    project.scale("smoke", "00_start_here", "scale: smoke")
    shutil.copy(path, path.with_name("00_start_here-Copy1.ipynb"))
    for arguments in (["00_start_here"], [], ["start"]):
        result = driftlab("run", *arguments, "--scale", "smoke", "--dry-run")
        assert result.code == 0 and "Copy1" not in result.out


def test_a_file_elsewhere_is_the_one_that_runs(project: Project, driftlab: Driver, tmp_path: Path) -> None:
    project.notebook("10_x", "epochs = 3", "print('the project')")
    mine = tmp_path / "mine" / "10_x.ipynb"
    mine.parent.mkdir()
    shutil.copy(project.notebook("11_y", "epochs = 3", "print('mine')"), mine)

    assert driftlab("run", str(mine)).code == 0

    assert executed(tmp_path / "outputs" / "notebooks" / "demo" / "10_x.ipynb") == "mine\n"
    missing = driftlab("run", str(mine.with_name("12_z.ipynb")), "--dry-run")
    assert missing.code == 2
    assert f"There is no notebook file {mine.with_name('12_z.ipynb')}." in missing.err


@pytest.mark.parametrize(("notebook", "name", "value"), [("44", "grid", "{}"), ("44", "split_seed", "1e3")])
def test_what_failed_inside_the_run_fails_before_it(
    driftlab: Driver, notebook: str, name: str, value: str
) -> None:
    result = driftlab("run", notebook, "-p", name, value)
    assert result.code == 2 and f"44_cgl_hyperparameters's parameter '{name}'" in result.err


def test_an_octal_number_is_read_as_a_person_means_it(driftlab: Driver) -> None:
    assert "epochs = 10 (changed; demo: 25)" in driftlab("run", "41", "-p", "epochs", "010", "--dry-run").out


@pytest.mark.parametrize("notebook", ["40", "41", "42", "43", "44"])
def test_the_dry_run_checks_names_of_data(driftlab: Driver, notebook: str) -> None:
    result = driftlab("run", notebook, "-p", "data", "nukla", "--dry-run")
    assert result.code == 2 and "Did you mean 'nucla'?" in result.err
