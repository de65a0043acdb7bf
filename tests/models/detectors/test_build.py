"""Detectors by name, and their weights."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from driftlab.core.errors import DataError, ParameterError
from driftlab.data.detection.coco import load_coco
from driftlab.models.detectors.build import build_detector, load_weights, read_checkpoint, widen
from driftlab.models.detectors.configs import INPUT
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.registry import DETECTORS
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Frames
from mmengine.logging import MessageHub

CPU = torch.device("cpu")
Small = Callable[[], StreamFasterRCNN]


@pytest.fixture(scope="module")
def photo(real_data: Path) -> Frames:
    """A photo with several objects."""
    photos = load_coco(real_data / "coco128" / "instances.json", real_data / "coco128" / "images")
    most = int(np.diff(photos.starts).argmax())
    return Frames(photos.subset([most], "the fullest"), (128, 96))


@pytest.mark.parametrize("name", DETECTORS)
def test_a_real_photo_is_learnt_from_and_looked_at(name: str, photo: Frames) -> None:
    detector = build_detector(name, len(photo.records.categories), 0, CPU)
    detector.freeze()
    # A twentieth of the proposals: the paper's detector computes its fifth stage on each.
    detector.roi_head.bbox_sampler.num = 16
    detector.rpn_head.test_cfg.max_per_img = 16
    batch = StreamFeatures(detector, photo, 2**30).batch([0])
    assert len(batch.samples[0].gt_instances) > 5
    detector.eval()
    head = detector.roi_head.bbox_head.fc_cls
    with torch.no_grad():
        head.weight.zero_()  # what random layers say varies with their last bits
        head.bias[3] = 4
        (found,) = detector.predict(batch.inputs, batch.samples)
    width, height = photo.records.sizes[0]
    boxes = found.pred_instances.bboxes
    assert len(boxes) and set(found.pred_instances.labels.tolist()) == {3}
    assert (boxes >= 0).all() and (boxes <= torch.tensor([width, height] * 2) + 1e-3).all()
    torch.nn.init.normal_(head.weight, std=0.01)

    trained = {name: p for name, p in detector.named_parameters() if p.requires_grad}
    assert any(name.startswith("rpn_head.") for name in trained)
    assert any(name.startswith("roi_head.bbox_head.fc_cls") for name in trained)
    optimiser = torch.optim.SGD(trained.values(), lr=1e-4)
    before = {name: p.detach().clone() for name, p in trained.items()}
    detector.train()
    loss = detector.detection_loss(batch.inputs, batch.samples)
    loss.backward()
    optimiser.step()
    assert loss.isfinite() and loss > 0
    still = [name for name, p in trained.items() if torch.equal(p, before[name])]
    assert not still


def test_every_detector_has_its_input_size() -> None:
    assert set(INPUT) == set(DETECTORS)


def test_the_papers_detector_trains_all_but_the_backbone() -> None:
    detector = build_detector("faster-rcnn-r50-c4", 20, 0, CPU)
    detector.freeze()
    frozen = {name.split(".")[0] for name, p in detector.named_parameters() if not p.requires_grad}
    norms = {
        name
        for name, p in detector.roi_head.named_parameters()
        if not p.requires_grad and not (".bn" in name or ".downsample.1" in name)
    }
    assert frozen == {"backbone", "roi_head"} and not norms, "of the RoI head its batch norms only"


def test_the_weights_depend_on_the_seed_only(small: Small) -> None:
    torch.manual_seed(7)
    state = torch.random.get_rng_state()
    again, other = (build_detector("small", 5, seed, CPU).state_dict() for seed in (0, 1))
    assert torch.equal(torch.random.get_rng_state(), state), "nobody else's draws are moved"
    own = small().state_dict()
    assert all(torch.equal(again[name], value) for name, value in own.items())
    assert not torch.equal(other["rpn_head.rpn_conv.weight"], own["rpn_head.rpn_conv.weight"])


def test_an_unknown_detector() -> None:
    with pytest.raises(ParameterError, match="no detector 'smal'; there are small, faster-rcnn-r50-c4"):
        build_detector("smal", 5, 0, CPU)


def test_weights_come_back(small: Small) -> None:
    weights = {
        name: ~value if value.dtype is torch.bool else value + 1
        for name, value in small().state_dict().items()
    }
    detector = small()
    load_weights(detector, weights, "file")
    assert all(torch.equal(value, weights[name]) for name, value in detector.state_dict().items())


def test_the_weights_of_another_architecture(small: Small) -> None:
    weights = dict(small().state_dict())
    weights["neck.extra"] = weights.pop("rpn_head.rpn_conv.bias")
    weights["roi_head.bbox_head.fc_cls.bias"] = torch.zeros(21)
    with pytest.raises(DataError) as caught:
        load_weights(small(), weights, "model.pth")
    assert (
        "model.pth: These are the weights of another architecture: rpn_head.rpn_conv.bias is missing; "
        "neck.extra is not part of this detector; roi_head.bbox_head.fc_cls.bias is (21,) instead of (6,)."
    ) in str(caught.value)
    with pytest.raises(DataError, match=r"another architecture: .*conv1.weight is missing; .*, and \d+ more"):
        load_weights(small(), {}, "model.pth")


def test_the_weights_of_a_detector_of_other_classes(small: Small) -> None:
    weights = build_detector("small", 80, 0, CPU).state_dict()
    with pytest.raises(DataError) as caught:
        load_weights(small(), weights, "model.pth")
    text = str(caught.value)
    assert text.startswith("model.pth: These are the weights of a detector of 80 classes: ")
    assert "fc_cls.weight is (81, " in text and text.endswith("Give a checkpoint of a detector of 5 classes.")


@pytest.mark.parametrize("name", ["fc_cls.weight", "fc_reg.bias", "fc_cls.bias"])
def test_weights_that_do_not_fit_each_other(name: str, small: Small) -> None:
    weights = dict(small().state_dict())
    weights[f"roi_head.bbox_head.{name}"] = weights[f"roi_head.bbox_head.{name}"][:3]
    with pytest.raises(DataError, match=f"weights of another architecture: .*{name} is"):
        load_weights(small(), weights, "model.pth")


def test_weights_of_another_type(small: Small) -> None:
    weights = dict(small().state_dict())
    weights["roi_head.bbox_head.fc_cls.bias"] = torch.ones(6, dtype=torch.int64)
    with pytest.raises(DataError, match=r"fc_cls\.bias holds torch\.int64 instead of floating point"):
        load_weights(small(), weights, "model.pth")


class Code:
    """What a hostile file would execute."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


