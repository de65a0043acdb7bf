"""The frozen part's features of the test frames, computed once and kept in memory-mapped files."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from driftlab.models.detectors.stream_detector import Features, StreamFasterRCNN
from driftlab.training.detection.features import compute
from driftlab.training.detection.frames import Frames

SHAPES = "shapes.json"


class KeptFeatures:
    """The features of a set of images of one size, shared by all runs and evaluations.

    Args:
        folder: Where they lie, made on first use; two processes do not make them twice.
        detector: Whose frozen part computes them.
        frames: The images.
    """

    def __init__(self, folder: Path, detector: StreamFasterRCNN, frames: Frames) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if (levels := _opened(folder)) is None:
                shutil.rmtree(folder, ignore_errors=True)
                _make(folder, detector, frames)
                levels = _opened(folder)
        assert levels is not None
        self._levels = levels

    def __call__(self, image: int) -> Features:
        """The features of one image, each (1, C, H, W)."""
        return tuple(torch.from_numpy(level[image : image + 1].copy()) for level in self._levels)


class FreshFeatures:
    """The same, computed anew each time: for images of several sizes, and to compare."""

    def __init__(self, detector: StreamFasterRCNN, frames: Frames) -> None:
        self.detector, self.frames = detector, frames

    def __call__(self, image: int) -> Features:
        """The features of one image, each (1, C, H, W)."""
        return compute(self.detector, self.frames, image)


def _make(folder: Path, detector: StreamFasterRCNN, frames: Frames) -> None:
    with _renamed_when_done(folder) as making:
        levels: list[np.memmap[Any, np.dtype[np.float32]]] = []
        for image in range(len(frames.records)):
            for number, level in enumerate(compute(detector, frames, image)):
                if len(levels) == number:
                    shape = (len(frames.records), *level.shape[1:])
                    file = making / f"level{number}.npy"
                    levels.append(open_memmap(file, "w+", np.float32, shape))  # type: ignore[no-untyped-call]
                levels[number][image] = level[0].cpu().numpy()
        for kept in levels:
            kept.flush()
        shapes = [list(kept.shape) for kept in levels]
        (making / SHAPES).write_text(json.dumps(shapes), "utf-8")


@contextmanager
def _renamed_when_done(folder: Path) -> Iterator[Path]:
    making = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield making
        making.rename(folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _opened(folder: Path) -> list[NDArray[np.float32]] | None:
    """The files, or None where they are not complete."""
    try:
        shapes = json.loads((folder / SHAPES).read_text("utf-8"))
        levels = [np.load(folder / f"level{i}.npy", mmap_mode="r") for i in range(len(shapes))]
    except (OSError, EOFError, TypeError, ValueError):
        return None
    return levels if levels and [list(level.shape) for level in levels] == shapes else None
