"""Refuses files over 500 KB: `python tools/large_files.py FILE...`, as a pre-commit hook."""

from __future__ import annotations

import sys
from pathlib import Path

LIMIT = 500_000


def main(names: list[str]) -> int:
    """Name the files that are too large; the exit code is 1 if there is one."""
    large = {name: size for name in names if (size := Path(name).stat().st_size) > LIMIT}
    for name, size in large.items():
        print(
            f"{name}: {size / 1000:.0f} KB; the limit is {LIMIT // 1000} KB. Leave it out or make it smaller."
        )
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
