"""`driftlab store`: what is there, and what can be removed."""

import json
from pathlib import Path

import numpy as np
import pytest
from driftlab.runs.experiment import StageId
from driftlab.runs.locks import Presence
from driftlab.runs.states import StateMarks
from driftlab.runs.store import Store
from notebook_project import Project

from .driving import Driver

STATE = {"w": np.zeros(100)}


def stage(number: int, version: int = 2, numerics: str = "") -> StageId:
    return StageId("toy", version, "d", {"number": number}, numerics)


@pytest.fixture
def store(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Three results of version 2 (two with states), one of version 1, one from a GPU, and leftovers."""
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", str(tmp_path / "outputs"))
    store = Store(tmp_path / "outputs" / "runs")
    rows = [{"value": 1.0}]
    for number in range(3):
        store.put(stage(number), rows, STATE if number else None)
    StateMarks(store, 2**30).share(stage(1))
    StateMarks(store, 2**30).keep(stage(2))
    store.put(stage(0, version=1), rows, STATE)
    store.put(stage(0, numerics="cuda-batched"), rows, None)
    lonely = stage(9)
    store.put(lonely, rows, STATE)
    store.entry_path(lonely).unlink()
    store.entry_path(lonely).with_name(f".{lonely.key}.json.tmp").write_text("half")
    damaged = stage(8)
    store.put(damaged, rows, None)
    store.entry_path(damaged).write_text("{")
    return store


def files(store: Store) -> set[str]:
    return {path.name for path in store.folder.glob("[!.]*/??/*")} | {
        path.name for path in store.folder.glob("[!.]*/??/.*")
    }


def test_an_empty_store(project: Project, driftlab: Driver, tmp_path: Path) -> None:
    result = driftlab("store")
    assert result.code == 0 and "No results yet." in result.out
    assert not (tmp_path / "outputs" / "runs").exists()
    result = driftlab("store", "prune")
    assert result.code == 0 and "There is nothing to remove." in result.out


def test_shows_results_states_bytes_and_age(store: Store, driftlab: Driver) -> None:
    out = driftlab("store").out
    assert "toy 1 cpu 1 1 " in out and "toy 2 cpu 3 2 " in out and "toy 2 cuda-batched 1 0 " in out
    assert "just now" in out
    assert "1 states (" in out and "stay for later sweeps, up to 1.0 GiB ($DRIFTLAB_STATES_GIB)" in out
    assert "stay because a notebook shows them" in out
    assert "3 leftovers" in out and f"Store: {store.folder}" in out


def test_a_dry_run_and_a_no_remove_nothing(
    store: Store, driftlab: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(store)
    result = driftlab("store", "prune", "--dry-run")
    assert result.code == 0 and "Nothing was removed (--dry-run)" in result.out
    assert "2 files" in result.out and "results of old versions" in result.out
    monkeypatch.setattr("typer.confirm", lambda text: False)
    result = driftlab("store", "prune")
    assert result.code == 1 and "Nothing was removed." in result.out
    assert files(store) == before


def test_prunes_all_that_can_be_computed_again(store: Store, driftlab: Driver) -> None:
    result = driftlab("store", "prune", "--yes")
    assert result.code == 0 and "Removed from" in result.out
    kept = {store.entry_path(stage(number)).name for number in range(3)}
    assert files(store) == kept | {store.entry_path(stage(0, numerics="cuda-batched")).name}
    assert not [path for path in (store.folder / ".states").rglob("*") if path.is_file()]
    assert all(store.get(stage(number)) is not None for number in range(3))


@pytest.mark.parametrize(
    ("what", "count"), [("states", 3), ("old", 2), ("leftovers", 3)], ids=["states", "old", "leftovers"]
)
def test_prunes_only_what_is_named(store: Store, driftlab: Driver, what: str, count: int) -> None:
    before = files(store)
    assert driftlab("store", "prune", what, "-y").code == 0
    assert len(before - files(store)) == count and files(store) < before


def test_features_only_if_they_are_named(store: Store, driftlab: Driver, tmp_path: Path) -> None:
    feature = tmp_path / "outputs" / "features" / "abc" / "level0.npy"
    feature.parent.mkdir(parents=True)
    feature.write_bytes(b"0" * 2**20)
    assert "Features of frames: 1.0 MiB." in driftlab("store").out
    driftlab("store", "prune", "--yes")
    assert feature.exists()
    driftlab("store", "prune", "features", "--yes")
    assert not feature.exists()


def test_not_while_a_sweep_is_at_work(store: Store, driftlab: Driver) -> None:
    before, presence = files(store), Presence(store.folder)
    result = driftlab("store", "prune", "--yes")
    presence.leave()
    assert result.code == 2 and "A sweep is at work on" in result.err and "Nothing was removed" in result.err
    assert files(store) == before


def test_a_wrong_name_is_answered_with_the_nearest(store: Store, driftlab: Driver) -> None:
    result = driftlab("store", "prune", "state")
    assert result.code == 2
    assert "There is no 'state' to prune. Did you mean 'states'? It can be states, old" in result.err


def test_old_is_what_has_a_newer_version(store: Store, driftlab: Driver) -> None:
    entry = json.loads(store.entry_path(stage(0, version=1)).read_bytes())
    assert entry["version"] == 1
    driftlab("store", "prune", "old", "--yes")
    assert store.get(stage(0, version=1)) is None
