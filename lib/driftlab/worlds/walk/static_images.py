"""A synthetic stand-in of PASCAL VOC in COCO's layout: single pictures of a few things, for pretraining."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

from driftlab.core.errors import ParameterError
from driftlab.data.detection.voc import ANNOTATIONS, IMAGES
from driftlab.data.markers import WorldMarker
from driftlab.worlds.folders import make_once
from driftlab.worlds.processes import draw_parts
from driftlab.worlds.walk.canvas import Canvas, Seen
from driftlab.worlds.walk.kinds import KINDS, VOC_CATEGORIES
from driftlab.worlds.walk.layout import QUALITY, SMALLEST
from driftlab.worlds.walk.pen import any_colour, near, shade, sprite
from driftlab.worlds.walk.renderer import LEAST

VERSION = 1  # raised whenever a world's files would change
_MOST = 4  # objects in a picture
_PER_PART = 50  # pictures that one process draws at a time


def static_world(
    folder: Path | str | None = None, *, images: int = 800, seed: int = 0, pixels: int = 128
) -> Path:
    """The folder of a synthetic VOC, made on first use.

    As in VOC the things are large and near the middle. The scenes have nothing to do with the walker's.
    Categories are the eight that the walker's world shares with VOC, named as OAK names them.

    Args:
        folder: Where it belongs; None for its place among the outputs.
        images: How many pictures.
        seed: Seed of everything that is drawn.
        pixels: Side of a picture.

    Raises:
        ParameterError: A size is impossible.
        DataError: The folder holds something else, or cannot be written.
    """
    for name, value, least in (("images", images, 1), ("pixels", pixels, SMALLEST)):
        if value < least:
            raise ParameterError(f"{name} must be at least {least}, not {value}.")

    def write(target: Path) -> None:
        _write(target, images, seed, pixels)

    return make_once(folder, WorldMarker("voc", VERSION, seed, {"images": images, "pixels": pixels}), write)


def _write(folder: Path, images: int, seed: int, pixels: int) -> None:
    (folder / IMAGES).mkdir()
    numbers = range(1, images + 1)
    parts = [(folder, numbers[first : first + _PER_PART], seed, pixels) for first in range(0, images, _PER_PART)]
    labels = [boxes for part in draw_parts(_write_images, parts, images) for boxes in part]
    annotations: list[dict[str, object]] = []
    for number, boxes in zip(numbers, labels, strict=True):
        for label in boxes:
            x1, y1, x2, y2 = label.box
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": VOC_CATEGORIES.index(label.category) + 1,
                    "bbox": [x1, y1, x2 - x1, y2 - y1],
                    "area": (x2 - x1) * (y2 - y1),
                    "iscrowd": 0,
                }
            )
    records = {
        "images": [
            {"id": number, "file_name": _image_name(number), "width": pixels, "height": pixels}
            for number in numbers
        ],
        "annotations": annotations,
        "categories": [{"id": number, "name": name} for number, name in enumerate(VOC_CATEGORIES, start=1)],
    }
    (folder / ANNOTATIONS).write_text(json.dumps(records), encoding="utf-8")


def _write_images(folder: Path, numbers: range, seed: int, pixels: int) -> list[list[Seen]]:
    """Write the pictures with these numbers; return what is labelled in each."""
    labels = []
    for number in numbers:
        picture, seen = scene([seed, 7, number], pixels)
        picture.save(folder / IMAGES / _image_name(number), quality=QUALITY)
        labels.append(seen)
    return labels


def _image_name(number: int) -> str:
    return f"{number:06d}.jpg"


def scene(seed: list[int], pixels: int) -> tuple[Image.Image, list[Seen]]:
    """A picture of this side with one to four things, and what is labelled in it."""
    draw = np.random.default_rng(seed)
    canvas = Canvas(pixels)
    _background(canvas, draw)
    # the lower a thing stands in the picture, the nearer it is
    feet = np.sort(draw.uniform(0.5, 1.05, draw.integers(1, _MOST + 1)))
    for index, foot in enumerate(feet.tolist()):
        category = VOC_CATEGORIES[draw.integers(len(VOC_CATEGORIES))]
        kind = KINDS[category]
        thing = sprite(kind.drawings[draw.integers(len(kind.drawings))], [*seed, index], draw.random())
        longer = draw.uniform(0.18, 0.85) * pixels * foot
        height = longer * min(1.0, thing.height / thing.width)
        canvas.paste(thing, pixels * draw.uniform(0.2, 0.8), pixels * foot, height, category)
    picture = canvas.picture().filter(ImageFilter.GaussianBlur(float(draw.uniform(0, 0.7))))
    light = draw.uniform(0.7, 1.1) * draw.normal(1, 0.04, 3)
    noisy = np.asarray(picture, dtype=np.float64) * light + draw.normal(0, 3, (pixels, pixels, 3))
    return Image.fromarray(np.clip(noisy, 0, 255).round().astype(np.uint8)), canvas.seen(LEAST * pixels)


def _background(canvas: Canvas, draw: np.random.Generator) -> None:
    """Two tones that meet somewhere, and shapes without a name."""
    size, meet = canvas.size, float(draw.uniform(0.25, 0.7))
    upper, lower = any_colour(draw, 0.25, 0.75), any_colour(draw, 0.3, 0.55)
    slope = float(draw.normal(0, 0.05))
    canvas.polygon([(0, 0), (size, 0), (size, size), (0, size)], upper)
    line = [(size, size * (meet + slope)), (0, size * (meet - slope))]
    canvas.polygon([(0, size), (size, size), *line], lower)
    for _ in range(int(draw.integers(3, 10))):
        x, y = draw.uniform(0, size, 2)
        base = lower if y > meet * size else upper
        tint = (
            shade(base, draw.uniform(0.7, 1.3))
            if draw.random() < 0.6
            else near(draw, draw.random(), 0.4, 0.6)
        )
        angles = np.sort(draw.uniform(0, 2 * np.pi, draw.integers(3, 7)))
        reach = draw.uniform(0.04, 0.22) * size
        points = zip(
            (x + reach * np.cos(angles)).tolist(), (y + reach * np.sin(angles)).tolist(), strict=True
        )
        canvas.polygon(list(points), tint)
