"""Folders of the project: root, outputs, data, worlds. No path depends on the working directory."""

from __future__ import annotations

import os
from pathlib import Path

from driftlab.core.errors import StoreError


def project_root() -> Path:
    """The checkout that this package was installed from (editable install).

    `$DRIFTLAB_ROOT` overrides it.
    """
    given = os.environ.get("DRIFTLAB_ROOT")
    return Path(given).resolve() if given else Path(__file__).resolve().parents[3]


def outputs_path() -> Path:
    """The folder for everything that is computed, possibly absent; `$DRIFTLAB_OUTPUTS` overrides it."""
    return Path(os.environ.get("DRIFTLAB_OUTPUTS") or project_root() / "outputs").resolve()


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
    return Path(os.environ.get("DRIFTLAB_DATA") or project_root() / "data").resolve()


def worlds_dir() -> Path:
    """The folder of the synthetic worlds, each written once."""
    return outputs_dir() / "worlds"
