"""The parameters of the OAK notebooks; a model's defaults are the demo scale's values."""

from __future__ import annotations

from typing import Annotated

from pydantic import model_validator

from driftlab.core.limits import Between, OneOf, SomeOf
from driftlab.models.registry import DETECTORS
from driftlab.notebooks.parameters import NotebookParameters, machine, protocol, question
from driftlab.papers.oak.methods import METHODS, ONLINE
from driftlab.papers.parameters import DataFolder, Scaled, Seeds, Swept


def data_names() -> list[str]:
    """The streams of frames and their synthetic worlds, by the names that `data` has for them."""
    from driftlab.data.catalog import data_names  # not at the top: it imports NumPy and the readers

    return data_names("stream")


Data = Annotated[str, question('"world" is synthetic, "oak" the official data'), OneOf(data_names)]
WorldSteps = Annotated[
    # Fewer do not make two stretches with objects.
    int,
    question("steps of a synthetic stream, each of 16 training frames and a test frame"),
    Between(12),
]
Detector = Annotated[str, protocol('"small", or the paper\'s "faster-rcnn-r50-c4"'), OneOf(DETECTORS)]
OnlineMethods = Annotated[list[str], question("methods to compare"), SomeOf(ONLINE)]
OfflineSeeds = Annotated[
    int, question("repetitions of offline training, with the first of the seeds"), Between(1)
]
LearningRate = Between(0, above=True)


class OakData(Scaled):
    """Notebooks that look at a stream."""

    data: Data = "world"
    world_steps: WorldSteps = 100
    data_folder: DataFolder = ""

    @model_validator(mode="after")
    def _a_world_is_not_read(self) -> OakData:
        if self.data_folder and self.data == "world":
            raise ValueError("data is 'world', which is made, not read: data_folder has no use here")
        return self


class StreamProtocol(NotebookParameters):
    """How a stream is learnt: the settings that all runs of a notebook share."""

    batch: Annotated[
        int,
        protocol("training frames per step; 0 takes the steps that the stream comes in (released: 16)"),
        Between(0),
    ] = 0
    iterations: Annotated[
        int, protocol("optimiser's steps on each of the stream's (released: 10)"), Between(1)
    ] = 3
    interval: Annotated[int, protocol("steps between evaluations (released: 10)"), Between(1)] = 10
    stretch: Annotated[
        int, protocol("steps of a stretch, for transfer (paper: about 100, released: 40)"), Between(1)
    ] = 20
    learning_rate: Annotated[float, protocol("on the stream (released: 0.005)"), LearningRate] = 0.01
    strength: Annotated[float, protocol("of EWC (as released)"), Between(0)] = 1000.0
    fisher: Annotated[
        str,
        protocol('labels of EWC\'s Fisher: the detector\'s own ("predicted", as released) or "labels"'),
        OneOf(("predicted", "labels")),
    ] = "predicted"
    half_penalty: Annotated[bool, protocol("whether EWC's penalty has a factor ½ (released: no)")] = False
    slots: Annotated[int, protocol("remembered objects per class (as released)"), Between(1, 10_000)] = 5
    rehearsal: Annotated[
        str,
        protocol('what trains of a remembered image: its object ("positives", as released) or "all"'),
        OneOf(("positives", "all")),
    ] = "positives"
    unknown_boxes: Annotated[
        str,
        protocol('boxes of IDK: of the likeliest class ("regressed", as released) or "proposals"'),
        OneOf(("regressed", "proposals")),
    ] = "regressed"
    offline_interval: Annotated[
        int, protocol("steps between offline training's evaluations (released: 200)"), Between(1)
    ] = 50
    offline_epochs: Annotated[
        int, protocol("epochs over everything seen so far, at each of them (released: 10)"), Between(1)
    ] = 3
    offline_batch: Annotated[int, protocol("frames per batch of it (released: 16)"), Between(1)] = 4
    offline_learning_rate: Annotated[
        float, protocol("the highest of offline training (released: 0.05)"), LearningRate
    ] = 0.02
    micro_batch: Annotated[
        int,
        protocol("frames per micro-batch of gradient accumulation; 0 for the whole batch"),
        Between(0),
    ] = 0
    mixed_precision: Annotated[
        bool, protocol("train in half precision where that is safe; needs a CUDA device")
    ] = False

    @model_validator(mode="after")
    def _a_stretch_ends_with_an_evaluation(self) -> StreamProtocol:
        if self.stretch % self.interval:
            raise ValueError(
                f"a stretch has to be a multiple of the interval ({self.interval} steps), not {self.stretch}"
            )
        return self

    @model_validator(mode="after")
    def _methods_have_evaluations_in_common(self) -> StreamProtocol:
        if self.offline_interval % self.interval:
            raise ValueError(
                f"offline_interval has to be a multiple of the interval ({self.interval} steps), so that all "
                f"methods are evaluated at its times, not {self.offline_interval}"
            )
        return self

    @model_validator(mode="after")
    def _micro_batches_are_in_full_precision(self) -> StreamProtocol:
        if self.micro_batch and self.mixed_precision:
            raise ValueError(
                "micro_batch and mixed_precision cannot be combined: gradients that are added up are not "
                "scaled against underflow. Set one of them to 0 or false"
            )
        return self


