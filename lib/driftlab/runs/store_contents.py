"""The contents of a store per experiment and version, and which of its files can be removed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

from driftlab.core.errors import StoreError
from driftlab.runs.locks import Presence

Kind = Literal["states", "old", "leftovers"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Kinds of files that can be removed: states, results of old versions, remains of killed processes."""


@dataclass
class StoredVersion:
    """The results of one version of an experiment, of one kind of numerics.

    Attributes:
        experiment: Name of the experiment.
        version: Its version.
        numerics: See `driftlab.runs.experiment.Experiment.numerics`.
        newest: When the latest result was computed.
        results: Files of finished stages.
        states: Files of states.
        bytes: Size of all of them.
    """

    experiment: str
    version: int
    numerics: str
    newest: datetime
    results: list[Path] = field(default_factory=list)
    states: list[Path] = field(default_factory=list)
    bytes: int = 0


@dataclass(frozen=True)
class StoreContents:
    """The contents of a store.

    Attributes:
        versions: By experiment, version and numerics.
        leftovers: Files of no use: half-written ones, states without a result, results that cannot be read.
        marks: Marks of states, see `driftlab.runs.states`.
    """

    versions: list[StoredVersion]
    leftovers: list[Path]
    marks: list[Path]

    def removable(self, kinds: Collection[Kind]) -> dict[Kind, list[Path]]:
        """The files of each kind; a version is old where the store has a newer one of the same experiment."""
        newest: dict[str, int] = {}
        for one in self.versions:
            newest[one.experiment] = max(one.version, newest.get(one.experiment, one.version))
        files: dict[Kind, list[Path]] = {kind: [] for kind in KINDS if kind in kinds}
        for one in self.versions:
            if "old" in files and one.version < newest[one.experiment]:
                files["old"] += [*one.results, *one.states]
            elif "states" in files:
                files["states"] += one.states
        if "leftovers" in files:
            files["leftovers"] += self.leftovers
        return files


def store_contents(folder: Path) -> StoreContents:
    """Read what lies in a store; results are read but not verified.

    Args:
        folder: The store's folder; it may be missing.

    Raises:
        StoreError: A file is there but cannot be read.
    """
    versions: dict[tuple[str, int, str], StoredVersion] = {}
    leftovers: list[Path] = []
    for path in sorted(folder.glob("[!.]*/??/*")):
        if path.suffix == ".json" and not path.name.startswith("."):
            try:
                content = json.loads(path.read_bytes())
                key = (str(content["experiment"]), int(content["version"]), str(content.get("numerics", "")))
                created = datetime.fromisoformat(content["created"])
            except (ValueError, KeyError, TypeError):
                leftovers.append(path)
                continue
            except OSError as error:
                raise StoreError(f"The result {path} cannot be read ({error.strerror}).") from error
            stored = versions.setdefault(key, StoredVersion(*key, newest=created))
            stored.newest = max(stored.newest, created)
            stored.results.append(path)
            state = path.with_suffix(".safetensors")
            stored.states += [state] if state.exists() else []
            stored.bytes += size_of([path, state])
        elif path.suffix != ".safetensors" or not path.with_suffix(".json").exists():
            leftovers.append(path)
    marks = [path for path in (folder / ".states").glob("*/*/*") if path.is_file()]
    return StoreContents([versions[key] for key in sorted(versions)], leftovers, marks)


@contextmanager
def undisturbed(folder: Path) -> Iterator[None]:
    """Hold a store while files are removed from it.

    Raises:
        StoreError: A sweep is at work on it.
    """
    presence = Presence(folder)
    try:
        if not presence.alone():
            raise StoreError(
                f"A sweep is at work on {folder}. Nothing was removed: wait until it has ended, or stop it."
            )
        yield
    finally:
        presence.leave()


def remove(contents: StoreContents, files: Collection[Path]) -> None:
    """Remove files of a store, and the marks of states that are gone.

    Raises:
        StoreError: One cannot be removed.
    """
    keys = {path.stem for path in files if path.suffix == ".safetensors"}
    for path in [*files, *(mark for mark in contents.marks if mark.name in keys)]:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{path} cannot be removed ({error.strerror}).") from error


def size_of(files: Collection[Path]) -> int:
    """Bytes of all of them that are there."""
    total = 0
    for path in files:
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total
