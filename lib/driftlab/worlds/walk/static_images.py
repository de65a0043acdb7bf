"""A synthetic substitute for PASCAL VOC in COCO's layout: single images of a few objects, for pretraining."""

from __future__ import annotations

import itertools
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
from driftlab.worlds.walk.pen import colour_near, random_colour, shade, sprite
from driftlab.worlds.walk.renderer import MIN_LABEL_SIDE

VERSION = 1  # raised whenever a world's files would change
_MAX_OBJECTS = 4  # per image
_IMAGES_PER_CALL = 50  # drawn by one process at a time


def static_world(
    folder: Path | str | None = None, *, images: int = 800, seed: int = 0, pixels: int = 128
) -> Path:
    """Create a synthetic VOC on first use and return its folder.

    As in VOC, objects are large and near the centre. The scenes are unrelated to the walker's. Categories are
    the eight that the walker's world shares with VOC, by OAK's names.

    Args:
        folder: Where to create it; None for its place in the outputs folder.
        images: Number of images.
        seed: Seed of all random draws.
        pixels: Side of an image, in pixels.

    Raises:
        ParameterError: A number or size is too small.
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
    parts = [
        (folder, numbers[first : first + _IMAGES_PER_CALL], seed, pixels)
        for first in range(0, images, _IMAGES_PER_CALL)
    ]
    labels_per_image = itertools.chain(*draw_parts(_write_images, parts, images))
    annotations: list[dict[str, object]] = []
    for number, labels in zip(numbers, labels_per_image, strict=True):
        for label in labels:
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
    """Draw and write the images with these numbers; return the labelled objects of each."""
    labels_per_image = []
    for number in numbers:
        image, labels = scene([seed, 7, number], pixels)
        image.save(folder / IMAGES / _image_name(number), quality=QUALITY)
        labels_per_image.append(labels)
    return labels_per_image


def _image_name(number: int) -> str:
    return f"{number:06d}.jpg"


def scene(seed: list[int], pixels: int) -> tuple[Image.Image, list[Seen]]:
    """Draw an image of `pixels` x `pixels` with one to four objects; return it and its labelled objects."""
    rng = np.random.default_rng(seed)
    canvas = Canvas(pixels)
    _background(canvas, rng)
    # ascending: nearer objects stand lower in the image and are drawn last
    bottoms = np.sort(rng.uniform(0.5, 1.05, rng.integers(1, _MAX_OBJECTS + 1)))
    for index, bottom in enumerate(bottoms.tolist()):
        category = VOC_CATEGORIES[rng.integers(len(VOC_CATEGORIES))]
        kind = KINDS[category]
        object_sprite = sprite(kind.drawings[rng.integers(len(kind.drawings))], [*seed, index], rng.random())
        longer_side = rng.uniform(0.18, 0.85) * pixels * bottom
        height = longer_side * min(1.0, object_sprite.height / object_sprite.width)
        canvas.paste(object_sprite, pixels * rng.uniform(0.2, 0.8), pixels * bottom, height, category)
    image = canvas.downsampled().filter(ImageFilter.GaussianBlur(float(rng.uniform(0, 0.7))))
    light = rng.uniform(0.7, 1.1) * rng.normal(1, 0.04, 3)
    pixel_values = np.asarray(image, dtype=np.float64) * light + rng.normal(0, 3, (pixels, pixels, 3))
    return Image.fromarray(np.clip(pixel_values, 0, 255).round().astype(np.uint8)), canvas.visible_objects(
        MIN_LABEL_SIDE * pixels
    )


def _background(canvas: Canvas, rng: np.random.Generator) -> None:
    """Draw a background of two colours with random polygons."""
    size, boundary = canvas.size, float(rng.uniform(0.25, 0.7))
    upper, lower = random_colour(rng, 0.25, 0.75), random_colour(rng, 0.3, 0.55)
    slope = float(rng.normal(0, 0.05))
    canvas.polygon([(0, 0), (size, 0), (size, size), (0, size)], upper)
    line = [(size, size * (boundary + slope)), (0, size * (boundary - slope))]
    canvas.polygon([(0, size), (size, size), *line], lower)
    for _ in range(int(rng.integers(3, 10))):
        x, y = rng.uniform(0, size, 2)
        base = lower if y > boundary * size else upper
        fill = (
            shade(base, rng.uniform(0.7, 1.3))
            if rng.random() < 0.6
            else colour_near(rng, rng.random(), 0.4, 0.6)
        )
        angles = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 7)))
        radius = rng.uniform(0.04, 0.22) * size
        points = zip(
            (x + radius * np.cos(angles)).tolist(), (y + radius * np.sin(angles)).tolist(), strict=True
        )
        canvas.polygon(list(points), fill)
