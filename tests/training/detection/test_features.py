"""The frozen part's features: computed once, kept, and the same however they come."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from driftlab.core.errors import StoreError
from driftlab.data.detection.records import DetectionSet, FrameStream
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.detectors.stream_loss import Features
from driftlab.training.detection import features as features_module
from driftlab.training.detection import kept_features as kept_module
from driftlab.training.detection.evaluation import detect
from driftlab.training.detection.features import StreamFeatures, compute
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.kept_features import FreshFeatures, KeptFeatures
from driftlab.training.detection.tensor_pool import TensorPool

Make = Callable[[], StreamFasterRCNN]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The images whose features have been computed since the test began."""
    images: list[int] = []

    def spied(detector: StreamFasterRCNN, frames: Frames, image: int) -> Features:
        images.append(image)
        return compute(detector, frames, image)

    for module in (features_module, kept_module):
        monkeypatch.setattr(module, "compute", spied)
    return images


@pytest.fixture
def frozen(detector: Make) -> StreamFasterRCNN:
    made = detector()
    made.freeze()
    made.eval()
    return made


@pytest.fixture
def test_frames(stream: FrameStream) -> Frames:
    return Frames(stream.test, (64, 64))


def same(one: Features, other: Features) -> bool:
    return len(one) == len(other) == 5 and all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_kept_features_are_the_fresh_ones(
    frozen: StreamFasterRCNN, test_frames: Frames, tmp_path: Path, computed: list[int]
) -> None:
    kept, fresh = KeptFeatures(tmp_path / "f", frozen, test_frames), FreshFeatures(frozen, test_frames)
    assert computed == [0, 1, 2, 3]
    for image in (2, 0, 3, 1):
        assert same(kept(image), fresh(image))
    assert not same(kept(0), kept(1))


def test_they_are_made_once(
    frozen: StreamFasterRCNN, test_frames: Frames, tmp_path: Path, computed: list[int]
) -> None:
    first = KeptFeatures(tmp_path / "f", frozen, test_frames)
    computed.clear()
    second = KeptFeatures(tmp_path / "f", frozen, test_frames)
    assert same(first(1), second(1)) and not computed
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".f-")] == []


def empty(folder: Path) -> None:
    (folder / "level0.npy").write_bytes(b"")


def cut(folder: Path) -> None:
    file = folder / "level1.npy"
    os.truncate(file, file.stat().st_size - 4)


def no_array(folder: Path) -> None:
    (folder / "level2.npy").write_bytes(b"no array")


def absent(folder: Path) -> None:
    (folder / "level3.npy").unlink()


def other_shape(folder: Path) -> None:
    (folder / "level2.npy").write_bytes((folder / "level0.npy").read_bytes())


def no_shapes(folder: Path) -> None:
    (folder / "shapes.json").write_text("[]")


def not_json(folder: Path) -> None:
    (folder / "shapes.json").write_text("[[4, 64, 16")


def null(folder: Path) -> None:
    (folder / "shapes.json").write_text("null")


def no_checksums(folder: Path) -> None:
    shapes, _ = json.loads((folder / "shapes.json").read_text())
    (folder / "shapes.json").write_text(json.dumps([shapes, [1, 2, 3, 4]]))


def half_precision(folder: Path) -> None:
    file = folder / "level0.npy"
    np.save(file, np.load(file).astype(np.float16))


@pytest.mark.parametrize(
    "damage",
    [half_precision, no_checksums, empty, cut, no_array, absent, other_shape, no_shapes, not_json, null],
    ids=lambda f: f.__name__,
)
def test_damaged_files_are_made_anew(
    damage: Callable[[Path], None],
    frozen: StreamFasterRCNN,
    test_frames: Frames,
    tmp_path: Path,
    computed: list[int],
) -> None:
    KeptFeatures(tmp_path / "f", frozen, test_frames)
    damage(tmp_path / "f")
    computed.clear()
    kept = KeptFeatures(tmp_path / "f", frozen, test_frames)
    assert computed == [0, 1, 2, 3]
    assert same(kept(3), compute(frozen, test_frames, 3))


def test_a_frame_whose_features_are_damaged_is_computed_anew(
    frozen: StreamFasterRCNN, test_frames: Frames, tmp_path: Path, computed: list[int]
) -> None:
    first = KeptFeatures(tmp_path / "f", frozen, test_frames)
    file = tmp_path / "f" / "level0.npy"
    raw = bytearray(file.read_bytes())
    raw[-4:] = bytes(4)  # of the last frame
    file.write_bytes(raw)
    computed.clear()
    for kept in (first, KeptFeatures(tmp_path / "f", frozen, test_frames)):
        assert same(kept(3), compute(frozen, test_frames, 3)) and same(
            kept(2), compute(frozen, test_frames, 2)
        )
    assert computed == [3, 3]
    file.unlink()
    assert same(first(1), compute(frozen, test_frames, 1))
    assert computed == [3, 3, 1]


