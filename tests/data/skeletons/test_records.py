from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.data.skeletons.records import SkeletonSet, normalise, prepare


def test_normalise_by_hand():
    """Two joints on a line: x of the second joint runs over 3, 5, 7 while the first stays at 1."""
    sequence = np.zeros((3, 1, 2, 3), dtype=np.float32)
    sequence[:, 0, 0] = (1, 2, 3)
    sequence[:, 0, 1] = [(3, 2, 3), (5, 4, 3), (7, 2, 3)]
    result = normalise(sequence)
    # x spans 1..7, y spans 2..4, z never varies.
    np.testing.assert_allclose(result[:, 0, 0], [(-1, -1, 0)] * 3)
    np.testing.assert_allclose(result[:, 0, 1], [(-1 / 3, -1, 0), (1 / 3, 1, 0), (1, -1, 0)])


def test_resampling_takes_the_floor_of_linspace(skeleton_set):
    """7 of 4 frames: linspace(0, 3, 7) is 0, .5, 1, 1.5, 2, 2.5, 3; 3 of 6 frames: 0, 2.5, 5."""
    rising = np.arange(4, dtype=np.float32)[:, None, None, None] * np.ones((4, 1, 2, 3), dtype=np.float32)
    rising[:, 0, 1] += 10
    longer = np.arange(6, dtype=np.float32)[:, None, None, None] * np.ones((6, 1, 2, 3), dtype=np.float32)
    longer[:, 0, 1] += 10

    def frame_numbers(skeletons: SkeletonSet, frames: int, span: int) -> list[float]:
        x = prepare(skeletons, frames)[0, :, 0, 0, 0]
        return ((x + 1) / 2 * span).round(3).tolist()

    assert frame_numbers(skeleton_set(rising), 7, 13) == [0, 0, 1, 1, 2, 2, 3]
    assert frame_numbers(skeleton_set(longer), 3, 15) == [0, 2, 5]


def test_one_frame_is_repeated_and_flat_axes_become_zero(skeleton_set):
    still = np.ones((1, 1, 3, 3), dtype=np.float32)
    still[0, 0, :, 1] = (0, 1, 3)
    result = prepare(skeleton_set(still), 5)
    assert result.shape == (1, 5, 1, 3, 3)
    assert np.isfinite(result).all()
    np.testing.assert_allclose(result[0, :, 0, :, 1], [[-1, -1 / 3, 1]] * 5, atol=1e-6)
    assert (result[..., (0, 2)] == 0).all()


def test_a_sequence_without_any_body_stays_zero(skeleton_set):
    assert (prepare(skeleton_set(np.zeros((2, 2, 3, 3)))) == 0).all()


def test_two_bodies_share_origin_and_scale_and_absence_stays_zero(skeleton_set):
    sequence = np.zeros((3, 2, 2, 3), dtype=np.float32)
    sequence[1:, 0] = [[1, 1, 1], [2, 2, 2]]  # body 0 is absent from frame 0
    sequence[2, 1] = [[4, 4, 4], [5, 5, 5]]  # body 1 is there in frame 2 only
    result = prepare(skeleton_set(sequence), 5, fit="pad")[0]
    assert (result[0] == 0).all() and (result[1, 1] == 0).all()
    np.testing.assert_allclose(result[1, 0, :, 0], [-1, -0.5])  # 1..5 becomes -1..1
    np.testing.assert_allclose(result[2, 1, :, 0], [0.5, 1])
    assert (result[3:] == 0).all(), "padding is zeros"


def test_padding_refuses_longer_sequences(skeleton_set):
    with pytest.raises(ParameterError, match=r"record-1 has 4 frames.*fit='resample'"):
        prepare(skeleton_set(np.ones((2, 1, 2, 3)), np.ones((4, 1, 2, 3))), 3, fit="pad")


