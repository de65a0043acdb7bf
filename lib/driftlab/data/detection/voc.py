"""PASCAL VOC (Everingham et al., IJCV 2010) in COCO's layout: what OAK's detectors are pretrained on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from driftlab.core.errors import DataError, MissingDataError
from driftlab.core.provenance import Kind
from driftlab.data.detection.coco import load_coco
from driftlab.data.detection.records import DetectionSet
from driftlab.data.markers import reading

ANNOTATIONS, IMAGES = "instances.json", "images"
TOTALS = {"pictures": 16_551, "categories": 20}
"""The trainval parts of VOC2007 (5,011 pictures) and of VOC2012 (11,540)."""
OAK_NAMES = {
    "diningtable": "dining table",
    "motorbike": "motorcycle",
    "pottedplant": "potted plant",
    "tvmonitor": "monitor",
}
"""OAK's names of the categories that VOC names differently."""
OBTAIN = (
    "Get the trainval archives of VOC2007 and VOC2012 at host.robots.ox.ac.uk/pascal/VOC, and unpack them in "
    "one VOCdevkit. MMDetection's tools/dataset_converters/pascal_voc.py with --out-format coco makes "
    "voc0712_trainval.json of it: put that into the dataset's folder as instances.json, and VOCdevkit there "
    "as images. Then check with `driftlab data verify voc`."
)


def load_voc(folder: Path | str) -> DetectionSet:
    """Read PASCAL VOC in COCO's layout, or a synthetic world in it; categories are named as OAK names them.

    Args:
        folder: Contains `instances.json` and `images`. MMDetection's converter marks as crowds what VOC calls
            difficult.

    Returns:
        A set whose source is official if it has all pictures of both trainval parts.

    Raises:
        MissingDataError: There are no annotations in `folder`.
        DataError: Something does not hold what the layout promises; the text names file, record and field.
    """
    folder = Path(folder)
    with reading(folder, IMAGES) as marker:
        if not holds_voc(folder):
            raise MissingDataError("There are no VOC annotations here.", file=folder, hint=OBTAIN)
        images = load_coco(folder / ANNOTATIONS, folder / IMAGES, name="voc")
        if marker and images.source.kind == "synthetic":
            marker.require_size("images", len(images), folder / ANNOTATIONS)
            if not images.counts.any():
                raise DataError("No picture of this world has a box.", file=folder / ANNOTATIONS)
    kind: Kind = images.source.kind
    if kind != "synthetic" and count(images) == TOTALS:
        kind = "official"
    categories = tuple(OAK_NAMES.get(name, name) for name in images.categories)
    return replace(images, categories=categories, source=replace(images.source, kind=kind))


def holds_voc(folder: Path) -> bool:
    """Whether annotations in COCO's layout are in `folder`."""
    return (folder / ANNOTATIONS).is_file()


def count(detections: DetectionSet) -> dict[str, int]:
    """Counts of everything in `TOTALS`."""
    return {"pictures": len(detections), "categories": len(detections.categories)}
