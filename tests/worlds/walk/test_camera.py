from __future__ import annotations

from dataclasses import replace

import numpy as np
from driftlab.worlds.walk.camera import FOCAL, Camera, walk

STILL = Camera(x=0.0, y=1.5, z=10.0, yaw=0.0, pitch=0.0, turn_rate=0.0)


def test_projection_by_hand() -> None:
    points = np.array([[0, 1.5, 15], [1, 1.5, 15], [0, 0, 15], [-2, 2.5, 20]], dtype=float)
    placed, depth = STILL.project(points)
    assert depth.tolist() == [5, 5, 5, 10]
    horizon = STILL.horizon
    expected = [
        (0.5, horizon),
        (0.5 + FOCAL / 5, horizon),
        (0.5, horizon + FOCAL * 0.3),
        (0.5 - FOCAL * 0.2, horizon - FOCAL * 0.1),
    ]
    np.testing.assert_allclose(placed, expected)


def test_turning_right_moves_things_left_and_looking_up_moves_them_down() -> None:
    ahead = np.array([0, 1.5, 15.0])
    turned, depth = replace(STILL, yaw=0.2).project(ahead)
    assert turned[0] < 0.5 and depth < 5
    np.testing.assert_allclose(turned[0], 0.5 - FOCAL * np.tan(0.2))
    raised, _ = replace(STILL, pitch=0.1).project(ahead)
    np.testing.assert_allclose(raised[1], STILL.horizon + 0.1)


def test_things_grow_as_the_walker_comes_nearer() -> None:
    ends = np.array([[1.0, 0, 20], [1.0, 2, 20]])
    heights = [np.ptp(replace(STILL, z=z).project(ends)[0][:, 1]) for z in (0.0, 10.0, 15.0)]
    assert heights[0] < heights[1] < heights[2]
    np.testing.assert_allclose(heights[2], FOCAL * 2 / 5)


def test_a_walk_goes_on_bobs_pauses_and_looks_about() -> None:
    cameras = walk(400, 3.0, np.random.default_rng(0))
    assert cameras == walk(400, 3.0, np.random.default_rng(0))
    steps = np.diff([camera.z for camera in cameras])
    assert cameras[0].z == 3 and (steps >= 0).all() and (steps == 0).any() and 0.3 < steps.mean() < 1.4
    yaw = np.array([camera.yaw for camera in cameras])
    assert np.abs(yaw).max() > 0.2 and abs(yaw.mean()) < 0.05, "glances, and back again"
    np.testing.assert_allclose([camera.turn_rate for camera in cameras[1:]], np.diff(yaw), atol=0.1)
    for attribute, least in (("y", 0.02), ("pitch", 0.01), ("x", 0.1)):
        assert np.std([getattr(camera, attribute) for camera in cameras]) > least
