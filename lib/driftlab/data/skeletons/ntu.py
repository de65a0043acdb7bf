"""NTU RGB+D (Shahroudy et al., CVPR 2016): actions A001–A010 of the x-sub training half, in three layouts.

| layout | what lies in the folder |
|---|---|
| text | `*.skeleton`, or the archive's folder `nturgb+d_skeletons` with them |
| npz | `NTU60_CS.npz`, as CTR-GCN's preparation writes it |
| npy | `train_data_joint.npy` or `train_data.npy`, with `train_label.json` (.csv, .txt, .npy); or in `xsub` |

Where several layouts are present, the text is read: it alone has both names and metres.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import DataError, MissingDataError
from driftlab.core.progress import Progress
from driftlab.core.provenance import Kind, Source
from driftlab.data.files import entries, read_bytes
from driftlab.data.markers import WorldMarker, reading
from driftlab.data.skeletons import ntu_arrays
from driftlab.data.skeletons.faults import fault_notes
from driftlab.data.skeletons.ntu_names import CLASSES, SampleName, names_in
from driftlab.data.skeletons.ntu_text import parse_skeleton
from driftlab.data.skeletons.records import SkeletonSet

# 672 recordings per class, less those in the authors' list of 302 samples with missing skeletons.
TOTALS = (666, 666, 665, 667, 667, 668, 669, 668, 663, 668)
# Kinect v2, as (joint, parent): spine base 0, spine 1, shoulder centre 20, neck, head; arms from 20;
# legs from 0.
BONES = (
    *((0, 1), (1, 20), (2, 20), (3, 2)),
    *((4, 20), (5, 4), (6, 5), (7, 6), (21, 22), (22, 7)),
    *((8, 20), (9, 8), (10, 9), (11, 10), (23, 24), (24, 11)),
    *((12, 0), (13, 12), (14, 13), (15, 14)),
    *((16, 0), (17, 16), (18, 17), (19, 18)),
)
TEXT_FOLDER = "nturgb+d_skeletons"
MISSING_FILE = "missing_skeletons.txt"
NPZ_FILE = "NTU60_CS.npz"
NPY_FILES = ("train_data_joint.npy", "train_data.npy", "xsub/train_data_joint.npy", "xsub/train_data.npy")
OBTAIN = (
    "Request NTU RGB+D from the ROSE Lab of NTU Singapore (rose1.ntu.edu.sg, a form for academic use), "
    "download its skeletons (nturgbd_skeletons_s001_to_s017.zip) and unpack them, so that the dataset's "
    f"folder holds {TEXT_FOLDER}/S001C001P001R001A001.skeleton. Beside {TEXT_FOLDER} put the authors' list "
    "of damaged samples (github.com/shahroudy/NTURGB-D) as missing_skeletons.txt. "
    "Then check with `driftlab data verify ntu`."
)
_SLOW = 1000  # files from which reading the text takes long enough to show how far it is


@dataclass(frozen=True)
class _Reading:
    """Sequences that were read from one layout, before validation."""

    names: list[str]
    labels: list[int]
    sequences: list[NDArray[np.float32]]
    notes: list[str]
    digest: str
    layout: str


def load_ntu(folder: Path | str) -> SkeletonSet:
    """Read the samples of A001–A010 whose performer is in the x-sub training half, or a synthetic world.

    Sequences keep their length and are padded by `prepare(…, 300, fit="pad")`: the 6,667 of them take
    about 0.3 GB, padded they would take 1.2 GB.

    Returns:
        M = 2 bodies, V = 25 joints, 10 classes; text in order of names, arrays in their own order. Its source
        is official only if the classes have as many samples as the authors' list of damaged ones leaves.

    Raises:
        MissingDataError: None of the three layouts is in `folder`, or labels are there only as a pickle.
        DataError: A file does not hold what its layout promises.
    """
    folder = Path(folder)
    with reading(folder, TEXT_FOLDER) as marker:
        return _load(folder, marker)


def _load(folder: Path, marker: WorldMarker | None) -> SkeletonSet:
    layouts = [layout for layout, (find, _) in _LAYOUTS.items() if find(folder)]
    if not layouts:
        raise MissingDataError("There are no NTU RGB+D skeletons here.", file=folder, hint=OBTAIN)
    find, read = _LAYOUTS[layouts[0]]
    content = read(find(folder))
    if not content.names:
        raise DataError("No sample is of A001–A010 and the x-sub training half.", file=folder, hint=OBTAIN)
    others = [f"also there and not read: {', '.join(layouts[1:])}"] if layouts[1:] else []
    counts = tuple(np.bincount(content.labels, minlength=len(CLASSES)).tolist())
    if marker:
        for name, number in zip(CLASSES, counts, strict=True):
            marker.require_size("sequences_per_class", number, folder, name)
    kind: Kind = "synthetic" if marker else "official" if counts == TOTALS else "subset"
    detail = f"{len(content.names):,} sequences, {content.layout}"
    skeletons = SkeletonSet(
        sequences=tuple(content.sequences),
        labels=np.array(content.labels, dtype=np.int64),
        names=tuple(content.names),
        classes=CLASSES,
        bones=BONES,
        source=Source(kind, "ntu", f"{detail}, {marker.caption}" if marker else detail, content.digest),
    )
    return replace(skeletons, notes=(*content.notes, *others, *fault_notes(skeletons)))


def holds_ntu(folder: Path) -> bool:
    """Whether one of the three layouts is in `folder`."""
    return any(find(folder) for find, _ in _LAYOUTS.values())


def _text_files(folder: Path) -> list[Path]:
    inside = folder / TEXT_FOLDER
    return list(entries(inside if inside.is_dir() else folder, "*.skeleton"))


def _npz_files(folder: Path) -> list[Path]:
    return [folder / NPZ_FILE] if (folder / NPZ_FILE).is_file() else []


def _npy_files(folder: Path) -> list[Path]:
    return [folder / name for name in NPY_FILES if (folder / name).is_file()]


def _read_text(files: list[Path]) -> _Reading:
    text_folder = files[0].parent
    folder = text_folder.parent if text_folder.name == TEXT_FOLDER else text_folder
    damaged, notes = _damaged(dict.fromkeys((folder, text_folder)))
    list_file = folder / MISSING_FILE
    listed, foreign, empty_frames, spare_tracks = 0, 0, 0, 0
    names, labels, sequences, digest = [], [], [], hashlib.sha256()
    progress = Progress(len(files), "NTU RGB+D", unit="file", shown=len(files) >= _SLOW)
    for path in files:
        progress.advance(computed=1)
        sample = SampleName.parse(path.stem, path)
        if not sample.wanted:
            foreign += 1
            continue
        if path.stem in damaged:
            listed += 1
            continue
        content = read_bytes(path)
        digest.update(f"{path.stem} {len(content)}\n".encode() + content)
        raw = parse_skeleton(content, path, list_file)
        names.append(path.stem)
        labels.append(sample.action - 1)
        sequences.append(raw.sequence)
        empty_frames += raw.empty_frames
        spare_tracks += raw.spare_tracks
    progress.close()
    counted = {
        "files of other actions or performers left out": foreign,
        "samples left out that the authors list as damaged": listed,
        "frames without a body left out": empty_frames,
        "tracks beyond two bodies left out": spare_tracks,
    }
    notes += [f"{number:,} {what}" for what, number in counted.items() if number]
    return _Reading(names, labels, sequences, notes, digest.hexdigest(), "text")


def _damaged(folders: Iterable[Path]) -> tuple[set[str], list[str]]:
    """Names in the authors' lists of damaged samples: every file whose name ends as theirs does is read."""
    lists = [path for folder in folders for path in entries(folder, f"*{MISSING_FILE}")]
    if not lists:
        return set(), [f"no {MISSING_FILE}: damaged samples (the authors list 302) are not left out"]
    damaged: set[str] = set()
    for path in lists:
        names = names_in(read_bytes(path).decode(errors="replace"))
        if not names:
            raise DataError("There is no sample name in this list of damaged samples.", file=path)
        damaged.update(names)
    return damaged, []


