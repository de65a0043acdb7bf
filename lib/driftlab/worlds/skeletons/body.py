"""Kinematics of a stick figure: a few controls per frame give the 25 joints of Kinect v2 (or 20 of v1).

Lengths are in body heights. x points to the person's right, y up, z backwards; the ground is y = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

# Kinect v1's 20 joints among v2's 25: hip centre, spine, shoulder centre, head, then the limbs alike.
V1_OF_V2 = (0, 1, 20, 3, *range(4, 20))

HIPS, SHOULDERS, NECK, HEAD = 0.53, 0.29, 0.05, 0.12  # hips above the ground, then each above the one before
SHOULDER, HIP = 0.11, 0.055  # half widths
UPPER_ARM, FOREARM, HAND = 0.17, 0.15, 0.05
THIGH, SHANK, FOOT = 0.25, 0.25, 0.09


@dataclass(frozen=True)
class Controls:
    """The pose of a body in every frame (T frames), before it is turned and placed.

    Attributes:
        place: (T, 2) ground position x, z of the origin that hands, hips and feet are relative to.
        heading: (T,) radians about the vertical axis.
        drop: (T,) distance of the hips below their standing height.
        back: (T,) distance of the hips behind the feet.
        lean: (T,) forward bend of the trunk, radians.
        twist: (T,) rotation of the shoulders against the hips, radians.
        hands: (T, 2, 3) target positions of the left and the right wrist, relative to `place` and heading.
        feet: (T, 2, 3) target positions of the left and the right ankle, likewise.
    """

    place: Floats
    heading: Floats
    drop: Floats
    back: Floats
    lean: Floats
    twist: Floats
    hands: Floats
    feet: Floats


def joints(controls: Controls, proportions: Floats) -> Floats:
    """Joint positions (T, 25, 3) of a body whose trunk, arms and legs are scaled by `proportions` (3,)."""
    trunk, arms, legs = proportions
    frames = len(controls.drop)
    base = np.stack([np.zeros(frames), HIPS * legs - controls.drop, controls.back], axis=1)
    up = np.stack([np.zeros(frames), np.cos(controls.lean), -np.sin(controls.lean)], axis=1)
    across = np.stack([np.cos(controls.twist), np.zeros(frames), np.sin(controls.twist)], axis=1)
    body: Floats = np.zeros((frames, 25, 3))
    body[:, 0] = base
    body[:, 1] = base + up * SHOULDERS * trunk / 2
    body[:, 20] = chest = base + up * SHOULDERS * trunk
    body[:, 2] = chest + up * NECK
    body[:, 3] = body[:, 2] + up * HEAD * 0.6
    for side, sign in enumerate((-1, 1)):
        shoulder = chest + sign * across * SHOULDER * trunk - up * 0.02
        outward = np.array([sign * 0.5, -0.6, 0.6])
        elbow, wrist = reach(
            shoulder, controls.hands[:, side], UPPER_ARM * arms, FOREARM * arms, np.tile(outward, (frames, 1))
        )
        along = _unit(wrist - elbow)
        first = 4 + 4 * side
        body[:, first], body[:, first + 1], body[:, first + 2] = shoulder, elbow, wrist
        body[:, first + 3] = hand = wrist + along * HAND
        body[:, 21 + 2 * side] = hand + along * HAND * 0.8
        body[:, 22 + 2 * side] = hand + np.array([-sign * 0.02, 0, -0.015])
        hip = base + np.array([sign * HIP, -0.01, 0])
        forward = np.array([sign * 0.1, 0, -1.0])
        knee, ankle = reach(
            hip, controls.feet[:, side], THIGH * legs, SHANK * legs, np.tile(forward, (frames, 1))
        )
        first = 12 + 4 * side
        body[:, first], body[:, first + 1], body[:, first + 2] = hip, knee, ankle
        body[:, first + 3] = ankle + np.array([0, -0.03, -FOOT])
    body = turn(body, controls.heading)
    body[..., 0] += controls.place[:, None, 0]
    body[..., 2] += controls.place[:, None, 1]
    return body


def reach(root: Floats, target: Floats, first: float, second: float, pole: Floats) -> tuple[Floats, Floats]:
    """Inverse kinematics of a limb of two bones: the positions of its middle and end joint, all (T, 3).

    The limb starts at `root` and reaches for `target`; the middle joint bends towards `pole`. A target that
    is out of reach is approached as far as the lengths `first` and `second` allow.
    """
    offset = target - root
    distance = np.linalg.norm(offset, axis=1, keepdims=True)
    along = _unit(np.where(distance > 1e-9, offset, (0, -1, 0)))
    span = np.clip(distance, abs(first - second) + 1e-3, (first + second) * 0.999)
    foot = (span**2 + first**2 - second**2) / (2 * span)
    bend = _unit(pole - (pole * along).sum(axis=1, keepdims=True) * along)
    middle = root + along * foot + bend * np.sqrt(np.maximum(first**2 - foot**2, 0))
    return middle, root + along * span


def turn(points: Floats, angle: Floats | float) -> Floats:
    """Rotate points (T, V, 3) about the vertical axis by `angle`, (T,) or one number, in radians."""
    cos, sin = np.cos(np.atleast_1d(angle))[:, None], np.sin(np.atleast_1d(angle))[:, None]
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    return np.stack([cos * x + sin * z, y, cos * z - sin * x], axis=-1)


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))
