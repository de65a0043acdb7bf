"""Every dataset that the experiments use: what it is, how to get it, how to read and to verify it.

A new dataset is one more `Dataset` in `DATASETS`; nothing else in this file knows any dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from driftlab.core.errors import MissingDataError
from driftlab.core.paths import data_dir
from driftlab.core.suggestions import look_up
from driftlab.data import markers
from driftlab.data.detection import oak, voc
from driftlab.data.detection.records import DetectionSet, FrameStream
from driftlab.data.skeletons import ntu, nucla
from driftlab.data.skeletons.faults import duplicate_pairs, one_frame
from driftlab.data.skeletons.ntu_names import CLASSES as NTU_CLASSES
from driftlab.data.skeletons.records import Fit, SkeletonSet

Record = TypeVar("Record", SkeletonSet, FrameStream, DetectionSet)


@dataclass(frozen=True)
class Check:
    """One comparison of `verify`: what was looked at, what the official data have, what is there."""

    what: str
    expected: str
    found: str
    ok: bool


@dataclass(frozen=True)
class Dataset(Generic[Record]):
    """One dataset.

    Attributes:
        name: Its name in the project, also its folder's under `driftlab.core.paths.data_dir()`.
        title: Its full name and source.
        papers: The papers that use it ("cgl", …).
        what: What it holds, in a line.
        terms: Licence or terms, in a line.
        obtain: Where to get it and where to put it.
        layout: The tree of files that is expected.
        read: Reads the folder.
        holds: Whether a folder has files of one of the layouts, without reading them.
        count: What there is of everything in `totals` and `rounded`.
        totals: Official counts.
        rounded: Official counts that are published rounded, so that they may differ by the part `rounding`.
        rounding: See `rounded`.
        extras: Files (one of several) that complete the dataset, and what is so without any of them.
    """

    name: str
    title: str
    papers: tuple[str, ...]
    what: str
    terms: str
    obtain: str
    layout: str
    read: Callable[[Path], Record]
    holds: Callable[[Path], bool]
    count: Callable[[Record], Mapping[str, int]]
    totals: Mapping[str, int]
    rounded: Mapping[str, int] = field(default_factory=dict)
    rounding: float = 0.0
    extras: Mapping[tuple[str, ...], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Preparation:
    """How the papers bring sequences to one length, see `driftlab.data.skeletons.records.prepare`."""

    frames: int
    fit: Fit


def count_skeletons(skeletons: SkeletonSet) -> dict[str, int]:
    """Records, records a class, and known faults."""
    classes = zip(skeletons.classes, skeletons.counts.tolist(), strict=True)
    return {
        "records": len(skeletons),
        **{f"class {name}": number for name, number in classes},
        "pairs of equal sequences": len(duplicate_pairs(skeletons)),
        "sequences of one frame": len(one_frame(skeletons)),
    }


def _skeleton_totals(classes: Mapping[str, int]) -> dict[str, int]:
    by_class = {f"class {name}": number for name, number in classes.items()}
    return {"records": sum(classes.values()), **by_class}


DATASETS: dict[str, Dataset[Any]] = {
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
            read=nucla.load_nucla,
            holds=nucla.holds_nucla,
            count=count_skeletons,
            totals=_skeleton_totals(dict(zip(nucla.CLASSES, nucla.TOTALS, strict=True)))
            | {"pairs of equal sequences": 95, "sequences of one frame": 2},
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
            read=ntu.load_ntu,
            holds=ntu.holds_ntu,
            count=count_skeletons,
            totals=_skeleton_totals(dict(zip(NTU_CLASSES, ntu.TOTALS, strict=True))),
        ),
        Dataset(
            name="oak",
            title="Objects Around Krishna (Wang et al., ICCV 2021), labelled frames of KrishnaCam",
            papers=("oak",),
            what="an egocentric video over nine months: 1,996 steps of 16 training frames and 1 test frame, "
            "326 K boxes, 113 categories in the map",
            terms="research use; no licence is stated",
            obtain=oak.OBTAIN,
            layout=(
                "oak/\n"
                "├── mapping.json           category names to ids\n"
                "├── locations.json         optional: {clip: {longitude, latitude}}, for Figure 3f\n"
                "├── OAK_TRAIN/\n"
                "│   ├── Raw/00000/         one folder per step, in order\n"
                "│   │   ├── 20140913_172950_458_00034_1020.jpg\n"
                "│   │   └── …\n"
                "│   └── Label/00000/       the same names, .json\n"
                "└── OAK_TEST/\n"
                "    ├── Raw/               frames, no folders\n"
                "    └── Label/"
            ),
            read=oak.load_oak,
            holds=oak.holds_oak,
            count=oak.count,
            totals=oak.VOCABULARY,
            rounded=oak.TOTALS,
            rounding=oak.ROUNDING,
        ),
        Dataset(
            name="voc",
            title="PASCAL VOC 2007 and 2012 (Everingham et al., IJCV 2010), trainval, in COCO's layout",
            papers=("oak",),
            what="16,551 photos with boxes, 20 categories: what OAK's detectors are pretrained on",
            terms="photos under Flickr's terms of use",
            obtain=voc.OBTAIN,
            layout=(
                "voc/\n"
                "├── instances.json         voc0712_trainval.json of MMDetection's converter\n"
                "└── images/\n"
                "    ├── VOC2007/JPEGImages/000005.jpg\n"
                "    └── … 16,551 files"
            ),
            read=voc.load_voc,
            holds=voc.holds_voc,
            count=voc.count,
            totals=voc.TOTALS,
        ),
    )
}


SKELETONS: dict[str, Preparation] = {
    "nucla": Preparation(frames=52, fit="resample"),
    "ntu": Preparation(frames=300, fit="pad"),
}
"""Of the datasets, those of skeletons, and what only they need."""


def dataset(name: str) -> Dataset[Any]:
    """The entry of a dataset.

    Raises:
        ParameterError: There is none of this name; the text suggests the nearest.
    """
    return look_up(name, DATASETS, "dataset")


def find(name: str, folder: Path | str | None = None) -> Path:
    """The folder that holds a dataset: `folder` if given, else `NAME` in `driftlab.core.paths.data_dir()`.

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


def load(name: str, folder: Path | str | None = None) -> SkeletonSet | FrameStream | DetectionSet:
    """Find and read a dataset, official or a synthetic world in its layout.

    Raises:
        MissingDataError: It is not there.
        DataError: A file does not hold what its layout promises.
        ParameterError: There is no dataset of this name.
    """
    records: SkeletonSet | FrameStream | DetectionSet = dataset(name).read(find(name, folder))
    return records


def verify(name: str, folder: Path | str | None = None) -> list[Check]:
    """Read a dataset and compare it with the official counts, and look for the files that complete it.

    Raises:
        As `load`.
    """
    entry, place = dataset(name), find(name, folder)
    records = entry.read(place)
    found = entry.count(records)
    checks = [Check("origin", "official", records.source.kind, records.source.kind == "official")]
    for what, total in entry.rounded.items():
        near = abs(found[what] - total) <= entry.rounding * total
        checks.append(Check(what, f"about {total:,}", f"{found[what]:,}", near))
    for what, total in entry.totals.items():
        checks.append(Check(what, f"{total:,}", f"{found.get(what, 0):,}", found.get(what, 0) == total))
    for extra, otherwise in entry.extras.items():
        there = any((place / alternative).is_file() for alternative in extra)
        found_words = "there" if there else f"absent: {otherwise}"
        checks.append(Check(" or ".join(extra), "there", found_words, there))
    return checks
