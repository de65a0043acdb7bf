"""Runs, stages, memory and disk of the OAK notebooks, from their parameters alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

from driftlab.data import catalog
from driftlab.papers.estimate import PROCESS_BYTES, Estimate, SweepSize
from driftlab.scenarios.stream import evaluations

NUMBER = 4
"""Bytes of a float32."""
FEATURES = {
    # FPN: 32 channels at strides 4 to 64 of 128 x 128 pixels.
    "small": NUMBER * 32 * sum((128 // stride) ** 2 for stride in (4, 8, 16, 32, 64)),
    # C4: 1,024 channels at stride 16 of a frame of 16 to 9 that is scaled to 1333 x 750 pixels.
    "faster-rcnn-r50-c4": NUMBER * 1024 * ceil(1333 / 16) * ceil(750 / 16),
}
"""Bytes of the frozen part's features of a frame."""
PARAMETERS = {"small": 1_000_000, "faster-rcnn-r50-c4": 33_000_000}
"""Numbers of a detector."""
FEATURE_MEMORY = 2 * 800 * 2**20
"""Bytes of training frames' features that a job keeps at most, for a run and for all its runs."""
PARAMETER_COPIES = {"Incremental": 2, "EWC": 5, "iCaRL": 2, "Offline training": 2}
"""Copies of the parameters in a state: weights, momentum, and what a method remembers."""
ROW_BYTES = 95
"""Bytes of one measurement in the store."""
FRAMES_PER_STEP = 16
CLASSES = {"world": 20, "oak": 83}
"""Classes that are evaluated, about."""

Values = Mapping[str, Any]


def estimate(notebook: str, values: Values, jobs: int) -> Estimate | None:
    """The cost of a notebook; None where it trains nothing.

    Args:
        notebook: Its name.
        values: Every parameter's value.
        jobs: Number of runs that are worked on at once.
    """
    count = SWEEPS.get(notebook[:2])
    if count is None:
        return None
    sweeps = count(values)
    if values["data"] == "world" and not values["checkpoint"]:
        sweeps = [SweepSize(1, values["pretraining_epochs"]), *sweeps]
    steps, test_frames = stream_size(values)
    detector, stages = values["detector"], sum(sweep.stages for sweep in sweeps)
    features = FEATURES[detector]
    train_frames = steps * (values["batch"] or FRAMES_PER_STEP)
    weights = NUMBER * PARAMETERS[detector]
    kept_states = 0
    if values.get("pictures"):  # the last detector of every run is kept
        kept_states = PARAMETER_COPIES["Incremental"] * weights * sum(sweep.runs for sweep in sweeps)
    per_job = PROCESS_BYTES + 6 * weights + min(FEATURE_MEMORY, 2 * train_frames * features)
    return Estimate(
        sweeps,
        memory_bytes=PROCESS_BYTES + weights + jobs * per_job,
        disk_bytes=stages * 3 * CLASSES[values["data"]] * ROW_BYTES
        + 2 * weights
        + kept_states
        + (test_frames * features if values["cached"] else 0),
        jobs=jobs,
    )


def stream_size(values: Values) -> tuple[int, int]:
    """Steps of a stream, and its test frames."""
    if values["data"] == "world":
        frames, test_frames = values["world_steps"] * FRAMES_PER_STEP, values["world_steps"]
        steps = values["world_steps"]
    else:
        rounded = catalog.dataset("oak").rounded
        frames, test_frames, steps = rounded["training frames"], rounded["test frames"], rounded["steps"]
    return (ceil(frames / values["batch"]) if values["batch"] else steps), test_frames


def sweep_size(methods: Sequence[str], values: Values) -> SweepSize:
    """Runs and distinct stages of methods in every repetition, with one vocabulary."""
    steps, seeds = stream_size(values)[0], len(values["seeds"])
    online = len(evaluations(steps, values["interval"]))
    offline = len(evaluations(steps, values["offline_interval"])) * values["offline_epochs"]
    runs, stages = 0, 1  # the pretrained detector, which all runs begin with
    for method in methods:
        repetitions = (
            min(seeds, values.get("offline_seeds", seeds)) if method == "Offline training" else seeds
        )
        runs += repetitions
        if method == "Non-adaptation":
            stages += 1  # no repetition changes it
        else:
            stages += repetitions * (offline if method == "Offline training" else online)
    return SweepSize(runs, stages)


def _known(values: Values) -> list[SweepSize]:
    return [sweep_size(values["methods"], values)]


def _both_vocabularies(values: Values) -> list[SweepSize]:
    return [sweep_size(values["methods"], values)] * 2


SWEEPS: dict[str, Callable[[Values], list[SweepSize]]] = {
    "21": _known,
    "22": _both_vocabularies,
    "23": _known,
    "24": _known,
}
"""The sweeps of each notebook, in its order, by the notebook's number; pretraining comes before them."""
