from __future__ import annotations

import errno
import os
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from driftlab.core.errors import ParameterError, StoreError
from driftlab.runs.experiment import StageId
from driftlab.runs.failures import CorruptResultWarning
from driftlab.runs.store import Store

STAGE = StageId("toy", 1, "digest", {"order": [0, 1], "lr": 0.1})
ROWS = [{"tested_on": "class:0", "value": 0.1 + 0.2, "k": None}, {"tested_on": "class:1", "value": 1}]
STATE = {"w": np.arange(6, dtype=np.float32).reshape(2, 3)}


def test_what_is_put_is_got(store: Store) -> None:
    assert store.get(STAGE) is None
    put = store.put(STAGE, ROWS, STATE)
    got = Store(store.folder).get(STAGE)
    assert got is not None and got == put
    assert got.rows == ROWS
    assert store.entry_path(STAGE) == store.folder / "toy" / STAGE.key[:2] / f"{STAGE.key}.json"
    assert b"/" not in store.entry_path(STAGE).read_bytes()  # no path of this machine


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3).T,
        np.arange(20.0)[::3],
        np.array(3.5),
        np.zeros((0, 4), dtype=np.int64),
        np.array([True, False]),
        np.array([np.nan, np.inf, -0.0, 5e-324]),
        np.array([1, 2], dtype=">i4"),
        np.array([1.5], dtype=np.float16),
    ],
    ids=["transposed", "strided", "scalar", "empty", "bool", "special", "big-endian", "half"],
)
def test_states_come_back_bit_for_bit(store: Store, array: np.ndarray[Any, Any]) -> None:
    entry = store.put(STAGE, ROWS, {"a": array, "other": np.ones(3)})
    back = store.load_state(entry)
    assert back is not None and set(back) == {"a", "other"}
    assert back["a"].shape == array.shape
    assert back["a"].dtype == array.dtype.newbyteorder("=")
    assert back["a"].tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()
    back["a"][...] = 0  # the caller may work on it


def test_an_empty_state_is_a_state(store: Store) -> None:
    entry = store.put(STAGE, ROWS, {})
    assert store.has_state(entry) and not store.state_path(STAGE).exists()
    assert store.load_state(entry) == {}
    store.drop_state(STAGE)
    again = store.get(STAGE)
    assert again is not None and store.has_state(again), "it takes no room, and nothing is computed for it"


def test_without_a_state(store: Store) -> None:
    store.put(STAGE, ROWS, STATE)
    entry = store.put(STAGE, ROWS, None)
    assert not store.has_state(entry)
    assert store.load_state(entry) is None
    assert not store.state_path(STAGE).exists()


def test_rows_outlive_their_state(store: Store) -> None:
    entry = store.put(STAGE, ROWS, STATE)
    store.drop_state(STAGE)
    store.drop_state(STAGE)
    assert not store.has_state(entry)
    assert store.load_state(entry) is None
    assert store.get(STAGE) == entry


def test_every_truncation_of_an_entry_is_noticed(store: Store) -> None:
    entry = store.put(STAGE, ROWS, None)
    path = store.entry_path(STAGE)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.warns(CorruptResultWarning, match=f"{path} is damaged"):
            assert Store(store.folder).get(STAGE) is None
    path.write_bytes(whole)
    assert Store(store.folder).get(STAGE) == entry


def test_every_altered_byte_of_an_entry_is_noticed(store: Store) -> None:
    store.put(STAGE, ROWS, None)
    path = store.entry_path(STAGE)
    whole = path.read_bytes()
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.warns(CorruptResultWarning, match=f"{path} is damaged"):
            assert Store(store.folder).get(STAGE) is None


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b"3", b"\xff\xfe", b"[" * 100_000, b'{"checksum": {}}']
)
def test_whatever_else_stands_in_an_entry_is_noticed(store: Store, content: bytes) -> None:
    store.put(STAGE, ROWS, None)
    store.entry_path(STAGE).write_bytes(content)
    with pytest.warns(CorruptResultWarning, match="is damaged"):
        assert store.get(STAGE) is None


