"""The walker's camera: how it moves, and where points in space come in its picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FOCAL = 1.15
"""Focal length, in sides of the picture."""
_HEIGHT = 1.5  # metres
_HORIZON = 0.42  # of the picture's height, from the top
_PACE = (0.5, 1.4)  # metres from one frame to the next, which comes two seconds later


@dataclass(frozen=True)
class Camera:
    """Position and direction of the camera in one frame.

    Attributes:
        x: Metres right of the middle of the way.
        y: Metres above the ground.
        z: Metres along the way.
        yaw: Radians to the right.
        pitch: Sides of the picture by which the horizon is lower than usual.
        sweep: Radians a frame by which the camera turns, which blurs.
    """

    x: float
    y: float
    z: float
    yaw: float
    pitch: float
    sweep: float

    def project(self, points: Floats) -> tuple[Floats, Floats]:
        """Points (..., 3) in metres as (..., 2) in sides of the picture, and their depth (...) in metres."""
        x, z = points[..., 0] - self.x, points[..., 2] - self.z
        across = x * np.cos(self.yaw) - z * np.sin(self.yaw)
        depth = x * np.sin(self.yaw) + z * np.cos(self.yaw)
        safe = np.maximum(depth, 1e-3)
        u = 0.5 + FOCAL * across / safe
        v = self.horizon + FOCAL * (self.y - points[..., 1]) / safe
        return np.stack([u, v], axis=-1), depth

    @property
    def horizon(self) -> float:
        """Height of the horizon below the picture's top, as a share of the picture's side."""
        return _HORIZON + self.pitch


def walk(frames: int, start: float, draw: np.random.Generator) -> list[Camera]:
    """A clip's cameras: a walk with pauses, sways and bobs, glances to the sides and back."""
    pace, z, yaw, glance = draw.uniform(*_PACE), start, 0.0, 0.0
    cameras = []
    for frame in range(frames):
        if draw.random() < 0.15:
            pace = draw.choice([0.0, *draw.uniform(*_PACE, 4)])
        if draw.random() < 0.12:
            glance = draw.choice([-1, 1]) * draw.uniform(0.25, 0.6)
        glance *= 0.75
        turned = 0.6 * yaw + 0.4 * glance + draw.normal(0, 0.04)
        stride = 2 * np.pi * draw.random()  # frames are too far apart for steps to be in phase
        cameras.append(
            Camera(
                x=0.35 * np.sin(frame / 7 + start) + 0.03 * np.sin(stride),
                y=_HEIGHT + 0.04 * np.cos(2 * stride),
                z=z,
                yaw=turned,
                pitch=float(draw.normal(0, 0.02)) + 0.01 * np.sin(2 * stride),
                sweep=turned - yaw + float(draw.normal(0, 0.02)),
            )
        )
        z, yaw = z + float(pace), turned
    return cameras
