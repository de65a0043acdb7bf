"""Estimates of `--dry-run` against the sweeps and the memory that notebooks really have."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from driftlab.cli.estimates import estimate_of
from driftlab.notebooks import find
from driftlab.notebooks.values import scale_values
from driftlab.papers.cgl import estimate as cgl
from driftlab.papers.estimate import PROCESS_BYTES, Estimate, SweepSize
from driftlab.papers.oak import estimate as oak

EXECUTED = Path(__file__).parents[1] / "regression"
SWEEP = re.compile(r"(\d+) runs of (\d+) distinct stages")


def values_of(notebook: str, scale: str, **changed: Any) -> dict[str, Any]:
    return dict(scale_values(find([notebook])[0].declared, scale)) | changed


def executed_sweeps(notebook: str) -> list[SweepSize]:
    """What the executed smoke notebook printed of its sweeps."""
    cells = json.loads((EXECUTED / f"{notebook}.ipynb").read_text())["cells"]
    texts = [output.get("text", "") for cell in cells for output in cell.get("outputs", [])]
    return [SweepSize(int(a), int(b)) for text in texts for a, b in SWEEP.findall("".join(text))]


@pytest.mark.parametrize("notebook", sorted(path.stem for path in EXECUTED.glob("*.ipynb")))
def test_the_sweeps_are_those_of_the_executed_notebook(notebook: str) -> None:
    estimate = estimate_of(notebook, values_of(notebook, "smoke"))
    real = executed_sweeps(notebook)
    assert (list(estimate.sweeps) if estimate else []) == real


def test_every_notebook_that_trains_is_known() -> None:
    known = {number for module in (cgl, oak) for number in module.SWEEPS}
    trains = {notebook.name[:2] for notebook in find([]) if "jobs" in notebook.values}
    assert trains - {"00"} == known


def test_a_full_set_of_orders_shares_its_beginnings() -> None:
    orders = cgl.balanced_task_orders(10, 2, 120)
    assert cgl.sweep_size(["EWC"], orders, [0]) == SweepSize(120, 325)
    assert cgl.sweep_size(["BARE", "EWC"], orders, [0, 1]) == SweepSize(480, 2 * (2 * 325 - 5))
    assert cgl.sweep_size(["BARE", "TWP"], orders, [0], ["TWP"]) == SweepSize(240, 650)


def test_shapes_are_those_of_prepared_data(tmp_path: Path) -> None:
    from driftlab.data.skeletons.ntu import load_ntu
    from driftlab.data.skeletons.nucla import load_nucla
    from driftlab.data.skeletons.records import prepare
    from driftlab.worlds.skeletons.ntu_layout import ntu_world
    from driftlab.worlds.skeletons.nucla_layout import nucla_world

    nucla = load_nucla(nucla_world(tmp_path / "nucla", sequences_per_class=3))
    assert prepare(nucla, 52, fit="resample").shape == (30, *cgl.data_shape({"data": "world"}))
    ntu = load_ntu(ntu_world(tmp_path / "ntu", sequences_per_class=3))
    assert prepare(ntu, 300, fit="pad").shape == (30, *cgl.data_shape({"data": "world-ntu"}))
    assert cgl.data_shape({"data": "world-ntu"}) == cgl.data_shape({"data": "ntu"})
    assert cgl.data_records({"data": "ntu"}) == 6667
    assert cgl.data_records({"data": "world", "world_sequences": 7}) == 70


def test_detectors_have_the_estimated_features_and_parameters() -> None:
    from driftlab.models.detectors.build import build_detector
    from driftlab.models.registry import DETECTORS

    assert set(oak.FEATURES) == set(oak.PARAMETERS) == set(DETECTORS)
    detector = build_detector("small", 20, 0, torch.device("cpu"))
    with torch.no_grad():
        features = detector.extract_feat(torch.zeros(1, 3, 128, 128))
    assert oak.FEATURES["small"] == sum(level.nbytes for level in features)
    count = sum(parameter.numel() for parameter in detector.parameters())
    assert count / 1.5 < oak.PARAMETERS["small"] < 1.5 * count


def test_oak_at_paper_scale_keeps_thirty_gigabytes_of_features() -> None:
    values = values_of("21", "paper")
    estimate = oak.estimate("21_oak_known_vocabulary", values, 2)
    assert estimate is not None and 29 < estimate.disk_bytes / 2**30 < 33
    assert [(sweep.runs, sweep.stages) for sweep in estimate.sweeps] == [(16, 1 + 1 + 4 * 3 * 200 + 10 * 10)]
    without = oak.estimate("21_oak_known_vocabulary", values | {"cached": False}, 2)
    assert without is not None and without.disk_bytes < 2**30


def test_memory_grows_with_jobs_and_replicas() -> None:
    values = values_of("41", "paper", data="ntu")
    few, many = (cgl.estimate("41_cgl_task_order", values | {"replicas": n}, 1) for n in (1, 8))
    more_jobs = cgl.estimate("41_cgl_task_order", values | {"replicas": 8}, 2)
    assert few and many and more_jobs
    assert PROCESS_BYTES < few.memory_bytes < many.memory_bytes < more_jobs.memory_bytes


def test_it_reads_as_a_sentence() -> None:
    one = Estimate([SweepSize(7000, 15_000), SweepSize(700, 1000)], 3 * 2**30, 40 * 2**20, 1)
    assert str(one) == (
        "about 7,700 runs in 16,000 stages; memory about 3.0 GiB with 1 job; disk about 40 MiB"
    )
