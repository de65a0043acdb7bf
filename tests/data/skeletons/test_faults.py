from __future__ import annotations

import json

import numpy as np
import pytest
from driftlab.data.skeletons.faults import duplicate_pairs, fault_notes, flat, one_frame, without_duplicates


@pytest.fixture
def faulty(skeleton_set):
    moving = np.random.default_rng(0).normal(size=(4, 1, 3, 3))
    single = np.random.default_rng(1).normal(size=(1, 1, 3, 3))
    plane = moving.copy()
    plane[..., 2] = 1
    sequences = (moving, single, moving, plane, moving, moving)
    return skeleton_set(*sequences, labels=[0, 0, 0, 0, 0, 1])


def test_faults_are_found(faulty):
    # Record 5 has the sequence of record 0 and another label: no duplicate.
    assert duplicate_pairs(faulty) == [(0, 2), (0, 4)]
    assert one_frame(faulty) == [1]
    assert flat(faulty) == [3]
    assert fault_notes(faulty) == (
        "2 pairs of equal sequences (record-0 = record-2, …), of: zero",
        "1 sequences of one frame: record-1",
        "1 sequences that do not vary along an axis: record-3",
    )


def test_without_duplicates_leaves_out_the_later_ones(faulty):
    kept = without_duplicates(faulty)
    assert kept.names == ("record-0", "record-1", "record-3", "record-5")
    assert kept.source.detail == "4 of 6 sequences, without the duplicated sequences"
    assert without_duplicates(kept) is kept


def test_the_published_duplicates(real_nucla, real_data):
    published = json.loads((real_data / "nucla" / "duplicate_pairs.json").read_text())
    found = [tuple(sorted(real_nucla.names[index] for index in pair)) for pair in duplicate_pairs(real_nucla)]
    assert sorted(found) == sorted(tuple(sorted(pair)) for pair in published)
    assert len(found) == 95
    # The order has views 1 and 2 before view 3, so the copy that stays is view 2's.
    assert all(
        real_nucla.names[first].endswith("v02") and real_nucla.names[second].endswith("v03")
        for first, second in duplicate_pairs(real_nucla)
    )
