"""A synthetic world in NTU RGB+D's layout: raw `.skeleton` text with all its columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from driftlab.core.errors import ParameterError
from driftlab.data.markers import WorldMarker
from driftlab.data.skeletons.ntu import BONES, TEXT_FOLDER
from driftlab.data.skeletons.ntu_names import TRAIN_PERFORMERS, SampleName
from driftlab.worlds.folders import make_once
from driftlab.worlds.skeletons.actions import NTU, REST, Action
from driftlab.worlds.skeletons.body import Floats
from driftlab.worlds.skeletons.motion import VERSION, Recording, View, perform, record, subject

PERFORMERS = sorted(TRAIN_PERFORMERS)
CAMERAS = {1: View(0.75, 3.0), 2: View(0.0, 2.8), 3: View(-0.75, 3.2)}
REPLICATIONS = 2
SETUPS = 17

_BYSTANDER = Action(((0, REST), (1, REST)), frames=60)
_BYSTANDERS = 0.15  # probability that a recording shows a second person
_GAPS = 0.05  # probability that a recording has a frame without a body
_DEPTH_CAMERA = (365.0, 256.0, 212.0)  # focal length and centre, pixels of 512 x 424
_COLOUR_CAMERA = (1060.0, 960.0, 540.0)  # of 1920 x 1080
_BODY = "%d 0 1 1 1 1 0 %.5f %.5f 2\n25\n"
_JOINT = "%.5f %.5f %.5f %.3f %.3f %.3f %.3f %.4f %.4f %.4f %.4f %d\n"


def ntu_world(folder: Path | str | None = None, *, sequences_per_class: int = 20, seed: int = 0) -> Path:
    """Create a synthetic NTU RGB+D on first use and return its folder: A001–A010, 20 performers, 3 cameras.

    As in NTU, every execution is recorded by all cameras; some recordings show a second person, and some have
    a frame without a body; one sample of each action is damaged (no body at all) and is listed as such in
    `missing_skeletons.txt`. The damaged ones do not count among `sequences_per_class`.

    Args:
        folder: Where to create it; None for its place in the outputs folder.
        sequences_per_class: Undamaged recordings per action; three per execution.
        seed: Seed of all random draws.

    Raises:
        ParameterError: The number of sequences is below 1, or larger than the layout has names for.
        DataError: The folder holds something else, or cannot be written.
    """
    maximum = SETUPS * len(PERFORMERS) * REPLICATIONS * len(CAMERAS) - 1
    if not 1 <= sequences_per_class <= maximum:
        raise ParameterError(f"sequences_per_class must be from 1 to {maximum}, not {sequences_per_class}.")

    def write(target: Path) -> None:
        _write(target, sequences_per_class, seed)

    marker = WorldMarker("ntu", VERSION, seed, {"sequences_per_class": sequences_per_class})
    return make_once(folder, marker, write)


def _write(folder: Path, sequences_per_class: int, seed: int) -> None:
    text_folder = folder / TEXT_FOLDER
    text_folder.mkdir()
    damaged = []
    for action in range(1, len(NTU) + 1):
        for index in range(sequences_per_class + 1):
            name, execution, camera = _sample(action, index)
            if index == sequences_per_class:
                damaged.append(str(name))
                text = "12\n" + 12 * "0\n"
            else:
                text = _text(name, execution, camera, seed)
            (text_folder / f"{name}.skeleton").write_text(text, encoding="ascii")
    (folder / "missing_skeletons.txt").write_text("\n".join(damaged) + "\n", encoding="ascii")


def _sample(action: int, index: int) -> tuple[SampleName, int, int]:
    """Name, execution number and camera number of an action's recording."""
    execution, camera = divmod(index, len(CAMERAS))
    setup_and_replication, performer = divmod(execution, len(PERFORMERS))
    setup, replication = divmod(setup_and_replication, REPLICATIONS)
    name = SampleName(setup + 1, camera + 1, PERFORMERS[performer], replication + 1, action)
    return name, execution, camera + 1


def _text(name: SampleName, execution: int, camera: int, seed: int) -> str:
    """Content of a sample's `.skeleton` file."""
    rng = np.random.default_rng([seed, 4, name.action, execution])
    motion = perform(NTU[name.action - 1], subject(seed, name.performer), rng)
    identity = 72057594037900000 + 100 * execution + name.performer  # the tracker's ids are of this size
    bodies = {identity: motion}
    if rng.random() < _BYSTANDERS:
        aside = np.array([rng.choice([-1.0, 1.0]), 0, 0.4])  # metres
        bodies[identity - 1] = perform(_BYSTANDER, subject(seed, 100 + execution), rng) + aside
    gap = int(rng.integers(len(motion))) if rng.random() < _GAPS else -1
    camera_rng = np.random.default_rng([seed, 5, name.action, execution, camera])
    columns_of_body = {
        body: _columns(record(body_motion, CAMERAS[camera], camera_rng))
        for body, body_motion in bodies.items()
    }
    frames = []
    for frame in range(len(motion)):
        visible_bodies = [
            body for body, rows in columns_of_body.items() if frame < len(rows) and frame != gap
        ]
        frames += [
            f"{len(visible_bodies)}\n",
            *(_body(body, columns_of_body[body][frame]) for body in visible_bodies),
        ]
    return "".join([f"{len(motion)}\n", *frames])


def _body(identity: int, rows: Floats) -> str:
    """Lines of one body in one frame."""
    return _BODY % (identity, 0.1, 0.1) + (_JOINT * len(rows)) % tuple(rows.ravel())


def _columns(recording: Recording) -> Floats:
    """(T, 25, 12): position, depth and colour pixel, orientation (w, x, y, z), tracking state."""
    xyz = recording.joints
    tracking = np.where(recording.inferred, 1, 2)[..., None]
    pixels = [_pixel(xyz, *_DEPTH_CAMERA), _pixel(xyz, *_COLOUR_CAMERA)]
    return np.concatenate([xyz, *pixels, _orientation(xyz), tracking], axis=-1)


def _pixel(xyz: Floats, focal: float, x: float, y: float) -> Floats:
    """Pixel coordinates (T, 25, 2) of joints in an image with this focal length and centre (x, y)."""
    return np.stack([x + focal * xyz[..., 0] / xyz[..., 2], y - focal * xyz[..., 1] / xyz[..., 2]], axis=-1)


def _orientation(xyz: Floats) -> Floats:
    """(T, 25, 4) quaternions that turn the y axis into each joint's bone; the root has none (zeros)."""
    quaternion = np.zeros((*xyz.shape[:2], 4))
    for joint, parent in BONES:
        bone = xyz[:, joint] - xyz[:, parent]
        x, y, z = _unit(bone).T
        quaternion[:, joint] = _unit(np.stack([1 + y, z, 0 * x, -x], axis=-1))
    return quaternion


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9))
