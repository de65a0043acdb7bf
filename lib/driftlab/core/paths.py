"""Folders of the project: root, outputs, data, worlds. No path depends on the working directory."""

from __future__ import annotations

import os
from pathlib import Path

from driftlab.core.errors import ParameterError, StoreError


def project_root() -> Path:
    """The checkout that this package was installed from (editable install).

    `$DRIFTLAB_ROOT` overrides it.

    Raises:
        ParameterError: `$DRIFTLAB_ROOT` is a relative path.
    """
    given = os.environ.get("DRIFTLAB_ROOT")
    if not given:
        return Path(__file__).resolve().parents[3]
    root = expand_home(given)
    if not root.is_absolute():
        raise ParameterError(
            f"The environment variable DRIFTLAB_ROOT is the relative path '{given}', which would mean "
            "another folder in the command line than in a notebook's kernel. Set it to an absolute path."
        )
    return root.resolve()


def outputs_path() -> Path:
    """The folder for everything that is computed, possibly absent; `$DRIFTLAB_OUTPUTS` overrides it."""
    return _folder("DRIFTLAB_OUTPUTS", "outputs")


def outputs_dir() -> Path:
    """`outputs_path()`, created if it does not exist.

    Raises:
        StoreError: The folder cannot be created or written to.
    """
    folder = outputs_path()
    probe = folder / f".writable-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"The outputs folder {folder} cannot be written to ({error.strerror}). Make it writable, "
            "or set the environment variable DRIFTLAB_OUTPUTS to a folder that is."
        ) from error
    return folder


def data_dir() -> Path:
    """The folder of the official datasets, one folder per dataset; `$DRIFTLAB_DATA` overrides `data/`."""
    return _folder("DRIFTLAB_DATA", "data")


def worlds_dir() -> Path:
    """The folder of the synthetic worlds, each written once."""
    return outputs_dir() / "worlds"


def expand_home(path: str | Path) -> Path:
    """A path with its leading `~` or `~user` replaced by that home folder.

    Raises:
        ParameterError: There is no such user.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ParameterError(f"'{path}': there is no such home folder ({error}).") from error


def _folder(variable: str, default: str) -> Path:
    """The folder that an environment variable names; a relative path counts from the project's root."""
    return (project_root() / expand_home(os.environ.get(variable) or default)).resolve()
