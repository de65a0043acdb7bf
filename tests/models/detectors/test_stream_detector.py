"""A detector whose frozen part stays and may be left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from mmdet.structures import DetDataSample
from mmengine.structures import InstanceData
from torch import Tensor

Small = Callable[[], StreamFasterRCNN]


def images() -> Tensor:
    return torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(4))


def samples() -> list[DetDataSample]:
    made = []
    for label in (1, 3):
        size = {"img_shape": (64, 64), "ori_shape": (64, 64), "pad_shape": (64, 64)}
        sample = DetDataSample(metainfo={**size, "batch_input_shape": (64, 64), "scale_factor": (1.0, 1.0)})
        box = torch.tensor([[10.0, 12.0, 40.0, 50.0]])
        sample.gt_instances = InstanceData(bboxes=box, labels=torch.tensor([label]))
        sample.ignored_instances = InstanceData(bboxes=box[:0], labels=torch.zeros(0, dtype=torch.long))
        made.append(sample)
    return made


def train(detector: StreamFasterRCNN, steps: int = 2) -> set[str]:
    """The modules of which something changed, parameters and buffers."""
    before = {name: value.clone() for name, value in detector.state_dict().items()}
    optimiser = torch.optim.SGD(detector.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-2)
    detector.train()
    for _ in range(steps):
        optimiser.zero_grad()
        detector.detection_loss(images(), samples()).backward()
        optimiser.step()
    after = detector.state_dict()
    return {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}


def test_the_frozen_part_does_not_change(small: Small) -> None:
    free, frozen = small(), small()
    frozen.freeze()
    assert train(free) == {"backbone", "neck", "rpn_head", "roi_head"}
    assert train(frozen) == {"rpn_head", "roi_head"}


def test_freezing_is_for_good(small: Small) -> None:
    detector = small()
    detector.train()
    assert detector.backbone.training
    detector.freeze()
    assert detector.training and detector.rpn_head.training
    assert not any(m.training for part in (detector.backbone, detector.neck) for m in part.modules())
    detector.eval()
    detector.train()
    assert detector.training and not detector.neck.training
    assert not any(p.requires_grad for p in detector.backbone.parameters())


def test_given_features_are_as_good_as_images(small: Small) -> None:
    detector = small()
    detector.freeze()
    detector.train()
    features = detector.extract_feat(images())
    assert not any(level.requires_grad for level in features)
    losses = []
    for given in (images(), features):
        torch.manual_seed(5)
        losses.append(detector.detection_loss(given, samples()))
    assert torch.equal(*losses)
    detector.eval()
    with torch.no_grad():
        one, other = (detector.predict(given, samples()) for given in (images(), features))
    assert len(one[0].pred_instances) > 0
    for a, b in zip(one, other, strict=True):
        assert torch.equal(a.pred_instances.bboxes, b.pred_instances.bboxes)
        assert torch.equal(a.pred_instances.scores, b.pred_instances.scores)


def test_features_pass_the_preprocessor_and_images_do_not(small: Small) -> None:
    detector = small()
    features = (torch.ones(1, 64, 4, 4), torch.ones(1, 64, 2, 2))
    passed = detector.data_preprocessor({"inputs": features, "data_samples": samples()[:1]}, True)
    assert isinstance(passed["inputs"], tuple)
    assert all(torch.equal(a, b) for a, b in zip(passed["inputs"], features, strict=True))
    white = torch.full((3, 40, 64), 255, dtype=torch.uint8)
    prepared = detector.data_preprocessor({"inputs": [white], "data_samples": None}, False)["inputs"]
    assert prepared.shape == (1, 3, 64, 64)
    mean, std = detector.data_preprocessor.mean.flatten(), detector.data_preprocessor.std.flatten()
    torch.testing.assert_close(prepared[0, :, 0, 0], (255 - mean) / std)
    assert not prepared[0, :, 40:].any()


def test_training_minimises_the_objective(small: Small) -> None:
    detector = small()
    detector.freeze()
    detector.train()
    torch.manual_seed(6)
    total, _ = detector.parse_losses(detector.loss(images(), samples()))
    torch.manual_seed(6)
    assert torch.equal(detector.detection_loss(images(), samples()), total)

    seen: list[Any] = []

    def objective(inputs: Any, found: list[DetDataSample]) -> Tensor:
        seen.append((inputs, found))
        return detector.roi_head.bbox_head.fc_cls.bias.sum() * 3

    detector.objective = objective
    given, labelled = images(), samples()
    losses = detector(given, labelled, mode="loss")
    minimised, _ = detector.parse_losses(losses)
    minimised.backward()
    assert torch.equal(detector.roi_head.bbox_head.fc_cls.bias.grad, torch.full((6,), 3.0))
    assert seen == [(given, labelled)]
