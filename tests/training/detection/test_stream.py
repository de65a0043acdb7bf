"""Learning from a stream: what methods see, what is remembered, and what a resumed run yields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from driftlab.core.errors import ParameterError
from driftlab.data.detection.records import FrameStream
from driftlab.methods.bare import Bare
from driftlab.methods.base import Learner, Method, Parameters, Task
from driftlab.methods.ewc import OnlineEWC
from driftlab.methods.exemplars import Exemplars
from driftlab.methods.icarl import ICaRL
from driftlab.methods.mas import MAS
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.scenarios.stream import timeline
from driftlab.training.detection.checkpoint_state import Tensors
from driftlab.training.detection.detector_learner import DetectorLearner
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation
from driftlab.training.detection.stream import OnlineDetector
from torch import Tensor

Make = Callable[..., OnlineDetector]
PRETRAINED = range(4)


@pytest.fixture
def online(stream: FrameStream, detector: Callable[[], StreamFasterRCNN]) -> Make:
    """Makes a detector that learns the stream online."""

    def make(
        method: Method | None = None, seed: int = 0, iterations: int = 1, growing: bool = False, **moves: Any
    ) -> OnlineDetector:
        made = detector()
        if growing:
            made.roi_head.bbox_head.know(PRETRAINED)
        return OnlineDetector(
            made,
            method or Bare([seed], {}),
            StreamFeatures(made, Frames(stream.train, (64, 64)), 2**30),
            Exemplars(len(stream.categories), seed=seed),
            Optimisation(**{"learning_rate": 0.01} | moves),
            iterations=iterations,
            seed=seed,
            open_vocabulary=growing,
        )

    return make


@pytest.fixture
def steps(stream: FrameStream) -> list[tuple[int, np.ndarray]]:
    return list(enumerate(timeline(stream).train))


def ewc(strength: float = 1000.0) -> OnlineEWC:
    return OnlineEWC([0], {"strength": torch.tensor([strength])})


def through_a_store(state: Tensors) -> Tensors:
    return {name: torch.from_numpy(value.numpy().copy()) for name, value in state.items()}


def different(one: Tensors, other: Tensors) -> list[str]:
    assert set(one) == set(other)
    return [name for name in one if not torch.equal(one[name], other[name])]


METHODS: dict[str, Callable[[], Method]] = {
    "Incremental": lambda: Bare([0], {}),
    "EWC": ewc,
    "iCaRL": lambda: ICaRL([0], {}),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_resumed_run_yields_the_same_bits(name: str, online: Make, steps: list[Any]) -> None:
    growing = name != "EWC"
    whole = online(METHODS[name](), growing=growing)
    whole.learn(steps[:3])
    first = online(METHODS[name](), growing=growing)
    first.learn(steps[:2])
    second = online(METHODS[name](), growing=growing)
    second.load_state(through_a_store(first.state()))
    assert different(second.state(), first.state()) == []
    second.learn(steps[2:3])
    state = second.state()
    assert different(state, whole.state()) == []
    assert all(value.isfinite().all() for value in state.values())
    # No less than all of it matters: the step changed parameters, momenta, memory and what a method keeps.
    changed = {name.split("/")[0] for name in different(state, first.state())}
    assert {"parameter", "optimiser", "memory", "last_seen"} <= changed
    assert ("method" in changed) == (name == "EWC")
    assert any(name.startswith("optimiser/momentum/") for name in state)


def test_a_run_that_diverges_is_an_error(online: Make, steps: list[Any]) -> None:
    with pytest.raises(ParameterError, match=r"The run diverged: the (loss|parameter) .*Lower"):
        online(ICaRL([0], {}), learning_rate=1e30).learn(steps[:3])


def test_a_pull_beyond_all_numbers_is_an_error(online: Make, steps: list[Any]) -> None:
    with pytest.raises(ParameterError, match="The run diverged"):
        online(ewc(1e39), iterations=2).learn(steps[:3])


def test_frames_without_objects_are_learnt(
    online: Make, stream: FrameStream, steps: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = online(ICaRL([0], {}), growing=True)
    records = learner.features.frames.records
    empty = replace(
        records,
        starts=np.zeros(len(records) + 1, dtype=np.int64),
        boxes=records.boxes[:0],
        labels=records.labels[:0],
        crowd=records.crowd[:0],
    )
    learner.features.frames = Frames(empty, (64, 64))
    before = learner.state()
    learner.learn(steps[:2])
    after = learner.state()
    assert torch.equal(before["known"], after["known"]) and (after["last_seen"] == -1).all()
    assert all(value.isfinite().all() for value in after.values())
    assert any(name.startswith("parameter/rpn_head") for name in different_parameters(before, after))


def different_parameters(one: Tensors, other: Tensors) -> list[str]:
    return [name for name in one if name.startswith("parameter/") and not torch.equal(one[name], other[name])]


@pytest.mark.parametrize("lost", ["optimiser", "memory"])
def test_without_a_part_of_the_state_it_would_not(lost: str, online: Make, steps: list[Any]) -> None:
    first, second = (online(ICaRL([0], {})) for _ in range(2))
    fresh = second.state()
    first.learn(steps[:1])
    state = {n: v for n, v in first.state().items() if not n.startswith(f"{lost}/")}
    second.load_state(state | {n: v for n, v in fresh.items() if n.startswith(f"{lost}/")})
    for learner in (first, second):
        learner.learn(steps[1:2])
    trained = [{n: v for n, v in o.state().items() if n.startswith("parameter/")} for o in (first, second)]
    assert different(*trained)


def test_another_seed_yields_something_else(online: Make, steps: list[Any]) -> None:
    states = []
    for seed in (0, 0, 1):
        learner = online(seed=seed)
        learner.learn(steps[:1])
        states.append({n: v for n, v in learner.state().items() if n.startswith("parameter/")})
    assert different(states[0], states[1]) == []
    assert different(states[0], states[2])


class Spy(Method):
    """Notes what it is called with; without the classes' gradients, if it is told so."""

    name: ClassVar[str] = "spy"

    def __init__(self, mute: bool = False) -> None:
        super().__init__([0], {})
        self.calls: list[tuple[str, int]] = []
        self.gradients: list[Parameters] = []
        self.rehearsed: list[tuple[list[list[int]], int]] = []
        self.mute = mute

    def begin_task(self, learner: Learner, task: Task, batch: Any) -> None:
        self.calls.append(("begin", task.index))
        boxes = [sample.gt_instances.labels.tolist() for sample in batch.samples]
        self.rehearsed.append((boxes, len(task.records[0])))

    def loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        self.calls.append(("loss", task.index))
        return super().loss(learner, task, batch)

    def adjust_gradients(self, learner: Learner, task: Task, gradients: Parameters) -> Parameters:
        self.calls.append(("adjust", task.index))
        self.gradients.append({name: g.clone() for name, g in gradients.items()})
        return {name: torch.zeros_like(g) for name, g in gradients.items()} if self.mute else gradients

    def after_step(self, learner: Learner, task: Task) -> None:
        self.calls.append(("after", task.index))

    def end_task(self, learner: Learner, task: Task, batch: Any) -> None:
        self.calls.append(("end", task.index))


