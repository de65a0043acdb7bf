"""Peak memory of processes and their descendants."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType

import psutil

INTERVAL = 0.2
"""Seconds between two samples; each lists all processes of the machine, so it should not be short."""


class PeakMemory:
    """Samples the resident memory of process trees in a thread, and keeps the maximum of each tree.

    Pages that several processes share, such as PyTorch's code, count once per process.

    Args:
        roots: Process number of each tree's root, by name. A tree within another tree is not counted in
            the outer one.
    """

    def __init__(self, roots: Mapping[str, int]) -> None:
        self._roots = dict(roots)
        self._peaks = dict.fromkeys(roots, 0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def peaks(self) -> dict[str, int]:
        """Peak memory in bytes, by name."""
        return dict(self._peaks)

    def __enter__(self) -> PeakMemory:
        self._sample()
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        self._sample()

    def _watch(self) -> None:
        while not self._stop.wait(INTERVAL):
            self._sample()

    def _sample(self) -> None:
        trees = {name: _tree(root) for name, root in self._roots.items()}
        for name, tree in trees.items():
            inner_trees = [
                trees[other] for other, root in self._roots.items() if other != name and root in tree
            ]
            excluded = {pid for inner_tree in inner_trees for pid in inner_tree}
            resident = sum(size for pid, size in tree.items() if pid not in excluded)
            self._peaks[name] = max(self._peaks[name], resident)


def _tree(root: int) -> dict[int, int]:
    """Resident bytes of a process and all its running descendants, by process number."""
    resident_bytes = {}
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(root)
        for member in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                resident_bytes[member.pid] = member.memory_info().rss
    return resident_bytes
