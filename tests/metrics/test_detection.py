"""Average precision by hand, against pycocotools, and by its properties."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

import numpy as np
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.metrics.detection import Detections, Truth, average_precision
from hypothesis import given, settings
from hypothesis import strategies as st
from mmdet.evaluation.functional import eval_map
from numpy.typing import NDArray
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

BOX = (0, 0, 10, 10)
FAR = (100, 100, 110, 110)


def found(*rows: tuple[tuple[float, ...], float, int]) -> Detections:
    """One frame's detections from (box, score, label)."""
    return Detections(
        np.array([row[0] for row in rows], dtype=np.float32).reshape(-1, 4),
        np.array([row[1] for row in rows], dtype=np.float32),
        np.array([row[2] for row in rows], dtype=np.int64),
    )


def labelled(*rows: tuple[tuple[float, ...], int], ignored: Sequence[bool] = ()) -> Truth:
    """One frame's truth from (box, label)."""
    return Truth(
        np.array([row[0] for row in rows], dtype=np.float32).reshape(-1, 4),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array(ignored, dtype=np.bool_),
    )


def one_class(detections: Sequence[Detections], truth: Sequence[Truth], **options: float) -> float:
    return float(average_precision(detections, truth, 1, **options)[0])


def test_area_under_the_curve_by_hand() -> None:
    truth = [labelled((BOX, 0), (FAR, 0)), labelled((BOX, 0))]
    detections = [found((BOX, 0.9, 0), ((50, 0, 60, 10), 0.8, 0), (FAR, 0.7, 0)), found()]
    # right, wrong, right: recalls 1/3, 1/3, 2/3 and precisions 1, 1/2, 2/3; the third box is never found.
    assert one_class(detections, truth) == pytest.approx(1 / 3 * 1 + 1 / 3 * 2 / 3)


def test_the_best_precision_at_a_higher_recall_counts() -> None:
    truth = [labelled((BOX, 0), (FAR, 0))]
    detections = [found((BOX, 0.7, 0), (FAR, 0.6, 0), ((50, 0, 60, 10), 0.9, 0))]
    # wrong, right, right: precisions 0, 1/2, 2/3 at recalls 0, 1/2, 1; the envelope is 2/3 everywhere.
    assert one_class(detections, truth) == pytest.approx(2 / 3)


def test_a_second_detection_of_a_box_is_wrong() -> None:
    truth = [labelled((BOX, 0), (FAR, 0))]
    detections = [found((BOX, 0.9, 0), ((0, 0, 10, 9), 0.8, 0), (FAR, 0.7, 0))]
    assert one_class(detections, truth) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_an_overlap_of_exactly_one_half_is_right() -> None:
    truth = [labelled((BOX, 0))]
    assert one_class([found(((0, 0, 10, 5), 0.9, 0))], truth) == 1.0
    assert one_class([found(((0, 0, 10, 4.99), 0.9, 0))], truth) == 0.0
    assert one_class([found(((0, 0, 10, 5), 0.9, 0))], truth, iou=0.75) == 0.0


def test_frames_are_kept_apart() -> None:
    truth = [labelled((BOX, 0)), labelled((FAR, 0))]
    assert one_class([found((BOX, 0.9, 0)), found((FAR, 0.8, 0))], truth) == 1.0
    assert one_class([found((FAR, 0.9, 0)), found((BOX, 0.8, 0))], truth) == 0.0


def test_classes_are_kept_apart_and_absent_ones_are_missing() -> None:
    truth = [labelled((BOX, 0), (FAR, 1)), labelled((BOX, 2))]
    detections = [found((BOX, 0.9, 0), (FAR, 0.8, 0)), found((BOX, 0.9, 3))]
    ap = average_precision(detections, truth, 4)
    # Class 0 is found; 1 and 2 have boxes and no detection; 3 has a detection and no box.
    assert ap[:3].tolist() == [1.0, 0.0, 0.0]
    assert np.isnan(ap[3])


