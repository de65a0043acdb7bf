"""OAK's tree of files: lists the frames in order, and checks that each has its labels."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from driftlab.core.errors import DataError
from driftlab.data.detection.images import SUFFIXES
from driftlab.data.files import entries

TRAIN = "OAK_TRAIN"
TEST = "OAK_TEST"
RAW = "Raw"
LABEL = "Label"

_REPAIR = "Complete the copy: each frame in Raw has a label file of the same name in Label, and vice versa."


@dataclass(frozen=True)
class Frame:
    """One frame: its name (with its step's, in training), its image file, and its label file."""

    name: str
    image: Path
    label: Path

    @property
    def time(self) -> tuple[int, ...]:
        """The numbers in the file's name; they order frames in time."""
        return _numbers(self.image.stem)


def training_frames(folder: Path) -> tuple[list[list[Frame]], list[Path]]:
    """The frames of each step in order, and the files that are ignored: neither images nor JSON.

    Args:
        folder: `OAK_TRAIN`.

    Raises:
        DataError: There is no frame; a step folder is missing, empty or not numbered; a frame has no labels,
            or labels have no frame.
    """
    raw, labels = folder / RAW, folder / LABEL
    steps = _numbered(raw)
    if not steps:
        raise DataError("The stream is empty: there is no step folder.", file=raw)
    missing = max(steps) - min(steps) + 1 - len(steps)
    if missing:
        # Never a list of all: a folder that is named by a date leaves a gap of billions.
        gaps = itertools.chain.from_iterable(range(a + 1, b) for a, b in itertools.pairwise(sorted(steps)))
        first = list(itertools.islice(gaps, 6))
        raise DataError(
            f"{missing} step folders are missing between {steps[min(steps)].name} and "
            f"{steps[max(steps)].name}: {_some(first)}.",
            file=raw,
            hint="Complete the copy; a stream with a gap would be another stream.",
        )
    unframed = sorted(set(_numbered(labels)) - set(steps)) if labels.is_dir() else []
    if unframed:
        raise DataError(
            f"There are labels of steps without frames: {_some(unframed)}.", file=labels, hint=_REPAIR
        )
    batches, ignored = [], []
    for number in sorted(steps):
        step = steps[number].name
        frames, others = _paired(raw / step, labels / step, f"{step}/")
        if not frames:
            raise DataError("This step has no frame.", file=raw / step, hint="Complete the copy.")
        batches.append(frames)
        ignored += others
    return batches, ignored


def test_frames(folder: Path) -> tuple[list[Frame], list[Path]]:
    """The held-out frames in order of time, and the files that are ignored, as for `training_frames`.

    Args:
        folder: `OAK_TEST`.

    Raises:
        DataError: There is no frame; a frame has no labels, or labels have no frame.
    """
    frames, ignored = _paired(folder / RAW, folder / LABEL, "")
    if not frames:
        raise DataError(
            "There is no test frame.", file=folder / RAW, hint="Evaluation needs them; complete the copy."
        )
    return frames, ignored


def _numbered(folder: Path) -> dict[int, Path]:
    """The step folders by their numbers."""
    steps: dict[int, Path] = {}
    for path in entries(folder):
        if not path.is_dir():
            continue
        numbers = _numbers(path.name)
        if len(numbers) != 1:
            raise DataError("A step folder's name must be its number, once.", file=path)
        if numbers[0] in steps:
            raise DataError(
                f"A step folder's name must be its number, once. {steps[numbers[0]].name} is the same step.",
                file=path,
            )
        steps[numbers[0]] = path
    return steps


def _paired(raw: Path, labels: Path, prefix: str) -> tuple[list[Frame], list[Path]]:
    """Frames in order of time, from a folder of images and one of labels; and the files of other kinds."""
    images, others = _files(raw, SUFFIXES)
    annotations, more = _files(labels, (".json",))
    for have, lack, what, place in (
        (images, annotations, "frames without labels", raw),
        (annotations, images, "labels without a frame", labels),
    ):
        alone = sorted(set(have) - set(lack))
        if alone:
            raise DataError(
                f"There are {len(alone)} {what}.", file=place, record=prefix + alone[0], hint=_REPAIR
            )
    order = sorted(images, key=lambda name: (_numbers(name), name))
    return [Frame(prefix + name, images[name], annotations[name]) for name in order], others + more


def _files(folder: Path, suffixes: tuple[str, ...]) -> tuple[dict[str, Path], list[Path]]:
    """The files with these suffixes by name without suffix, and the others."""
    files: dict[str, Path] = {}
    others = []
    for path in entries(folder):
        if path.suffix.lower() in suffixes:
            if path.stem in files:
                raise DataError(f"{files[path.stem].name} has the same name.", file=path)
            files[path.stem] = path
        else:
            others.append(path)
    return files, others


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", name))


def _some(numbers: Iterable[int]) -> str:
    listed = [str(number) for number in numbers]
    return ", ".join(listed[:5]) + (", …" if len(listed) > 5 else "")
