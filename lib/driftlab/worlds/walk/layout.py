"""A synthetic world in OAK's layout: the walker's frames and labels, step by step."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

from driftlab.core.errors import ParameterError
from driftlab.data.detection.oak_labels import MAPPING_FILE
from driftlab.data.detection.oak_locations import LOCATIONS_FILE
from driftlab.data.detection.oak_tree import LABEL, RAW, TEST, TRAIN
from driftlab.data.markers import WorldMarker
from driftlab.worlds.folders import make_once
from driftlab.worlds.processes import draw_parts
from driftlab.worlds.walk.canvas import Seen
from driftlab.worlds.walk.habits import Visit, itinerary
from driftlab.worlds.walk.kinds import CATEGORIES
from driftlab.worlds.walk.town import location
from driftlab.worlds.walk.walker import SECONDS_A_FRAME, clip

VERSION = 2  # raised whenever a world's files would change
QUALITY = 90
"""Quality of the JPEG files."""
SMALLEST = 64
"""Pixels of a frame's side under which nothing is to be recognised."""
_FRAME_RATE = 30  # a second, of the video whose frames are numbered in the files' names


def oak_world(
    folder: Path | str | None = None,
    *,
    steps: int = 150,
    seed: int = 0,
    frames_per_step: int = 16,
    pixels: int = 128,
) -> Path:
    """The folder of a synthetic OAK, made on first use: nine months of a walker's labelled video.

    As in OAK a step has some frames for training and one, amid them in time, for testing. A longer stream
    has more recorded days in the same nine months. Categories are 22 of OAK's, the first eight VOC's.

    Args:
        folder: Where it belongs; None for its place among the outputs.
        steps: How many steps the stream has.
        seed: Seed of everything that is drawn.
        frames_per_step: How many training frames per step has.
        pixels: Side of a frame.

    Raises:
        ParameterError: A size is impossible.
        DataError: The folder holds something else, or cannot be written.
    """
    for name, value, least in (
        ("steps", steps, 2),
        ("frames_per_step", frames_per_step, 1),
        ("pixels", pixels, SMALLEST),
    ):
        if value < least:
            raise ParameterError(f"{name} must be at least {least}, not {value}.")

    def write(target: Path) -> None:
        _write(target, steps, seed, frames_per_step, pixels)

    sizes = {"steps": steps, "frames_per_step": frames_per_step, "pixels": pixels}
    return make_once(folder, WorldMarker("oak", VERSION, seed, sizes), write)


def _write(folder: Path, steps: int, seed: int, frames_per_step: int, pixels: int) -> None:
    mapping = {name: number for number, name in enumerate(CATEGORIES)}
    (folder / MAPPING_FILE).write_text(json.dumps(mapping, indent=1) + "\n", encoding="utf-8")
    for kind in (RAW, LABEL):
        (folder / TEST / kind).mkdir(parents=True)
        for step in range(steps):
            (folder / TRAIN / kind / f"{step:05d}").mkdir(parents=True)
    visits = itinerary(steps, seed)
    first_steps = np.cumsum([0] + [visit.steps for visit in visits]).tolist()
    parts = [
        (folder, visit, first_step, seed, frames_per_step, pixels)
        for visit, first_step in zip(visits, first_steps[:-1], strict=True)
    ]
    draw_parts(_write_visit, parts, images=steps * (frames_per_step + 1))
    locations = {}
    for visit in visits:
        longitude, latitude = location(visit, seed)
        locations[clip_name(visit)] = {"longitude": longitude, "latitude": latitude}
    (folder / LOCATIONS_FILE).write_text(json.dumps(locations, indent=1) + "\n", encoding="utf-8")


def _write_visit(
    folder: Path, visit: Visit, first_step: int, seed: int, frames_per_step: int, pixels: int
) -> None:
    """Write a visit's frames and labels; its steps of the stream begin with `first_step`."""
    frames = visit.steps * (frames_per_step + 1)
    for frame, shot in enumerate(clip(visit, frames, pixels, seed)):
        step, frame_of_step = divmod(frame, frames_per_step + 1)
        held_out = frame_of_step == (frames_per_step + 1) // 2
        part, step_folder = (TEST, "") if held_out else (TRAIN, f"{first_step + step:05d}")
        image, label = (folder / part / kind / step_folder for kind in (RAW, LABEL))
        name = frame_name(visit, frame)
        Image.fromarray(shot.pixels).save(image / f"{name}.jpg", quality=QUALITY)
        (label / f"{name}.json").write_text(json.dumps(_labels(shot.seen)), encoding="utf-8")


def frame_name(visit: Visit, frame: int) -> str:
    """As the released frames are named: date, time, milliseconds, second of the clip, frame of the clip."""
    seconds = frame * SECONDS_A_FRAME
    return f"{clip_name(visit)}_{seconds:05d}_{seconds * _FRAME_RATE}"


def clip_name(visit: Visit) -> str:
    """The beginning of the names of a visit's frames: date, time and milliseconds of its start."""
    return f"{visit.start:%Y%m%d_%H%M%S}_{visit.start.microsecond // 1000:03d}"


def _labels(seen: list[Seen]) -> list[dict[str, object]]:
    corners = ("x1", "y1", "x2", "y2")
    return [
        {"id": number, "category": one.category, "box2d": dict(zip(corners, one.box, strict=True))}
        for number, one in enumerate(seen)
    ]
