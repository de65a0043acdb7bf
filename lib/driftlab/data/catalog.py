"""Every dataset that the experiments use: what it is, how to get it, how to read, prepare and verify it.

A new dataset is one more `Dataset` in `DATASETS`; nothing outside of it lists datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from driftlab.core.errors import MissingDataError, ParameterError
from driftlab.core.paths import data_dir, expand_home
from driftlab.core.registry import import_object
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
    """One comparison of `verify`.

    Attributes:
        what: What is compared.
        expected: Its value in the official data.
        found: Its value in the folder.
        ok: Whether they agree.
    """

    what: str
    expected: str
    found: str
    ok: bool


@dataclass(frozen=True)
class Preparation:
    """How the papers bring sequences to one length, see `driftlab.data.skeletons.records.prepare`."""

    frames: int
    fit: Fit


@dataclass(frozen=True)
class World:
    """A dataset's synthetic stand-in, written to disk in the dataset's own layout.

    Attributes:
        name: What a notebook's `data` calls it; begins with "world".
        place: The function that writes it once and returns its folder, as "module:function". It is imported
            when a world is written: worlds are made of what `data` offers, not the other way round.
    """

    name: str
    place: str

    def write(self, **sizes: int) -> Path:
        """The folder of the world, written on first use.

        Args:
            sizes: The function's own arguments, such as `sequences_per_class`, `steps` and `seed`.

        Raises:
            ParameterError: A size is impossible.
            DataError: The folder holds something else, or cannot be written.
        """
        folder: Path = import_object(self.place)(**sizes)
        return folder


@dataclass(frozen=True)
class Dataset(Generic[Record]):
    """One dataset.

    Attributes:
        name: Its name in the project, also its folder's under `driftlab.core.paths.data_dir()`.
        title: Its full name and source.
        papers: The papers that use it ("cgl", …).
        records: What `read` returns: a set of skeletons, a stream of frames or a set of images with boxes.
        label: The papers' short name of it, as their tables' columns have it.
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
        extras: Files (one of several) that complete the dataset, and what is different without any of them.
        preparation: How the papers bring its sequences to one length; None where that is not needed.
        world: Its synthetic stand-in; None where there is none.
    """

    name: str
    title: str
    papers: tuple[str, ...]
    records: Literal["skeletons", "stream", "images"]
    label: str
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
    preparation: Preparation | None = None
    world: World | None = None


def count_skeletons(skeletons: SkeletonSet) -> dict[str, int]:
    """Records, records per class, and known faults."""
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
            records="skeletons",
            label="UCLA",
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
            preparation=Preparation(frames=52, fit="resample"),
            world=World("world", "driftlab.worlds.skeletons.nucla_layout:nucla_world"),
        ),
        Dataset(
            name="ntu",
            title="NTU RGB+D (Shahroudy et al., CVPR 2016), skeletons of A001–A010, x-sub training half",
            papers=("cgl",),
            records="skeletons",
            label="NTU",
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
            preparation=Preparation(frames=300, fit="pad"),
            world=World("world-ntu", "driftlab.worlds.skeletons.ntu_layout:ntu_world"),
        ),
        Dataset(
            name="oak",
            title="Objects Around Krishna (Wang et al., ICCV 2021), labelled frames of KrishnaCam",
            papers=("oak",),
            records="stream",
            label="OAK",
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
            world=World("world", "driftlab.worlds.walk.layout:oak_world"),
        ),
        Dataset(
            name="voc",
            title="PASCAL VOC 2007 and 2012 (Everingham et al., IJCV 2010), trainval, in COCO's layout",
            papers=("oak",),
            records="images",
            label="VOC",
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
            world=World("world", "driftlab.worlds.walk.static_images:static_world"),
        ),
    )
}


def data_names(records: str) -> list[str]:
    """What a notebook's `data` may be: the worlds, then the datasets, with records of this form.

    Args:
        records: `skeletons`, `stream` or `images`.
    """
    entries = [entry for entry in DATASETS.values() if entry.records == records]
    return [entry.world.name for entry in entries if entry.world] + [entry.name for entry in entries]


def by_data_name(data: str, records: str) -> tuple[Dataset[Any], World | None]:
    """The dataset that a notebook's `data` names, and its world if that is what is named.

    Args:
        data: A dataset's name or its world's.
        records: `skeletons`, `stream` or `images`.

    Raises:
        ParameterError: Neither has this name; the text suggests the nearest.
    """
    entries = [entry for entry in DATASETS.values() if entry.records == records]
    named: dict[str, tuple[Dataset[Any], World | None]] = {
        entry.world.name: (entry, entry.world) for entry in entries if entry.world
    }
    return look_up(data, named | {entry.name: (entry, None) for entry in entries}, "value of data")


def load_by_data_name(data: str, records: str, folder: str = "", **sizes: int) -> Any:
    """The records that a notebook's `data` names.

    Args:
        data: A dataset's name, or that of its world, which is written on first use.
        records: `skeletons`, `stream` or `images`.
        folder: Where an official dataset lies; empty for its usual place.
        sizes: For `World.write`.

    Raises:
        ParameterError: The name is unknown, or a world is given a folder.
        MissingDataError: The dataset is not there; the text says what to get and where to put it.
        DataError: A file does not hold what its layout promises.
    """
    entry, world = by_data_name(data, records)
    if world and folder:
        raise ParameterError(f"data is {data!r}, which is made, not read: data_folder has no use here.")
    return load(entry.name, world.write(**sizes) if world else folder or None)


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
    place = expand_home(folder) if folder is not None else data_dir() / name
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
    counts = entry.count(records)
    checks = [Check("origin", "official", records.source.kind, records.source.kind == "official")]
    for what, total in entry.rounded.items():
        near = abs(counts[what] - total) <= entry.rounding * total
        checks.append(Check(what, f"about {total:,}", f"{counts[what]:,}", near))
    for what, total in entry.totals.items():
        checks.append(Check(what, f"{total:,}", f"{counts.get(what, 0):,}", counts.get(what, 0) == total))
    for extra, otherwise in entry.extras.items():
        there = any((place / alternative).is_file() for alternative in extra)
        state = "there" if there else f"absent: {otherwise}"
        checks.append(Check(" or ".join(extra), "there", state, there))
    return checks
