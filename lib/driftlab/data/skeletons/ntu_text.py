"""NTU RGB+D's raw `.skeleton` text: one sample to one array.

A file holds the number of frames, and for each frame the number of bodies. A body is one line of 10 fields
(its id first), the number of joints (25), and one line of 12 fields per joint, of which the first three are
x, y and z in metres.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import DataError
from driftlab.data.skeletons.records import FARTHEST

JOINTS = 25
BODIES = 2
_BODY_FIELDS = 10
_JOINT_FIELDS = 12
_DIGITS = 9  # of a count


@dataclass
class _Track:
    """One body id of the tracker: the frames in which it was seen, and its joints in them."""

    frames: list[int] = field(default_factory=list)
    joints: list[list[list[float]]] = field(default_factory=list)

    def motion(self) -> float:
        """Sum of the variances of x, y and z over all joints and frames.

        The dataset's authors take the body with the largest one for the main body (FAQ of
        github.com/shahroudy/NTURGB-D).
        """
        return float(np.array(self.joints).reshape(-1, 3).var(axis=0).sum())


@dataclass(frozen=True)
class RawSample:
    """One `.skeleton` file.

    Attributes:
        sequence: float32 (T, 2, 25, 3), metres; the body that moves most comes first, an absent one is zeros.
        empty_frames: How many frames had no body; they are left out of `sequence`.
        spare_tracks: How many tracks found no place in the two bodies.
    """

    sequence: NDArray[np.float32]
    empty_frames: int
    spare_tracks: int


def parse_skeleton(content: bytes, path: Path, damaged_list: Path | None = None) -> RawSample:
    """Read the text of one sample.

    Frames without a body are left out and counted, as CTR-GCN's preparation does. The tracker gives a person
    who was lost and found again a new id: as there, tracks are taken in order of falling motion, and each
    goes to the first of the two bodies that was not seen in any of its frames. A track that overlaps both is
    counted.

    Args:
        content: The file's bytes.
        path: The file, for errors.
        damaged_list: Where the authors' list of damaged samples belongs, for errors.

    Raises:
        DataError: The text is cut short, has a wrong number of fields or joints, or a field that is not a
            number; the error names the line.
    """
    try:
        lines = _Lines(content.decode("ascii").splitlines(), path)
    except UnicodeDecodeError as error:
        raise DataError(f"This is not a text file ({error}).", file=path) from error
    frames = lines.count("the number of frames")
    tracks: dict[str, _Track] = {}
    seen = 0
    for frame in range(frames):
        bodies = lines.count(f"the number of bodies of frame {frame + 1} of {frames}")
        identities: set[str] = set()
        for _ in range(bodies):
            identity, joints = lines.body(f"frame {frame + 1} of {frames}")
            while identity in identities:  # two bodies of one id in a frame are two bodies
                identity += "'"
            identities.add(identity)
            track = tracks.setdefault(identity, _Track())
            track.frames.append(seen)
            track.joints.append(joints)
        seen += bodies > 0
    lines.finish()
    if not tracks:
        raise DataError(
            f"None of the {frames} frames holds a body.",
            file=path,
            hint=f"If the authors list it as damaged, put their list at {damaged_list}."
            if damaged_list
            else None,
        )
    sequence, spare = _two_bodies(list(tracks.values()), seen)
    return RawSample(sequence, frames - seen, spare)


def _two_bodies(tracks: list[_Track], frames: int) -> tuple[NDArray[np.float32], int]:
    sequence = np.zeros((frames, BODIES, JOINTS, 3), dtype=np.float32)
    taken = np.zeros((BODIES, frames), dtype=bool)
    spare = 0
    for track in sorted(tracks, key=_Track.motion, reverse=True):
        free = [body for body in range(BODIES) if not taken[body, track.frames].any()]
        if not free:
            spare += 1
            continue
        sequence[track.frames, free[0]] = track.joints
        taken[free[0], track.frames] = True
    return sequence, spare


class _Lines:
    """The lines of a file, read one after the other; every error names the line."""

    def __init__(self, lines: list[str], path: Path) -> None:
        self._lines, self._path, self._next = lines, path, 0

    def _wrong(self, problem: str, line: int) -> DataError:
        return DataError(problem, file=self._path, record=f"line {line + 1}")

    def _take(self, what: str) -> str:
        if self._next >= len(self._lines):
            raise DataError(
                f"The file ends after line {len(self._lines)}, where {what} should follow: it was cut short.",
                file=self._path,
                hint="Unpack it again from the archive.",
            )
        self._next += 1
        return self._lines[self._next - 1]

    def count(self, what: str) -> int:
        text = self._take(what).strip()
        if not (text.isdigit() and len(text) <= _DIGITS):
            raise self._wrong(f"Expected {what}, found {text[:40]!r}.", self._next - 1)
        return int(text)

    def _numbers(self, what: str, fields: int) -> list[float]:
        parts = self._take(what).split()
        if len(parts) != fields:
            raise self._wrong(f"{what} has {fields} fields; here are {len(parts)}.", self._next - 1)
        try:
            return [float(part) for part in parts]
        except ValueError as error:
            raise self._wrong(f"{what} must be numbers ({error}).", self._next - 1) from error

    def body(self, where: str) -> tuple[str, list[list[float]]]:
        """The next body's id and its 25 joints (x, y, z)."""
        self._numbers(f"a body of {where}", _BODY_FIELDS)
        identity = self._lines[self._next - 1].split()[0]
        joints = self.count(f"the number of joints in {where}")
        if joints != JOINTS:
            raise self._wrong(f"A body has {JOINTS} joints; in {where} it has {joints}.", self._next - 1)
        what = f"a joint in {where}"
        positions = [self._numbers(what, _JOINT_FIELDS)[:3] for _ in range(JOINTS)]
        if not np.isfinite(positions).all():
            joint = int(np.argwhere(~np.isfinite(positions))[0][0])
            raise self._wrong(f"The position of {what} is not finite.", self._next - JOINTS + joint)
        if (far := np.abs(positions) > FARTHEST).any():
            joint = int(np.argwhere(far)[0][0])
            raise self._wrong(
                f"The position of {what} is beyond {FARTHEST:,.0f} m.", self._next - JOINTS + joint
            )
        return identity, positions

    def finish(self) -> None:
        for line in range(self._next, len(self._lines)):
            if self._lines[line].strip():
                raise self._wrong("There is text after the last frame.", line)
