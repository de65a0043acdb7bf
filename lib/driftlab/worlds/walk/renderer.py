"""One frame: surroundings, objects, light, blur and noise."""

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
from driftlab.worlds.walk.surroundings import Floats, Surroundings, ahead

LEAST = 1 / 13
"""Side of the square, in sides of the frame, under whose area objects are not labelled (OAK: 20 pixels)."""
_HAZE = (6.0, 30.0)  # metres between which walls fade into the distance
_NEAR = 0.3  # metres
_NIGHT = 0.5


@dataclass(frozen=True)
class Sight:
    """An object before the camera.

    Attributes:
        category: Its label; empty for scenery.
        sprite: How it looks.
        u: Where its middle comes, in sides of the frame from the left.
        v: Where its foot comes, in sides of the frame from the top.
        depth: Metres.
        height: Metres.
    """

    category: str
    sprite: Image.Image
    u: float
    v: float
    depth: float
    height: float


@dataclass(frozen=True)
class Shot:
    """A frame: pixels (size, size, 3) uint8, what is labelled in it, and the canvas, which has the masks."""

    pixels: NDArray[np.uint8]
    seen: list[Seen]
    canvas: Canvas


def render(
    place: Place,
    around: Surroundings,
    camera: Camera,
    sights: list[Sight],
    visit: Visit,
    seconds: int,
    size: int,
    draw: np.random.Generator,
) -> Shot:
    """One frame of a visit, so many seconds after its start; `sights` come furthest first."""
    canvas = Canvas(size)
    hour = visit.start + timedelta(seconds=seconds)
    light, tint = _light(place, visit, hour.hour + hour.minute / 60)
    _backdrop(canvas, place, around, camera, visit)
    _paint(canvas, around, camera, far=(215, 215, 210) if place.indoors else (178, 192, 205))
    for sight in sights:
        height = FOCAL * sight.height / sight.depth
        canvas.paste(sight.sprite, size * sight.u, size * sight.v, size * height, sight.category)
    if visit.rain and not place.indoors:
        _rain(canvas, draw)
    return Shot(_expose(canvas, camera, light * tint, draw), canvas.seen(LEAST * size), canvas)


def _backdrop(canvas: Canvas, place: Place, around: Surroundings, camera: Camera, visit: Visit) -> None:
    """Sky or far wall above the horizon, and the ground below it."""
    size, horizon = canvas.size, camera.horizon * canvas.size
    if place.indoors:
        canvas.polygon([(0, 0), (size, 0), (size, horizon), (0, horizon)], (205, 203, 196))
    else:
        blue = 0.08 if visit.rain else 0.45
        for band in range(5):
            low = horizon * (band + 1) / 5 + 1
            tint = colour(0.58, blue * (1 - band / 6), 0.78 if visit.rain else 0.86 + band / 36)
            canvas.polygon([(0, horizon * band / 5), (size, horizon * band / 5), (size, low), (0, low)], tint)
        _skyline(canvas, around.skyline, camera)
    white = visit.winter and not place.indoors
    ground = colour(0.6, 0.03, 0.88) if white else colour(*place.ground)
    canvas.polygon([(0, horizon), (size, horizon), (size, size), (0, size)], ground)


def _skyline(canvas: Canvas, heights: Floats, camera: Camera) -> None:
    """Roofs on the horizon, which pass by as the camera turns."""
    angles = np.linspace(-1.3, 1.3, len(heights) + 1) - camera.yaw
    before = np.abs(angles) < 1.1
    across = canvas.size * (0.5 + FOCAL * np.tan(np.clip(angles, -1.1, 1.1)))
    foot = canvas.size * camera.horizon + 1
    for index in np.flatnonzero(before[:-1] & before[1:]).tolist():
        left, right = across[index], across[index + 1]
        top = canvas.size * (camera.horizon - FOCAL * heights[index] / 80)
        canvas.polygon([(left, foot), (left, top), (right, top), (right, foot)], (152, 165, 180))


def _paint(canvas: Canvas, around: Surroundings, camera: Camera, far: Colour) -> None:
    """The surroundings' quadrilaterals that are wholly before the camera, paler with distance."""
    places = ahead(around.starts, camera.z)
    close = np.flatnonzero(places - camera.z < _HAZE[1] + 2)
    close = close[np.argsort(-places[close], kind="stable")]
    corners, colours = around.corners[close], around.colours[close]
    corners = corners + (places - around.starts)[close, None, None] * np.array([0, 0, 1])
    points, depths = camera.project(corners)
    shown = (depths > _NEAR).all(axis=1)
    shown &= (points[..., 0] < 1).any(axis=1) & (points[..., 0] > 0).any(axis=1)
    pale = 0.75 * np.clip((depths.mean(axis=1) - _HAZE[0]) / (_HAZE[1] - _HAZE[0]), 0, 1)[:, None]
    tints = (colours * (1 - pale) + np.array(far) * pale).round().astype(int)
    pixels = np.clip(points, -20, 20) * canvas.size
    for quad, (red, green, blue) in zip(pixels[shown].tolist(), tints[shown].tolist(), strict=True):
        canvas.polygon([(x, y) for x, y in quad], (red, green, blue))


def _light(place: Place, visit: Visit, hour: float) -> tuple[float, Floats]:
    """How bright it is, and the light's colour, by place, hour, season and weather."""
    if place.indoors:
        return 0.95, np.array([1.04, 1.0, 0.92])
    day = 12.5 - 2.5 * np.cos(2 * np.pi * (visit.start.timetuple().tm_yday + 10) / 365)  # hours of light
    height = np.cos(np.pi * (hour - 13) / day) if abs(hour - 13) < day / 2 else 0.0
    light = _NIGHT + (1 - _NIGHT) * height**0.5
    low = np.array([1.08, 0.97, 0.85]) if height > 0.05 else np.array([0.85, 0.93, 1.12])
    tint = height * np.ones(3) + (1 - height) * low
    return float(light * (0.85 if visit.rain else 1.0)), tint


def _rain(canvas: Canvas, draw: np.random.Generator) -> None:
    starts = draw.uniform(0, canvas.size, (40, 2))
    for x, y in starts.tolist():
        canvas.polygon([(x, y), (x + 0.5, y), (x - 0.7, y + 5), (x - 1.2, y + 5)], (200, 205, 212))


def _expose(canvas: Canvas, camera: Camera, light: Floats, draw: np.random.Generator) -> NDArray[np.uint8]:
    """The picture as the sensor has it: lit, blurred by the camera's turning, noisy."""
    picture = canvas.picture()
    smear = min(abs(camera.sweep) * 0.06 * canvas.size, 0.018 * canvas.size)
    shake = float(draw.exponential(0.25))
    picture = picture.filter(ImageFilter.BoxBlur((smear, min(shake, 1.0))))
    noise = (
        draw.normal(0, 1, (canvas.size, canvas.size, 1)) * 2.5
        + draw.normal(0, 1, (canvas.size, canvas.size, 3)) * 1.5
    )
    exposed = np.asarray(picture, dtype=np.float64) * light * draw.normal(1, 0.03) + noise
    return np.clip(exposed, 0, 255).round().astype(np.uint8)