def test_what_a_method_is_asked_and_when(online: Make, steps: list[Any]) -> None:
    spy = Spy()
    learner = online(spy, iterations=2)
    learner.learn(steps[1:3])
    once = ["loss", "adjust", "after"]
    assert spy.calls == [(call, step) for step in (1, 2) for call in ("begin", *once, *once, "end")]
    shapes = {name: value.shape for name, value in learner.learner.parameters.items()}
    assert shapes == {"weight": (22, 128), "bias": (22,)}
    for gradients in spy.gradients:
        assert {name: g.shape for name, g in gradients.items()} == shapes
        assert all(g.any() for g in gradients.values())


def test_an_adjusted_gradient_is_used(online: Make, steps: list[Any]) -> None:
    learner = online(Spy(mute=True), iterations=2, weight_decay=0.0)
    before = learner.detector.roi_head.bbox_head.fc_cls.weight.detach().clone()
    learner.learn(steps[:1])
    after = learner.detector.roi_head.bbox_head.fc_cls.weight.detach()
    assert torch.equal(after[:-1], before[:-1])
    assert not torch.equal(after[-1], before[-1]), "the background's row is free"


def test_a_method_that_needs_a_records_outputs_says_so(online: Make, steps: list[Any]) -> None:
    mas = MAS([0], {"strength": torch.tensor([1.0]), "power": torch.tensor([2.0])})
    learner = online(mas)
    with pytest.raises(ParameterError, match=r"a detector does not have.*Incremental, EWC and iCaRL"):
        learner.learn(steps[:1])
    assert learner.detector.objective is None


