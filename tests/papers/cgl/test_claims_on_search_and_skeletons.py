"""Claims on hyper-parameters, cost and the skeletons, on numbers worked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from driftlab.data.skeletons import ntu, nucla
from driftlab.papers.cgl.claims import search, skeletons
from driftlab.papers.cgl.session import load_skeletons
from driftlab.reporting.printed_papers import paper

from .made_runs import made, method_runs

PRINTED = {"EWC": "strength 1000000", "LwF": "T 2", "GEM": "fraction 0.2", "REPLAY": "fraction 0.2"}
OTHER = {"EWC": "strength 1", "LwF": "T 20", "GEM": "fraction 0.1", "REPLAY": "fraction 0.1"}


def results(gaps: dict[str, Any], repetitions: int = 3) -> pd.DataFrame:
    """Validation AA of the printed choice (0.5) and of one other, which is `gaps` better."""
    rows = []
    for method, choice in PRINTED.items():
        gap = np.broadcast_to(gaps.get(method, -0.1), repetitions)
        for seed in range(repetitions):
            rows.append((method, OTHER[method], seed, 0.5 + gap[seed]))
            rows.append((method, choice, seed, 0.5))
    return pd.DataFrame(rows, columns=["method", "settings", "seed", "average_accuracy"])


class TestPrintedChoicesAreBest:
    judged = staticmethod(search.printed_choices_are_best)

    def test_each_cell_has_a_finding(self) -> None:
        assert self.judged(results({}), PRINTED).outcome == "holds"
        verdict = self.judged(results({"LwF": 0.1}), PRINTED)
        assert verdict.outcome == "does not hold"
        assert "EWC confirmed; LwF contradicted (T 20 is 10.0 points better)" in verdict.evidence
        flat = self.judged(results({"GEM": [-0.1, 0.0, 0.1]}), PRINTED)
        assert flat.outcome == "undecided" and "GEM flat" in flat.evidence

    def test_what_it_needs(self) -> None:
        assert self.judged(results({}, repetitions=2), PRINTED).evidence == "It needs 3 repetitions or more."
        gone = results({})
        gone = gone[gone["settings"] != "T 2"]
        assert self.judged(gone, PRINTED).evidence == "The grid does not have the printed choice of LwF."

    def test_the_printed_choices_are_in_the_printed_grid(self) -> None:
        tables = paper("cgl").tables
        column = tables["table_3"].columns.index("UCLA")
        assert tables["table_3"].rows["GEM"][column] == "strength 5, fraction 0.2"
        assert set(tables["table_3"].rows) == set(tables["table_5"].rows)


def test_gem_and_replay_cost_more_time() -> None:
    judged = search.gem_and_replay_cost_more_time
    printed = {"EWC": 10.0, "MAS": 10.0, "TWP": 10.0, "LwF": 10.0, "GEM": 15.0, "REPLAY": 15.0}  # minutes
    assert judged(printed).outcome == "holds"
    assert judged(printed | {"TWP": 14.0}).outcome == "does not hold"
    assert "was not measured: runs are trained side by side" in judged({}).evidence


def test_ten_edges_separate_hand_and_foot() -> None:
    verdict = skeletons.ten_edges_separate_hand_and_foot({20: nucla.BONES, 25: ntu.BONES})
    assert verdict.outcome == "holds"
    assert verdict.evidence == "10 edges with 20 joints, 10 edges with 25 joints."
    shortcut = {20: [*nucla.BONES, (7, 15)], 25: ntu.BONES}
    assert skeletons.ten_edges_separate_hand_and_foot(shortcut).outcome == "does not hold"
    assert "of 20 and of 25 joints, not of [20]" in (
        skeletons.ten_edges_separate_hand_and_foot({20: nucla.BONES}).evidence
    )


MOVEMENT = [0.5, 0.4, 0.3, 0.2, 0.1]
"""Task 0 moves the legs most."""


def lwf(rank: Any) -> Any:
    """LwF forgets the more, the higher the rank of an order."""
    one = method_runs(0.9, 0.3, orders=40)
    forgetting = np.array([rank(tasks) for tasks in one.tasks], dtype=float)
    kept = 0.3 - 0.1 * (forgetting - forgetting.min()) / max(np.ptp(forgetting), 1e-9)
    return made({"LwF": (0.9, np.tile(kept, (3, 1)))}, orders=40)


def falling(tasks: np.ndarray) -> float:
    """How much an order goes from leg-rich to leg-poor tasks, with few alternations."""
    moved = np.array(MOVEMENT)[tasks]
    turns = np.count_nonzero(np.diff(np.sign(moved - 0.3)[moved != 0.3]))
    return float(np.corrcoef(np.arange(5), -moved)[0, 1] - 0.2 * turns)


def test_lwf_forgets_most_from_leg_rich_to_leg_poor_tasks() -> None:
    judged = skeletons.lwf_forgets_most_from_leg_rich_to_leg_poor_tasks
    assert judged(lwf(falling), MOVEMENT).outcome == "holds"
    assert judged(lwf(lambda tasks: -falling(tasks)), MOVEMENT).outcome == "does not hold"
    rng = np.random.default_rng(3)
    assert judged(lwf(lambda tasks: rng.random()), MOVEMENT).outcome != "holds"
    assert "20 task orders or more" in judged(made({"LwF": (0.9, 0.3)}), MOVEMENT).evidence


def test_leg_movement_by_hand() -> None:
    world = load_skeletons("world", sequences=10)
    still = np.zeros((4, 1, 20, 3), dtype=np.float32)
    walking = still.copy()
    walking[:, 0, :, 0] = np.arange(4)[:, None]  # the whole body moves: legs stay where they are to the hips
    kicking = still.copy()
    kicking[:, 0, 12:20, 1] = 0.2 * np.arange(4)[:, None]
    sequences = [kicking if label < 2 else walking for label in world.labels]
    changed = replace(world, sequences=tuple(sequences))
    movement = skeletons.leg_movement(changed, np.arange(len(world.labels)))
    assert movement == pytest.approx([0.2, 0, 0, 0, 0])
