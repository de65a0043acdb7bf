"""The plan of a `driftlab run`, and the checks before anything starts."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from driftlab.cli.kernel import kernel_python
from driftlab.cli.temporary import full_temporary_folder, temporary_problem
from driftlab.core.errors import MissingDataError, ParameterError, StoreError
from driftlab.core.paths import expand_home
from driftlab.core.provenance import of_change
from driftlab.notebooks import Notebook, find, resolve
from driftlab.notebooks.values import Scale, changes

PLACES = ("data_folder", "checkpoint")
"""Parameters that are paths. A relative one counts from the notebook's folder, where its kernel works."""


@dataclass(frozen=True)
class Need:
    """The datasets and checkpoints that a notebook reads and does not make itself.

    Attributes:
        what: For example `dataset ntu`.
        problem: Why it cannot be read; empty if it can.
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
    """Resolve and check the parameters of every notebook of the command.

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
        for name in PLACES:
            if name in dict(given) and overrides.get(name):
                # The kernel works in the notebook's folder, and not where the person typed the path.
                overrides[name] = str(absolute(overrides[name]))
        values = notebook.values | overrides
        changed = changes(notebook.declared, values)
        folder = outputs / "notebooks" / f"{scale}{of_change(changed)}"
        output = folder / f"{notebook.name}.ipynb"
        plans.append(Plan(notebook, overrides, values, changed, _needs(notebook, values), output))
    return plans


def absolute(path: str | Path, start: Path | None = None) -> Path:
    """Make a path absolute that a person typed; a shell leaves `~` as it is in --name=~/x and in quotes.

    Args:
        path: The path.
        start: The folder from which a relative path counts; by default the working directory.

    Raises:
        ParameterError: It begins with `~` and a name that no user has.
    """
    return (start or Path.cwd()) / expand_home(path)


def _needs(notebook: Notebook, values: dict[str, Any]) -> list[Need]:
    """The datasets that the parameter `data` names, and the detector that they need.

    Synthetic worlds make themselves and what is trained on them.
    """
    from driftlab.data import catalog
    from driftlab.data.checkpoints import find_checkpoint

    named = values.get("data", [])
    worlds = {entry.world.name for entry in catalog.DATASETS.values() if entry.world}
    official = [name for name in ([named] if isinstance(named, str) else named) if name not in worlds]
    places = {name: absolute(values[name], notebook.path.parent) for name in PLACES if values.get(name)}
    folder, checkpoint = places.get("data_folder"), str(places.get("checkpoint", ""))
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
    """Raise if something is missing that a notebook needs.

    Raises:
        MissingDataError: A dataset or a checkpoint; the text says which notebooks want it, what to get and
            where to put it.
        StoreError: An executed notebook cannot be put where it belongs, or there is no room for temporary
            files.
        DriftlabError: The kernel.
    """
    kernel_python()
    if full := full_temporary_folder():
        error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(full))
        raise StoreError(f"Nothing was started: {temporary_problem(error)}.")
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