def _read_npz(files: list[Path]) -> _Reading:
    path = files[0]
    labels = ntu_arrays.npz_labels(path, "y_train")
    wanted = [index for index, label in enumerate(labels) if label < len(CLASSES)]
    sequences = list(ntu_arrays.npz_rows(path, "x_train", len(labels), wanted))
    names = [f"x_train[{index}]" for index in wanted]
    return _from_arrays(names, [labels[index] for index in wanted], sequences, len(labels), "npz")


def _read_npy(files: list[Path]) -> _Reading:
    path = files[0]
    label_path, names, labels = ntu_arrays.read_labels(path.with_name("train_label"))
    if any(label < 0 for label in labels):
        raise DataError("Labels are 0-based and cannot be negative.", file=label_path, field="labels")
    if names is None:
        wanted = [index for index, label in enumerate(labels) if label < len(CLASSES)]
        names = [f"{path.name}[{index}]" for index in range(len(labels))]
    else:
        wanted = _wanted(names, labels, label_path)
        names = [name.removesuffix(".skeleton") for name in names]
    sequences = list(ntu_arrays.npy_rows(path, len(labels), wanted))
    kept_names, kept_labels = [names[index] for index in wanted], [labels[index] for index in wanted]
    return _from_arrays(kept_names, kept_labels, sequences, len(labels), "npy")


def _wanted(names: list[str], labels: list[int], path: Path) -> list[int]:
    """Indices of the benchmark's samples; names and labels must agree."""
    if len(names) != len(labels):
        raise DataError(f"There are {len(names)} names and {len(labels)} labels.", file=path)
    wanted = []
    for index, (name, label) in enumerate(zip(names, labels, strict=True)):
        sample = SampleName.parse(name, path)
        if label != sample.action - 1:
            raise DataError(
                f"The name says action {sample.action} (label {sample.action - 1}), the label is {label}.",
                file=path,
                record=name,
                field="labels",
            )
        if sample.wanted:
            wanted.append(index)
    return wanted


def _from_arrays(
    names: list[str], labels: list[int], sequences: list[NDArray[np.float32]], total: int, layout: str
) -> _Reading:
    digest = hashlib.sha256()
    for name, label, sequence in zip(names, labels, sequences, strict=True):
        digest.update(f"{name} {label} {len(sequence)}\n".encode())
        digest.update(sequence.data)
    foreign = total - len(names)
    notes = [f"{foreign:,} samples of other actions or performers left out"] if foreign else []
    return _Reading(names, labels, sequences, notes, digest.hexdigest(), layout)


_LAYOUTS: dict[str, tuple[Callable[[Path], list[Path]], Callable[[list[Path]], _Reading]]] = {
    "text": (_text_files, _read_text),
    "npz": (_npz_files, _read_npz),
    "npy": (_npy_files, _read_npy),
}
