"""One of two processes that train a detector together; their numbers are in the environment, as of torchrun.

Arguments: a stream's folder, and where what was learnt goes.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from driftlab.data.detection.oak import load_oak
from driftlab.methods.exemplars import Exemplars
from driftlab.methods.icarl import ICaRL
from driftlab.models.detectors.build import build_detector
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation
from driftlab.training.detection.stream import OnlineDetector
from mmengine.dist import get_rank


class Watched(Frames):
    """Frames that remember which were asked for."""

    asked: list[int]

    def sample(self, record: int):
        self.asked.append(record)
        return super().sample(record)


torch.set_num_threads(1)
stream = load_oak(sys.argv[1])
detector = build_detector("small", len(stream.categories), 0, torch.device("cpu"))
before = {name: value.clone() for name, value in detector.named_parameters()}
frames = Watched(stream.train, (64, 64))
frames.asked = []
together = Optimisation(0.01, launcher="pytorch")
train_detector(detector, frames, np.arange(5), together, epochs=1, batch=2, seed=0)
pretrained = [*frames.asked]
frames.asked.clear()
online = OnlineDetector(
    detector,
    ICaRL([0], {}),
    StreamFeatures(detector, frames, 2**30),
    Exemplars(len(stream.categories), slots=1, replace=1.0, seed=0),
    together,
    iterations=1,
    seed=0,
    open_vocabulary=False,
)
online.learn([(0, np.arange(3)), (1, np.arange(3, 6))])
after = dict(detector.named_parameters())
changed = [name for name in after if not torch.equal(before[name], after[name])]
weights = torch.cat([value.detach().flatten() for value in after.values()])
torch.save(
    {"weights": weights, "changed": len(changed), "pretrained": pretrained, "online": frames.asked},
    Path(sys.argv[2]) / f"{get_rank()}.pt",
)
