from __future__ import annotations

import numpy as np
import pytest
from driftlab.data.skeletons.ntu import BONES
from driftlab.worlds.skeletons.body import HIPS, NECK, SHOULDERS, Controls, joints, reach, turn


def standing(frames: int = 2) -> Controls:
    hands = np.tile([[-0.14, 0.5, -0.02], [0.14, 0.5, -0.02]], (frames, 1, 1))
    feet = np.tile([[-0.06, 0.04, 0.0], [0.06, 0.04, 0.0]], (frames, 1, 1))
    still = np.zeros(frames)
    return Controls(np.zeros((frames, 2)), still, still, still, still, still, hands, feet)


def test_reach_by_hand():
    """Rods of 3 and 4 over a distance of 5 make a right angle; the elbow lies 2.4 off the line, 1.8 along."""
    middle, end = reach(np.zeros((1, 3)), np.array([[5.0, 0, 0]]), 3, 4, np.array([[0.3, 1.0, 0]]))
    np.testing.assert_allclose(middle, [[1.8, 2.4, 0]])
    np.testing.assert_allclose(end, [[5, 0, 0]])


@pytest.mark.parametrize("distance", [0.0, 0.5, 100.0])
def test_rods_keep_their_length_when_the_target_is_out_of_reach(distance):
    middle, end = reach(np.zeros((1, 3)), np.array([[distance, 0, 0]]), 3, 4, np.array([[0, 1.0, 0.5]]))
    assert np.linalg.norm(middle) == pytest.approx(3)
    assert np.linalg.norm(end - middle) == pytest.approx(4)


def test_a_quarter_turn():
    np.testing.assert_allclose(turn(np.array([[[0.0, 5, -1]]]), np.pi / 2), [[[-1, 5, 0]]], atol=1e-12)


def test_a_standing_body():
    body = joints(standing(), np.ones(3))
    assert body.shape == (2, 25, 3)
    np.testing.assert_allclose(body[0, 0], (0, HIPS, 0))
    np.testing.assert_allclose(body[0, 2], (0, HIPS + SHOULDERS + NECK, 0), atol=1e-12)
    assert body[0, 3, 1] == body[0, :, 1].max(), "the head is on top"
    assert body[0, 8, 0] > 0 > body[0, 4, 0], "the right shoulder is at the right"
    np.testing.assert_allclose(body[0, 10], (0.14, 0.5, -0.02), atol=1e-9)  # the right wrist's target
    assert (body[0, [15, 19], 2] < body[0, [14, 18], 2]).all(), "the toes point forward"


def test_bones_keep_their_length_in_motion():
    """Whatever the pose, trunk, arms and legs are rigid (shoulders and thumbs may shear)."""
    draw = np.random.default_rng(0)
    frames = 50
    controls = Controls(
        place=draw.normal(size=(frames, 2)),
        heading=draw.uniform(-3, 3, frames),
        drop=draw.uniform(0, 0.2, frames),
        back=draw.uniform(0, 0.1, frames),
        lean=draw.uniform(-0.2, 1.2, frames),
        twist=draw.uniform(-0.5, 0.5, frames),
        hands=draw.normal(0.3, 0.3, (frames, 2, 3)),
        feet=draw.normal(0, 0.05, (frames, 2, 3)),
    )
    body = joints(controls, np.array([1.1, 0.95, 1.02]))
    rigid = {
        (5, 4),
        (6, 5),
        (7, 6),
        (9, 8),
        (10, 9),
        (11, 10),
        (13, 12),
        (14, 13),
        (17, 16),
        (18, 17),
        (0, 1),
    }
    for child, parent in rigid | {(15, 14), (19, 18), (1, 20), (2, 20), (3, 2)}:
        assert (child, parent) in BONES
        lengths = np.linalg.norm(body[:, child] - body[:, parent], axis=1)
        np.testing.assert_allclose(lengths, lengths[0], rtol=1e-6)
