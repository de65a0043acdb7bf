"""The detector before the stream."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from pathlib import Path

import pytest
import torch
from driftlab.errors import DataError, ParameterError
from driftlab.models.detectors.build import build_detector
from driftlab.papers.oak_pretraining import VOC, from_checkpoint, pretraining_config

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
    with pytest.raises(DataError, match=r"voc\.pth: .*fc_cls\.weight is \(81, 128\) instead of \(21, 128\)"):
        from_checkpoint(file, "small", WANTED)


def test_vocs_classes_are_oaks_first(real_data: Path) -> None:
    lists = json.loads((real_data / "oak" / "oak_classes.json").read_text())
    (mapping,) = (value for key, value in lists.items() if key.startswith("mapping_name_to_id"))
    assert tuple(name for name, number in mapping.items() if number < 20) == VOC


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "not 0, 4, 0.01 and 0"),
        ({"batch": 0}, "a batch of one"),
        ({"learning_rate": 0.0}, "a positive learning rate"),
        ({"learning_rate": math.nan}, "a positive learning rate"),
        ({"seed": -1}, "a seed from 0"),
    ],
)
def test_impossible_pretraining(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=f"Pretraining needs .*{message}"):
        pretraining_config("small", **({"epochs": 1} | settings))  # type: ignore[arg-type]
