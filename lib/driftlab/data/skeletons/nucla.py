"""Northwestern-UCLA Multiview Action 3D (Wang et al., CVPR 2014): skeletons in the package of CTR-GCN.

One JSON file per sequence, `{"file_name": "a01_s01_e00_v01", "skeletons": T x 20 x 3 metres,
"label": 1..10}`, in a folder `all_sqe`. The name gives action, subject, execution and view.
"""

from __future__ import annotations

import hashlib
import re
import reprlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import DataError, MissingDataError
from driftlab.core.provenance import Kind, Source
from driftlab.data import markers
from driftlab.data.files import entries, parse_json, read_bytes
from driftlab.data.skeletons.faults import fault_notes, without_duplicates
from driftlab.data.skeletons.records import FARTHEST, SkeletonSet

ACTIONS = {
    "a01": "pick up with one hand",
    "a02": "pick up with two hands",
    "a03": "drop trash",
    "a04": "walk around",
    "a05": "sit down",
    "a06": "stand up",
    "a08": "donning",
    "a09": "doffing",
    "a11": "throw",
    "a12": "carry",
}
CLASSES = tuple(ACTIONS.values())
TOTALS = (150, 152, 141, 173, 148, 149, 142, 142, 145, 142)
JOINTS = 20
# Kinect v1, as (joint, parent): hip centre, spine, shoulder centre, head; the arms from 2; the legs from 0.
BONES = (
    *((0, 1), (1, 2), (3, 2)),
    *((4, 2), (5, 4), (6, 5), (7, 6)),
    *((8, 2), (9, 8), (10, 9), (11, 10)),
    *((12, 0), (13, 12), (14, 13), (15, 14)),
    *((16, 0), (17, 16), (18, 17), (19, 18)),
)
ORDER_FILE = "feeder_split.json"
FEEDER_FILE = "feeder_ucla.py"
SEQUENCES = "all_sqe"
OBTAIN = (
    "Get all_sqe.zip, the N-UCLA package that the README of CTR-GCN (github.com/Uason-Chen/CTR-GCN) links "
    "to, and unpack it, so that the dataset's folder holds all_sqe/a01_s01_e00_v01.json and 1,483 more. "
    "Put CTR-GCN's feeders/feeder_ucla.py beside all_sqe: it lists the names in the literature's order. "
    "Then check with `driftlab data verify nucla`."
)
_BESIDE = (ORDER_FILE, markers.FILE)  # may lie among the sequences
_NAME = re.compile(r"(?P<action>a\d\d)_s\d\d_e\d\d_v(?P<view>\d\d)")


def load_nucla(folder: Path | str, *, drop_duplicates: bool = False) -> SkeletonSet:
    """Read N-UCLA, or a synthetic world in its layout.

    The records come in the literature's order, in which CTR-GCN's feeder lists them, if `folder` has
    `feeder_split.json` (`{"train": names, "val": names}`) or the feeder's own `feeder_ucla.py`. Without
    either they are sorted by view (1 and 2, then 3) and name, and a note says so: splits that follow the
    dataset's order then differ from the literature's.

    Args:
        folder: Contains `all_sqe`, or the JSON files themselves.
        drop_duplicates: Leave out the second of each pair of equal sequences (the package has 95 pairs).

    Returns:
        M = 1 body, V = 20 joints, 10 classes. Its source is official only if all 1,484 sequences are there.

    Raises:
        MissingDataError: There are no sequences in `folder`.
        DataError: A file does not hold what the layout promises; the text names file, record and field.
    """
    folder = Path(folder)
    with markers.reading(folder, SEQUENCES) as marker:
        skeletons = _load(folder, marker)
    return without_duplicates(skeletons) if drop_duplicates else skeletons


def _load(folder: Path, marker: markers.WorldMarker | None) -> SkeletonSet:
    files, others = _files(folder)
    if not files:
        raise MissingDataError("There are no N-UCLA sequences here.", file=folder, hint=OBTAIN)
    order, order_note = _order(folder, files)
    digest = hashlib.sha256()
    sequences, labels = [], []
    for name in order:
        content = read_bytes(files[name])
        digest.update(f"{name} {len(content)}\n".encode() + content)
        sequence, label = _sequence(files[name], content)
        sequences.append(sequence)
        labels.append(label)
    counts = tuple(np.bincount(labels, minlength=len(CLASSES)).tolist())
    kind: Kind = "synthetic" if marker else "official" if counts == TOTALS else "subset"
    detail = f"{len(order):,} sequences"
    if marker:
        detail = f"{detail}, {marker.caption}"
    skeletons = SkeletonSet(
        sequences=tuple(sequences),
        labels=np.array(labels, dtype=np.int64),
        names=tuple(order),
        classes=CLASSES,
        bones=BONES,
        source=Source(kind, "nucla", detail, digest.hexdigest()),
    )
    ignored = [f"{len(others)} JSON files not named as sequences: {', '.join(others[:5])}"] if others else []
    return replace(skeletons, notes=(*order_note, *ignored, *fault_notes(skeletons)))


def holds_nucla(folder: Path) -> bool:
    """Whether there are sequences in `folder`."""
    return bool(_files(folder)[0])