def test_a_part_of_the_frames() -> None:
    truth = [labelled((BOX, 0), (BOX, 1)), labelled((BOX, 0))]
    detections = [found((BOX, 0.9, 0)), found((FAR, 0.8, 0))]
    assert average_precision(detections, truth, 2).tolist() == pytest.approx([0.5, 0.0])
    assert average_precision(detections[:1], truth[:1], 2).tolist() == [1.0, 0.0]
    second = average_precision(detections[1:], truth[1:], 2)
    assert second[0] == 0.0 and np.isnan(second[1])


def test_ignored_boxes_are_neither_found_nor_missed() -> None:
    truth = [labelled((BOX, 0), (FAR, 0), ignored=[False, True])]
    # Without the ignored box the first two detections would be wrong.
    detections = [found((FAR, 0.9, 0), ((100, 100, 110, 109), 0.8, 0), (BOX, 0.7, 0))]
    assert one_class(detections, truth) == 1.0
    assert one_class([found()], truth) == 0.0
    assert np.isnan(one_class(detections, [labelled((FAR, 0), ignored=[True])]))


def test_objects_of_a_size_by_hand() -> None:
    small, large = (0, 0, 10, 10), (20, 20, 60, 60)
    truth = [labelled((small, 0), (large, 0))]
    # The large object and the large detection beside it do not count among small objects.
    detections = [found((large, 0.9, 0), ((100, 100, 140, 140), 0.8, 0), (small, 0.7, 0))]
    areas = {"areas": (0.0, 1024.0)}
    assert average_precision(detections, truth, 1, **areas)[0] == 1.0  # type: ignore[arg-type]
    wrong = [found(((80, 80, 90, 90), 0.9, 0), (small, 0.7, 0))]
    assert average_precision(wrong, truth, 1, areas=(0.0, 1024.0))[0] == 0.5
    assert average_precision(wrong, truth, 1, areas=(1024.0, np.inf))[0] == 0.0
    assert np.isnan(average_precision(wrong, truth, 1, areas=(10_000.0, np.inf))[0])


def test_objects_of_any_size_have_the_usual_ap() -> None:
    detections, truth = [found((BOX, 0.9, 0), (FAR, 0.3, 0))], [labelled((BOX, 0))]
    every = average_precision(detections, truth, 1, areas=(0.0, np.inf))
    assert every.tolist() == average_precision(detections, truth, 1).tolist()


def test_nothing_found_and_nothing_labelled() -> None:
    assert one_class([found()], [labelled((BOX, 0))]) == 0.0
    assert np.isnan(one_class([found((BOX, 0.9, 0))], [labelled()]))
    assert np.isnan(one_class([found()], [labelled()]))


def test_equal_scores_are_one_threshold() -> None:
    truth = [labelled((BOX, 0)), labelled((BOX, 0)), labelled((BOX, 0)), labelled((BOX, 0))]
    right, wrong = found((BOX, 0.5, 0)), found((FAR, 0.5, 0))
    # Two right and two wrong of four boxes: precision 1/2 up to recall 1/2. One after the other it would be
    # 1/2 with the right ones first and 1/4 with the wrong ones first.
    for order in ((right, right, wrong, wrong), (wrong, right, wrong, right), (wrong, wrong, right, right)):
        assert one_class(order, truth) == pytest.approx(0.25)
    surer = (found((BOX, 0.6, 0)), found((BOX, 0.55, 0)), wrong, wrong)
    assert one_class(surer, truth) == pytest.approx(0.5)


