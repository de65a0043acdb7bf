"""Strips of skeletons."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import ParameterError
from driftlab.papers.cgl.skeleton_figures import BODIES, skeleton_strips
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BONES = [(0, 1), (1, 2), (1, 3)]


def walk(frames: int, bodies: int = 1) -> np.ndarray:
    """A body of four joints that walks 5 m to the right; a second one stands beside it."""
    joints = np.array([[0, 0, 2], [0, 1, 2], [-0.3, 1.4, 2], [0.3, 1.4, 2]], dtype=np.float32)
    sequence = np.tile(joints, (frames, bodies, 1, 1))
    sequence[..., 0] += np.linspace(0, 5, frames)[:, None, None]
    sequence[:, 1:, :, 0] += 1
    return sequence


def joints_of(axis: Axes) -> np.ndarray:
    return np.concatenate([np.asarray(one.get_offsets()) for one in axis.collections])


def test_each_strip_shows_its_frames_side_by_side() -> None:
    figure = skeleton_strips([walk(50), walk(1)], ["walk", "stand"], BONES, frames=5)
    assert isinstance(figure, Figure)
    first, second = figure.axes
    assert [axis.get_title(loc="left") for axis in (first, second)] == ["walk (50 frames)", "stand (1 frame)"]
    assert len(first.collections) == 5 and len(second.collections) == 1
    assert len(first.get_lines()) == 5 * len(BONES)
    # The walker stays in its place of the strip although it moves 5 m.
    centres = [np.asarray(one.get_offsets())[:, 0].mean() for one in first.collections]
    assert np.diff(centres) == pytest.approx([0.66] * 4, abs=1e-3)  # 1.1 times a body's 0.6 m
    assert joints_of(first)[:, 1].min() == pytest.approx(0.0)


def test_an_absent_body_is_not_drawn() -> None:
    sequence = walk(4, bodies=2)
    sequence[2:, 1] = 0
    figure = skeleton_strips([sequence], ["meet"], BONES, frames=4)
    colours = [line.get_color() for line in figure.axes[0].get_lines()]
    assert colours.count(BODIES[0]) == 4 * len(BONES)
    assert colours.count(BODIES[1]) == 2 * len(BONES)


def test_an_empty_sequence_of_bodies_draws_an_empty_strip() -> None:
    figure = skeleton_strips([np.zeros((3, 1, 4, 3), dtype=np.float32)], ["nobody"], BONES)
    assert not figure.axes[0].get_lines()


def test_names_must_fit() -> None:
    with pytest.raises(ParameterError, match="1 sequences and 2 names"):
        skeleton_strips([walk(3)], ["a", "b"], BONES)
    with pytest.raises(ParameterError, match="0 sequences and 0 names"):
        skeleton_strips([], [], BONES)


def test_real_skeletons_stand_upright(real_data: Path) -> None:
    files = sorted((real_data / "nucla" / "all_sqe").glob("a01_s01_*.json"))
    if not files:
        pytest.skip("no N-UCLA sequences in the real data folder")
    frames = np.asarray(json.loads(files[0].read_text())["skeletons"], dtype=np.float32)
    figure = skeleton_strips([frames[:, None]], ["pick up with one hand"], [(0, 1), (1, 2), (2, 3)])
    first = np.asarray(figure.axes[0].collections[0].get_offsets())
    head, hips = first[3], first[0]
    assert head[1] > hips[1]
