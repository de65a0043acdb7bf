"""Locks on stages, and the sign that a sweep is at work; the system releases both when a process dies."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from filelock import FileLock, Timeout

from driftlab.core.errors import StoreError


class StageLocks:
    """Locks on the stages that one sweep computes.

    Keys share 1,024 lock files by hash, so that the folder stays small without ever removing a lock file,
    which cannot be done safely while others may be waiting for it. Two stages on one file exclude each
    other between processes for a moment, but not within one. Locks are only ever tried, never waited for
    while others are held, so no deadlock can arise.

    Args:
        folder: The store's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / ".locks"
        self._held: dict[str, tuple[FileLock, set[str]]] = {}
        _make(self._folder)

    def try_acquire(self, key: str) -> bool:
        """Lock a stage; False while another process (or another sweep) holds its lock."""
        slot = _slot(key)
        if slot in self._held:
            self._held[slot][1].add(key)
            return True
        # thread_local=False: a sweep may be started in one thread and be cleaned up in another.
        lock = FileLock(self._folder / f"{slot}.lock", thread_local=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return False
        except OSError as error:
            raise StoreError(f"The lock {lock.lock_file} cannot be used ({error.strerror}).") from error
        self._held[slot] = (lock, {key})
        return True

    def release(self, key: str) -> None:
        """Unlock a stage."""
        slot = _slot(key)
        lock, keys = self._held[slot]
        keys.discard(key)
        if not keys:
            del self._held[slot]
            lock.release()

    def release_all(self) -> None:
        """Unlock every stage."""
        for lock, _ in self._held.values():
            lock.release()
        self._held.clear()


class Presence:
    """Sign that a sweep is at work on a store, so that other processes leave the states that it may need.

    Args:
        folder: The store's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / ".locks" / "sweeps"
        _make(self._folder)
        self._path = self._folder / f"{os.getpid()}-{uuid.uuid4().hex[:8]}.lock"
        self._lock = FileLock(self._path, thread_local=False)
        self._lock.acquire()

    def alone(self) -> bool:
        """Whether no other sweep is at work on the store; signs of killed sweeps are removed."""
        return not any(_is_held(path) for path in self._folder.glob("*.lock") if path != self._path)

    def leave(self) -> None:
        """Remove the sign."""
        self._path.unlink(missing_ok=True)
        self._lock.release()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"The lock folder {folder} cannot be made ({error.strerror}).") from error


def _slot(key: str) -> str:
    return f"{int(key[:8], 16) % 1024:03x}"


def _is_held(path: Path) -> bool:
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    # Only its own sweep holds such a lock for long, so a free one belongs to a sweep that has ended.
    path.unlink(missing_ok=True)
    lock.release()
    return False