def test_a_checkpoint_with_code_is_refused_and_not_executed(tmp_path: Path) -> None:
    trace, file = tmp_path / "executed", tmp_path / "model.pth"
    torch.save({"state_dict": {"weight": torch.zeros(1)}, "meta": Code(trace)}, file)
    with pytest.raises(DataError, match=r"model\.pth: This checkpoint cannot be read safely"):
        read_checkpoint(file)
    assert not trace.exists()
    pickle.loads(pickle.dumps(Code(trace)))
    assert trace.exists(), "it would have been executed"


@pytest.mark.parametrize("content", [b"", b"no checkpoint at all", b"PK\x03\x04 nor this"])
def test_a_file_that_is_no_checkpoint(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.pth"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"model\.pth: This checkpoint cannot be read safely.*`checkpoint`"):
        read_checkpoint(file)


@pytest.mark.parametrize("content", [[torch.zeros(1)], {"state_dict": {"weight": 1.0}}, {"epoch": 3}])
def test_a_checkpoint_without_weights(content: object, tmp_path: Path) -> None:
    torch.save(content, tmp_path / "model.pth")
    with pytest.raises(DataError, match="holds named tensors, and this file does not"):
        read_checkpoint(tmp_path / "model.pth")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (
            torch.tensor([1.0, torch.nan]),
            r"field 'a\.weight': These weights are not finite.*earlier checkpoint",
        ),
        (torch.tensor([1, 2], dtype=torch.int8), "These weights are torch.int8, not floating point"),
        (torch.tensor([1j]), "These weights are torch.complex64, not floating point"),
        (torch.eye(2).to_sparse(), "holds named tensors, and this file does not"),
        (torch.tensor([torch.nan]).to(torch.float8_e4m3fn), "These weights are not finite"),
        (torch.empty(2, device="meta"), "holds named tensors, and this file does not"),
    ],
)
def test_weights_that_no_detector_can_have(weight: torch.Tensor, message: str, tmp_path: Path) -> None:
    torch.save({"state_dict": {"a.weight": weight}}, tmp_path / "model.pth")
    with pytest.raises(DataError, match=message):
        read_checkpoint(tmp_path / "model.pth")


@pytest.mark.filterwarnings("ignore")
def test_quantised_weights(tmp_path: Path) -> None:
    quantised = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8)
    torch.save({"state_dict": {"a.bias": quantised}}, tmp_path / "model.pth")
    with pytest.raises(DataError, match="holds named tensors, and this file does not"):
        read_checkpoint(tmp_path / "model.pth")


