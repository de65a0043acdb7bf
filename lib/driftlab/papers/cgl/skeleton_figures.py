"""Skeleton sequences as strips of frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from driftlab.core.errors import ParameterError
from driftlab.reporting.style import panels, styled

ORIGIN = np.zeros((1, 3), dtype=np.float32)
BODIES = ("#0072b2", "#d55e00")


@styled
def skeleton_strips(
    sequences: Sequence[npt.NDArray[np.float32]],
    names: Sequence[str],
    bones: Sequence[tuple[int, int]],
    *,
    frames: int = 7,
) -> Figure:
    """One sequence a class as a strip of frames from first to last, from the front (x right, y up).

    All strips have one scale. Each frame is centred sideways, so walking does not leave its place.

    Args:
        sequences: Each (T, M, V, 3): frames, bodies, joints, metres; an absent body is all zeros.
        names: One a sequence.
        bones: Pairs of joints.
        frames: How many frames a strip shows; a shorter sequence shows all it has.

    Raises:
        ParameterError: Nothing to show, or not one name per sequence.
    """
    if not sequences or len(sequences) != len(names):
        raise ParameterError(
            f"{len(sequences)} sequences and {len(names)} names; give one name per sequence."
        )
    centred = [_centred(sequence, frames) for sequence in sequences]
    joints = np.concatenate([ORIGIN, *(frame.reshape(-1, 3) for strip in centred for frame in strip)])
    step = 1.1 * max(float(np.ptp(joints[:, 0])), 0.1)
    height = max(float(np.ptp(joints[:, 1])), 0.1)
    width = step * max(map(len, centred))
    figure, axes = panels(len(sequences), columns=2, size=(4.6, 4.6 * height / width + 0.35), share=False)
    for axis, strip, sequence, name in zip(axes, centred, sequences, names, strict=True):
        for place, bodies in enumerate(strip):
            for body, points in enumerate(bodies):
                x, y = points[:, 0] + place * step, points[:, 1]
                ends = np.asarray(bones)
                axis.plot(x[ends].T, y[ends].T, color=BODIES[body % len(BODIES)], lw=1.2)
                axis.scatter(x, y, s=3, color="black", zorder=3, lw=0)
        axis.set(xlim=(-step / 2, width - step / 2), ylim=(-0.03 * height, 1.03 * height))
        axis.set_aspect("equal")
        axis.set_axis_off()
        axis.set_title(
            f"{name} ({len(sequence)} frame{'' if len(sequence) == 1 else 's'})", loc="left", fontsize=9
        )
    return figure


def _centred(sequence: npt.NDArray[np.float32], frames: int) -> list[npt.NDArray[np.float32]]:
    """Evenly spaced frames, each (bodies present, V, 3), centred sideways, the strip's lowest joint at 0."""
    shown = sequence[np.unique(np.linspace(0, len(sequence) - 1, frames).astype(int))]
    strip = [frame[np.abs(frame).sum(axis=(1, 2)) > 0] for frame in shown]
    ground = min((float(frame[..., 1].min()) for frame in strip if len(frame)), default=0.0)
    return [
        frame - np.array([frame[..., 0].mean() if len(frame) else 0.0, ground, 0.0], dtype=np.float32)
        for frame in strip
    ]
