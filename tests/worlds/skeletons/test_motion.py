from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from driftlab.data.skeletons.ntu_names import CLASSES as NTU_CLASSES
from driftlab.data.skeletons.nucla import CLASSES as NUCLA_CLASSES
from driftlab.worlds.skeletons import motion as skeleton_motion
from driftlab.worlds.skeletons.actions import NTU, NUCLA
from driftlab.worlds.skeletons.motion import CAMERA_HEIGHT, View, perform, record, subject

STRAIGHT = View(0.0, 3.0)


def motion(action: str, seed: int = 0) -> np.ndarray:
    return perform(NUCLA[NUCLA_CLASSES.index(action)], subject(seed, 1), np.random.default_rng([seed, 9]))


def test_ten_actions_each():
    assert len(NUCLA) == len(NUCLA_CLASSES) == 10 and len(NTU) == len(NTU_CLASSES) == 10
    for action in (*NUCLA, *NTU):
        times = [at for at, _ in action.keys]
        assert times[0] == 0 and times[-1] == 1 and times == sorted(times)


def test_the_same_draws_give_the_same_motion():
    np.testing.assert_array_equal(motion("throw", 3), motion("throw", 3))
    assert not np.array_equal(motion("throw", 3), motion("throw", 4))


@pytest.mark.parametrize("seed", range(5))
def test_actions_are_what_they_are_called(seed):
    hips, wrists, head = 0, [6, 10], 3
    sit, stand = motion("sit down", seed), motion("stand up", seed)
    assert sit[0, hips, 1] - sit[-1, hips, 1] > 0.2
    assert stand[-1, hips, 1] - stand[0, hips, 1] > 0.2
    for name, hands in (("pick up with one hand", 1), ("pick up with two hands", 2)):
        low = (motion(name, seed)[:, wrists, 1].min(axis=0) < 0.55).sum()
        assert low >= hands
    for name in ("walk around", "carry"):
        track = motion(name, seed)[:, hips, [0, 2]]
        assert np.linalg.norm(track[-1] - track[0]) > 0.5
    throw = motion("throw", seed)
    assert (throw[:, wrists, 1].max(axis=0) > throw[:, head, 1].mean() - 0.35).any()
    assert motion("donning", seed).shape[0] > motion("sit down", seed).shape[0]


def test_left_handed_people_use_the_left_hand():
    action = dataclasses.replace(NUCLA[8], strolls=0)
    right = dataclasses.replace(subject(0, 1), left_handed=False)
    left = dataclasses.replace(right, left_handed=True)

    def highest(person: skeleton_motion.Subject) -> np.ndarray:
        return perform(action, person, np.random.default_rng(5))[:, [6, 10], 1].max(axis=0)

    assert highest(right)[1] > highest(right)[0]
    np.testing.assert_allclose(highest(left), highest(right)[::-1], atol=0.02)


def test_a_camera_turns_and_places(monkeypatch):
    for noise in ("_JITTER", "_DRIFT", "_OCCLUSIONS"):
        monkeypatch.setattr(skeleton_motion, noise, 0.0)
    moving = motion("drop trash")
    front = record(moving, STRAIGHT, np.random.default_rng(0))
    assert not front.inferred.any()
    offset = front.joints - moving
    np.testing.assert_allclose(offset, np.broadcast_to(offset[0, 0], offset.shape), atol=1e-9)
    assert offset[0, 0, 1] == pytest.approx(-CAMERA_HEIGHT)
    assert offset[0, 0, 2] == pytest.approx(3.0, abs=0.6)
    side = record(moving, View(np.pi / 2, 3.0), np.random.default_rng(0)).joints
    np.testing.assert_allclose(side[..., 0] - moving[..., 2], offset[0, 0, 0], atol=1e-9)


def test_noise_is_of_the_size_of_a_kinects():
    moving = motion("donning")
    seen = record(moving, STRAIGHT, np.random.default_rng(1))
    clean = ~seen.inferred
    offset = np.median((seen.joints - moving)[clean], axis=0)
    error = np.linalg.norm(seen.joints - moving - offset, axis=-1)
    assert 0.005 < np.median(error[clean]) < 0.08


def test_lost_limbs_are_marked_and_off(monkeypatch):
    for noise in ("_JITTER", "_DRIFT"):
        monkeypatch.setattr(skeleton_motion, noise, 0.0)
    monkeypatch.setattr(skeleton_motion, "_OCCLUSIONS", 3.0)
    moving = motion("donning")
    seen = record(moving, STRAIGHT, np.random.default_rng(2))
    error = np.linalg.norm(seen.joints - moving - (seen.joints - moving)[0, 0], axis=-1)
    assert seen.inferred.any() and not seen.inferred.all()
    assert (error[seen.inferred] > 1e-3).all() and (error[~seen.inferred] < 1e-9).all()
