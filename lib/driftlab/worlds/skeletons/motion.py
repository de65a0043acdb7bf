"""Synthetic motion of skeletons: subjects perform actions, and cameras record them with a Kinect's noise.

Random draws depend on the world's seed and the recording's numbers only: two cameras that record one
execution record the same motion, and a world of more sequences contains the smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab.worlds.skeletons.actions import REST, Action, Pose
from driftlab.worlds.skeletons.body import Controls, Floats, joints, turn

VERSION = 1  # raise it when a change alters a world's files
CAMERA_HEIGHT = 1.0  # metres above the ground

_STRIDE = 0.42  # body heights per step
_ARMS, _LEGS = ((4, 5, 6, 7, 21, 22), (8, 9, 10, 11, 23, 24)), ((13, 14, 15), (17, 18, 19))
_JITTER = 0.008  # metres, independent in every frame
_DRIFT = 0.02  # metres, slowly varying
_OCCLUSION_ERROR = 0.12  # metres, standard deviation of a hidden limb's error
_OCCLUSIONS = 0.8  # hidden limbs per recording, on average


@dataclass(frozen=True)
class Subject:
    """A person: size, proportions (trunk, arms, legs), and a way of moving.

    Attributes:
        height: Metres.
        proportions: (3,) factors.
        tempo: Factor of durations.
        reach: Factor of the distance between poses and rest.
        manner: (10,) offset of all poses.
        left_handed: Whether the person uses the left hand for one-handed actions.
        heading: The person's usual rotation away from the middle camera, radians.
    """

    height: float
    proportions: Floats
    tempo: float
    reach: float
    manner: Floats
    left_handed: bool
    heading: float


@dataclass(frozen=True)
class View:
    """Position of a camera: rotation about the subject in radians, distance in metres."""

    yaw: float
    distance: float


@dataclass(frozen=True)
class Recording:
    """A camera's recording: joints (T, 25, 3) in metres (x, y up, z depth); which are inferred (T, 25)."""

    joints: Floats
    inferred: NDArray[np.bool_]


def subject(seed: int, number: int) -> Subject:
    """Draw the person of this number in the world of this seed."""
    rng = np.random.default_rng([seed, 0, number])
    return Subject(
        height=float(rng.uniform(1.55, 1.92)),
        proportions=rng.normal(1, 0.05, 3),
        tempo=float(np.exp(rng.normal(0, 0.15))),
        reach=float(rng.normal(1, 0.08)),
        manner=rng.normal(0, [*[0.025] * 6, 0.01, 0.01, 0.05, 0.05]),
        left_handed=bool(rng.random() < 0.2),
        heading=float(rng.normal(0, 0.25)),
    )


def perform(action: Action, person: Subject, rng: np.random.Generator) -> Floats:
    """Draw one execution of an action: joints (T, 25, 3) in metres, facing -z where the heading is 0."""
    frames = max(8, round(action.frames * person.tempo * np.exp(rng.normal(0, 0.2))))
    time = np.linspace(rng.uniform(0, 0.12), rng.uniform(0.88, 1), frames)
    poses = _poses(action, person, time, rng)
    walk = action.walk * rng.uniform(0.7, 1.3)
    if action.walk == 0 and rng.random() < action.strolls:
        walk = rng.uniform(0.3, 0.9)
    distance = walk * (time - time[0])
    heading = person.heading + rng.normal(0, 0.2) + rng.normal(0, 0.9) * time * min(walk, 1)
    if walk > 0:
        heading = heading + rng.uniform(-1.2, 1.2)
    steps = np.diff(distance, prepend=0)
    place = np.cumsum(np.stack([-np.sin(heading) * steps, -np.cos(heading) * steps], axis=1), axis=0)
    place -= place.mean(axis=0)  # a walker passes the place where others stand
    feet, swing = _gait(distance, walk, rng.uniform(0, 2 * np.pi))
    hands = poses[:, :6].reshape(frames, 2, 3).copy()
    hanging = np.clip((0.62 - hands[..., 1]) / 0.1, 0, 1)  # only arms that hang swing
    hands[..., 2] += hanging * swing
    hands[..., 2] *= -1
    drop, back, lean, twist = poses[:, 6:].T
    controls = Controls(place, heading, drop, back, lean, twist, hands, feet)
    return joints(controls, person.proportions) * person.height


