"""What iCaRL trains on."""

from __future__ import annotations

import numpy as np
from driftlab.methods.base import Task
from driftlab.methods.icarl import ICaRL


def test_a_step_has_its_own_records_and_the_remembered_ones() -> None:
    own, remembered = np.array([4, 5, 6]), np.array([40, 52])
    task = Task(2, (), slice(0, 9), slice(0, 9), (own,), (), (remembered,))
    (records,) = ICaRL([0], {}).training_records(task)
    assert records.tolist() == [4, 5, 6, 40, 52]


def test_before_anything_is_remembered_it_has_its_own() -> None:
    empty = np.array([], dtype=np.int64)
    task = Task(0, (), slice(0, 9), slice(0, 9), (np.array([1, 2]),), (), (empty,))
    (records,) = ICaRL([0], {}).training_records(task)
    assert records.tolist() == [1, 2] and records.dtype.kind == "i"