@pytest.mark.parametrize(("options", "message"), [({"frames": 0}, "at least 1"), ({"fit": "crop"}, "'crop'")])
def test_impossible_preparation(skeleton_set, options, message):
    with pytest.raises(ParameterError, match=message):
        prepare(skeleton_set(np.ones((2, 1, 2, 3))), **options)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("labels", np.array([0, 0], dtype=np.int32), "int64"),
        ("labels", np.array([0], dtype=np.int64), r"int64 \(2,\), not int64 \(1,\)"),
        ("labels", np.array([0, 3], dtype=np.int64), "record record-1, field 'labels': label 3"),
        ("names", ("same", "same"), "2 sequences need 2 different names; got 1"),
        ("sequences", (), "at least one sequence"),
        ("sequences", (np.ones((1, 1, 2, 3)),) * 2, "float64"),
        (
            "sequences",
            (np.ones((1, 1, 2, 3), np.float32), np.ones((1, 1, 3, 3), np.float32)),
            r"record-1.*\(1, 1, 3, 3\)",
        ),
        (
            "sequences",
            (np.ones((1, 1, 2, 3), np.float32), np.ones((0, 1, 2, 3), np.float32)),
            "record-1.*is empty",
        ),
        ("sequences", (np.full((2, 1, 2, 3), np.nan, np.float32),) * 2, "record-0.*frame 0.*not finite"),
        ("bones", ((0, 2),), r"a joint outside 0\.\.1"),
    ],
)
def test_a_set_that_does_not_fit_together(skeleton_set, field, value, message):
    sound = skeleton_set(np.ones((2, 1, 2, 3)), np.ones((3, 1, 2, 3)))
    with pytest.raises(DataError, match=message):
        dataclasses.replace(sound, **{field: value})


def test_a_set_cannot_be_changed(skeleton_set):
    skeletons = skeleton_set(np.ones((2, 1, 2, 3)))
    with pytest.raises(ValueError, match="read-only"):
        skeletons.sequences[0][0] = 0
    with pytest.raises(ValueError, match="read-only"):
        skeletons.labels[0] = 1


def test_subset_keeps_order_and_is_never_official(skeleton_set):
    whole = skeleton_set(*(np.full((n, 1, 2, 3), n) for n in (1, 2, 3)), labels=[0, 1, 2])
    part = whole.subset([2, 0], "for a test")
    assert part.names == ("record-2", "record-0")
    assert part.lengths.tolist() == [3, 1]
    assert part.labels.tolist() == [2, 0]
    assert part.counts.tolist() == [1, 0, 1]
    assert part.source.kind == "subset"
    assert part.source.detail == "2 of 3 sequences, for a test"
    assert part.notes == ("1 of 3 sequences left out: for a test",)
    assert len({whole.source.digest, part.source.digest, whole.subset([0, 2], "").source.digest}) == 3
    with pytest.raises(ParameterError, match=r"from 0 to 2; got \[3\]"):
        whole.subset([0, 3], "too far")
    with pytest.raises(ParameterError, match="none"):
        whole.subset([], "nothing")


def test_real_nucla_preparation(real_nucla):
    prepared = prepare(real_nucla)
    assert prepared.shape == (1484, 52, 1, 20, 3)
    assert prepared.dtype == np.float32
    assert prepared.min() == -1 and prepared.max() == 1
    # Independent computation for one sequence, as the protocol words it.
    index = real_nucla.names.index("a05_s04_e02_v01")
    raw = real_nucla.sequences[index][:, 0].astype(np.float64)
    moved = raw - raw[0, 1]
    low, high = moved.reshape(-1, 3).min(0), moved.reshape(-1, 3).max(0)
    frames = [int(np.floor(at)) for at in np.linspace(0, len(raw) - 1, 52)]
    expected = ((moved - low) / (high - low) * 2 - 1)[frames]
    np.testing.assert_allclose(prepared[index, :, 0], expected, atol=1e-6)
