"""A vocabulary that grows, and what is taken for an unknown object."""

from __future__ import annotations

import pytest
import torch
from driftlab.models.detectors.build import build_detector  # noqa: F401  registers the heads
from driftlab.models.detectors.heads import Doubt, GrowingShared2FCBBoxHead
from mmengine.config import ConfigDict
from torch import Tensor

CODER = {"type": "DeltaXYWHBBoxCoder", "target_means": [0.0] * 4, "target_stds": [0.1, 0.1, 0.2, 0.2]}
TEST = ConfigDict(score_thr=0.05, nms={"type": "nms", "iou_threshold": 0.5}, max_per_img=100)


def head(classes: int, seed: int = 0) -> GrowingShared2FCBBoxHead:
    torch.manual_seed(seed)
    made = GrowingShared2FCBBoxHead(
        in_channels=3,
        fc_out_channels=8,
        roi_feat_size=2,
        num_classes=classes,
        bbox_coder=CODER,
        loss_cls={"type": "CrossEntropyLoss"},
        loss_bbox={"type": "L1Loss"},
    )
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter)
    return made


def rows(classes: list[int]) -> list[int]:
    """The box regressor's."""
    return [4 * c + i for c in classes for i in range(4)]


def loss(made: GrowingShared2FCBBoxHead, x: Tensor, labels: list[int]) -> Tensor:
    logits, offsets = made(x)
    n = len(x)
    weight = (torch.tensor(labels) < made.num_classes).float()[:, None].expand(n, 4)
    found = made.loss(
        logits, offsets, torch.rand(n, 5), torch.tensor(labels), torch.ones(n), torch.zeros(n, 4), weight
    )
    return found["loss_cls"] + found["loss_bbox"]


def test_masking_is_having_the_known_rows_only() -> None:
    masked, narrow, known = head(5), head(2, seed=1), [1, 3]
    masked.know(known)
    with torch.no_grad():
        for one, other in zip(narrow.shared_fcs, masked.shared_fcs, strict=True):
            one.load_state_dict(other.state_dict())
        for kind in ("weight", "bias"):
            getattr(narrow.fc_cls, kind).copy_(getattr(masked.fc_cls, kind)[[*known, 5]])
            getattr(narrow.fc_reg, kind).copy_(getattr(masked.fc_reg, kind)[rows(known)])
    x = torch.randn(6, 3, 2, 2, generator=torch.Generator().manual_seed(3))
    logits, offsets = masked(x)
    expected, expected_offsets = narrow(x)
    probability = logits.softmax(-1)
    assert torch.equal(probability[:, [0, 2, 4]], torch.zeros(6, 3))
    torch.testing.assert_close(probability[:, [*known, 5]], expected.softmax(-1))
    torch.testing.assert_close(offsets[:, rows(known)], expected_offsets)

    value, reference = loss(masked, x, [1, 3, 5, 5, 1, 5]), loss(narrow, x, [0, 1, 2, 2, 0, 2])
    torch.testing.assert_close(value, reference)
    value.backward()
    reference.backward()
    for kind in ("weight", "bias"):
        wide, slim = getattr(masked.fc_cls, kind).grad, getattr(narrow.fc_cls, kind).grad
        torch.testing.assert_close(wide[[*known, 5]], slim)
        assert torch.equal(wide[[0, 2, 4]], torch.zeros_like(wide[[0, 2, 4]]))
        wide, slim = getattr(masked.fc_reg, kind).grad, getattr(narrow.fc_reg, kind).grad
        torch.testing.assert_close(wide[rows(known)], slim)
        assert not wide[rows([0, 2, 4])].any()
    torch.testing.assert_close(masked.shared_fcs[0].weight.grad, narrow.shared_fcs[0].weight.grad)


def test_a_vocabulary_grows() -> None:
    made = head(4)
    assert made.known.tolist() == [True] * 5, "whoever says nothing knows all"
    made.know([2])
    assert made.known.tolist() == [False, False, True, False, True]
    made.admit([0, 2])
    assert made.known.tolist() == [True, False, True, False, True]
    made.admit([])
    assert made.known.tolist() == [True, False, True, False, True]
    made.know([])
    assert made.known.tolist() == [False] * 4 + [True]
    assert "known" in made.state_dict()


