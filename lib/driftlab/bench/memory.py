"""The peak memory of processes and all that they start."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType

import psutil

INTERVAL = 0.2
"""Seconds between two looks. A look reads all process numbers of the machine and should stay cheap."""


class PeakMemory:
    """Adds up the resident memory of process trees every now and then, and remembers the largest sum of each.

    Resident memory counts a page that several processes share, such as PyTorch's code, once in each of them.

    Args:
        roots: A name for each tree, and the number of the process that it begins with. A tree within
            another one counts for itself alone.
    """

    def __init__(self, roots: Mapping[str, int]) -> None:
        self._roots = dict(roots)
        self._peaks = dict.fromkeys(roots, 0)
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def peaks(self) -> dict[str, int]:
        """Bytes, by name."""
        return dict(self._peaks)

    def __enter__(self) -> PeakMemory:
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._enough.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._enough.wait(INTERVAL):
            self._look()

    def _look(self) -> None:
        trees = {name: _tree(root) for name, root in self._roots.items()}
        for name, own in trees.items():
            inner = [trees[other] for other, root in self._roots.items() if other != name and root in own]
            others = {pid for tree in inner for pid in tree}
            resident = sum(size for pid, size in own.items() if pid not in others)
            self._peaks[name] = max(self._peaks[name], resident)


def _tree(root: int) -> dict[int, int]:
    """Resident bytes of a process and all its descendants, by process number, as far as they live."""
    found = {}
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(root)
        for member in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                found[member.pid] = member.memory_info().rss
    return found
