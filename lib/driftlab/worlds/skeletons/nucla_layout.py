"""A synthetic world in N-UCLA's layout: `all_sqe/*.json` and `feeder_split.json`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from driftlab.core.errors import ParameterError
from driftlab.data.markers import WorldMarker
from driftlab.data.skeletons import nucla
from driftlab.worlds.folders import make_once
from driftlab.worlds.skeletons.actions import NUCLA
from driftlab.worlds.skeletons.body import V1_OF_V2
from driftlab.worlds.skeletons.motion import VERSION, View, perform, record, subject

SUBJECTS = 10
VIEWS = {1: View(-0.6, 2.6), 2: View(0.0, 2.9), 3: View(0.65, 3.1)}


def nucla_world(folder: Path | str | None = None, *, sequences_per_class: int = 40, seed: int = 0) -> Path:
    """Create a synthetic N-UCLA on first use and return its folder: 10 actions, 10 subjects, 3 views.

    As in N-UCLA, every execution is recorded from all views. The order file lists views 1 and 2, shuffled,
    before view 3.

    Args:
        folder: Where to create it; None for its place in the outputs folder.
        sequences_per_class: Recordings per action; three per execution.
        seed: Seed of all random draws.

    Raises:
        ParameterError: The number of sequences is below 1, or larger than the layout has names for.
        DataError: The folder holds something else.
    """
    maximum = SUBJECTS * len(VIEWS) * 100
    if not 1 <= sequences_per_class <= maximum:
        raise ParameterError(f"sequences_per_class must be from 1 to {maximum}, not {sequences_per_class}.")

    def write(target: Path) -> None:
        _write(target, sequences_per_class, seed)

    marker = WorldMarker("nucla", VERSION, seed, {"sequences_per_class": sequences_per_class})
    return make_once(folder, marker, write)


def _write(folder: Path, sequences_per_class: int, seed: int) -> None:
    sequence_folder = folder / nucla.SEQUENCES
    sequence_folder.mkdir()
    people = [subject(seed, number) for number in range(SUBJECTS)]
    names_of_part: dict[str, list[str]] = {"train": [], "val": []}
    for label, (code, action) in enumerate(zip(nucla.ACTIONS, NUCLA, strict=True), start=1):
        for index in range(sequences_per_class):
            execution, view = divmod(index, len(VIEWS))
            repetition, person = divmod(execution, SUBJECTS)
            motion = perform(action, people[person], np.random.default_rng([seed, 1, label, execution]))
            rng = np.random.default_rng([seed, 2, label, execution, view])
            observed = record(motion, VIEWS[view + 1], rng).joints[:, V1_OF_V2]
            name = f"{code}_s{person + 1:02d}_e{repetition:02d}_v{view + 1:02d}"
            content = {"file_name": name, "skeletons": observed.round(5).tolist(), "label": label}
            (sequence_folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
            names_of_part["train" if view < 2 else "val"].append(name)
    order_rng = np.random.default_rng([seed, 3])
    split = {
        part: [names[index] for index in order_rng.permutation(len(names))]
        for part, names in names_of_part.items()
    }
    (folder / nucla.ORDER_FILE).write_text(json.dumps(split), encoding="utf-8")
