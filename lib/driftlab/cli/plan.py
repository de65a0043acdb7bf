"""What `driftlab run` is about to do, and whether it can: what is checked before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from driftlab.cli.kernel import kernel_python
from driftlab.core.errors import MissingDataError, ParameterError, StoreError
from driftlab.core.provenance import of_change
from driftlab.notebooks import Notebook, find, resolve
from driftlab.notebooks.values import Scale, changes


@dataclass(frozen=True)
class Need:
    """What a notebook is going to read and does not make itself.

    Attributes:
        what: For example `dataset ntu`.
        problem: Why it cannot be read, or an empty string.
    """

    what: str
    problem: str


@dataclass(frozen=True)
class Plan:
    """One notebook with the values it will run with.

    Attributes:
        notebook: The notebook.
        overrides: The parameters that differ from those in its parameters cell.
        values: Every parameter's value.
        changed: The values that differ from the scale's own, also where they are saved in the notebook.
        needs: Datasets and checkpoints that it reads.
        output: Where the executed notebook goes.
    """

    notebook: Notebook
    overrides: dict[str, Any]
    values: dict[str, Any]
    changed: dict[str, Any]
    needs: list[Need]
    output: Path


def make_plans(
    asked: Sequence[str],
    scale: Scale,
    options: dict[str, Any],
    given: Sequence[tuple[str, str]],
    outputs: Path,
) -> list[Plan]:
    """Resolve and check the parameters of every notebook that is asked for.

    Args:
        asked: Numbers or names; all notebooks where empty.
        scale: The scale.
        options: `engine`, `jobs` and the like, set in each notebook that has a parameter of that name.
        given: Further names and values, which every notebook must have.
        outputs: The outputs folder.

    Raises:
        ParameterError: A notebook, a parameter or a value is unknown.
    """
    notebooks = find(asked)
    for name in options:
        if not any(name in notebook.values for notebook in notebooks):
            names = ", ".join(notebook.name for notebook in notebooks)
            raise ParameterError(f"--{name} has no effect here: no parameter '{name}' in {names}.")
    if "scale" in dict(given):
        raise ParameterError(f"The scale is chosen with --scale {dict(given)['scale']}, not with -p.")
    plans = []
    for notebook in notebooks:
        overrides = resolve(notebook, scale, given, {"scale": scale} | options)
        for name in ("data_folder", "checkpoint"):
            # The kernel works in another directory than the person who typed the path.
            if overrides.get(name):
                overrides[name] = str(absolute(overrides[name]))
        values = notebook.values | overrides
        changed = changes(notebook.declared, values)
        folder = outputs / "notebooks" / f"{scale}{of_change(changed)}"
        output = folder / f"{notebook.name}.ipynb"
        plans.append(Plan(notebook, overrides, values, changed, _needs(values), output))
    return plans


def absolute(path: str | Path) -> Path:
    """A path that a person typed, from the root; a shell leaves `~` as it is in --name=~/x and in quotes.

    Raises:
        ParameterError: It begins with `~` and a name that no user has.
    """
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:
        raise ParameterError(f"'{path}': there is no such home folder ({error}).") from error


def _needs(values: dict[str, Any]) -> list[Need]:
    """The datasets that the parameter `data` names, and the detector that they need.

    Synthetic worlds make themselves and what is trained on them.
    """
    from driftlab.data import catalog
    from driftlab.data.checkpoints import find_checkpoint

    named = values.get("data", [])
    worlds = {entry.world.name for entry in catalog.DATASETS.values() if entry.world}
    official = [name for name in ([named] if isinstance(named, str) else named) if name not in worlds]
    folder, checkpoint = values.get("data_folder") or None, values.get("checkpoint", "")
    needs = [_look(f"dataset {name}", partial(catalog.find, name, folder)) for name in official]
    if checkpoint or ("checkpoint" in values and official):
        needs.append(_look(f"checkpoint {checkpoint}".strip(), partial(find_checkpoint, checkpoint)))
    return needs


def _look(what: str, find: Callable[[], Any]) -> Need:
    try:
        find()
    except MissingDataError as error:
        return Need(what, str(error))
    return Need(what, "")


def require_ready(plans: Sequence[Plan]) -> None:
    """Stop here if anything is missing that some notebook needs.

    Raises:
        MissingDataError: A dataset or a checkpoint; the text says which notebooks want it, what to get and
            where to put it.
        StoreError: An executed notebook cannot be put where it belongs.
        DriftlabError: The kernel.
    """
    kernel_python()
    problems: dict[str, list[str]] = {}
    for plan in plans:
        for need in plan.needs:
            if need.problem:
                problems.setdefault(need.problem, []).append(plan.notebook.name)
    if problems:
        lines = [f"{', '.join(names)}: {problem}" for problem, names in problems.items()]
        raise MissingDataError("Nothing was started. " + "\n".join(lines))
    for plan in plans:
        _require_place(plan.output)


def _require_place(output: Path) -> None:
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"Nothing was started. The folder {output.parent} for executed notebooks cannot be made "
            f"({error.strerror}). Move away what is in its place, or choose another folder with --outputs."
        ) from error
    if output.is_dir():
        raise StoreError(
            f"Nothing was started. {output} is a folder, and the executed notebook belongs there. "
            "Move it away, or choose another folder with --outputs."
        )
