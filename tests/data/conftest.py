"""Small skeleton datasets that data tests share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from driftlab.core.provenance import Source
from driftlab.data.skeletons.nucla import load_nucla
from driftlab.data.skeletons.records import SkeletonSet


@pytest.fixture(scope="session")
def real_nucla(real_data: Path) -> SkeletonSet:
    """The real N-UCLA, read once."""
    return load_nucla(real_data / "nucla")


def frames(count: int, joints: int = 20, seed: int = 0) -> list[list[list[float]]]:
    """`count` frames of random joints, as JSON would hold them."""
    return np.random.default_rng([seed, count]).normal(size=(count, joints, 3)).round(4).tolist()


@pytest.fixture
def nucla_folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes sequences of 3 frames (`name={field: value}` changes one) into an N-UCLA folder."""

    def write(*names: str, order: object = None, **changes: dict[str, object]) -> Path:
        folder = tmp_path / "nucla"
        (folder / "all_sqe").mkdir(parents=True, exist_ok=True)
        codes = ["a01", "a02", "a03", "a04", "a05", "a06", "a08", "a09", "a11", "a12"]
        for number, name in enumerate(dict.fromkeys((*names, *changes))):
            record: dict[str, object] = {
                "file_name": name,
                "skeletons": frames(3, seed=number),
                "label": codes.index(name[:3]) + 1,
            }
            record |= changes.get(name, {})
            record = {field: value for field, value in record.items() if value is not None}
            (folder / "all_sqe" / f"{name}.json").write_text(json.dumps(record))
        if order is not None:
            (folder / "feeder_split.json").write_text(json.dumps(order))
        return folder

    return write


@pytest.fixture
def skeleton_set() -> Callable[..., SkeletonSet]:
    """Makes a set of the given sequences (T, M, V, 3), of class 0."""

    def make(*sequences: np.ndarray, labels: list[int] | None = None) -> SkeletonSet:
        return SkeletonSet(
            sequences=tuple(np.asarray(sequence, dtype=np.float32) for sequence in sequences),
            labels=np.array(labels or [0] * len(sequences), dtype=np.int64),
            names=tuple(f"record-{number}" for number in range(len(sequences))),
            classes=("zero", "one", "two"),
            bones=((0, 1),),
            source=Source("official", "toy", f"{len(sequences)} sequences", "digest"),
        )

    return make