class OakRuns(OakData, Swept):
    """Notebooks that learn a stream."""

    methods: OnlineMethods = ["Incremental", "EWC", "iCaRL"]
    seeds: Annotated[
        Seeds, question("repetitions: of sampling, memory and shuffling, after one pretraining")
    ] = [0, 1, 2]
    static_images: Annotated[
        int, protocol("static images for pretraining in a synthetic world"), Between(8)
    ] = 800
    pretraining_epochs: Annotated[int, protocol("epochs of pretraining"), Between(1)] = 5
    checkpoint: Annotated[
        str, protocol("file of a detector trained on PASCAL VOC; official data need one")
    ] = ""
    detector: Detector = "small"
    cached: Annotated[bool, machine("compute the test frames' features once")] = True


class OakProtocol(StreamProtocol, OakRuns):
    """All parameters of a notebook that learns a stream."""

    @model_validator(mode="after")
    def _two_stretches_in_a_world(self) -> OakProtocol:
        if self.data == "world" and not self.batch and 2 * self.stretch > self.world_steps:
            raise ValueError(
                f"a stretch has to fit twice into the stream ({self.world_steps} steps), not {self.stretch}"
            )
        return self

    @model_validator(mode="after")
    def _a_checkpoint_is_for_official_data(self) -> OakProtocol:
        if self.checkpoint and self.data == "world":
            raise ValueError(
                "checkpoint is a detector of VOC's 20 classes, for official data; the world's detector is "
                "trained on its own static pictures. Leave it empty, or set data to oak"
            )
        return self


class KnownVocabulary(OakProtocol):
    """21."""

    methods: Annotated[list[str], question("methods to compare"), SomeOf(METHODS, with_one_of=ONLINE)] = [
        *METHODS
    ]
    offline_seeds: OfflineSeeds = 1
    pictures: Annotated[
        bool, question("keep each run's last detector, to show what it detects before and after")
    ] = True


class UnknownVocabulary(OakProtocol):
    """22."""

    methods: Annotated[list[str], question("methods to compare"), SomeOf(METHODS)] = [
        *("Non-adaptation", "Incremental", "EWC", "iCaRL", "Offline training")
    ]
    seeds: Annotated[
        Seeds, question("repetitions: of sampling, memory and shuffling, after one pretraining")
    ] = [0]
    offline_seeds: OfflineSeeds = 1
    average: Annotated[
        str,
        protocol('CAP over "all" classes, or over those "seen" so far and IDK (released)'),
        OneOf(("all", "seen")),
    ] = "all"


class Forgetting(OakProtocol):
    """23."""

    bins: Annotated[
        int,
        protocol("equal-count bins of the time since a class was seen; 0: one per distinct gap (released)"),
        Between(0),
    ] = 10
    weights: Annotated[
        str,
        protocol('bins count by k - kmin ("excess", the paper) or by k ("gap", the released code)'),
        OneOf(("excess", "gap")),
    ] = "excess"

    @model_validator(mode="after")
    def _two_bins_are_compared(self) -> Forgetting:
        if self.bins == 1:
            raise ValueError("bins is 1; forgetting compares at least two, and 0 makes every gap a bin")
        return self


class Transfer(OakProtocol):
    """24."""


NOTEBOOKS: dict[str, type[NotebookParameters]] = {
    "20_oak_data": OakData,
    "21_oak_known_vocabulary": KnownVocabulary,
    "22_oak_unknown_vocabulary": UnknownVocabulary,
    "23_oak_forgetting": Forgetting,
    "24_oak_transfer": Transfer,
}


class RunSettings(StreamProtocol):
    """What `driftlab.papers.oak.experiment.run_config` takes, with the notebooks' limits."""

    detector: Detector
    method: Annotated[str, OneOf(METHODS)]
    vocabulary: Annotated[str, OneOf(("known", "unknown"))]
    steps: Annotated[int, Between(1)]
    seed: Annotated[int, Between(0)]
    replace: Annotated[float, Between(0, 1)]

    @model_validator(mode="after")
    def _the_stream_is_long_enough(self) -> RunSettings:
        if self.interval > self.steps:
            raise ValueError(f"with {self.steps} steps there is no evaluation every {self.interval}")
        if 2 * self.stretch > self.steps:
            raise ValueError(
                f"a stretch has to fit twice into the stream ({self.steps} steps), not {self.stretch}"
            )
        return self