def test_what_a_kill_has_left_is_removed(
    frozen: StreamFasterRCNN, test_frames: Frames, tmp_path: Path
) -> None:
    (tmp_path / ".f-half").mkdir()
    (tmp_path / ".f-half" / "level0.npy").write_bytes(b"half")
    KeptFeatures(tmp_path / "f", frozen, test_frames)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "f.lock"]


def test_a_failure_half_way_leaves_nothing(
    frozen: StreamFasterRCNN, test_frames: Frames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(detector: StreamFasterRCNN, frames: Frames, image: int) -> Features:
        if image == 2:
            raise OSError("no such frame")
        return compute(detector, frames, image)

    monkeypatch.setattr(kept_module, "compute", fails)
    with pytest.raises(StoreError, match=r"cannot be kept in .*f \(no such frame\)\. Free some space"):
        KeptFeatures(tmp_path / "f", frozen, test_frames)
    assert [path.name for path in tmp_path.iterdir()] == ["f.lock"]


def test_images_of_several_sizes(frozen: StreamFasterRCNN, mixed: DetectionSet) -> None:
    frames = Frames(mixed, (64, 64))
    fresh = FreshFeatures(frozen, frames)
    assert fresh(0)[0].shape == (1, 32, 16, 16) and fresh(2)[0].shape == (1, 32, 8, 16)
    together = detect(frozen, frames, fresh, range(6))
    alone = [detect(frozen, frames, fresh, [image])[0] for image in range(6)]
    assert all(len(one.boxes) for one in alone)
    for one, other, (width, height) in zip(together, alone, mixed.sizes, strict=True):
        assert len(one.boxes) == len(other.boxes)
        torch.testing.assert_close(torch.from_numpy(one.scores), torch.from_numpy(other.scores))
        assert (one.boxes <= [width, height, width, height]).all()


def test_a_batch_of_several_sizes_is_padded(frozen: StreamFasterRCNN, mixed: DetectionSet) -> None:
    frames = Frames(mixed, (64, 64))
    batch = StreamFeatures(frozen, frames, 2**30).batch([2, 0])
    low, full = compute(frozen, frames, 2), compute(frozen, frames, 0)
    for level, small, large in zip(batch.inputs, low, full, strict=True):
        height = small.shape[2]
        assert torch.equal(level[1:], large) and torch.equal(level[:1, :, :height], small)
        assert not level[0, :, height:].any()
    frozen.train()
    assert frozen.detection_loss(batch.inputs, batch.samples).isfinite()


def test_a_stream_keeps_what_it_needs(
    frozen: StreamFasterRCNN, stream: FrameStream, computed: list[int]
) -> None:
    frames = Frames(stream.train, (64, 64))
    one = sum(level.nbytes for level in compute(frozen, frames, 0))
    computed.clear()
    features = StreamFeatures(frozen, frames, memory=3 * one)
    box = int(frames.objects_of(1)[0])
    batch = features.batch([0, 1, box])
    assert computed == [0, 1] and len(batch) == 3
    assert torch.equal(batch.inputs[0][1], batch.inputs[0][2]), "the image of the box"
    assert len(batch.samples[2].gt_instances) == 1
    features.batch([0, 1, 2, 3])
    assert computed == [0, 1, 2, 3], "three are kept, the fourth is not"
    features.batch([3, 2])
    assert computed == [0, 1, 2, 3, 3]
    features.keep_only([box])
    features.batch([1, 0])
    assert computed == [0, 1, 2, 3, 3, 0]
    assert torch.equal(features.batch([1]).inputs[0], compute(frozen, frames, 1)[0])


def test_runs_share_features(frozen: StreamFasterRCNN, stream: FrameStream, computed: list[int]) -> None:
    frames = Frames(stream.train, (64, 64))
    one = sum(level.nbytes for level in compute(frozen, frames, 0))
    shared = TensorPool(2 * one)
    first, second = (StreamFeatures(frozen, frames, memory=one, shared=shared) for _ in range(2))
    computed.clear()
    first.batch([0, 1, 2])
    alike = second.batch([2, 1, 0])
    assert computed == [0, 1, 2, 2], "two are shared, the third is each run's own"
    first.keep_only([])
    first.batch([1, 0, 2])
    assert computed == [0, 1, 2, 2, 2], "what is shared is not forgotten"
    assert torch.equal(alike.inputs[0][1], compute(frozen, frames, 1)[0][0])


def test_another_process_begins_with_an_empty_pool(frozen: StreamFasterRCNN, stream: FrameStream) -> None:
    pool = TensorPool(2**30)
    StreamFeatures(frozen, Frames(stream.train, (64, 64)), 2**30, pool).batch([0])
    sent = copy.copy(pool)
    assert pool.get(0) is not None and sent.get(0) is None and sent.memory == 2**30
