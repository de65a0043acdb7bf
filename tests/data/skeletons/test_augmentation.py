from __future__ import annotations

import numpy as np
import pytest
from driftlab.core.errors import ParameterError
from driftlab.data.skeletons.augmentation import augment, rotation


def test_rotations_by_hand():
    quarter = np.pi / 2
    # Row vectors: first about y, then about x, as in the feeder.
    np.testing.assert_allclose([0, 1, 0] @ rotation(quarter, 0), [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose([1, 0, 0] @ rotation(0, quarter), [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose([1, 0, 0] @ rotation(quarter, quarter), [0, 1, 0], atol=1e-12)


@pytest.fixture
def whole(skeleton_set):
    draw = np.random.default_rng(0)
    two = draw.normal(size=(4, 2, 3, 3))
    two[1:, 1] = 0
    return skeleton_set(draw.normal(size=(3, 2, 3, 3)), two, labels=[0, 1])


def test_rounds_of_turned_copies(whole):
    more = augment(whole, repeats=3, seed=4)
    assert more.names == tuple(f"record-{n}#{round_}" for round_ in (1, 2, 3) for n in (0, 1))
    assert more.labels.tolist() == [0, 1] * 3
    assert more.lengths.tolist() == [3, 4] * 3
    assert "augmented 3 x" in more.source.detail and more.source.digest != whole.source.digest
    for index, sequence in enumerate(more.sequences):
        original = whole.sequences[index % 2]
        assert ((sequence == 0).all(axis=(2, 3)) == (original == 0).all(axis=(2, 3))).all(), "absence is kept"
        np.testing.assert_allclose(sequence[0, 0, 1], 0, atol=1e-6)
        before = np.linalg.norm(original[:, 0, 0] - original[:, 0, 2], axis=-1)
        after = np.linalg.norm(sequence[:, 0, 0] - sequence[:, 0, 2], axis=-1)
        np.testing.assert_allclose(after / before, (after / before)[0], rtol=1e-5)
        assert 0.5 <= (after / before)[0] <= 1.5
    assert not np.allclose(more.sequences[0], more.sequences[2])


def test_seed_decides(whole):
    def first(seed: int) -> np.ndarray:
        return augment(whole, seed=seed).sequences[0]

    np.testing.assert_array_equal(first(1), first(1))
    assert not np.allclose(first(1), first(2))


def test_without_turn_and_scale_it_only_centres_and_repeats(whole):
    plain = augment(whole, repeats=1, max_angle=0, scales=(1, 1))
    np.testing.assert_allclose(
        plain.sequences[0], whole.sequences[0] - whole.sequences[0][0, 0, 1], atol=1e-6
    )


@pytest.mark.parametrize("options", [{"repeats": 0}, {"max_angle": -1}, {"scales": (1.5, 0.5)}])
def test_impossible_augmentation(whole, options):
    with pytest.raises(ParameterError, match="augment needs repeats"):
        augment(whole, **options)
