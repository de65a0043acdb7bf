"""Every dataset that the experiments use: what it is, how to get it, how to read and to verify it.

A new dataset is one more `Dataset` in `DATASETS`; nothing else in this file knows any dataset.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from driftlab.data import markers, ntu, nucla
from driftlab.data.faults import duplicate_pairs, one_frame
from driftlab.data.ntu_names import CLASSES as NTU_CLASSES
from driftlab.data.skeletons import Fit, SkeletonSet
from driftlab.errors import MissingDataError, ParameterError
from driftlab.paths import data_dir


@dataclass(frozen=True)
class Check:
    """One comparison of `verify`: what was looked at, what the official data have, what is there."""

    what: str
    expected: str
    found: str
    ok: bool


@dataclass(frozen=True)
class Dataset:
    """One dataset.

    Attributes:
        name: Its name in the project, also its folder's under `driftlab.paths.data_dir()`.
        title: Its full name and source.
        papers: The papers that use it ("cgl", …).
        what: What it holds, in a line.
        terms: Licence or terms, in a line.
        obtain: Where to get it and where to put it.
        layout: The tree of files that is expected.
        totals: Official number of records by class.
        read: Reads the folder.
        holds: Whether a folder has files of one of the layouts, without reading them.
        frames: The length to which the papers bring sequences, see `skeletons.prepare`.
        fit: The way in which they do, see `skeletons.prepare`.
        faults: Official counts of known faults, by their names in `FAULTS`.
        extras: Files (one of several) that complete the dataset, and what is so without any of them.
    """

    name: str
    title: str
    papers: tuple[str, ...]
    what: str
    terms: str
    obtain: str
    layout: str
    totals: Mapping[str, int]
    read: Callable[[Path], SkeletonSet]
    holds: Callable[[Path], bool]
    frames: int
    fit: Fit
    faults: Mapping[str, int] = field(default_factory=dict)
    extras: Mapping[tuple[str, ...], str] = field(default_factory=dict)


FAULTS: dict[str, Callable[[SkeletonSet], int]] = {
    "pairs of equal sequences": lambda skeletons: len(duplicate_pairs(skeletons)),
    "sequences of one frame": lambda skeletons: len(one_frame(skeletons)),
}

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="nucla",
            title="Northwestern-UCLA Multiview Action 3D (Wang et al., CVPR 2014), skeletons",
            papers=("cgl",),
            what="1,484 skeleton sequences, 10 actions, 10 subjects, 3 views, 20 joints (Kinect v1)",
            terms="research use; the package states no licence",
            obtain=nucla.OBTAIN,
            layout=(
                "nucla/\n"
                "├── all_sqe/\n"
                "│   ├── a01_s01_e00_v01.json\n"
                "│   └── … 1,484 files\n"
                "└── feeder_ucla.py         CTR-GCN's, for the literature's order (or feeder_split.json)"
            ),
            totals=dict(zip(nucla.CLASSES, nucla.TOTALS, strict=True)),
            read=nucla.load_nucla,
            holds=nucla.holds_nucla,
            frames=52,
            fit="resample",
            faults={"pairs of equal sequences": 95, "sequences of one frame": 2},
            extras={(nucla.ORDER_FILE, nucla.FEEDER_FILE): "the split differs from the literature's"},
        ),
        Dataset(
            name="ntu",
            title="NTU RGB+D (Shahroudy et al., CVPR 2016), skeletons of A001–A010, x-sub training half",
            papers=("cgl",),
            what="6,667 skeleton sequences, 10 actions, 20 performers, 3 cameras, 2 x 25 joints (Kinect v2)",
            terms="academic use on request; redistribution is forbidden",
            obtain=ntu.OBTAIN,
            layout=(
                "ntu/\n"
                "├── nturgb+d_skeletons/    raw text\n"
                "│   ├── S001C001P001R001A001.skeleton\n"
                "│   └── …\n"
                "├── missing_skeletons.txt  the authors' 302 damaged samples\n"
                "├── or NTU60_CS.npz        as CTR-GCN's preparation writes it\n"
                "└── or train_data_joint.npy with train_label.json (also .csv, .txt, .npy; never a pickle)"
            ),
            totals=dict(zip(NTU_CLASSES, ntu.TOTALS, strict=True)),
            read=ntu.load_ntu,
            holds=ntu.holds_ntu,
            frames=300,
            fit="pad",
        ),
    )
}


def dataset(name: str) -> Dataset:
    """The entry of a dataset.

    Raises:
        ParameterError: There is none of this name; the text suggests the nearest.
    """
    if name not in DATASETS:
        near = difflib.get_close_matches(name, DATASETS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"There is no dataset {name!r}; there are {', '.join(DATASETS)}.{hint}")
    return DATASETS[name]


def find(name: str, folder: Path | str | None = None) -> Path:
    """The folder that holds a dataset: `folder` if given, else `NAME` in `driftlab.paths.data_dir()`.

    Raises:
        MissingDataError: It is not there; the text says what to get, where to put it and how to check it.
        ParameterError: There is no dataset of this name.
    """
    entry = dataset(name)
    place = Path(folder) if folder is not None else data_dir() / name
    if not entry.holds(place):
        state = "this folder holds none of its files" if place.is_dir() else "there is no such folder"
        is_world = (place / markers.FILE).exists()
        hint = markers.REPAIR.format(place=place) if is_world else entry.obtain
        raise MissingDataError(f"{entry.title} is missing: {state}.", file=place, hint=hint)
    return place


def load(name: str, folder: Path | str | None = None) -> SkeletonSet:
    """Find and read a dataset, official or a synthetic world in its layout.

    Raises:
        MissingDataError: It is not there.
        DataError: A file does not hold what its layout promises.
        ParameterError: There is no dataset of this name.
    """
    return dataset(name).read(find(name, folder))


def verify(name: str, folder: Path | str | None = None) -> list[Check]:
    """Read a dataset and compare it with the official totals: records, classes, known faults, extra files.

    Raises:
        As `load`.
    """
    entry, place = dataset(name), find(name, folder)
    skeletons = load(name, place)
    checks = [
        Check("origin", "official", skeletons.source.kind, skeletons.source.kind == "official"),
        _count("records", sum(entry.totals.values()), len(skeletons)),
    ]
    found = dict(zip(skeletons.classes, skeletons.counts.tolist(), strict=True))
    checks += [_count(f"class {label}", total, found.get(label, 0)) for label, total in entry.totals.items()]
    checks += [_count(fault, total, FAULTS[fault](skeletons)) for fault, total in entry.faults.items()]
    for extra, otherwise in entry.extras.items():
        there = any((place / alternative).is_file() for alternative in extra)
        found_words = "there" if there else f"absent: {otherwise}"
        checks.append(Check(" or ".join(extra), "there", found_words, there))
    return checks


def _count(what: str, expected: int, found: int) -> Check:
    return Check(what, f"{expected:,}", f"{found:,}", expected == found)
