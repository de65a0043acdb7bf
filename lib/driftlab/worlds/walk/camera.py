"""The walking person's camera: its path, and the projection of 3-D points into the image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FOCAL = 1.15
"""Focal length, as a multiple of the image's side."""
_CAMERA_HEIGHT = 1.5  # metres
_HORIZON = 0.42  # from the top, as a share of the image's height
_SPEED_RANGE = (0.5, 1.4)  # metres per frame; frames are two seconds apart


@dataclass(frozen=True)
class Camera:
    """Position and orientation of the camera in one frame.

    Attributes:
        x: Metres right of the path's centre line.
        y: Metres above the ground.
        z: Metres along the path.
        yaw: Rotation to the right, in radians.
        pitch: Downward shift of the horizon, as a share of the image's side.
        turn_rate: Rotation in radians per frame, which causes motion blur.
    """

    x: float
    y: float
    z: float
    yaw: float
    pitch: float
    turn_rate: float

    def project(self, points: Floats) -> tuple[Floats, Floats]:
        """Project points (..., 3) in metres into the image.

        Returns:
            Image coordinates (..., 2) as shares of the image's side, from its top left corner, and the
            depths (...) in metres.
        """
        x, z = points[..., 0] - self.x, points[..., 2] - self.z
        sideways = x * np.cos(self.yaw) - z * np.sin(self.yaw)
        depth = x * np.sin(self.yaw) + z * np.cos(self.yaw)
        safe_depth = np.maximum(depth, 1e-3)
        u = 0.5 + FOCAL * sideways / safe_depth
        v = self.horizon + FOCAL * (self.y - points[..., 1]) / safe_depth
        return np.stack([u, v], axis=-1), depth

    @property
    def horizon(self) -> float:
        """Distance of the horizon from the top of the image, as a share of the image's side."""
        return _HORIZON + self.pitch


def walk(frames: int, start: float, rng: np.random.Generator) -> list[Camera]:
    """Simulate the camera of a clip: a walk with pauses, gait movement and glances to the sides.

    Args:
        frames: Number of frames.
        start: Position along the path in the first frame, in metres.
        rng: Source of random numbers.
    """
    speed, z, yaw, glance = rng.uniform(*_SPEED_RANGE), start, 0.0, 0.0
    cameras = []
    for frame in range(frames):
        if rng.random() < 0.15:
            speed = rng.choice([0.0, *rng.uniform(*_SPEED_RANGE, 4)])
        if rng.random() < 0.12:
            glance = rng.choice([-1, 1]) * rng.uniform(0.25, 0.6)
        glance *= 0.75
        next_yaw = 0.6 * yaw + 0.4 * glance + rng.normal(0, 0.04)
        gait_phase = 2 * np.pi * rng.random()  # random, as frames are several steps apart
        cameras.append(
            Camera(
                x=0.35 * np.sin(frame / 7 + start) + 0.03 * np.sin(gait_phase),
                y=_CAMERA_HEIGHT + 0.04 * np.cos(2 * gait_phase),
                z=z,
                yaw=next_yaw,
                pitch=float(rng.normal(0, 0.02)) + 0.01 * np.sin(2 * gait_phase),
                turn_rate=next_yaw - yaw + float(rng.normal(0, 0.02)),
            )
        )
        z, yaw = z + float(speed), next_yaw
    return cameras
