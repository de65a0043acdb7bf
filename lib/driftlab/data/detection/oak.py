"""Objects Around Krishna (Wang et al., ICCV 2021): labelled frames of an egocentric video, as a stream.

`OAK_TRAIN/Raw/STEP/FRAME.jpg` with `OAK_TRAIN/Label/STEP/FRAME.json`, `OAK_TEST/Raw/FRAME.jpg` with
`OAK_TEST/Label/FRAME.json`, and `mapping.json`, the map from category names to ids. The released frames are
named by time, such as `20140913_172950_458_00034_1020`: date, time of day, milliseconds, second, frame.
`locations.json`, which says where each clip was recorded, is optional (see `oak_locations`).
"""

from __future__ import annotations

import bisect
import hashlib
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import DataError, MissingDataError
from driftlab.core.provenance import Kind, Source
from driftlab.data import markers
from driftlab.data.detection.boxes import OVERHANG
from driftlab.data.detection.images import image_size
from driftlab.data.detection.oak_labels import MAPPING_FILE, read_categories, read_labels
from driftlab.data.detection.oak_locations import LOCATIONS_FILE, read_locations
from driftlab.data.detection.oak_tree import RAW, TEST, TRAIN, Frame, test_frames, training_frames
from driftlab.data.detection.pictures import Picture, detection_set
from driftlab.data.detection.records import FrameStream
from driftlab.data.files import read_bytes

TOTALS = {"steps": 1_996, "training frames": 31_936, "test frames": 1_996, "boxes": 326_000}
ROUNDING = 0.02
"""By what part counts may differ: published are 1,996 steps of 16 + 1 frames, and "326 K" boxes."""
VOCABULARY = {"categories in the map": 113, "categories in training and test": 83}
OBTAIN = (
    "Get OAK at oakdata.github.io (its frames are KrishnaCam's) and unpack frames and labels, so that the "
    "dataset's folder holds OAK_TRAIN and OAK_TEST, each with Raw and Label. Put mapping.json from "
    "object_detection/detectron2/otherfile of github.com/oakdata/benchmark beside them. Then check with "
    "`driftlab data verify oak`."
)


def load_oak(folder: Path | str) -> FrameStream:
    """Read OAK, or a synthetic world in its layout. Every file is read once; pixels are not decoded.

    Steps come in the order of their numbers, and frames within a step in that of the numbers in their names,
    which are times. A test frame belongs to the step of the last training frame that is not later than it.

    Args:
        folder: Contains `OAK_TRAIN`, `OAK_TEST` and `mapping.json`.

    Returns:
        The stream. Its source is official if the counts are the published ones up to `ROUNDING`. The notes,
        the same in both parts, say how many categories occur where, and what was repaired.

    Raises:
        MissingDataError: There is no OAK in `folder`.
        DataError: Something does not hold what the layout promises; the text names file, record and field.
    """
    folder = Path(folder)
    with markers.reading(folder, TRAIN) as marker:
        return _load(folder, marker)


def _load(folder: Path, marker: markers.WorldMarker | None) -> FrameStream:
    if not holds_oak(folder):
        raise MissingDataError("There are no OAK frames here.", file=folder, hint=OBTAIN)
    categories = read_categories(folder / MAPPING_FILE)
    batches, ignored = training_frames(folder / TRAIN)
    held_out, also_ignored = test_frames(folder / TEST)
    lengths = [len(batch) for batch in batches]
    steps = np.repeat(np.arange(len(batches), dtype=np.int64), lengths)
    frames = [frame for batch in batches for frame in batch]
    _require_apart(frames, held_out)
    if marker:
        marker.require_size("steps", len(batches), folder / TRAIN)
        marker.require_size("steps", len(held_out), folder / TEST)
        for batch in batches:
            marker.require_size("frames_per_step", len(batch), folder / TRAIN, batch[0].name.split("/")[0])
    digest = hashlib.sha256(f"{categories}".encode())
    train, test = (_read(part, categories, digest) for part in (frames, held_out))
    source = _source(marker, len(batches), train, test, digest.hexdigest())
    test_after = _in_time(frames, held_out)
    in_time = sorted([*frames, *held_out], key=lambda frame: frame.time)
    places, without_place = read_locations(folder / LOCATIONS_FILE, [frame.image.stem for frame in in_time])
    notes = (
        *_vocabulary(categories, train, test),
        *_repairs([*train, *test], [*ignored, *also_ignored]),
        *_irregular(batches),
        *without_place,
    )
    training, testing = (detection_set(part, categories, source, notes) for part in (train, test))
    return FrameStream(
        train=training,
        steps=steps,
        test=testing,
        test_after=test_after,
        evaluated=tuple(np.flatnonzero((training.counts > 0) & (testing.counts > 0)).tolist()),
        places=places,
    )