def _files(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """The sequences' files by name (without .json), and the names of other JSON files among them."""
    inside = folder / SEQUENCES
    json_files = list(entries(inside if inside.is_dir() else folder, "*.json"))
    files = {path.stem: path for path in json_files if _NAME.fullmatch(path.stem)}
    return files, [path.name for path in json_files if path.stem not in files and path.name not in _BESIDE]


def _order(folder: Path, files: dict[str, Path]) -> tuple[list[str], list[str]]:
    """The names in dataset order, and what the summary should say about it."""
    path, names = _listed(folder)
    if path is None:
        note = (
            f"no {ORDER_FILE}: in order of view (1 and 2, then 3) and name, not in the literature's order. "
            "The order decides the split and with it the accuracies (measured with no continual method: the "
            "task just learnt ends near 0.77 in order of names, near 0.95 in the literature's). For that, "
            f"copy CTR-GCN's feeders/{FEEDER_FILE}, which lists the names, into {folder}"
        )
        return sorted(files, key=lambda name: (name.endswith("_v03"), name)), [note]
    missing = [name for name in names if name not in files]
    if missing:
        raise DataError(
            f"{len(missing)} of the {len(names)} names listed have no file.",
            file=path,
            record=missing[0],
            hint=f"Complete the folder, or take {path.name} away to use what is there.",
        )
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError("This name is listed twice.", file=path, record=twice)
    rest = sorted(set(files) - set(names))
    notes = [f"{len(rest)} sequences that {path.name} does not list come last: {rest[0]}, …"] if rest else []
    return names + rest, notes


def _listed(folder: Path) -> tuple[Path | None, list[str]]:
    """The file that gives the literature's order, and the names in it: the training part, then the other."""
    path, feeder = folder / ORDER_FILE, folder / FEEDER_FILE
    if path.is_file():
        content = parse_json(read_bytes(path), path)
        names = []
        for part in ("train", "val"):
            listed = content.get(part) if isinstance(content, dict) else None
            if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
                raise DataError("This must be a list of sequence names.", file=path, field=part)
            names += listed
        return path, names
    if feeder.is_file():  # only searched for names, never run
        names = [match.group() for match in _NAME.finditer(read_bytes(feeder).decode(errors="replace"))]
        if not names:
            raise DataError("There is no sequence name in this file.", file=feeder)
        return feeder, sorted(names, key=lambda name: name.endswith("_v03"))
    return None, []


def _sequence(path: Path, content: bytes) -> tuple[NDArray[np.float32], int]:
    """One file's skeletons (T, 1, 20, 3) and 0-based label."""
    record = parse_json(content, path)
    if not isinstance(record, dict):
        raise DataError("A sequence's file must hold one JSON object.", file=path)
    for field in ("file_name", "skeletons", "label"):
        if field not in record:
            raise DataError("This field is missing.", file=path, record=path.stem, field=field)
    if record["file_name"] != path.stem:
        raise DataError(
            f"The file says that it is {reprlib.repr(record['file_name'])}: it was renamed, or holds another "
            "sequence.",
            file=path,
            record=path.stem,
            field="file_name",
        )
    label = record["label"]
    if type(label) is not int or not 1 <= label <= len(CLASSES):
        raise DataError(
            f"The label must be an integer from 1 to {len(CLASSES)}, not {reprlib.repr(label)}.",
            file=path,
            record=path.stem,
            field="label",
        )
    expected = list(ACTIONS)[label - 1]
    if not path.stem.startswith(expected):
        raise DataError(
            f"Label {label} stands for action {expected}, and the name says {path.stem[:3]}.",
            file=path,
            record=path.stem,
            field="label",
        )
    return _skeletons(path, record["skeletons"])[:, None], label - 1


def _skeletons(path: Path, frames: Any) -> NDArray[np.float32]:
    def wrong(problem: str) -> DataError:
        return DataError(problem, file=path, record=path.stem, field="skeletons")

    if not isinstance(frames, list):
        raise wrong(f"Expected a list of frames, not {type(frames).__name__}.")
    if not frames:
        raise wrong("The sequence is empty (no frame).")
    for frame, joints in enumerate(frames):
        if not isinstance(joints, list) or len(joints) != JOINTS:
            content = f"{len(joints)} joints" if isinstance(joints, list) else type(joints).__name__
            raise wrong(f"Frame {frame} must have {JOINTS} joints; it has {content}.")
    try:
        array = np.array(frames)
    except ValueError:
        array = np.zeros(0)
    if array.shape != (len(frames), JOINTS, 3) or array.dtype.kind not in "fi":
        raise wrong(_odd_joint(frames))
    if not np.isfinite(array).all():
        frame, joint, _ = np.argwhere(~np.isfinite(array))[0]
        raise wrong(f"Joint {joint} of frame {frame} is not finite: {frames[frame][joint]!r}.")
    if (np.abs(array.astype(np.float64)) > FARTHEST).any():
        raise wrong(_odd_joint(frames))
    return array.astype(np.float32)


def _odd_joint(frames: list[list[Any]]) -> str:
    """What is wrong with the first joint that is not three numbers, or too far off to be a position."""
    frame, joint, xyz = next(
        (frame, joint, xyz)
        for frame, joints in enumerate(frames)
        for joint, xyz in enumerate(joints)
        if not (isinstance(xyz, list) and len(xyz) == 3 and all(map(_is_coordinate, xyz)))
    )
    return (
        f"Joint {joint} of frame {frame} must be three numbers (metres, up to {FARTHEST:,.0f}); "
        f"it is {reprlib.repr(xyz)}."
    )


def _is_coordinate(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= FARTHEST
