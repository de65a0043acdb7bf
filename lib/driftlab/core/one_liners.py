"""Python one-liners for hints: commands that can be copied into a shell."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def python_command(code: str, *files: Path | str) -> str:
    """The shell command that runs a line of Python, by this interpreter, with files as `sys.argv[1:]`.

    Args:
        code: The line.
        files: Paths; they are quoted, so that spaces and quotes in them do no harm.
    """
    return shlex.join([sys.executable, "-c", code, *map(str, files)])