class RehearsingSpy(Spy, ICaRL):
    """iCaRL, looked at."""


def test_icarl_rehearses_one_object_of_every_remembered_class(
    online: Make, steps: list[Any], stream: FrameStream
) -> None:
    spy = RehearsingSpy()
    learner = online(spy)
    learner.learn(steps[:1])
    labels = np.concatenate([stream.train.labels_of(int(frame)) for frame in steps[0][1]])
    learner.learn(steps[1:2])
    (alone, frames), (together, _) = spy.rehearsed
    assert len(alone) == frames == 2, "nothing is remembered before the first step"
    assert together[2:] == [[label] for label in np.unique(labels)] and len(together) > 3
    assert together[:2] == [stream.train.labels_of(int(frame)).tolist() for frame in steps[1][1]]


def test_what_is_remembered_was_seen(online: Make, steps: list[Any], stream: FrameStream) -> None:
    learner = online()
    learner.learn(steps[:2])
    records, kept = stream.train, learner.memory.records
    seen = {
        int(label): step for step, frames in steps[:2] for f in frames for label in records.labels_of(int(f))
    }
    assert {label for label, slots in enumerate(kept) if (slots >= 0).any()} == set(seen)
    for label, slots in enumerate(kept):
        for record in slots[slots >= 0]:
            box = record - len(records)
            assert records.labels[box] == label
            assert learner.features.frames.image_of(int(record)) in np.concatenate([f for _, f in steps[:2]])
    expected = [seen.get(label, -1) for label in range(len(records.categories))]
    assert learner.last_seen.tolist() == expected and {-1, 0, 1} <= set(expected)


def test_outputs_appear_with_their_class(online: Make, steps: list[Any], stream: FrameStream) -> None:
    learner = online(growing=True)
    known = set(PRETRAINED)
    grown = []
    for number, frames in steps[:3]:
        learner.learn([(number, frames)])
        known |= {int(label) for f in frames for label in stream.train.labels_of(int(f))}
        found = learner.detector.roi_head.bbox_head.known
        assert set(torch.nonzero(found[:-1])[:, 0].tolist()) == known and found[-1]
        grown.append(len(known))
    assert len(PRETRAINED) < grown[0] <= grown[-1] < len(stream.categories)


def test_with_a_known_vocabulary_all_outputs_are_there(online: Make, steps: list[Any]) -> None:
    learner = online()
    learner.learn(steps[:1])
    assert learner.detector.roi_head.bbox_head.known.all()


def test_the_frozen_part_stays(online: Make, steps: list[Any]) -> None:
    learner = online()
    parts = ("backbone.", "neck.")
    before = {n: v.clone() for n, v in learner.detector.state_dict().items() if n.startswith(parts)}
    learner.learn(steps[:1])
    after = learner.detector.state_dict()
    assert before and different(before, {name: after[name] for name in before}) == []
    assert not any(name.startswith(tuple(f"parameter/{part}" for part in parts)) for name in learner.state())


@pytest.mark.parametrize("half_penalty", [False, True])
def test_ewc_pulls_the_classes_rows_and_nothing_else(
    half_penalty: bool, online: Make, steps: list[Any]
) -> None:
    method = OnlineEWC([0], {"strength": torch.tensor([40.0])}, fisher="labels", half_penalty=half_penalty)
    learner = online(method)
    learner.learn(steps[:1])
    model = learner.learner
    fisher = {name: value[0] for name, value in method.anchors.importance.items()}
    head = learner.detector.roi_head.bbox_head.fc_cls
    assert torch.equal(method.anchors.anchor["weight"][0], head.weight[:-1].detach())
    with torch.no_grad():
        for parameter in head.parameters():
            parameter += torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    moved = {
        name: value.detach() - method.anchors.anchor[name][0] for name, value in model.parameters.items()
    }
    batch = model.batch((steps[1][1],))
    task = Task(1, (), slice(0, 22), slice(0, 22), (steps[1][1],), ())
    gradients: list[Tensors] = []
    learner.detector.train()
    for loss in (method.loss, Bare([0], {}).loss):
        torch.manual_seed(0)
        learner.detector.zero_grad()
        loss(model, task, batch).sum().backward()
        gradients.append(
            {n: p.grad.clone() for n, p in learner.detector.named_parameters() if p.requires_grad}
        )
    assert len(gradients[0]) > 10
    for name, gradient in gradients[0].items():
        pull = gradient - gradients[1][name]
        *_, layer, kind = name.split(".")
        if layer != "fc_cls":
            assert not pull.any()
            continue
        expected = (40.0 if half_penalty else 80.0) * fisher[kind] * moved[kind]
        assert expected.abs().max() > 1e-3
        torch.testing.assert_close(pull[:-1], expected, rtol=1e-3, atol=1e-5)
        assert not pull[-1].any(), "the background's row is free"


