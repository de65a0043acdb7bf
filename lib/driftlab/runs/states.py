"""Which states outlive the sweep that computed them: those asked for, and shared ones up to a limit.

While a sweep is at work it removes each state that it has finished with (`driftlab.runs.scheduler`). Three
kinds of states are marked instead, each by an empty file `.states/<use>/<experiment>/<key>`:

- `kept`: a caller asked for it (`keep_states`). No sweep removes it.
- `shared`: runs of other sweeps are likely to continue from it (`Experiment.shared`). The least recently used
  ones are removed when all of them together are larger than the limit.
- `unneeded`: nothing needs it any more, but another sweep was at work and might have. The last sweep that
  leaves the store removes it.

A state without a mark belongs to a sweep that is at work or was interrupted.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from driftlab.core.errors import ParameterError, StoreError
from driftlab.runs.experiment import StageId
from driftlab.runs.store import Store

VARIABLE = "DRIFTLAB_STATES_GIB"
DEFAULT_GIB = 1.0

KEPT, SHARED, UNNEEDED = "kept", "shared", "unneeded"


def shared_states_limit() -> int:
    """Bytes of shared states that stay in a store: `$DRIFTLAB_STATES_GIB`, by default 1 GiB; 0 keeps none.

    Raises:
        ParameterError: The variable holds no number from 0.
    """
    text = os.environ.get(VARIABLE, "").strip()
    try:
        gib = float(text) if text else DEFAULT_GIB
    except ValueError:
        gib = math.nan
    if not 0 <= gib < math.inf:
        raise ParameterError(
            f"The environment variable {VARIABLE} is {text!r}; it must be a number from 0: how many GiB of "
            "states stay in the store for later sweeps."
        )
    return int(gib * 2**30)


class StateMarks:
    """Marks on states of one store, see the module.

    Several processes may use the marks of one store at once: a mark that is missing, or left over from a
    state that is gone, costs time or space and never changes a result.

    Args:
        store: Where the states lie.
        limit: Bytes of shared states that stay.
    """

    def __init__(self, store: Store, limit: int) -> None:
        self._store, self._limit = store, limit
        self._folder = store.folder / ".states"
        self._shared_bytes: int | None = None

    def keep(self, stage: StageId) -> None:
        """Mark a state as asked for, if there is one."""
        if self.is_kept(stage) or not self._store.state_path(stage).exists():
            return
        self._mark(stage, KEPT)
        for use in (SHARED, UNNEEDED):
            self._path(stage, use).unlink(missing_ok=True)

    def is_kept(self, stage: StageId) -> bool:
        """Whether somebody has asked for the state."""
        return self._path(stage, KEPT).exists()

    def share(self, stage: StageId) -> bool:
        """Mark a state as shared and used just now; whether that is new."""
        if self._path(stage, SHARED).exists() or self.is_kept(stage):
            return False
        size = _size(self._store.state_path(stage))
        if not size:
            return False
        self._mark(stage, SHARED)
        self._path(stage, UNNEEDED).unlink(missing_ok=True)
        if self._shared_bytes is not None:
            self._shared_bytes += size
        return True

    def used(self, stage: StageId) -> None:
        """Note that a run has continued from the state, if it is a shared one."""
        with suppress(OSError):  # there is no such mark, or only its time cannot be set
            os.utime(self._path(stage, SHARED))

    def mark_unneeded(self, stage: StageId) -> None:
        """Leave a state's removal to the last sweep that leaves the store."""
        if self._store.state_path(stage).exists():
            self._mark(stage, UNNEEDED)

    def over_limit(self) -> bool:
        """Whether the shared states are larger than the limit, as far as this process knows."""
        if self._shared_bytes is None:
            self._shared_bytes = sum(_size(state) for _, state in self._marked(SHARED))
        return self._shared_bytes > self._limit

    def remove_unneeded(self) -> None:
        """Remove states that nothing needs any more; call it only while no sweep is at work."""
        for mark, state in self._marked(UNNEEDED):
            key = (mark.parent.name, mark.name)
            if not any(self._folder.joinpath(use, *key).exists() for use in (KEPT, SHARED)):
                _remove(state)
            _remove(mark)

    def evict(self, needed: Callable[[str], bool] = lambda key: False) -> None:
        """Remove the least recently used shared states until the others fit the limit.

        Args:
            needed: Whether the state of a key is about to be used and stays whatever its size.
        """
        by_age = sorted(self._marked(SHARED), key=lambda pair: _used_at(pair[0]), reverse=True)
        total = 0
        for mark, state in by_age:
            size = _size(state)
            if size and (total + size <= self._limit or needed(mark.name)):
                total += size
                continue
            _remove(state)
            _remove(mark)
        self._shared_bytes = total

    def _mark(self, stage: StageId, use: str) -> None:
        path = self._path(stage, use)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as error:
            raise StoreError(f"The mark {path} cannot be written ({error.strerror}).") from error

    def _path(self, stage: StageId, use: str) -> Path:
        return self._folder / use / stage.experiment / stage.key

    def _marked(self, use: str) -> Iterator[tuple[Path, Path]]:
        """Marks of a use, each with the path of its state."""
        for mark in sorted((self._folder / use).glob("*/*")):
            place = self._store.folder / mark.parent.name / mark.name[:2] / mark.name
            yield mark, place.with_suffix(".safetensors")


def _size(path: Path) -> int:
    """Bytes of a file; 0 where it is gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _used_at(mark: Path) -> int:
    try:
        return mark.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be removed ({error.strerror}).") from error