def holds_oak(folder: Path) -> bool:
    """Whether OAK's tree is in `folder`."""
    return (folder / TRAIN / RAW).is_dir()


def count(stream: FrameStream) -> dict[str, int]:
    """Counts of everything in `TOTALS` and `VOCABULARY`."""
    boxes = len(stream.train.boxes) + len(stream.test.boxes)
    amounts = (stream.length, len(stream.train), len(stream.test), boxes)
    return dict(zip(TOTALS, amounts, strict=True)) | dict(
        zip(VOCABULARY, (len(stream.categories), len(stream.evaluated)), strict=True)
    )


def _read(frames: Sequence[Frame], categories: tuple[str, ...], digest: hashlib._Hash) -> list[Picture]:
    by_name = {name: label for label, name in enumerate(categories)}
    pictures = []
    for frame in frames:
        image, annotation = read_bytes(frame.image), read_bytes(frame.label)
        digest.update(f"{frame.name} {len(image)} {len(annotation)}\n".encode() + image + annotation)
        size = image_size(image, frame.image)
        boxes, labels, cut = read_labels(frame.label, annotation, size, by_name)
        pictures.append(Picture(frame.name, frame.image, size, boxes, labels, [False] * len(boxes), cut))
    return pictures


def _require_apart(frames: Sequence[Frame], held_out: Sequence[Frame]) -> None:
    names = {frame.image.stem: frame.name for frame in frames}
    for frame in held_out:
        if frame.name in names:
            raise DataError(
                f"This test frame is also a training frame, {names[frame.name]}.",
                file=frame.image,
                hint="Take it out of one of the two; a model must not be tested on what it learnt.",
            )


def _in_time(frames: Sequence[Frame], held_out: Sequence[Frame]) -> NDArray[np.int64]:
    """(M,) index of the last training frame that is not later than each test frame, by their names."""
    order = sorted(range(len(frames)), key=lambda index: frames[index].time)
    times = [frames[index].time for index in order]
    places = [max(bisect.bisect_right(times, frame.time) - 1, 0) for frame in held_out]
    return np.array(order, dtype=np.int64)[places]


def _source(
    marker: markers.WorldMarker | None, steps: int, train: list[Picture], test: list[Picture], digest: str
) -> Source:
    boxes = sum(len(picture.boxes) for picture in (*train, *test))
    counts = dict(zip(TOTALS, (steps, len(train), len(test), boxes), strict=True))
    complete = all(abs(counts[what] - total) <= ROUNDING * total for what, total in TOTALS.items())
    kind: Kind = "synthetic" if marker else "official" if complete else "subset"
    detail = f"{len(train):,} + {len(test):,} frames, {boxes:,} boxes"
    return Source(kind, "oak", f"{detail}, {marker.caption if marker else f'{steps:,} steps'}", digest)


def _vocabulary(categories: tuple[str, ...], train: list[Picture], test: list[Picture]) -> tuple[str, ...]:
    seen, tested = ({label for picture in part for label in picture.labels} for part in (train, test))
    return (
        f"of {len(categories)} categories in {MAPPING_FILE}, {len(seen)} occur in training and {len(tested)} "
        f"in test; the {len(seen & tested)} that occur in both enter the averages",
    )


def _repairs(pictures: list[Picture], ignored: list[Path]) -> tuple[str, ...]:
    notes = []
    cut = sum(picture.cut for picture in pictures)
    if cut:
        notes.append(
            f"{cut} boxes stood out of their frame, by {OVERHANG:.0%} of its side at most, and were cut"
        )
    empty = [picture.name for picture in pictures if not picture.boxes]
    if empty:
        notes.append(f"{len(empty)} frames without any box: {_some(empty)}")
    if ignored:
        names = _some([path.name for path in ignored])
        notes.append(f"{len(ignored)} files that are neither frames nor labels: {names}")
    return tuple(notes)


def _irregular(batches: Sequence[Sequence[Frame]]) -> tuple[str, ...]:
    """Notes on steps that differ in length from the others, and on steps that overlap in time."""
    notes = []
    lengths = [len(batch) for batch in batches]
    usual = max(set(lengths), key=lambda length: (lengths.count(length), length))
    odd = [batch[0].name.split("/")[0] for batch in batches if len(batch) != usual]
    if odd:
        notes.append(f"{len(odd)} steps have not {usual} training frames as the others: {_some(odd)}")
    early = [
        later[0].name.split("/")[0]
        for earlier, later in itertools.pairwise(batches)
        if later[0].time < earlier[-1].time
    ]
    if early:
        notes.append(
            f"{len(early)} steps begin before the last one has ended, by their frames' names, so that test "
            f"frames may be put to a neighbouring step: {_some(early)}"
        )
    return tuple(notes)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