def random_frames(
    rng: np.random.Generator, frames: int, classes: int, *, ties: bool = False
) -> tuple[list[Detections], list[Truth]]:
    """Truth on a grid, so that no two boxes touch; near and far detections of it with random scores."""
    detections, truth = [], []
    for _ in range(frames):
        cells = rng.permutation(16)[: rng.integers(0, 9)]
        corners = np.stack([cells % 4, cells // 4], axis=1) * 60.0
        boxes = np.hstack([corners, corners + rng.uniform(20, 50, (len(cells), 2))])
        labels = rng.integers(0, classes, len(cells))
        copies = rng.integers(0, 3, len(cells))
        near = np.repeat(boxes, copies, axis=0) + rng.normal(0, 4, (copies.sum(), 4))
        guess = rng.uniform(0, 200, (rng.integers(0, 4), 2))
        guesses = np.hstack([guess, guess + 30])
        of = np.concatenate([np.repeat(labels, copies), rng.integers(0, classes, len(guess))])
        scores = rng.permutation(10_000)[: len(of)] / 10_000 + rng.random() / 10_001
        scores = np.round(scores, 1) if ties else scores
        detections.append(Detections(np.vstack([near, guesses]).astype(np.float32), scores, of))
        truth.append(Truth(boxes.astype(np.float32), labels))
    return detections, truth


def by_eval_map(detections: list[Detections], truth: list[Truth], classes: int) -> NDArray[np.float64]:
    """`eval_map` used in the ordinary way, with its pool of processes."""
    _, results = eval_map(
        [
            [np.column_stack([frame.boxes, frame.scores])[frame.labels == label] for label in range(classes)]
            for frame in detections
        ],
        [{"bboxes": frame.boxes, "labels": frame.labels} for frame in truth],
        nproc=1,
        logger="silent",
    )
    return np.array([result["ap"] if result["num_gts"] else np.nan for result in results])


def by_pycocotools(detections: list[Detections], truth: list[Truth], classes: int) -> NDArray[np.float64]:
    """AP50 of each class by COCOeval: 101 recall points instead of the area."""

    def entry(image: int, label: int, box: NDArray[np.float32]) -> dict[str, object]:
        x1, y1, x2, y2 = map(float, box)
        return {"image_id": image, "category_id": label, "bbox": [x1, y1, x2 - x1, y2 - y1]}

    boxes = [
        entry(image, int(label), box) | {"area": 1.0, "iscrowd": 0}
        for image, frame in enumerate(truth)
        for label, box in zip(frame.labels, frame.boxes, strict=True)
    ]
    results = [
        entry(image, int(label), box) | {"score": float(score)}
        for image, frame in enumerate(detections)
        for label, box, score in zip(frame.labels, frame.boxes, frame.scores, strict=True)
    ]
    coco = COCO()
    coco.dataset = {
        "images": [{"id": image} for image in range(len(truth))],
        "categories": [{"id": label} for label in range(classes)],
        "annotations": [box | {"id": number} for number, box in enumerate(boxes, start=1)],
    }
    with contextlib.redirect_stdout(io.StringIO()):
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(results), "bbox")
        evaluation.params.iouThrs = np.array([0.5])
        evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e10]], ["all"]
        evaluation.evaluate()
        evaluation.accumulate()
    precision = evaluation.eval["precision"][0, :, :, 0, -1]
    return np.where((precision < 0).any(axis=0), np.nan, precision.mean(axis=0))


@pytest.mark.parametrize("seed", range(5))
def test_with_distinct_scores_it_is_eval_map(seed: int) -> None:
    detections, truth = random_frames(np.random.default_rng([seed, 1]), frames=6, classes=3)
    ours, theirs = average_precision(detections, truth, 3), by_eval_map(detections, truth, 3)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("seed", range(8))