def test_an_entry_under_anothers_name_is_noticed(store: Store) -> None:
    other = StageId("toy", 1, "digest", {"order": [0, 2], "lr": 0.1})
    store.put(STAGE, ROWS, None)
    store.entry_path(other).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(store.entry_path(STAGE), store.entry_path(other))
    with pytest.warns(CorruptResultWarning, match="another stage"):
        assert store.get(other) is None


@pytest.mark.parametrize("change", ["cut", "altered"])
def test_a_damaged_state_is_noticed_and_its_rows_stay(store: Store, change: str) -> None:
    entry = store.put(STAGE, ROWS, STATE)
    path = store.state_path(STAGE)
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw[:-5] if change == "cut" else raw)
    with pytest.warns(CorruptResultWarning, match=f"{path} is damaged"):
        assert store.load_state(entry) is None
    assert not store.has_state(entry)
    assert store.get(STAGE) == entry


def test_a_damaged_file_is_reported_once(store: Store) -> None:
    store.put(STAGE, ROWS, None)
    store.entry_path(STAGE).write_text("{}")
    with pytest.warns(CorruptResultWarning) as seen:
        store.get(STAGE)
        store.get(STAGE)
    assert len(seen) == 1
    store.put(STAGE, ROWS, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.get(STAGE) is not None


@pytest.mark.parametrize("value", [float("nan"), np.float32(1), object()])
def test_rows_are_plain_values(store: Store, value: Any) -> None:
    with pytest.raises(ParameterError, match=r"the rows of a stage of toy\[0\]\.value is"):
        store.put(STAGE, [{"value": value}], None)
    assert store.get(STAGE) is None


@pytest.mark.parametrize("state", [{"a": np.array([object()])}, {"a": np.array(["text"])}, [1]])
def test_states_are_arrays_of_numbers(store: Store, state: Any) -> None:
    with pytest.raises(ParameterError, match="must map names to arrays of numbers"):
        store.put(STAGE, ROWS, state)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        StoreError,
        match=rf"The run store {tmp_path}/file/runs cannot be written to \(Not a dir.*DRIFTLAB_OUTPUTS",
    ):
        Store(tmp_path / "file" / "runs")


def test_a_folder_that_cannot_be_written_to() -> None:
    with pytest.raises(StoreError, match=r"The run store /proc/driftlab cannot be written to"):
        Store("/proc/driftlab")


@pytest.mark.parametrize(
    ("code", "reason"), [(errno.ENOSPC, "the disk is full. Free"), (errno.EIO, "Input/output")]
)
def test_a_full_disk(store: Store, monkeypatch: pytest.MonkeyPatch, code: int, reason: str) -> None:
    earlier = StageId("toy", 1, "digest", {"order": [0], "lr": 0.1})
    store.put(earlier, ROWS, STATE)
    before = sorted(store.folder.rglob("*.*"))

    def full(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=f"{STAGE.key}.safetensors cannot be written: {reason}.*is kept"):
        store.put(STAGE, ROWS, STATE)
    monkeypatch.undo()
    assert sorted(store.folder.rglob("*.*")) == before
    assert store.get(earlier) is not None
    assert store.get(STAGE) is None


def test_a_kill_between_state_and_entry_leaves_nothing_half(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if target.suffix == ".json":
            raise Killed
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(Killed):
        store.put(STAGE, ROWS, STATE)
    monkeypatch.undo()
    again = Store(store.folder)
    assert again.get(STAGE) is None
    assert again.state_path(STAGE).exists()
    again.put(STAGE, ROWS, STATE)
    assert again.get(STAGE) is not None
    assert not list(store.folder.rglob("*.tmp"))


def test_summary(store: Store) -> None:
    assert str(store.summary()) == "0 stages (empty), 0 states, 0.0 MB"
    for lr in range(3):
        store.put(StageId("toy", 1, "d", {"lr": lr}), ROWS, STATE if lr else None)
    store.put(StageId("other", 1, "d", {}), [], None)
    summary = store.summary()
    assert summary.stages == {"other": 1, "toy": 3}
    assert summary.states == 2
    assert summary.bytes == sum(path.stat().st_size for path in store.folder.rglob("*") if path.is_file())
