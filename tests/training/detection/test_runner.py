"""MMEngine's runner: what it leaves behind and what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest
from driftlab.data.detection.records import FrameStream
from driftlab.models.detectors.build import build_detector
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation


def test_training_says_nothing_and_leaves_nothing(
    detector: Callable[[], StreamFasterRCNN],
    stream: FrameStream,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def train() -> None:
        made = build_detector("small", 22, 0, detector().data_preprocessor.device)
        train_detector(
            made, Frames(stream.train, (64, 64)), np.arange(2), Optimisation(), epochs=1, batch=2, seed=0
        )

    train()
    before = psutil.Process().num_fds()
    capfd.readouterr()
    train()
    assert psutil.Process().num_fds() == before
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_optimisers_configuration() -> None:
    plain, clipped = Optimisation(0.1, 0.8, 0.01).wrapper(), Optimisation(clip=5.0).wrapper()
    assert plain["optimizer"] == {"type": "SGD", "lr": 0.1, "momentum": 0.8, "weight_decay": 0.01}
    assert plain["type"] == "OptimWrapper" and plain["clip_grad"] is None
    assert clipped["clip_grad"] == {"max_norm": 5.0}
    assert Optimisation(mixed_precision=True).wrapper()["type"] == "AmpOptimWrapper"


def test_a_detector_stays_on_its_device(
    detector: Callable[[], StreamFasterRCNN], stream: FrameStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mmengine.runner.runner.get_device", lambda: "meta")
    made = build_detector("small", 22, 0, detector().data_preprocessor.device)
    train_detector(
        made, Frames(stream.train, (64, 64)), np.arange(2), Optimisation(), epochs=1, batch=2, seed=0
    )
    assert {parameter.device.type for parameter in made.parameters()} == {"cpu"}
