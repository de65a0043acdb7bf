"""The frozen part's features of the test frames, computed once and cached in files."""

from __future__ import annotations

import glob
import json
import os
import shutil
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from filelock import FileLock
from numpy.lib.format import write_array_header_1_0
from numpy.typing import NDArray

from driftlab.core.errors import StoreError
from driftlab.core.files import whole_folder
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.detectors.stream_loss import Features
from driftlab.training.detection.features import compute
from driftlab.training.detection.frames import Frames

SHAPES = "shapes.json"


class KeptFeatures:
    """The features of a set of images of one size, shared by all runs and evaluations.

    Args:
        folder: Folder of the cache, made on first use; a lock keeps two processes from making it twice.
        detector: Its frozen part computes them.
        frames: The images.

    Raises:
        StoreError: The cache cannot be written.
    """

    def __init__(self, folder: Path, detector: StreamFasterRCNN, frames: Frames) -> None:
        self._detector, self._frames = detector, frames
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{folder}.lock"):
                for half_made in folder.parent.glob(f".{glob.escape(folder.name)}-*"):
                    shutil.rmtree(half_made, ignore_errors=True)  # a kill has left it
                if (levels := _opened(folder)) is None:
                    shutil.rmtree(folder, ignore_errors=True)
                    _make(folder, detector, frames)
                    levels = _opened(folder)
        except OSError as error:
            raise StoreError(
                f"The features of the test frames cannot be kept in {folder} ({error.strerror or error}). "
                "Free some space, make the folder writable, or set DRIFTLAB_OUTPUTS to another one; with the "
                "parameter `cached` at False they are computed at every evaluation instead."
            ) from error
        assert levels is not None
        self._levels = levels

    def __call__(self, image: int) -> Features:
        """The features of one image, each (1, C, H, W); damaged ones are computed anew."""
        levels = [level.read(image) for level in self._levels]
        if any(level is None for level in levels):
            return compute(self._detector, self._frames, image)
        return tuple(torch.from_numpy(level) for level in levels)


class FreshFeatures:
    """The features of images without a cache: for images of several sizes, and to compare with."""

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
    checksums: Sequence[int]

    def read(self, image: int) -> NDArray[np.float32] | None:
        """One image's, or None where the file does not hold what was written."""
        count = prod(self.shape[1:])
        try:
            values = np.fromfile(self.file, np.float32, count, offset=self.start + 4 * count * image)
        except OSError:  # somebody has removed it
            return None
        if zlib.crc32(values.tobytes()) != self.checksums[image]:
            return None
        return values.reshape(1, *self.shape[1:])


def _make(folder: Path, detector: StreamFasterRCNN, frames: Frames) -> None:
    with whole_folder(folder) as making, ExitStack() as opened:
        files: list[BinaryIO] = []
        shapes: list[list[int]] = []
        checksums: list[list[int]] = []
        for image in range(len(frames.records)):
            for number, level in enumerate(compute(detector, frames, image)):
                values = level[0].float().cpu().numpy()
                if len(files) == number:
                    shapes.append([len(frames.records), *values.shape])
                    checksums.append([])
                    files.append(opened.enter_context((making / f"level{number}.npy").open("wb")))
                    header = {"descr": "<f4", "fortran_order": False, "shape": tuple(shapes[-1])}
                    write_array_header_1_0(files[-1], header)  # type: ignore[no-untyped-call]
                raw = values.tobytes()
                files[number].write(raw)
                checksums[number].append(zlib.crc32(raw))
        for file in files:
            file.flush()
            os.fsync(file.fileno())
        (making / SHAPES).write_text(json.dumps([shapes, checksums]), "utf-8")


def _opened(folder: Path) -> list[_Level] | None:
    """The levels, or None where they are not complete."""
    try:
        shapes, checksums = json.loads((folder / SHAPES).read_text("utf-8"))
        files = [folder / f"level{i}.npy" for i in range(len(shapes))]
        mapped = [np.load(file, mmap_mode="r") for file in files]
        whole = (
            [list(level.shape) for level in mapped] == shapes
            and [len(one) for one in checksums] == [len(level) for level in mapped]
            and all(level.dtype == np.float32 for level in mapped)
        )
    except (OSError, EOFError, TypeError, ValueError):
        return None
    if not mapped or not whole:
        return None
    return [
        _Level(file, level.shape, level.offset, own)
        for file, level, own in zip(files, mapped, checksums, strict=True)
    ]
