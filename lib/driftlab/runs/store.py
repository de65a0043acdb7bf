"""Store of finished stages on disk: checksummed, written atomically, safe to share between processes."""

from __future__ import annotations

import errno
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from driftlab import __version__
from driftlab.core.errors import ParameterError, StoreError
from driftlab.core.files import replace_file
from driftlab.runs.canonical import as_json, canonical_json
from driftlab.runs.experiment import Row, StageId, State
from driftlab.runs.failures import CorruptResultWarning


@dataclass(frozen=True)
class Entry:
    """A finished stage, read and verified.

    Attributes:
        stage: Identity of the result.
        rows: Its measurements.
        state_sha256: Checksum of its state file; None if the state was not kept when it was computed.
        created: When it was computed (UTC, ISO 8601).
        driftlab: Version of driftlab that computed it.
    """

    stage: StageId
    rows: list[Row]
    state_sha256: str | None
    created: str
    driftlab: str


@dataclass(frozen=True)
class Summary:
    """Number of finished stages by experiment, number of states, and size of all files in bytes."""

    stages: dict[str, int]
    states: int
    bytes: int

    def __str__(self) -> str:
        names = ", ".join(f"{name}: {count}" for name, count in self.stages.items()) or "empty"
        return (
            f"{sum(self.stages.values())} stages ({names}), {self.states} states, {self.bytes / 1e6:.1f} MB"
        )


NOTHING = sha256(b"").hexdigest()
"""Stands for a state without any array, which needs no file."""


class Store:
    """A folder of finished stages.

    A stage's entry is `<experiment>/<first two digits of its key>/<key>.json`: identity, rows and a checksum.
    Its state is `<key>.safetensors` beside it, as long as it is kept (`driftlab.runs.states`); the entry
    holds the state's checksum. A file appears under its name only when it is complete.

    The process that computes a stage holds its lock (`driftlab.runs.locks`); only the holder writes the
    stage's files.

    Args:
        folder: Created if need be.

    Raises:
        StoreError: The folder cannot be written to.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        self._reported: set[Path] = set()
        probe = self.folder / f".writable-{os.getpid()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"The run store {self.folder} cannot be written to ({error.strerror}). Make the folder "
                "writable, or set the environment variable DRIFTLAB_OUTPUTS to a folder that is."
            ) from error

    def entry_path(self, stage: StageId) -> Path:
        """Path of the stage's entry, whether it exists or not."""
        return self.folder / stage.experiment / stage.key[:2] / f"{stage.key}.json"

    def state_path(self, stage: StageId) -> Path:
        """Path of the stage's state, whether it exists or not."""
        return self.entry_path(stage).with_suffix(".safetensors")

    def get(self, stage: StageId) -> Entry | None:
        """The finished stage, verified, or `None` if it is not there.

        A damaged entry counts as not there; a `CorruptResultWarning` names its file, which the next `put`
        replaces.

        Raises:
            StoreError: The file is there but the system does not let it be read.
        """
        path = self.entry_path(stage)
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"The result {path} cannot be read ({error.strerror}).") from error
        try:
            content = _unsealed(raw)
            if any(content[name] != value for name, value in as_json(stage.content).items()):
                raise ValueError("it describes another stage than its name says")
            return Entry(stage, content["rows"], content["state"], content["created"], content["driftlab"])
        except (ValueError, KeyError) as error:
            self._warn_corrupt(path, str(error))
            return None

    def put(self, stage: StageId, rows: list[Row], state: Mapping[str, NDArray[Any]] | None) -> Entry:
        """Write a finished stage; the caller holds the stage's lock.

        Args:
            stage: Identity of the result.
            rows: Its measurements: JSON values, finite numbers.
            state: What the next stage continues from; `None` keeps none.

        Raises:
            ParameterError: A row holds something else than JSON values, or the state something else than
                numbers.
            StoreError: The disk is full or refuses; nothing that was kept before is touched.
        """
        kept = as_kept(rows, stage)
        state_sha256 = None
        if state is None:
            self.drop_state(stage)
        elif not state:
            state_sha256 = NOTHING
        else:
            raw = _state_bytes(state, self.state_path(stage))
            state_sha256 = sha256(raw).hexdigest()
            self._write(self.state_path(stage), raw)
        content = {
            **stage.content,
            "rows": kept,
            "state": state_sha256,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "driftlab": __version__,
        }
        # The entry comes last: where it stands, its state stood before it.
        self._write(self.entry_path(stage), _sealed(content))
        return Entry(stage, kept, state_sha256, str(content["created"]), __version__)

    def has_state(self, entry: Entry) -> bool:
        """Whether the stage's state is still kept (its content is verified by `load_state`)."""
        if entry.state_sha256 == NOTHING:
            return True
        return entry.state_sha256 is not None and self.state_path(entry.stage).exists()

    def load_state(self, entry: Entry) -> State | None:
        """The state that the stage left, verified, or `None` if it is not kept any more.

        A damaged state counts as not kept; a `CorruptResultWarning` names its file.
        """
        path = self.state_path(entry.stage)
        if entry.state_sha256 is None:
            return None
        if entry.state_sha256 == NOTHING:
            return {}
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"The state {path} cannot be read ({error.strerror}).") from error
        if sha256(raw).hexdigest() != entry.state_sha256:
            self._warn_corrupt(path, "its content does not match the checksum in its entry")
            self.drop_state(entry.stage)
            return None
        state: State = safetensors.numpy.load(raw)
        return state

    def drop_state(self, stage: StageId) -> None:
        """Remove a stage's state; its rows stay."""
        try:
            self.state_path(stage).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"The state {self.state_path(stage)} cannot be removed ({error.strerror})."
            ) from error

    def summary(self) -> Summary:
        """Count entries and states, without verifying them."""
        stages: dict[str, int] = {}
        states = size = 0
        for path in self._files():
            size += path.stat().st_size
            if path.suffix == ".json":
                name = path.parent.parent.name
                stages[name] = stages.get(name, 0) + 1
            elif path.suffix == ".safetensors":
                states += 1
        return Summary(dict(sorted(stages.items())), states, size)

    def _files(self) -> Iterator[Path]:
        return (path for path in self.folder.glob("[!.]*/??/*") if path.is_file())

    def _warn_corrupt(self, path: Path, problem: str) -> None:
        if path in self._reported:
            return
        self._reported.add(path)
        warnings.warn(
            f"{path} is damaged ({problem}). The stage is computed again and the file is replaced.",
            CorruptResultWarning,
            stacklevel=3,
        )

    def _write(self, path: Path, raw: bytes) -> None:
        # One writer a key, its lock's holder: one name is enough, and what a kill left there is overwritten.
        # The folder is not synced: after a power cut a file may be absent, but it is never half there.
        try:
            replace_file(path, raw, path.with_name(f".{path.name}.tmp"))
            self._reported.discard(path)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            reason = "the disk is full" if full else error.strerror
            remedy = "Free some space" if full else "Mend this"
            raise StoreError(
                f"The result {path} cannot be written: {reason}. {remedy} and start again: everything that "
                "was finished before is kept and will not be computed again."
            ) from error


