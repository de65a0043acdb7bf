"""Parameters that notebooks of several papers have, and those of the notebooks that belong to no paper.

A model's defaults are the demo scale's values.
"""

from __future__ import annotations

from typing import Annotated

from driftlab.core.limits import Between, DifferentNumbers, OneOf, SomeOf
from driftlab.methods import METHODS
from driftlab.notebooks.parameters import NotebookParameters, machine, protocol, question

ScaleName = Annotated[
    str, question("name of the scale, kept with every result"), OneOf(("smoke", "demo", "paper"))
]
DataFolder = Annotated[str, machine("where official data lie, if not under data/")]
Seeds = Annotated[list[int], question("repetitions"), DifferentNumbers(Between(0, 2**32 - 1))]
EngineName = Annotated[
    str, machine('"local" processes, or "ray" (address from RAY_ADDRESS)'), OneOf(("local", "ray"))
]
Jobs = Annotated[int, machine("batches of runs worked on at once; 0 is one per core"), Between(0)]
Replicas = Annotated[int, machine("runs trained side by side in a batch"), Between(1)]
WorldSequences = Annotated[
    # Fewer leave a class without a test sequence.
    int,
    question("sequences per class of a synthetic world"),
    Between(10),
]
Epochs = Annotated[int, protocol("full-batch steps per task (paper: 100)"), Between(1)]


class Scaled(NotebookParameters):
    """Every notebook's."""

    scale: ScaleName = "demo"


class Swept(Scaled):
    """Notebooks that execute runs."""

    engine: EngineName = "local"
    jobs: Jobs = 0


class StartHere(Swept):
    """00: a small sweep and a short stream, one small thing of each finished paper."""

    world_sequences: WorldSequences = 40
    methods: Annotated[list[str], question("methods to compare"), SomeOf(METHODS)] = [
        "BARE",
        "REPLAY",
        "JOINT",
    ]
    world_steps: Annotated[
        # Fewer do not make two stretches with objects.
        int,
        question("steps of a synthetic stream, each of 16 training frames and a test frame"),
        Between(12),
    ] = 24
    epochs: Epochs = 40
    jobs: Jobs = 1


class Scoreboard(Scaled):
    """90: verdicts of all papers."""


NOTEBOOKS: dict[str, type[NotebookParameters]] = {
    "00_start_here": StartHere,
    "90_scoreboard": Scoreboard,
}
