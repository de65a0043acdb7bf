"""Rendering of one frame: surroundings, objects, light, weather, blur and noise."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from driftlab.worlds.walk.camera import FOCAL, Camera
from driftlab.worlds.walk.canvas import Canvas, Seen
from driftlab.worlds.walk.habits import Visit
from driftlab.worlds.walk.pen import Colour, colour
from driftlab.worlds.walk.places import Place
from driftlab.worlds.walk.surroundings import Floats, Surroundings, positions_ahead

MIN_LABEL_SIDE = 1 / 13
"""Objects are labelled if their box is at least as large as a square of this side, as a share of the frame's.

OAK's limit is 20 pixels.
"""
_HAZE_RANGE = (6.0, 30.0)  # metres; haze begins at the first distance and is strongest from the second on
_NEAR_PLANE = 0.3  # metres; what is closer is not drawn
_NIGHT_LIGHT = 0.5  # brightness at night; 1 at noon


@dataclass(frozen=True)
class ProjectedObject:
    """An object in front of the camera, projected into the image.

    Attributes:
        category: Its label; empty for scenery.
        sprite: RGBA image of it.
        u: Horizontal position of its centre, as a share of the frame's side.
        v: Vertical position of its lower edge, as a share of the frame's side.
        depth: Distance from the camera, in metres.
        height: Height in metres.
    """

    category: str
    sprite: Image.Image
    u: float
    v: float
    depth: float
    height: float


@dataclass(frozen=True)
class Shot:
    """A rendered frame: pixels (size, size, 3) uint8, labelled objects, and the canvas with their masks."""

    pixels: NDArray[np.uint8]
    seen: list[Seen]
    canvas: Canvas


def render(
    place: Place,
    surroundings: Surroundings,
    camera: Camera,
    objects: list[ProjectedObject],
    visit: Visit,
    seconds: int,
    size: int,
    rng: np.random.Generator,
) -> Shot:
    """Render one frame of a visit.

    Args:
        place: The place.
        surroundings: Its ground, walls and skyline.
        camera: The camera in this frame.
        objects: Projected objects, furthest first.
        visit: The visit, for time of day, season and weather.
        seconds: Time since the visit's start.
        size: Side of the frame, in pixels.
        rng: Source of random numbers.
    """
    canvas = Canvas(size)
    time = visit.start + timedelta(seconds=seconds)
    light, tint = _light(place, visit, time.hour + time.minute / 60)
    _backdrop(canvas, place, surroundings, camera, visit)
    _draw_surroundings(
        canvas, surroundings, camera, haze_colour=(215, 215, 210) if place.indoors else (178, 192, 205)
    )
    for item in objects:
        height = FOCAL * item.height / item.depth
        canvas.paste(item.sprite, size * item.u, size * item.v, size * height, item.category)
    if visit.rain and not place.indoors:
        _rain(canvas, rng)
    return Shot(
        _camera_image(canvas, camera, light * tint, rng),
        canvas.visible_objects(MIN_LABEL_SIDE * size),
        canvas,
    )


def _backdrop(canvas: Canvas, place: Place, surroundings: Surroundings, camera: Camera, visit: Visit) -> None:
    """Draw the sky (indoors a distant wall) above the horizon, and the ground below it."""
    size, horizon = canvas.size, camera.horizon * canvas.size
    if place.indoors:
        canvas.polygon([(0, 0), (size, 0), (size, horizon), (0, horizon)], (205, 203, 196))
    else:
        blue = 0.08 if visit.rain else 0.45
        for band in range(5):
            bottom = horizon * (band + 1) / 5 + 1
            sky_colour = colour(0.58, blue * (1 - band / 6), 0.78 if visit.rain else 0.86 + band / 36)
            canvas.polygon(
                [(0, horizon * band / 5), (size, horizon * band / 5), (size, bottom), (0, bottom)], sky_colour
            )
        _skyline(canvas, surroundings.skyline, camera)
    snow = visit.winter and not place.indoors
    ground_tone = colour(0.6, 0.03, 0.88) if snow else colour(*place.ground_tone)
    canvas.polygon([(0, horizon), (size, horizon), (size, size), (0, size)], ground_tone)


def _skyline(canvas: Canvas, heights: Floats, camera: Camera) -> None:
    """Draw distant roofs on the horizon, shifted by the camera's yaw."""
    angles = np.linspace(-1.3, 1.3, len(heights) + 1) - camera.yaw
    in_front = np.abs(angles) < 1.1
    x = canvas.size * (0.5 + FOCAL * np.tan(np.clip(angles, -1.1, 1.1)))
    bottom = canvas.size * camera.horizon + 1
    for index in np.flatnonzero(in_front[:-1] & in_front[1:]).tolist():
        left, right = x[index], x[index + 1]
        top = canvas.size * (camera.horizon - FOCAL * heights[index] / 80)
        canvas.polygon([(left, bottom), (left, top), (right, top), (right, bottom)], (152, 165, 180))


