"""All methods on a tiny stream, as a notebook runs them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from driftlab.core.errors import DataError, MissingDataError, ParameterError
from driftlab.metrics.detection import average_precision
from driftlab.metrics.stream_precision import cap_curve, class_ap
from driftlab.metrics.transfer import stretch_matrix, transfer
from driftlab.models.detectors.build import build_detector
from driftlab.papers.oak import evaluation as oak_evaluation
from driftlab.papers.oak import experiment as oak
from driftlab.papers.oak import session as stream_session
from driftlab.papers.oak.methods import METHODS, SHUFFLED
from driftlab.papers.oak.pretraining import for_stream
from driftlab.papers.oak.session import OakSession, load_stream
from driftlab.papers.oak.stream_pictures import before_and_after
from driftlab.runs.failures import CorruptResultWarning, SweepError
from driftlab.scenarios.stream import shuffled
from driftlab.training.detection import evaluation
from driftlab.training.detection.ground_truth import truths_of
from driftlab.worlds.walk import layout
from driftlab.worlds.walk.layout import oak_world
from torch import Tensor

IOU = 0.02  # what guesses boxes seldom meets one well
STEPS, STOP = 5, (2, 4, 5)  # evaluations; the last one after a shorter interval
PROTOCOL: dict[str, Any] = {
    "iterations": 2,  # with one, EWC would never be away from its anchor
    "interval": 2,
    "stretch": 2,
    "learning_rate": 2e-4,
    "strength": 1e5,
    "offline_interval": 2,
    "offline_epochs": 2,
    "offline_learning_rate": 2e-4,
}


def session(cached: bool = True, **settings: Any) -> OakSession:
    given: dict[str, Any] = {
        "scale": "smoke",
        "data": "world",
        "world_steps": STEPS,
        "static_images": 16,
        "pretraining_epochs": 2,
        **PROTOCOL,
        "jobs": 1,
    }
    return OakSession("21_oak_known_vocabulary", **(given | settings), cached=cached)


def guessing(*given: Any) -> dict[str, Tensor]:
    """The weights of a detector that sees something everywhere, as two steps of pretraining teach nothing."""
    known = {name: value for name, value in for_stream(*given).items() if name.endswith(".known")}
    weights = build_detector("small", len(given[3]), 0, torch.device("cpu")).state_dict() | known
    weights["roi_head.bbox_head.fc_cls.weight"] *= 3
    return weights


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small world's outputs, shared by the tests that run something."""
    folder = tmp_path_factory.mktemp("outputs")
    touching = partial(average_precision, iou=IOU)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_session, "for_stream", guessing)
        patch.setattr(oak_evaluation, "average_precision", touching)
        patch.setattr(evaluation, "average_precision", touching)
        patch.setattr(layout, "oak_world", partial(oak_world, frames_per_step=2, pixels=96))
        patch.setenv("DRIFTLAB_OUTPUTS", str(folder))
        yield folder


