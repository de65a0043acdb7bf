"""torchvision in the place of mmcv's compiled operators."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
import torchvision
from driftlab.models.detectors.operators import EXTENSION, OperatorError, install
from mmcv.ops import RoIAlign, nms, soft_nms

pytestmark = pytest.mark.skipif(not install(), reason="mmcv has its own operators here")


def some_boxes(count: int, seed: int = 0, side: float = 40.0) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    corner = torch.rand(count, 2, generator=draw, dtype=torch.float64) * side
    size = 2 + torch.rand(count, 2, generator=draw, dtype=torch.float64) * side / 2
    return torch.cat([corner, corner + size], 1)


def some_rois() -> torch.Tensor:
    return torch.cat([torch.tensor([[0.0], [1.0], [1.0]], dtype=torch.float64), some_boxes(3, 3, 20)], 1)


def test_nms_is_torchvisions() -> None:
    boxes = some_boxes(60)
    scores = torch.rand(60, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found, kept = nms(boxes, scores, 0.3)
    expected = torchvision.ops.nms(boxes, scores, 0.3)
    assert 5 < len(expected) < 60
    assert torch.equal(kept, expected)
    assert torch.equal(found, torch.cat([boxes[expected], scores[expected, None]], 1))


def test_nms_of_the_best_few_above_a_score() -> None:
    boxes, scores = some_boxes(60), torch.linspace(0, 1, 60, dtype=torch.float64)
    above = torch.nonzero(scores > 0.5)[:, 0]
    expected = above[torchvision.ops.nms(boxes[above], scores[above], 0.3)][:4]
    assert torch.equal(nms(boxes, scores, 0.3, score_threshold=0.5, max_num=4)[1], expected)


def test_with_an_offset_a_box_includes_its_last_pixel() -> None:
    # Pixels 0 to 9 and 5 to 14: 5 · 10 of 150 in common, 1/3; as lengths 4 · 9 of 126, 2/7.
    boxes = torch.tensor([[0.0, 0.0, 9.0, 9.0], [5.0, 0.0, 14.0, 9.0]])
    scores = torch.tensor([0.9, 0.8])
    assert nms(boxes, scores, 0.3, offset=0)[1].tolist() == [0, 1]
    assert nms(boxes, scores, 0.3, offset=1)[1].tolist() == [0]


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("sampling", [0, 2])
def test_roi_align_is_torchvisions(aligned: bool, sampling: int) -> None:
    features = torch.randn(2, 3, 8, 10, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    layer = RoIAlign((3, 4), spatial_scale=0.25, sampling_ratio=sampling, aligned=aligned)
    layer.use_torchvision = False  # the layer can also go round mmcv's operators itself
    expected = torchvision.ops.roi_align(features, some_rois(), (3, 4), 0.25, sampling, aligned=aligned)
    assert expected.shape == (3, 3, 3, 4) and expected.abs().min() > 0
    assert torch.equal(layer(features, some_rois()), expected)


def test_roi_aligns_gradient_is_the_numerical_one() -> None:
    features = torch.randn(2, 2, 6, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    features.requires_grad_()
    layer = RoIAlign(2, spatial_scale=0.25, sampling_ratio=2)
    assert torch.autograd.gradcheck(lambda given: layer(given, some_rois()), (features,))


def test_a_missing_operator_is_named_when_it_is_called() -> None:
    with pytest.raises(OperatorError, match=r"mmcv's operator 'softnms' is not available.*MMCV_WITH_OPS=1"):
        soft_nms(torch.zeros(1, 4), torch.zeros(1))
    with pytest.raises(OperatorError, match="pool_mode 'max'"):
        RoIAlign(2, pool_mode="max")(torch.zeros(1, 1, 4, 4), torch.zeros(1, 5))


def test_installing_again_changes_nothing() -> None:
    before = sys.modules[EXTENSION]
    assert install() and sys.modules[EXTENSION] is before


def test_compiled_operators_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, EXTENSION)
    find = importlib.util.find_spec

    def there(name: str, *rest: Any) -> Any:
        return SimpleNamespace() if name == EXTENSION else find(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", there)
    assert not install()
    assert EXTENSION not in sys.modules, "the import system finds mmcv's own"
    compiled = ModuleType(EXTENSION)
    monkeypatch.setitem(sys.modules, EXTENSION, compiled)
    assert not install() and sys.modules[EXTENSION] is compiled