def _draw_surroundings(
    canvas: Canvas, surroundings: Surroundings, camera: Camera, haze_colour: Colour
) -> None:
    """Draw the quadrilaterals that are entirely in front of the camera, with haze by distance."""
    positions = positions_ahead(surroundings.starts, camera.z)
    nearby = np.flatnonzero(positions - camera.z < _HAZE_RANGE[1] + 2)
    nearby = nearby[np.argsort(-positions[nearby], kind="stable")]
    corners, colours = surroundings.corners[nearby], surroundings.colours[nearby]
    corners = corners + (positions - surroundings.starts)[nearby, None, None] * np.array([0, 0, 1])
    points, depths = camera.project(corners)
    visible = (depths > _NEAR_PLANE).all(axis=1)
    visible &= (points[..., 0] < 1).any(axis=1) & (points[..., 0] > 0).any(axis=1)
    haze = (
        0.75
        * np.clip((depths.mean(axis=1) - _HAZE_RANGE[0]) / (_HAZE_RANGE[1] - _HAZE_RANGE[0]), 0, 1)[:, None]
    )
    tints = (colours * (1 - haze) + np.array(haze_colour) * haze).round().astype(int)
    pixels = np.clip(points, -20, 20) * canvas.size
    for corners_2d, (red, green, blue) in zip(pixels[visible].tolist(), tints[visible].tolist(), strict=True):
        canvas.polygon([(x, y) for x, y in corners_2d], (red, green, blue))


def _light(place: Place, visit: Visit, hour: float) -> tuple[float, Floats]:
    """Brightness, and colour (3,) of the light, by place, hour, season and weather."""
    if place.indoors:
        return 0.95, np.array([1.04, 1.0, 0.92])
    daylight_hours = 12.5 - 2.5 * np.cos(2 * np.pi * (visit.start.timetuple().tm_yday + 10) / 365)
    sun_height = np.cos(np.pi * (hour - 13) / daylight_hours) if abs(hour - 13) < daylight_hours / 2 else 0.0
    light = _NIGHT_LIGHT + (1 - _NIGHT_LIGHT) * sun_height**0.5
    low_sun_tint = np.array([1.08, 0.97, 0.85]) if sun_height > 0.05 else np.array([0.85, 0.93, 1.12])
    tint = sun_height * np.ones(3) + (1 - sun_height) * low_sun_tint
    return float(light * (0.85 if visit.rain else 1.0)), tint


def _rain(canvas: Canvas, rng: np.random.Generator) -> None:
    """Draw streaks of rain."""
    starts = rng.uniform(0, canvas.size, (40, 2))
    for x, y in starts.tolist():
        canvas.polygon([(x, y), (x + 0.5, y), (x - 0.7, y + 5), (x - 1.2, y + 5)], (200, 205, 212))


def _camera_image(
    canvas: Canvas, camera: Camera, light: Floats, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """The camera's image (size, size, 3) uint8: the canvas with light, motion blur and sensor noise."""
    image = canvas.downsampled()
    blur_x = min(abs(camera.turn_rate) * 0.06 * canvas.size, 0.018 * canvas.size)
    blur_y = float(rng.exponential(0.25))
    image = image.filter(ImageFilter.BoxBlur((blur_x, min(blur_y, 1.0))))
    noise = (
        rng.normal(0, 1, (canvas.size, canvas.size, 1)) * 2.5
        + rng.normal(0, 1, (canvas.size, canvas.size, 3)) * 1.5
    )
    image_values = np.asarray(image, dtype=np.float64) * light * rng.normal(1, 0.03) + noise
    return np.clip(image_values, 0, 255).round().astype(np.uint8)
