"""The actions of the synthetic worlds as key poses: N-UCLA's ten and NTU's A001–A010.

Actions that resemble each other in the real datasets do so here.

Positions are (right, up, forward) in body heights; a person who stands at rest has the default `Pose`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Pose:
    """A key pose: positions of the wrists, and posture of the trunk.

    Attributes:
        left: Position of the left wrist.
        right: Position of the right wrist.
        drop: Distance by which the hips are lowered.
        back: Distance by which the hips are moved back.
        lean: Forward bend of the trunk, radians.
        twist: Rotation that draws the right shoulder back, radians.
    """

    left: Point = (-0.14, 0.50, 0.02)
    right: Point = (0.14, 0.50, 0.02)
    drop: float = 0.0
    back: float = 0.0
    lean: float = 0.03
    twist: float = 0.0


@dataclass(frozen=True)
class Action:
    """One action, for a right-handed person.

    Attributes:
        keys: Key poses with their times in [0, 1].
        frames: Typical number of frames.
        walk: Distance walked, in body heights.
        strolls: Probability that a person walks a short distance although `walk` is 0.
        shake: (right, up, forward) amplitude of a repeated movement of the right hand in the middle.
        cycles: How many times that movement repeats.
        both: Whether the left hand mirrors that movement.
    """

    keys: tuple[tuple[float, Pose], ...]
    frames: int
    walk: float = 0.0
    strolls: float = 0.0
    shake: Point = (0.0, 0.0, 0.0)
    cycles: float = 0.0
    both: bool = False


REST = Pose()
_HOLD = Pose(right=(0.10, 0.60, 0.20))
_HOLD_BOTH = replace(_HOLD, left=(-0.09, 0.60, 0.20))
_STOOP = Pose(right=(0.10, 0.12, 0.22), drop=0.17, back=0.05, lean=1.1)
_STOOP_BOTH = replace(_STOOP, left=(-0.08, 0.12, 0.22))
_SEATED = Pose(left=(-0.10, 0.36, 0.02), right=(0.10, 0.36, 0.02), drop=0.24, back=0.16, lean=0.06)
_HALFWAY = Pose(left=(-0.11, 0.42, 0.10), right=(0.11, 0.42, 0.10), drop=0.14, back=0.11, lean=0.60)
_MOUTH = Pose(right=(0.05, 0.84, 0.13))
_CROWN = Pose(right=(0.13, 0.96, 0.04))
_SLEEVE = Pose(left=(0.04, 0.78, 0.12), right=(0.24, 0.58, -0.04), twist=0.25)
_OTHER_SLEEVE = Pose(left=(-0.24, 0.58, -0.06), right=(-0.04, 0.80, 0.12), twist=-0.25)
_COLLAR = Pose(left=(-0.08, 0.78, 0.11), right=(0.08, 0.78, 0.11))
_OFF_SHOULDERS = Pose(left=(-0.20, 0.62, -0.06), right=(0.20, 0.62, -0.06), lean=0.12)
_WIND_UP = Pose(right=(0.22, 0.92, -0.12), twist=0.5, lean=-0.05)
_RELEASE = Pose(right=(0.06, 0.82, 0.34), twist=-0.4, lean=0.25)
_OFFER = Pose(right=(0.10, 0.62, 0.33), lean=0.12)

_PICK_UP = Action(((0, REST), (0.42, _STOOP), (0.55, _STOOP), (1, _HOLD)), frames=30, strolls=0.3)
_SIT = Action(((0, REST), (0.45, _HALFWAY), (0.85, _SEATED), (1, _SEATED)), frames=24)
_STAND = Action(((0, _SEATED), (0.15, _SEATED), (0.55, _HALFWAY), (1, REST)), frames=22)
_THROW = Action(((0, _HOLD), (0.4, _WIND_UP), (0.62, _RELEASE), (1, REST)), frames=28, strolls=0.1)

NUCLA: tuple[Action, ...] = (
    _PICK_UP,
    Action(((0, REST), (0.42, _STOOP_BOTH), (0.55, _STOOP_BOTH), (1, _HOLD_BOTH)), frames=31, strolls=0.3),
    Action(((0, _HOLD), (0.4, _OFFER), (0.6, _OFFER), (1, REST)), frames=28, strolls=0.3),
    Action(((0, REST), (1, REST)), frames=26, walk=1.1),
    _SIT,
    _STAND,
    Action(((0, _HOLD_BOTH), (0.25, _SLEEVE), (0.5, _OTHER_SLEEVE), (0.75, _COLLAR), (1, REST)), frames=72),
    Action(
        (
            (0, REST),
            (0.2, _COLLAR),
            (0.42, _OFF_SHOULDERS),
            (0.62, _OTHER_SLEEVE),
            (0.8, _SLEEVE),
            (1, _HOLD),
        ),
        frames=52,
    ),
    _THROW,
    Action(((0, _HOLD_BOTH), (1, _HOLD_BOTH)), frames=26, walk=1.0),
)

NTU: tuple[Action, ...] = (
    Action(((0, REST), (0.35, _MOUTH), (0.7, _MOUTH), (1, REST)), frames=60),
    Action(((0, _HOLD), (0.5, _MOUTH), (1, _HOLD)), frames=64, shake=(0.0, -0.10, 0.04), cycles=2),
    Action(
        ((0, REST), (0.25, _MOUTH), (0.85, _MOUTH), (1, REST)), frames=68, shake=(0.03, 0.01, 0), cycles=6
    ),
    Action(
        ((0, REST), (0.25, _CROWN), (0.85, _CROWN), (1, REST)), frames=64, shake=(0, -0.08, -0.05), cycles=3
    ),
    Action(((0, _HOLD), (0.4, _OFFER), (0.6, REST), (1, REST)), frames=44),
    replace(_PICK_UP, frames=52),
    replace(_THROW, frames=48),
    replace(_SIT, frames=46),
    replace(_STAND, frames=44),
    Action(
        ((0, REST), (0.25, _HOLD_BOTH), (0.8, _HOLD_BOTH), (1, REST)),
        frames=52,
        shake=(-0.05, 0, 0),
        cycles=4,
        both=True,
    ),
)
