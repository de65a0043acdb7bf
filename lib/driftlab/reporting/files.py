"""Writing results so that a reader never sees half a file."""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from driftlab.errors import ParameterError, StoreError


def write_atomic(path: Path, content: bytes) -> None:
    """Write a file in one step: to a neighbour, to the disk, and renamed.

    Raises:
        StoreError: The folder cannot be written to.
    """
    neighbour = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with neighbour.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        neighbour.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror or error}). {remedy(error)}") from error
    finally:
        with suppress(OSError):
            neighbour.unlink(missing_ok=True)


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
