"""Where OAK's clips were recorded: an optional file beside the frames.

OAK's own label files hold no places; KrishnaCam, the source of its videos, has them. `locations.json` is an
object `{"CLIP": {"longitude": 0.01, "latitude": 0.02}, …}` in degrees. A clip is named by what the names of
its frames begin with: date, time of day and milliseconds, such as `20140913_172950_458`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from driftlab.core.errors import DataError
from driftlab.data.files import parse_json, read_bytes

LOCATIONS_FILE = "locations.json"
_LIMITS = {"longitude": 180.0, "latitude": 90.0}


@dataclass(frozen=True)
class ClipLocation:
    """Where one clip of the video was recorded.

    Attributes:
        clip: What the names of its frames begin with.
        longitude: Degrees east, from -180 to 180.
        latitude: Degrees north, from -90 to 90.
    """

    clip: str
    longitude: float
    latitude: float


def clip_of(frame: str) -> str:
    """The clip of a frame: `20140913_172950_458` for the frame `20140913_172950_458_00034_1020`."""
    return "_".join(frame.split("/")[-1].split("_")[:3])


def read_locations(path: Path, frames: Sequence[str]) -> tuple[tuple[ClipLocation, ...], tuple[str, ...]]:
    """The recording places of the clips, and notes on clips without one.

    Args:
        path: `locations.json`; it may be absent.
        frames: Names of all frames, in time order.

    Returns:
        One entry per clip that has a place, in time order, and notes for the summary; both are empty without
        the file.

    Raises:
        DataError: The file is no map of clips to places, a number is not a longitude or latitude, or a clip
            has no frame.
    """
    if not path.is_file():
        return (), ()
    content = parse_json(read_bytes(path), path)
    if not isinstance(content, dict):
        raise DataError('This must be an object {"CLIP": {"longitude": …, "latitude": …}, …}.', file=path)
    clips = list(dict.fromkeys(map(clip_of, frames)))
    for clip in content:
        if clip not in clips:
            raise DataError(
                "No frame's name begins with the name of this clip.",
                file=path,
                record=clip,
                hint=f"A clip is named by date, time and milliseconds, such as {clips[0]}.",
            )
    places = tuple(
        ClipLocation(clip, *(_degrees(path, clip, content[clip], name) for name in _LIMITS))
        for clip in clips
        if clip in content
    )
    missing = [clip for clip in clips if clip not in content]
    notes = (f"{len(missing)} of {len(clips)} clips have no place in {LOCATIONS_FILE}: {_some(missing)}",)
    return places, notes if missing else ()


def _degrees(path: Path, clip: str, entry: Any, name: str) -> float:
    if not isinstance(entry, dict) or name not in entry:
        raise DataError("This clip needs longitude and latitude.", file=path, record=clip, field=name)
    value, limit = entry[name], _LIMITS[name]
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not number or abs(value) > limit:
        raise DataError(
            f"A {name} is a number of degrees from {-limit:g} to {limit:g}, not {value!r}.",
            file=path,
            record=clip,
            field=name,
        )
    return float(value)


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:5]) + (", …" if len(listed) > 5 else "")