def test_the_fisher_of_predicted_labels_needs_none_of_the_memorys(
    online: Make, steps: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fishers = []
    for fisher, labelled in (("predicted", True), ("predicted", False), ("labels", True)):
        method = OnlineEWC([0], {"strength": torch.tensor([0.0])}, fisher=fisher)  # type: ignore[arg-type]
        learner = online(method)
        make_batch = learner.learner.batch

        def batch(records: Any, labelled: bool = labelled, make_batch: Any = make_batch) -> Any:
            made = make_batch(records)
            if int(records[0][0]) >= 8 and not labelled:  # of the memory
                for sample in made.samples:
                    del sample.gt_instances
            return made

        monkeypatch.setattr(learner.learner, "batch", batch)
        learner.learn(steps[:1])
        fishers.append({name: value[0] for name, value in method.anchors.importance.items()})
    for name, value in fishers[0].items():
        assert torch.equal(value, fishers[1][name]) and value.any()
        assert not torch.equal(value, fishers[2][name])


def test_micro_batches_learn_the_same(online: Make, steps: list[Any]) -> None:
    results = []
    for size in (0, 2, 99):
        learner = online(ICaRL([0], {}))
        learner.detector.micro_batch = size
        learner.learn(steps[:2])
        results.append(learner.state())
    assert different(results[0], results[2]) == []
    for name, value in results[0].items():
        torch.testing.assert_close(results[1][name], value, rtol=1e-3, atol=1e-5, msg=name)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (lambda: ICaRL([0], {}, rehearsal="half"), "rehearsal is 'half'; it can be positives or all"),  # type: ignore[arg-type]
        (lambda: OnlineEWC([0], {}, fisher="true"), "fisher is 'true'; it can be predicted or labels"),  # type: ignore[arg-type]
    ],
)
def test_options_that_do_not_exist(method: Callable[[], Method], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        method()


def test_remembered_images_train_their_object_only(online: Make, steps: list[Any]) -> None:
    states = []
    for rehearsal in ("positives", "all"):
        learner = online(ICaRL([0], {}, rehearsal=rehearsal))  # type: ignore[arg-type]
        learner.learn(steps[:2])
        states.append({n: v for n, v in learner.state().items() if n.startswith("parameter/")})
    assert len(different(*states)) > 4


def test_the_fisher_is_measured_on_the_memory_anew_at_every_step(online: Make, steps: list[Any]) -> None:
    learner = online(ewc())
    learner.learn(steps[:1])
    first = {name: value.clone() for name, value in learner.state().items() if "/importance/" in name}
    learner.learn(steps[1:2])
    second = {name: value for name, value in learner.state().items() if "/importance/" in name}
    assert {name: tuple(value.shape) for name, value in second.items()} == {
        "method/importance/weight": (1, 22, 128),
        "method/importance/bias": (1, 22),
    }, "the newest only"
    assert len(different(first, second)) == 2


def test_a_learner_is_one_detector(online: Make) -> None:
    learner: DetectorLearner = online().learner
    assert learner.sum_per_replica(torch.ones(2, 3)).item() == 6
    ratio = torch.tensor([2.0])
    assert learner.broadcast_to_replicas(ratio, torch.ones(2, 3)) is ratio
    for call in (learner.outputs, learner.topology):
        with pytest.raises(ParameterError, match="On a stream there are Incremental, EWC and iCaRL"):
            call(None)
