"""The frozen part's features of the test frames, computed once and kept in files."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from filelock import FileLock
from numpy.lib.format import write_array_header_1_0
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
        return tuple(torch.from_numpy(level.read(image)) for level in self._levels)


class FreshFeatures:
    """The same, computed anew each time: for images of several sizes, and to compare."""

    def __init__(self, detector: StreamFasterRCNN, frames: Frames) -> None:
        self.detector, self.frames = detector, frames

    def __call__(self, image: int) -> Features:
        """The features of one image, each (1, C, H, W)."""
        return compute(self.detector, self.frames, image)


@dataclass(frozen=True)
class _Level:
    """One level of all images, in a `.npy` file.

    It is read and not mapped: mapped pages count as this process's memory, the more the longer a stream is.
    """

    file: Path
    shape: tuple[int, ...]
    start: int

    def read(self, image: int) -> NDArray[np.float32]:
        count = prod(self.shape[1:])
        values = np.fromfile(self.file, np.float32, count, offset=self.start + 4 * count * image)
        return values.reshape(1, *self.shape[1:])


def _make(folder: Path, detector: StreamFasterRCNN, frames: Frames) -> None:
    with _renamed_when_done(folder) as making, ExitStack() as opened:
        files: list[BinaryIO] = []
        shapes: list[list[int]] = []
        for image in range(len(frames.records)):
            for number, level in enumerate(compute(detector, frames, image)):
                values = level[0].float().cpu().numpy()
                if len(files) == number:
                    shapes.append([len(frames.records), *values.shape])
                    files.append(opened.enter_context((making / f"level{number}.npy").open("wb")))
                    header = {"descr": "<f4", "fortran_order": False, "shape": tuple(shapes[-1])}
                    write_array_header_1_0(files[-1], header)  # type: ignore[no-untyped-call]
                files[number].write(values.tobytes())
        (making / SHAPES).write_text(json.dumps(shapes), "utf-8")


@contextmanager
def _renamed_when_done(folder: Path) -> Iterator[Path]:
    making = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield making
        making.rename(folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _opened(folder: Path) -> list[_Level] | None:
    """The levels, or None where they are not complete."""
    try:
        shapes = json.loads((folder / SHAPES).read_text("utf-8"))
        files = [folder / f"level{i}.npy" for i in range(len(shapes))]
        mapped = [np.load(file, mmap_mode="r") for file in files]
    except (OSError, EOFError, TypeError, ValueError):
        return None
    if not mapped or [list(level.shape) for level in mapped] != shapes:
        return None
    return [_Level(file, level.shape, level.offset) for file, level in zip(files, mapped, strict=True)]