def test_pycocotools_agrees_but_for_its_interpolation(seed: int) -> None:
    """|area − mean over 101 recalls| ≤ 1/101.

    The precision p falls with recall. The area lies between the right and the left sum of p over the 100
    steps of recall, R = (p_1 + … + p_100)/100 and L = (p_0 + … + p_99)/100, and the mean M = (p_0 + … +
    p_100)/101 differs from neither by more than 1/101: M − R ≤ p_0/101, and L − M ≤ 100 (1/100 − 1/101).
    The truth does not touch, so that both rules match the same boxes (VOC takes the best box, COCO the best
    free one).
    """
    detections, truth = random_frames(np.random.default_rng([seed, 2]), frames=40, classes=4)
    ours, theirs = average_precision(detections, truth, 4), by_pycocotools(detections, truth, 4)
    assert np.abs(ours - theirs).max() <= 1 / 101 + 1e-6
    assert 0.2 < ours.mean() < 0.98  # neither trivial


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), ties=st.booleans())
def test_ap_is_a_fraction_whatever_the_order(seed: int, ties: bool) -> None:
    rng = np.random.default_rng([seed, 3])
    detections, truth = random_frames(rng, frames=3, classes=2, ties=ties)
    ap = average_precision(detections, truth, 2)
    assert ((ap >= 0) & (ap <= 1) | np.isnan(ap)).all()
    order = rng.permutation(3)
    shuffled = []
    for frame in (detections[place] for place in order):
        inner = rng.permutation(len(frame.labels))
        shuffled.append(Detections(frame.boxes[inner], frame.scores[inner], frame.labels[inner]))
    again = average_precision(shuffled, [truth[place] for place in order], 2)
    np.testing.assert_array_equal(ap, again)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_perfect_detections_have_one(seed: int) -> None:
    rng = np.random.default_rng([seed, 4])
    _, truth = random_frames(rng, frames=3, classes=2)
    perfect = [Detections(frame.boxes, rng.random(len(frame.labels)), frame.labels) for frame in truth]
    ap = average_precision(perfect, truth, 2)
    assert (np.isnan(ap) | (ap == 1)).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_wrong_detection_never_raises_ap(seed: int) -> None:
    rng = np.random.default_rng([seed, 5])
    detections, truth = random_frames(rng, frames=3, classes=1)
    before = one_class(detections, truth)
    first = detections[0]

    def with_wrong(score: float) -> float:
        more = Detections(
            np.vstack([first.boxes, np.array([[900, 900, 950, 950]], dtype=np.float32)]),
            np.append(first.scores, score),
            np.append(first.labels, 0),
        )
        return one_class([more, *detections[1:]], truth)

    if np.isnan(before):
        assert np.isnan(with_wrong(0.5))
    else:
        assert with_wrong(-1.0) == before  # below all others it changes nothing
        assert with_wrong(float(rng.random())) <= before
        assert with_wrong(2.0) <= before


def test_labels_and_numbers_of_frames_are_checked() -> None:
    with pytest.raises(DataError, match=r"label 4 is outside 0\.\.3"):
        average_precision([found((BOX, 0.9, 4))], [labelled((BOX, 0))], 4)
    with pytest.raises(DataError, match=r"label -1 is outside 0\.\.3"):
        average_precision([found((BOX, 0.9, 0))], [labelled((BOX, -1))], 4)
    with pytest.raises(ParameterError, match="of the same frames, not of 1 and 2"):
        average_precision([found()], [labelled(), labelled()], 4)
    with pytest.raises(ParameterError, match="of the same frames, not of 0 and 0"):
        average_precision([], [], 4)
    with pytest.raises(ParameterError, match="above 0 and at most 1, not 0"):
        average_precision([found()], [labelled()], 4, iou=0)


def test_faulty_frames_are_named() -> None:
    boxes, labels = np.zeros((2, 4), dtype=np.float32), np.zeros(2, dtype=np.int64)
    scores = np.zeros(2, dtype=np.float32)
    with pytest.raises(DataError, match=r"boxes of shape \(n, 4\), not \(2, 5\)"):
        Detections(np.zeros((2, 5), dtype=np.float32), scores, labels)
    with pytest.raises(DataError, match=r"2 boxes, but scores of the shape \(1,\)"):
        Detections(boxes, scores[:1], labels)
    with pytest.raises(DataError, match=r"2 boxes, but ignored of the shape \(1,\)"):
        Truth(boxes, labels, np.zeros(1, dtype=np.bool_))
    with pytest.raises(DataError, match="a score that is not a finite number"):
        Detections(boxes, np.array([0.1, np.nan], dtype=np.float32), labels)
    with pytest.raises(DataError, match="Truth hold a box that is not of finite numbers"):
        Truth(np.full((2, 4), np.inf, dtype=np.float32), labels)