def record(motion: Floats, view: View, rng: np.random.Generator) -> Recording:
    """Record a motion with a camera: rotated, at its distance, with jitter, drift and hidden limbs."""
    frames = len(motion)
    observed = turn(motion, view.yaw)
    observed[..., 1] -= CAMERA_HEIGHT
    observed[..., 0] += rng.normal(0, 0.25)
    observed[..., 2] += view.distance + rng.normal(0, 0.15)
    inferred = np.zeros((frames, 25), dtype=bool)
    drift_knots = rng.normal(0, 1, (frames // 8 + 3, 25, 3))
    knots = np.linspace(0, len(drift_knots) - 1.001, frames)
    fraction = (knots % 1)[:, None, None]
    drift = drift_knots[knots.astype(int)] * (1 - fraction) + drift_knots[knots.astype(int) + 1] * fraction
    observed += _DRIFT * drift + rng.normal(0, _JITTER, observed.shape)
    for _ in range(rng.poisson(_OCCLUSIONS)):
        limb = list((*_ARMS, *_LEGS)[rng.integers(4)])
        duration = int(rng.integers(frames // 5 + 1, frames // 2 + 2))
        start = int(rng.integers(0, max(1, frames - duration)))
        hidden_frames = slice(start, start + duration)
        observed[hidden_frames, limb] += rng.normal(0, _OCCLUSION_ERROR, 3)
        inferred[hidden_frames, limb] = True
    return Recording(observed, inferred)


def _poses(action: Action, person: Subject, time: Floats, rng: np.random.Generator) -> Floats:
    """Interpolate the key poses of an action.

    Returns:
        (T, 10): left and right wrist (right, up, forward), drop, back, lean, twist.
    """
    times = np.array([at for at, _ in action.keys], dtype=float)
    times[1:-1] += rng.normal(0, 0.04, len(times) - 2)
    times = np.maximum.accumulate(np.clip(times, 0, 1))
    keys = np.stack([_vector(pose) for _, pose in action.keys])
    reach = person.reach * rng.normal(1, 0.1)
    keys = _vector(REST) + reach * (keys - _vector(REST)) + person.manner
    keys[:, :6] += rng.normal(0, 0.03, (len(keys), 6))
    keys[:, 8:] += rng.normal(0, 0.06, (len(keys), 2))
    segment = np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 2)
    width = np.maximum(times[segment + 1] - times[segment], 1e-6)
    fraction = np.clip((time - times[segment]) / width, 0, 1)
    ease = (fraction**3 * (10 - 15 * fraction + 6 * fraction**2))[:, None]  # minimum jerk
    poses = np.asarray(keys[segment] * (1 - ease) + keys[segment + 1] * ease)
    window = np.clip(np.minimum(time - 0.2, 0.9 - time) / 0.1, 0, 1)
    beat = window * np.sin(2 * np.pi * action.cycles * rng.uniform(0.8, 1.2) * time + rng.uniform(0, 6.28))
    poses[:, 3:6] += np.outer(beat, action.shake)
    if action.both:
        poses[:, :3] += np.outer(beat, action.shake) * (-1, 1, 1)
    return _mirrored(poses) if person.left_handed else poses


def _gait(distance: Floats, walk: float, phase: float) -> tuple[Floats, Floats]:
    """Ankle positions (T, 2, 3) and forward swing of hanging hands (T, 2) for a distance walked (T,)."""
    sides = np.array([0, np.pi])
    angle = phase + np.pi * distance[:, None] / _STRIDE + sides
    stride = min(walk, 1) * _STRIDE / 2
    feet = np.zeros((len(distance), 2, 3))
    feet[..., 0] = (-0.06, 0.06)
    feet[..., 1] = 0.04 + 0.05 * min(walk, 1) * np.maximum(np.cos(angle), 0)
    feet[..., 2] = -stride * np.sin(angle)
    return feet, -0.6 * stride * np.sin(angle)


def _vector(pose: Pose) -> Floats:
    """A pose as a vector (10,), in the order of `_poses`."""
    return np.array([*pose.left, *pose.right, pose.drop, pose.back, pose.lean, pose.twist])


def _mirrored(poses: Floats) -> Floats:
    """Poses (T, 10) with left and right exchanged."""
    mirrored = poses[:, [3, 4, 5, 0, 1, 2, 6, 7, 8, 9]].copy()
    mirrored[:, [0, 3, 9]] *= -1
    return mirrored