def test_weights_without_names(tmp_path: Path) -> None:
    torch.save({"state_dict": {1: torch.ones(1)}}, tmp_path / "model.pth")
    with pytest.raises(DataError, match="holds named tensors"):
        read_checkpoint(tmp_path / "model.pth")


def test_an_absent_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent\.pth: There is no such checkpoint"):
        read_checkpoint(tmp_path / "absent.pth")


@pytest.mark.parametrize("prefix", ["", "module."])
@pytest.mark.parametrize("wrapped", [False, True])
def test_how_checkpoints_are_wrapped(prefix: str, wrapped: bool, tmp_path: Path) -> None:
    weights = {f"{prefix}a.weight": torch.arange(3.0)}
    torch.save({"state_dict": weights, "meta": {"epoch": 1}} if wrapped else weights, tmp_path / "model.pth")
    found = read_checkpoint(tmp_path / "model.pth")
    assert list(found) == ["a.weight"] and found["a.weight"].tolist() == [0, 1, 2]


def test_a_checkpoint_that_mmengine_wrote_while_training_is_read_without_its_objects(tmp_path: Path) -> None:
    hub = MessageHub("training")
    hub.update_scalar("train/lr", 0.02)
    hub.update_info("epoch", 3)
    content = {
        "meta": {"epoch": np.int64(3), "dataset_meta": {"classes": ("cat",)}},
        "state_dict": {"weight": torch.ones(1)},
        "message_hub": hub.state_dict(),
    }
    file = tmp_path / "it's epoch {3}.pth"
    torch.save(content, file)
    assert read_checkpoint(file)["weight"].tolist() == [1]


class _Writes:
    """An object whose pickle calls a function."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return open, (str(self.file), "w")


def test_nothing_in_a_checkpoint_is_called(tmp_path: Path) -> None:
    called = tmp_path / "called"
    torch.save({"state_dict": {"weight": torch.ones(1)}, "meta": _Writes(called)}, tmp_path / "model.pth")
    called.unlink(missing_ok=True)
    assert read_checkpoint(tmp_path / "model.pth")["weight"].tolist() == [1]
    assert not called.exists()
    torch.save(torch.nn.Linear(2, 2), tmp_path / "module.pth")
    with pytest.raises(DataError, match="holds named tensors, and this file does not"):
        read_checkpoint(tmp_path / "module.pth")


def test_rows_go_to_their_classes_by_name(small: Small) -> None:
    own, wanted = ("a", "b", "c", "d", "e"), ("x", "e", "b", "y", "a", "d", "c")
    source = small().state_dict()
    wide = build_detector("small", len(wanted), 1, CPU)
    fresh = {name: value.clone() for name, value in wide.state_dict().items()}
    result = widen(source, own, wide, wanted)
    load_weights(wide, result, "widened")  # it fits
    for kind in ("weight", "bias"):
        cls, reg = f"roi_head.bbox_head.fc_cls.{kind}", f"roi_head.bbox_head.fc_reg.{kind}"
        for place, name in enumerate(wanted):
            boxes = slice(4 * place, 4 * place + 4)
            if name in own:
                row = own.index(name)
                assert torch.equal(result[cls][place], source[cls][row])
                assert torch.equal(result[reg][boxes], source[reg][4 * row : 4 * row + 4])
            else:
                assert torch.equal(result[cls][place], fresh[cls][place])
                assert torch.equal(result[reg][boxes], fresh[reg][boxes])
        assert torch.equal(result[cls][-1], source[cls][-1]), "the background's"
    assert result["roi_head.bbox_head.known"].tolist() == [False, True, True, False, True, True, True, True]
    rest = [n for n in source if not n.startswith("roi_head.bbox_head.fc_") and not n.endswith(".known")]
    rest += [n for n in source if ".shared_fcs." in n]
    assert all(torch.equal(result[name], source[name]) for name in rest)
    # Random biases are zero: some weights must tell source and fresh ones apart.
    assert not torch.equal(
        source["roi_head.bbox_head.fc_cls.weight"][0], fresh[cls.replace("bias", "weight")][4]
    )


def test_a_class_that_the_stream_has_not(small: Small) -> None:
    with pytest.raises(ParameterError, match="The pretrained classes c, e are not among the stream's"):
        widen(small().state_dict(), ("a", "b", "c", "d", "e"), small(), ("a", "b", "d", "f", "g"))
