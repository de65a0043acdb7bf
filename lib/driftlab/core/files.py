"""Writing results so that a reader never sees half a file."""

from __future__ import annotations

import errno
import glob
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from driftlab.core.errors import ParameterError, StoreError


def replace_file(path: Path, content: bytes, temporary: Path | None = None) -> None:
    """Write a file in one step: into a temporary file beside it, to the disk, and renamed.

    Args:
        path: The file; its folder is created.
        content: What it is to hold.
        temporary: Name of the temporary file where only one process writes `path`: what a kill left there
            is overwritten. By default a name of its own.

    Raises:
        OSError: It cannot be written; the old file stays.
    """
    temporary = temporary or path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_atomic(path: Path, content: bytes) -> None:
    """`replace_file` for results in the outputs folder.

    Raises:
        StoreError: It cannot be written; the text says what to do.
    """
    try:
        replace_file(path, content)
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror or error}). {remedy(error)}") from error


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """An empty folder to write files into; it is renamed to `place` when the body has finished.

    Leftovers of killed processes are removed first, so one process at a time may do this for a `place`.

    Raises:
        OSError: It cannot be written, or `place` exists and is not empty.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{place.name}.partial-"
    for leftover in place.parent.glob(f"{glob.escape(prefix)}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    partial = place.with_name(f"{prefix}{uuid4().hex}")
    partial.mkdir()
    try:
        yield partial
        partial.rename(place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def remedy(error: OSError) -> str:
    """What to do about a file of the outputs folder that could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space, or set DRIFTLAB_OUTPUTS to a folder on another disk."
    return "Make its folder writable, or set DRIFTLAB_OUTPUTS to a folder that is."


def slug(text: str, what: str) -> str:
    """A text that may be part of a file's name.

    Raises:
        ParameterError: Nothing of it can.
    """
    found = re.sub(r"[^0-9a-z.]+", "-", text.lower()).strip("-.")
    if not found:
        raise ParameterError(f"The {what} '{text}' has no letter or digit to name a file with.")
    return found