PROPOSALS = {
    "a sure object": ([10, 10, 30, 30], [0.90, 0.02, 0.03, 0.05]),
    "an unknown one": ([50, 50, 70, 80], [0.15, 0.15, 0.15, 0.55]),
    "the same, surer": ([50, 52, 70, 80], [0.17, 0.17, 0.16, 0.50]),
    "another": ([80, 10, 90, 30], [0.10, 0.19, 0.18, 0.53]),
    "background": ([10, 60, 30, 90], [0.10, 0.10, 0.10, 0.70]),
    "background, just": ([40, 10, 60, 30], [0.19, 0.19, 0.02, 0.60]),
    "a doubtful class": ([60, 10, 78, 30], [0.20, 0.19, 0.19, 0.42]),
}


def predict(made: GrowingShared2FCBBoxHead, doubt: Doubt | None, rescale: bool = True) -> list[list[float]]:
    """Each detection's label, score and box."""
    roi = torch.tensor([[0.0, *box] for box, _ in PROPOSALS.values()])
    logits = torch.tensor([p for _, p in PROPOSALS.values()]).log()
    made.doubt = doubt
    found = made._predict_by_feat_single(
        roi,
        logits,
        torch.zeros(len(roi), 12),
        {"img_shape": (100, 100), "scale_factor": (2.0, 0.5)},
        rescale=rescale,
        rcnn_test_cfg=TEST,
    )
    assert found.labels.dtype == torch.int64
    return [
        [float(label), float(score), *box.tolist()]
        for label, score, box in zip(found.labels, found.scores, found.bboxes, strict=True)
    ]


@pytest.mark.parametrize("regressed", [True, False])
def test_the_box_of_an_unknown_object(regressed: bool) -> None:
    made = head(3)
    offsets = torch.zeros(1, 3, 4)
    offsets[0, 1, 0] = 1.0  # the likeliest class's box is a tenth of a width to the right
    made.doubt = Doubt(classes=0.2, regressed=regressed)
    found = made._predict_by_feat_single(
        torch.tensor([[0.0, 50, 50, 70, 80]]),
        torch.tensor([[0.15, 0.18, 0.12, 0.55]]).log(),
        offsets.view(1, 12),
        {"img_shape": (100, 100), "scale_factor": (1.0, 1.0)},
        rescale=True,
        rcnn_test_cfg=TEST,
    )
    (box,) = found.bboxes[found.labels == 3].tolist()
    assert box == pytest.approx([52, 50, 72, 80] if regressed else [50, 50, 70, 80])


def test_what_is_taken_for_an_unknown_object() -> None:
    made = head(3)
    certain = predict(made, None)
    assert len(certain) > 5 and all(label < 3 for label, *_ in certain)
    found = predict(made, Doubt(classes=0.2))
    assert found[: len(certain)] == certain, "the others are what they were"
    # The surer of the two that overlap, and the other one; 'background, just' is not below 0.6.
    assert found[len(certain) :] == [[3, 0.5, 25, 104, 35, 160], [3, 0.5, 40, 20, 45, 60]]
    scaled = predict(made, Doubt(classes=0.2), rescale=False)
    assert scaled[len(certain) :] == [[3, 0.5, 50, 52, 70, 80], [3, 0.5, 80, 10, 90, 30]]


@pytest.mark.parametrize(
    ("doubt", "expected"),
    [
        (Doubt(classes=0.1), []),
        (Doubt(classes=0.2, background=0.52, score=0.25), [[3, 0.25, 25, 104, 35, 160]]),
        (Doubt(classes=0.21, background=0.45, score=0.5), [[3, 0.5, 30, 20, 39, 60]]),
    ],
)
def test_the_thresholds(doubt: Doubt, expected: list[list[float]]) -> None:
    assert [one for one in predict(head(3), doubt) if one[0] == 3] == expected


def test_without_proposals_there_is_nothing() -> None:
    made = head(3)
    made.doubt = Doubt(0.2)
    meta = {"img_shape": (100, 100), "scale_factor": (1.0, 1.0)}
    empty = torch.zeros(0, 5), torch.zeros(0, 4), torch.zeros(0, 12)
    found = made._predict_by_feat_single(*empty, meta, rescale=True, rcnn_test_cfg=TEST)
    assert len(found.bboxes) == len(found.scores) == len(found.labels) == 0
