"""The detector before the stream."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch
from driftlab.core.errors import DataError, ParameterError
from driftlab.data.detection.voc import load_voc
from driftlab.models.detectors.build import build_detector
from driftlab.models.detectors.configs import INPUT
from driftlab.papers.oak.pretraining import (
    CLIP,
    VOC,
    WEIGHT_DECAY,
    Pretraining,
    StaticImages,
    from_checkpoint,
    pretrained_weights,
    pretraining_config,
)
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.runner import Optimisation
from driftlab.worlds.walk.static_images import static_world

WANTED = (*reversed(VOC), "traffic light", "bench")


def checkpoint(folder: Path, classes: int = 20) -> Path:
    """As MMDetection publishes it: no vocabulary in it."""
    weights = build_detector("small", classes, 5, torch.device("cpu")).state_dict()
    del weights["roi_head.bbox_head.known"]
    torch.save({"meta": {"epoch": 4}, "state_dict": weights}, folder / "voc.pth")
    return folder / "voc.pth"


def test_a_checkpoint_knows_vocs_classes(tmp_path: Path) -> None:
    file = checkpoint(tmp_path)
    weights, digest = from_checkpoint(file, "small", WANTED)
    assert weights["roi_head.bbox_head.known"].tolist() == [True] * 20 + [False] * 2 + [True]
    own = torch.load(file, weights_only=True)["state_dict"]["roi_head.bbox_head.fc_cls.weight"]
    found = weights["roi_head.bbox_head.fc_cls.weight"]
    assert torch.equal(found[:20], own[:20].flip(0)) and torch.equal(found[-1], own[-1])
    assert digest == sha256(file.read_bytes()).hexdigest()


def test_a_checkpoint_for_other_classes(tmp_path: Path) -> None:
    file = checkpoint(tmp_path, classes=80)
    with pytest.raises(
        DataError,
        match=r"voc\.pth: .* detector of 80 classes: .*fc_cls\.weight is \(81, 128\) instead of \(21, 128\)",
    ):
        from_checkpoint(file, "small", WANTED)


def test_epochs_in_other_processes_are_one_training(tmp_path: Path) -> None:
    data = load_voc(static_world(tmp_path / "voc", images=6, pixels=64))
    config, experiment = pretraining_config("small", epochs=3), Pretraining(device="cpu", threads=1)
    stages = experiment.chain(config)
    state, rows = None, []
    for stage in stages:
        torch.manual_seed(7)
        (result,) = experiment.execute(StaticImages(data), [stage], [state])
        state, rows = result.state, [*rows, *result.rows]
    assert state is not None and [row["value"] for row in rows] == [1, 2, 3]
    found, whole = pretrained_weights(state), build_detector("small", 8, 0, torch.device("cpu"))
    frames = StaticImages(data).scales(INPUT["small"])
    assert [scale.size for scale in frames] == [(64, 64), (96, 96), (128, 128)]
    moves = Optimisation(config["learning_rate"], optimiser="AdamW", weight_decay=WEIGHT_DECAY, clip=CLIP)
    train_detector(whole, frames, np.arange(6), moves, epochs=3, batch=config["batch"], seed=0)
    assert found.keys() == whole.state_dict().keys()
    for name, value in whole.state_dict().items():
        assert torch.equal(value, found[name]), name


def test_vocs_classes_are_oaks_first(real_data: Path) -> None:
    lists = json.loads((real_data / "oak" / "oak_classes.json").read_text())
    (mapping,) = (value for key, value in lists.items() if key.startswith("mapping_name_to_id"))
    assert tuple(name for name, number in mapping.items() if number < 20) == VOC


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "not 0, 4, 0.001 and 0"),
        ({"batch": 0}, "a batch of one"),
        ({"learning_rate": 0.0}, "a positive learning rate"),
        ({"learning_rate": math.nan}, "a positive learning rate"),
        ({"seed": -1}, "a seed from 0"),
    ],
)
def test_impossible_pretraining(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=f"Pretraining needs .*{message}"):
        pretraining_config("small", **({"epochs": 1} | settings))  # type: ignore[arg-type]
