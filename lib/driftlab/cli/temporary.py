"""Folders for temporary files: which one is full, and what to do about it."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def temporary_problem(error: OSError) -> str:
    """The sentence for temporary files that cannot be written."""
    full = full_temporary_folder()
    place = full or _temporary_folder()
    return (
        f"temporary files cannot be written to {place} ({error.strerror or error}); free some space there, "
        "or set the environment variables TMPDIR and JUPYTER_RUNTIME_DIR to folders on another disk"
    )


def full_temporary_folder() -> Path | None:
    """The first folder for temporary files, of this program or of Jupyter, in which there is no room."""
    from jupyter_core.paths import jupyter_runtime_dir

    named = (os.environ.get("TMPDIR"), _temporary_folder(), jupyter_runtime_dir())
    return next((Path(name) for name in named if name and Path(name).is_dir() and is_full(Path(name))), None)


def is_full(folder: Path) -> bool:
    """Whether a file cannot be made and filled there for lack of space or of inodes."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".driftlab-") as stream:
            stream.write(bytes(2**16))
    except OSError as error:
        return error.errno in NO_SPACE
    return False


def _temporary_folder() -> str:
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:  # Python has tried several folders, and can write to none
        return os.environ.get("TMPDIR") or "/tmp"
