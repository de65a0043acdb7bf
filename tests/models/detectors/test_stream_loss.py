"""The detector's loss: that of MMDetection, in micro-batches, with rehearsal, crowds, predicted labels."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from driftlab.models.detectors import stream_loss
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.detectors.stream_loss import Drawn, Features, Rehearsal
from driftlab.models.registry import DETECTORS
from mmdet.models import FasterRCNN
from mmdet.registry import MODELS
from mmdet.structures import DetDataSample
from mmdet.structures.bbox import bbox2roi
from mmengine.structures import InstanceData
from torch import Tensor

Small = Callable[[], StreamFasterRCNN]
SIDE = 64
BOXES = [
    [[10.0, 12, 40, 50], [30, 4, 60, 30]],
    [[2.0, 2, 20, 60]],
    [],
    [[5.0, 30, 30, 60]],
    [[8.0, 8, 56, 56]],
]


def images() -> Tensor:
    return torch.randn(len(BOXES), 3, SIDE, SIDE, generator=torch.Generator().manual_seed(4))


def samples(crowd: list[list[float]] | None = None) -> list[DetDataSample]:
    """Five images with two, one, no, one and one objects; `crowd` is ignored in each."""
    size = {"img_shape": (SIDE, SIDE), "ori_shape": (SIDE, SIDE), "pad_shape": (SIDE, SIDE)}
    result = []
    for number, boxes in enumerate(BOXES):
        sample = DetDataSample(
            metainfo={**size, "batch_input_shape": (SIDE, SIDE), "scale_factor": (1.0, 1.0)}
        )
        labels = torch.full((len(boxes),), number % 5)
        sample.gt_instances = InstanceData(bboxes=torch.tensor(boxes).reshape(-1, 4), labels=labels)
        ignored = torch.tensor(crowd or []).reshape(-1, 4)
        sample.ignored_instances = InstanceData(bboxes=ignored, labels=torch.zeros(len(ignored)).long())
        result.append(sample)
    return result


@pytest.fixture
def frozen(small: Small) -> StreamFasterRCNN:
    detector = small()
    with torch.no_grad():
        detector.roi_head.bbox_head.fc_cls.weight *= 50  # sure of something
    detector.freeze()
    return detector.train()


def features(detector: StreamFasterRCNN) -> Features:
    return detector.extract_feat(images())


def gradients(detector: torch.nn.Module, loss: Tensor) -> dict[str, Tensor]:
    detector.zero_grad()
    loss.backward()
    return {name: p.grad.clone() for name, p in detector.named_parameters() if p.grad is not None}


def test_value_gradients_and_detections_are_mmdetections(frozen: StreamFasterRCNN) -> None:
    config = DETECTORS["small"](5)
    config.rpn_head.type = "RPNHead"
    assert config.rpn_head.pop("first_level") == 1
    plain = MODELS.build(config)
    forward = plain.rpn_head.forward
    plain.rpn_head.forward = lambda levels: forward(levels[1:])
    plain.load_state_dict(frozen.state_dict())
    plain.freeze()
    plain.train()
    torch.manual_seed(1)
    expected, _ = plain.parse_losses(FasterRCNN.loss(plain, features(plain), samples()))
    torch.manual_seed(1)
    loss = frozen.detection_loss(features(frozen), samples())
    # MMDetection counts one positive anchor for an image without any.
    torch.testing.assert_close(loss, expected, rtol=2e-3, atol=0)
    theirs, ours = gradients(plain, expected), gradients(frozen, loss)
    assert theirs.keys() == ours.keys() and len(ours) > 8
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], rtol=5e-3, atol=1e-5)
    for detector in (plain, frozen):
        detector.eval()
    with torch.no_grad():
        pairs = zip(*(d.predict(features(d), samples()) for d in (plain, frozen)), strict=True)
    for one, other in pairs:
        assert len(one.pred_instances) > 0
        torch.testing.assert_close(one.pred_instances.bboxes, other.pred_instances.bboxes)
        torch.testing.assert_close(one.pred_instances.scores, other.pred_instances.scores)


def test_the_finest_level_is_for_rois_alone(frozen: StreamFasterRCNN) -> None:
    levels = features(frozen)
    assert len(levels) == 5
    outputs = frozen.rpn_head.anchor_outputs(levels)
    assert outputs.sizes == tuple((level.shape[2], level.shape[3]) for level in levels[1:])
    changed = (levels[0] + 1, *levels[1:])
    assert torch.equal(frozen.rpn_head.anchor_outputs(changed).logits, outputs.logits)
    rois = torch.tensor([[0.0, 4, 4, 20, 20]])
    assert not torch.equal(*(frozen.roi_head._bbox_forward(x, rois)["cls_score"] for x in (levels, changed)))


@pytest.mark.parametrize("rehearsal", [None, Rehearsal([False, False, False, True, True], 1.5)])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_micro_batches_have_the_gradients_of_the_batch(
    size: int, rehearsal: Rehearsal | None, frozen: StreamFasterRCNN
) -> None:
    results = []
    for frozen.micro_batch in (0, size):
        torch.manual_seed(2)
        loss = frozen.detection_loss(features(frozen), samples(), rehearsal)
        results.append((loss.detach(), gradients(frozen, 3 * loss)))
    torch.testing.assert_close(results[1][0], results[0][0])
    assert results[0][1].keys() == results[1][1].keys()
    for name, gradient in results[0][1].items():
        assert gradient.any()
        torch.testing.assert_close(results[1][1][name], gradient, rtol=1e-4, atol=1e-5)


def test_a_micro_batch_that_covers_the_batch_changes_no_bit(frozen: StreamFasterRCNN) -> None:
    results = []
    for frozen.micro_batch in (0, 5, 99):
        torch.manual_seed(2)
        results.append(gradients(frozen, frozen.detection_loss(features(frozen), samples())))
    for other in results[1:]:
        assert all(torch.equal(other[name], gradient) for name, gradient in results[0].items())


def test_only_one_micro_batch_is_computed_at_once(
    frozen: StreamFasterRCNN, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    forward = frozen.roi_head._bbox_forward

    def counted(levels: Features, rois: Tensor) -> dict[str, Tensor]:
        sizes.append(len(levels[0]))
        return forward(levels, rois)

    monkeypatch.setattr(frozen.roi_head, "_bbox_forward", counted)
    frozen.micro_batch = 2
    frozen.detection_loss(features(frozen), samples()).backward()
    frozen.predicted_label_loss(features(frozen), samples()).backward()
    assert sizes == [2, 2, 1] * 2


def drawn(
    detector: StreamFasterRCNN, labelled: list[DetDataSample], rehearsal: Rehearsal | None = None
) -> Drawn:
    torch.manual_seed(3)
    outputs = detector.rpn_head.anchor_outputs(features(detector))
    return stream_loss._draw(detector, [outputs], [slice(0, len(labelled))], labelled, rehearsal)


def test_the_rest_of_a_remembered_image_is_not_background(frozen: StreamFasterRCNN) -> None:
    everything = drawn(frozen, samples())
    remembered = [True, False, False, False, True]
    result = drawn(frozen, samples(), Rehearsal(remembered, 0.5))
    assert result.weights == [0.5, 1, 1, 1, 0.5]
    for kind in ("anchors", "regions"):
        for image, before in enumerate(getattr(everything, kind)):
            now = getattr(result, kind)[image]
            assert torch.equal(now.pos_inds, before.pos_inds) and len(before.neg_inds) > 0
            assert (
                len(now.neg_inds) == len(now.neg_priors) == (0 if remembered[image] else len(before.neg_inds))
            )
    assert len(result.anchors[0].pos_inds) > 1


def test_remembered_losses_are_weighted(frozen: StreamFasterRCNN) -> None:
    values = []
    for weight in (1.0, 2.0, 3.0):
        torch.manual_seed(3)
        rehearsal = Rehearsal([True, True, False, False, False], weight)
        values.append(frozen.detection_loss(features(frozen), samples(), rehearsal).item())
    assert values[1] - values[0] > 0.1
    assert values[2] - values[1] == pytest.approx(values[1] - values[0], rel=1e-4)


def test_crowds_are_neither_objects_nor_background(frozen: StreamFasterRCNN) -> None:
    crowd = [32.0, 0, 64, 64]

    def inside(boxes: Tensor) -> Tensor:
        left, right = boxes[:, 0].clamp(min=32), boxes[:, 2].clamp(max=64)
        top, bottom = boxes[:, 1].clamp(min=0), boxes[:, 3].clamp(max=64)
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        return (right - left).clamp(min=0) * (bottom - top).clamp(min=0) / area > 0.51

    without, with_crowd = drawn(frozen, samples()), drawn(frozen, samples([crowd]))
    for kind in ("anchors", "regions"):
        assert any(inside(result.neg_priors).any() for result in getattr(without, kind)), kind
        assert not any(inside(result.neg_priors).any() for result in getattr(with_crowd, kind)), kind


def test_the_predicted_label_loss_needs_no_labels(frozen: StreamFasterRCNN) -> None:
    unlabelled = [sample.clone() for sample in samples()]
    for sample in unlabelled:
        del sample.gt_instances
    values = []
    for labelled, frozen.micro_batch in ((samples(), 0), (unlabelled, 0), (unlabelled, 2)):
        loss = frozen.predicted_label_loss(features(frozen), labelled)
        assert frozen.training
        values.append((loss.detach(), gradients(frozen.roi_head.bbox_head.fc_cls, loss)))
    assert torch.equal(values[0][0], values[1][0]) and values[0][0] > 0
    for name, gradient in values[0][1].items():
        assert torch.equal(values[1][1][name], gradient) and gradient.any()
        torch.testing.assert_close(values[2][1][name], gradient, rtol=1e-4, atol=1e-6)


def test_the_predicted_label_loss_is_what_the_classifier_is_unsure_of(frozen: StreamFasterRCNN) -> None:
    frozen.eval()
    with torch.no_grad():
        proposals = [found.bboxes for found in frozen.rpn_head.predict(features(frozen), samples())]
        logits = frozen.roi_head._bbox_forward(features(frozen), bbox2roi(proposals))["cls_score"]
        expected = -logits.log_softmax(1).amax(1).mean()
        torch.testing.assert_close(frozen.predicted_label_loss(features(frozen), samples()), expected)
