"""A cache on disk of the frozen part's features of the test frames."""

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
        folder: Folder of the cache, filled on first use; a lock prevents two processes from filling it both.
        detector: Its frozen part computes the features.
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
                    shutil.rmtree(half_made, ignore_errors=True)  # left by a killed process
                if (levels := _open_levels(folder)) is None:
                    shutil.rmtree(folder, ignore_errors=True)
                    _write_levels(folder, detector, frames)
                    levels = _open_levels(folder)
        except OSError as error:
            raise StoreError(
                f"The features of the test frames cannot be kept in {folder} ({error.strerror or error}). "
                "Free some space, make the folder writable, or set DRIFTLAB_OUTPUTS to another one; with the "
                "parameter `cached` at False they are computed at every evaluation instead."
            ) from error
        assert levels is not None
        self._levels = levels

    def __call__(self, image: int) -> Features:
        """The features of one image, each (1, C, H, W); damaged ones are computed again."""
        levels = [level.read(image) for level in self._levels]
        if any(level is None for level in levels):
            return compute(self._detector, self._frames, image)
        return tuple(torch.from_numpy(level) for level in levels)


class FreshFeatures:
    """Computes features at each call, without a cache: for images of several sizes, and for comparison."""

    def __init__(self, detector: StreamFasterRCNN, frames: Frames) -> None:
        self.detector, self.frames = detector, frames

    def __call__(self, image: int) -> Features:
        """The features of one image, each (1, C, H, W)."""
        return compute(self.detector, self.frames, image)


@dataclass(frozen=True)
class _Level:
    """One feature level of all images, in a `.npy` file.

    The file is read, not memory-mapped: mapped pages would count as this process's memory and grow with the
    stream.
    """

    file: Path
    shape: tuple[int, ...]
    start: int
    checksums: Sequence[int]

    def read(self, image: int) -> NDArray[np.float32] | None:
        """Features (1, C, H, W) of one image; None if the file is missing or its checksum is wrong."""
        count = prod(self.shape[1:])
        try:
            values = np.fromfile(self.file, np.float32, count, offset=self.start + 4 * count * image)
        except OSError:  # the file was removed
            return None
        if zlib.crc32(values.tobytes()) != self.checksums[image]:
            return None
        return values.reshape(1, *self.shape[1:])


def _write_levels(folder: Path, detector: StreamFasterRCNN, frames: Frames) -> None:
    """Compute the features of all images and write them with their checksums."""
    with whole_folder(folder) as new_folder, ExitStack() as open_files:
        files: list[BinaryIO] = []
        shapes: list[list[int]] = []
        checksums: list[list[int]] = []
        for image in range(len(frames.records)):
            for number, level in enumerate(compute(detector, frames, image)):
                values = level[0].float().cpu().numpy()
                if len(files) == number:
                    shapes.append([len(frames.records), *values.shape])
                    checksums.append([])
                    files.append(open_files.enter_context((new_folder / f"level{number}.npy").open("wb")))
                    header = {"descr": "<f4", "fortran_order": False, "shape": tuple(shapes[-1])}
                    write_array_header_1_0(files[-1], header)  # type: ignore[no-untyped-call]
                raw = values.tobytes()
                files[number].write(raw)
                checksums[number].append(zlib.crc32(raw))
        for file in files:
            file.flush()
            os.fsync(file.fileno())
        (new_folder / SHAPES).write_text(json.dumps([shapes, checksums]), "utf-8")


def _open_levels(folder: Path) -> list[_Level] | None:
    """Open the levels of a cache; None if it is missing or incomplete."""
    try:
        shapes, checksums = json.loads((folder / SHAPES).read_text("utf-8"))
        files = [folder / f"level{i}.npy" for i in range(len(shapes))]
        mapped = [np.load(file, mmap_mode="r") for file in files]
        complete = (
            [list(level.shape) for level in mapped] == shapes
            and [len(level_checksums) for level_checksums in checksums] == [len(level) for level in mapped]
            and all(level.dtype == np.float32 for level in mapped)
        )
    except (OSError, EOFError, TypeError, ValueError):
        return None
    if not mapped or not complete:
        return None
    return [
        _Level(file, level.shape, level.offset, level_checksums)
        for file, level, level_checksums in zip(files, mapped, checksums, strict=True)
    ]