@pytest.fixture
def here(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", str(outputs))


@pytest.fixture(scope="module")
def tables(outputs: Path) -> dict[str, pd.DataFrame]:
    """All methods, by vocabulary."""
    made = session()
    return {vocabulary: made.runs(METHODS, vocabulary, [0]) for vocabulary in ("known", "unknown")}


@pytest.fixture(scope="module")
def tested(outputs: Path) -> OakSession:
    return session()


def evaluated(made: OakSession) -> set[str]:
    return {f"class:{made.stream.categories[c]}" for c in made.stream.evaluated}


@pytest.mark.parametrize("vocabulary", ["known", "unknown"])
@pytest.mark.parametrize("method", METHODS)
def test_every_evaluation_is_complete(
    method: str, vocabulary: str, tables: dict[str, pd.DataFrame], tested: OakSession
) -> None:
    table = tables[vocabulary]
    rows = table[table["method"] == method]
    assert set(rows["variant"]) == {f"oak/small/{vocabulary}"} and set(rows["paper"]) == {"oak"}
    assert set(rows["trained_on"]) == {0, *STOP}
    for until, part in rows.groupby("trained_on"):
        ap = part[part["metric"] == "ap50"].set_index("tested_on")["value"]
        assert set(ap.index) - {"idk"} == evaluated(tested) and len(evaluated(tested)) > 3
        assert ap.between(0, 1).all() and not ap.index.duplicated().any()
        variants = part[part["metric"] == "map50"]
        # The stretches end with steps 2 and 5.
        ends = (0,) if method == SHUFFLED else (0, 2, STEPS)
        expected = ["stretch:1", "stretch:2"] if until in ends else []
        assert sorted(variants["tested_on"]) == expected
    if method != SHUFFLED:  # which may have seen all classes at once
        says_idk = vocabulary == "unknown" and method != "Non-adaptation"
        assert ("idk" in set(rows["tested_on"])) == says_idk
    online = method in ("Incremental", "EWC", "iCaRL")
    online = online or (vocabulary == "unknown" and method != "Non-adaptation")
    assert (set(rows["metric"]) == {"ap50", "map50", "steps_since_seen"}) == online
    assert set(rows["metric"]) - {"steps_since_seen"} == {"ap50", "map50"}


def test_the_steps_since_a_class_was_seen(tables: dict[str, pd.DataFrame], tested: OakSession) -> None:
    stream = tested.stream
    steps = np.repeat(stream.steps, np.diff(stream.train.starts))
    for vocabulary, table in tables.items():
        rows = table[(table["metric"] == "steps_since_seen") & (table["method"] == "iCaRL")]
        expected = {}
        for until in STOP:
            for c in stream.evaluated:
                seen = steps[(stream.train.labels == c) & (steps < until)]
                if len(seen):
                    expected[until, f"class:{stream.categories[c]}"] = until - 1.0 - seen.max()
        found = rows.set_index(["trained_on", "tested_on"])["value"].to_dict()
        assert found == expected, vocabulary
    assert {0.0, 1.0} <= set(expected.values())


def test_numbers_that_differ(tables: dict[str, pd.DataFrame]) -> None:
    """The tiny detectors find something, and not all the same: else these tests would see nothing."""
    for vocabulary, table in tables.items():
        ap = class_ap(table)
        assert (ap["value"] > 0).any(), vocabulary
        learnt = ap[ap["trained_on"] > 0]
        curves = learnt.pivot(index=["trained_on", "class"], columns="method", values="value")
        assert not curves.T.duplicated().any(), "no two methods agree"
        start = ap[ap["trained_on"] == 0].pivot(index="class", columns="method", values="value")
        assert (start.nunique(axis=1) == 1).all(), "all begin with the same detector"
    unknown = tables["unknown"].query("tested_on == 'idk'")
    assert (unknown["value"] > 0).any()
    pretrained = tables["known"].query("method == 'Non-adaptation' and metric == 'ap50'")
    assert (pretrained.groupby("tested_on")["value"].nunique() == 1).all(), "it never changes"


def test_transfer_can_be_computed(tables: dict[str, pd.DataFrame]) -> None:
    ordered = tables["known"].query("method != @SHUFFLED")
    result = transfer(stretch_matrix(ordered)).set_index("method")
    assert set(result.index) == set(METHODS) - {SHUFFLED} and (result["stretches"] == 2).all()
    assert result.loc["Non-adaptation", ["fwt", "bwt"]].tolist() == [0.0, 0.0]
    assert (result["fwt"] != 0).any()


def test_stretches_are_measured_at_their_ends_only(here: None) -> None:
    table = session(interval=1).runs(["Non-adaptation", "Incremental"], "known", [0])
    for _, rows in table.groupby("method"):
        assert set(rows[rows["metric"] == "ap50"]["trained_on"]) == set(range(STEPS + 1))
        assert set(rows[rows["metric"] == "map50"]["trained_on"]) == {0, 2, STEPS}
    assert (transfer(stretch_matrix(table))["stretches"] == 2).all()


def test_offline_training_has_repetitions_of_its_own(here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    class Result:
        table = pd.DataFrame()

    def sweep(self: OakSession, experiment: Any, configs: Any, *_: Any, **__: Any) -> Any:
        asked.extend((config["method"], config["seed"]) for config in configs)
        return Result()

    made = session(offline_seeds=2)
    made.data()
    monkeypatch.setattr(OakSession, "sweep", sweep)
    made.runs(["EWC", "Offline training"], "known", [4, 5, 6])
    assert asked == [("EWC", 4), ("EWC", 5), ("EWC", 6), ("Offline training", 4), ("Offline training", 5)]


def test_a_shuffled_stream_has_the_same_frames_and_budget(
    tables: dict[str, pd.DataFrame], tested: OakSession
) -> None:
    ordered = tested.timeline
    mixed = shuffled(ordered, 0)
    assert [len(step) for step in mixed.train] == [len(step) for step in ordered.train]
    frames = np.concatenate(mixed.train)
    assert sorted(frames) == np.concatenate(ordered.train).tolist() != frames.tolist()
    assert not np.array_equal(frames, np.concatenate(shuffled(ordered, 1).train))
    rows = tables["known"].query("method == @SHUFFLED")
    assert set(rows["trained_on"]) == {0, *STOP}
    assert set(rows.query("trained_on > 0")["metric"]) == {"ap50"}, (
        "no stretches, no time since a class was seen"
    )
    ap = class_ap(tables["known"]).query("trained_on > 0").set_index(["trained_on", "class"])
    ordered_ap = ap[ap["method"] == "Incremental"]["value"]
    assert not ap[ap["method"] == SHUFFLED]["value"].equals(ordered_ap)


def test_what_is_in_the_store_is_not_computed_again(
    here: None, tables: dict[str, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("computed")

    monkeypatch.setattr(oak, "execute_stage", never)
    again = session().runs(METHODS, "known", [0])
    pd.testing.assert_frame_equal(again, tables["known"], check_exact=True)


def only_pretrained(outputs: Path, folder: Path) -> None:
    """A new outputs folder with the world and the pretrained detector."""
    shutil.copytree(outputs / "worlds", folder / "worlds")
    shutil.copytree(outputs / "runs" / "oak-pretraining", folder / "runs" / "oak-pretraining")


@pytest.mark.parametrize("method", ["EWC", "iCaRL", "Offline training"])
def test_an_interrupted_run_goes_on_to_the_same_numbers(
    method: str,
    outputs: Path,
    tables: dict[str, pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only_pretrained(outputs, tmp_path / "other")
    monkeypatch.setenv("DRIFTLAB_OUTPUTS", str(tmp_path / "other"))
    execute, computed = oak.execute_stage, []

    def interrupted(data: Any, stage: Any, *rest: Any) -> Any:
        if stage["stream"]["steps"] == STOP[-1] and stage.get("epoch", 1) == 1:
            raise OSError("the machine is going down")
        return execute(data, stage, *rest)

    def counted(data: Any, stage: Any, *rest: Any) -> Any:
        computed.append(stage["stream"]["steps"])
        return execute(data, stage, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(oak, "execute_stage", interrupted)
        with pytest.raises(SweepError, match="the machine is going down"):
            session(cached=False).runs([method], "unknown", [0])
    monkeypatch.setattr(oak, "execute_stage", counted)
    # Without kept features: they must not change a number either.
    table = session(cached=False).runs([method], "unknown", [0])
    assert computed == [STOP[-1]], "only what was missing"
    whole = tables["unknown"].query(f"method == '{method}'").reset_index(drop=True)
    pd.testing.assert_frame_equal(table.reset_index(drop=True), whole, check_exact=True)
    assert len(cap_curve(class_ap(table))) == len(STOP)


def test_detections_before_and_after(here: None, tables: dict[str, pd.DataFrame]) -> None:
    made = session()
    made.runs(["Incremental", "Offline training"], "known", [0], keep=True)
    detections = made.final_detections(["Incremental", "Offline training"])
    assert list(detections) == ["before the stream", "Incremental, after", "Offline training, after"]
    truth = truths_of(made.stream.test, range(len(made.stream.test)))
    assert all(len(frames) == len(truth) for frames in detections.values())
    # They are the detectors that the table's last rows were measured with.
    ap = class_ap(tables["known"]).query(f"trained_on == {STOP[-1]} or trained_on == 0")
    for row, method, steps in (
        ("before the stream", "Incremental", 0),
        ("Incremental, after", "Incremental", STOP[-1]),
        ("Offline training, after", "Offline training", STOP[-1]),
    ):
        rows = ap[(ap["method"] == method) & (ap["trained_on"] == steps)].set_index("class")["value"]
        known = average_precision(detections[row], truth, len(made.stream.categories), iou=IOU)
        for c in made.stream.evaluated:
            assert rows[made.stream.categories[c]] == pytest.approx(known[c], abs=1e-6)
    text = " ".join(
        label.get_text()
        for label in before_and_after(made.stream, truth, detections, count=2).findobj(
            lambda artist: hasattr(artist, "get_text")
        )
    )
    assert all(row in text for row in detections)


def test_weights_that_are_gone(here: None, tables: dict[str, pd.DataFrame], outputs: Path) -> None:
    (state,) = (outputs / "runs" / "oak-pretraining").rglob("*.safetensors")
    moved = state.with_suffix(".moved")
    state.rename(moved)
    try:
        # A sweep that keeps states makes them again.
        assert session().data()[1] and state.is_file()
    finally:
        moved.replace(state)


def test_weights_that_are_damaged(here: None, tables: dict[str, pd.DataFrame], outputs: Path) -> None:
    (state,) = (outputs / "runs" / "oak-pretraining").rglob("*.safetensors")
    good = state.read_bytes()
    state.write_bytes(good[:-4] + b"xxxx")
    with pytest.warns(CorruptResultWarning, match="is damaged"):
        assert session().data()[1]
    assert state.read_bytes() == good


def test_kept_features_are_of_one_version_and_input(
    here: None, tables: dict[str, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = session().data()[0].features
    assert before == session().data()[0].features
    assert before and (before / "cpu" / "shapes.json").is_file(), "by device, as digits depend on it"
    monkeypatch.setitem(stream_session.INPUT, "small", (96, 96))
    assert session().data()[0].features != before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"data": "oakk"}, r"no value of data 'oakk'\. Did you mean 'oak'\?"),
        (
            {"data_folder": "somewhere"},
            "data is 'world', which is made, not read: data_folder has no use here",
        ),
        ({"stretch": 3}, r"a multiple of the interval \(2 steps\)"),
        ({"batch": -2}, "batch is -2"),
        (
            {"detector": "smal"},
            r"'detector' has to be small or faster-rcnn-r50-c4, not 'smal'\. Did you mean",
        ),
        ({"engine": "slurm"}, "no engine 'slurm'"),
        ({"checkpoint": "a.pth"}, "checkpoint is a detector of VOC's 20 classes, for official data"),
        ({"mixed_precision": True}, "mixed_precision needs a CUDA device, and there is none here"),
    ],
)
def test_impossible_settings(here: None, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        session(**settings)


def test_official_data_need_a_checkpoint(here: None, tested: OakSession) -> None:
    folder = str(layout.oak_world(steps=STEPS))
    with pytest.raises(
        MissingDataError, match=r"no pretrained detector\. The paper's detector .*`checkpoint`"
    ):
        session(data="oak", data_folder=folder)


def test_a_stream_in_which_nothing_can_be_evaluated(tmp_path: Path) -> None:
    folder = oak_world(tmp_path / "oak", steps=2, frames_per_step=1, pixels=64)
    for label in (folder / "OAK_TEST" / "Label").iterdir():
        label.write_text("[]")
    with pytest.raises(DataError, match="No category has boxes both in training and in test frames"):
        load_stream("oak", str(folder))


def test_a_stretch_in_which_nothing_can_be_tested(here: None, tmp_path: Path) -> None:
    made = session(interval=1, stretch=1)
    made.require_transfer()
    assert [len(part) for part in made.stretches] == [1] * STEPS
    folder = tmp_path / "oak"
    shutil.copytree(layout.oak_world(steps=STEPS), folder, ignore=shutil.ignore_patterns("world.json"))
    sorted((folder / "OAK_TEST" / "Label").iterdir())[3].write_text("[]")
    made.stream = load_stream("oak", str(folder))
    with pytest.raises(
        ParameterError, match=r"test frames of stretch 4 of 5 \(steps 3 to 3\) show no evaluated"
    ):
        made.require_transfer()


def test_runs_without_transfer_go_on_with_a_note(
    here: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(OakSession, "untested_stretch", lambda _: "The test frames of stretch 2 are empty.")
    session()
    assert capsys.readouterr().out == "Note: The test frames of stretch 2 are empty.\n"


def test_absent_official_data(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="nowhere"):
        load_stream("oak", str(tmp_path / "nowhere"))
