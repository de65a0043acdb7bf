"""Detectors by name, and their weights."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mmdet.utils
import torch
from mmdet.registry import MODELS
from mmengine.logging import MMLogger
from torch import Tensor

from driftlab.core.errors import DataError, ParameterError
from driftlab.models.detectors import heads, rpn_head  # noqa: F401  register the heads
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.registry import DETECTORS

CLASSIFIER = "roi_head.bbox_head.fc_cls."
REGRESSOR = "roi_head.bbox_head.fc_reg."
SHOWN = 5
Weights = dict[str, Tensor]


def build_detector(name: str, classes: int, seed: int, device: torch.device) -> StreamFasterRCNN:
    """A detector with random weights, nothing frozen yet, that knows all classes.

    Args:
        name: From `driftlab.models.registry.DETECTORS`.
        classes: How many classes there are.
        seed: Of the weights.
        device: Where it computes.

    Raises:
        ParameterError: There is no detector of that name.
    """
    if name not in DETECTORS:
        raise ParameterError(f"There is no detector {name!r}; there are {', '.join(DETECTORS)}.")
    MMLogger.get_current_instance().setLevel(logging.WARNING)  # else a line for every weight
    mmdet.utils.register_all_modules(init_default_scope=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        detector: StreamFasterRCNN = MODELS.build(DETECTORS[name](classes))
        detector.init_weights()
    detector.to(device)
    return detector


def load_weights(detector: StreamFasterRCNN, weights: Mapping[str, Tensor], file: str | Path) -> None:
    """Take weights of exactly this detector.

    Raises:
        DataError: They belong to another architecture or other classes; the text shows the first names and
            shapes that differ.
    """
    own = detector.state_dict()
    wrong = [f"{name} is missing" for name in own if name not in weights]
    wrong += [f"{name} is not part of this detector" for name in weights if name not in own]
    wrong += [
        f"{name} is {tuple(weights[name].shape)} instead of {tuple(value.shape)}"
        for name, value in own.items()
        if name in weights and weights[name].shape != value.shape
    ]
    wrong += [
        f"{name} holds {weights[name].dtype} instead of floating point"
        for name, value in own.items()
        if name in weights and value.is_floating_point() and not weights[name].is_floating_point()
    ]
    if wrong:
        more = f", and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        what = "another architecture"
        right = "the checkpoint of the detector that the parameter `detector` names"
        if (given := _classes(weights, own)) is not None:
            what = f"a detector of {given} classes"
            right = f"a checkpoint of a detector of {_classes(own, own)} classes"
        raise DataError(
            f"These are the weights of {what}: {'; '.join(wrong[:SHOWN])}{more}.",
            file=file,
            hint=f"Give {right}.",
        )
    detector.load_state_dict(dict(weights))


def _classes(weights: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> int | None:
    """How many classes a detector's weights are for, which differ from its own in nothing else; else None."""
    bias = weights.get(f"{CLASSIFIER}bias")
    classes = bias.numel() - 1 if bias is not None else 0
    rows = {CLASSIFIER: classes + 1, REGRESSOR: 4 * classes}
    for name, value in own.items():
        count = next((count for part, count in rows.items() if name.startswith(part)), None)
        expected = value.shape if count is None else (count, *value.shape[1:])
        # Whoever has trained without a growing vocabulary gets one from elsewhere.
        if not name.endswith(".known") and tuple(weights.get(name, value.new_empty(0)).shape) != tuple(
            expected
        ):
            return None
    return classes if classes > 0 and weights.keys() == own.keys() else None


class _StandIn:
    """Takes the place of an object that is not needed; nothing that is done with it has an effect."""

    def __init__(self, *_arguments: object) -> None:
        pass

    def __setstate__(self, _state: object) -> None:
        pass


def _stand_ins(file: Path) -> list[Any]:
    """A stand-in for each name of code in a checkpoint that PyTorch does not know as harmless."""
    try:
        return [(_StandIn, name) for name in torch.serialization.get_unsafe_globals_in_checkpoint(file)]
    except ValueError:  # of a format before zip archives, for which PyTorch does not list them
        return []


def read_checkpoint(file: Path) -> Weights:
    """The weights in a checkpoint that MMDetection, MMEngine or PyTorch wrote.

    A checkpoint that MMEngine wrote while training holds objects besides tensors. They become stand-ins
    without content: no code that the file names is imported or called.

    Raises:
        DataError: It is absent, or holds no named tensors.
    """
    hint = "Give a checkpoint that MMDetection has written, with the parameter `checkpoint`."
    if not file.is_file():
        raise DataError("There is no such checkpoint.", file=file, hint=hint)
    try:
        with torch.serialization.safe_globals([_StandIn, *_stand_ins(file)]):
            content: Any = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # unreadable in any of many ways
        raise DataError(
            f"This checkpoint cannot be read safely ({type(error).__name__}).", file=file, hint=hint
        ) from error
    weights = content.get("state_dict", content) if isinstance(content, dict) else None
    if not isinstance(weights, dict) or not all(
        isinstance(name, str)
        and isinstance(w, Tensor)
        and w.layout == torch.strided
        and not (w.is_meta or w.is_quantized)
        for name, w in weights.items()
    ):
        raise DataError("A checkpoint holds named tensors, and this file does not.", file=file, hint=hint)
    for name, weight in weights.items():
        if weight.is_complex() or (name.endswith("weight") and not weight.is_floating_point()):
            raise DataError(f"These weights are {weight.dtype}, not floating point.", file=file, field=name)
        if weight.is_floating_point() and not weight.float().isfinite().all():
            raise DataError(
                "These weights are not finite: the training that left them has diverged.",
                file=file,
                field=name,
                hint="Take an earlier checkpoint.",
            )
    return {name.removeprefix("module."): weight for name, weight in weights.items()}


def widen(
    weights: Mapping[str, Tensor], own: Sequence[str], detector: StreamFasterRCNN, wanted: Sequence[str]
) -> Weights:
    """The weights of a detector for other classes: rows go by name, new ones keep the random weights.

    Args:
        weights: Of the same detector for the classes `own`.
        own: Names of these classes.
        detector: For the classes `wanted`; not changed.
        wanted: Names of those.

    Raises:
        ParameterError: A class of the weights is not wanted.
    """
    unknown = [name for name in own if name not in wanted]
    if unknown:
        raise ParameterError(f"The pretrained classes {', '.join(unknown)} are not among the stream's.")
    places = torch.tensor([list(wanted).index(name) for name in own])
    result: Weights = {}
    for name, value in detector.state_dict().items():
        if name.startswith(CLASSIFIER):
            result[name] = value.cpu().clone()
            result[name][torch.cat([places, torch.tensor([len(wanted)])])] = weights[name]
        elif name.startswith(REGRESSOR):
            rows = value.cpu().clone().reshape(len(wanted), 4, -1)
            rows[places] = weights[name].reshape(len(own), 4, -1)
            result[name] = rows.reshape(value.shape)
        elif name.endswith(".known"):
            result[name] = torch.zeros_like(value, device="cpu")
            result[name][torch.cat([places, torch.tensor([len(wanted)])])] = True
        else:
            result[name] = weights[name]
    return result