def as_kept(rows: list[Row], stage: StageId) -> list[Row]:
    """Rows as they will be read back, so that a first and a resumed sweep see the same.

    Raises:
        ParameterError: A row holds something else than JSON values and finite numbers.
    """
    kept: list[Row] = as_json(rows, f"the rows of a stage of {stage.experiment}")
    return kept


SEAL = re.compile(rb'{"checksum":"([0-9a-f]{64})",')


def _sealed(content: dict[str, Any]) -> bytes:
    """JSON whose first key is the SHA-256 of the same JSON without that key."""
    raw = canonical_json(content)
    return b'{"checksum":"' + sha256(raw).hexdigest().encode() + b'",' + raw[1:]


def _unsealed(raw: bytes) -> dict[str, Any]:
    seal = SEAL.match(raw)
    # Over the bytes as they stand: a digit can change without changing the number that it is read as.
    if seal is None or sha256(b"{" + raw[seal.end() :]).hexdigest().encode() != seal[1]:
        raise ValueError("its content does not match its checksum")
    content: dict[str, Any] = json.loads(raw)
    return content


def _state_bytes(state: Mapping[str, NDArray[Any]], path: Path) -> bytes:
    try:
        # safetensors writes an array's memory as it lies, so it must lie in C order.
        arrays = {name: np.asarray(array, order="C") for name, array in state.items()}
        raw: bytes = safetensors.numpy.save(arrays)
        return raw
    except (SafetensorError, AttributeError, ValueError) as error:
        raise ParameterError(
            f"A stage's state must map names to arrays of numbers; the one for {path.name} does not "
            f"({error})."
        ) from error
