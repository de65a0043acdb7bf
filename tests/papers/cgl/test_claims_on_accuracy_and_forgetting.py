"""Claims on accuracy and forgetting, on runs worked by hand: AA = (4 kept + new) / 5, AF = new − kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from driftlab.metrics.accuracy_matrix import task_accuracy
from driftlab.metrics.theorem import check_theorem
from driftlab.papers.cgl.claims import accuracy, forgetting
from driftlab.papers.cgl.order_runs import OrderRuns
from driftlab.reporting.decisions import Difference
from driftlab.reporting.verdicts import Verdict
from reporting.plausible import plausible_table, task_orders

from .made_runs import made, noise

Pairs = dict[str, tuple[Any, Any]]
ALL: Pairs = {
    "BARE": (0.95, 0.0),
    "EWC": (0.95, 0.05),
    "MAS": (0.85, 0.15),
    "TWP": (0.80, 0.05),
    "LwF": (0.70, 0.20),
    "GEM": (0.50, 0.35),
    "REPLAY": (0.92, 0.65),
}


def runs(changes: Pairs | None = None, **options: Any) -> OrderRuns:
    return made(ALL | (changes or {}), **options)


class TestJointAndBareAreBounds:
    judged = staticmethod(accuracy.joint_is_upper_and_bare_lower_bound)

    def test_holds(self) -> None:
        verdict = self.judged(runs({"JOINT": (0.9, 0.9)}))
        assert verdict.outcome == "holds" and "JOINT 90.0; 1 orders" in verdict.evidence

    def test_a_method_within_two_points_of_bare_is_a_tie(self) -> None:
        # BARE's AA is 0.19; EWC's (0.95 - 0.07) / 5 = 0.176
        assert self.judged(runs({"JOINT": (0.9, 0.9), "EWC": (0.88, 0.0)})).outcome == "holds"
        assert self.judged(runs({"JOINT": (0.9, 0.9), "EWC": (0.80, 0.0)})).outcome == "does not hold"

    def test_joint_below_another(self) -> None:
        assert self.judged(runs({"JOINT": (0.5, 0.5)})).outcome == "does not hold"
        near = runs({"JOINT": (0.92, 0.64)})  # 0.8 points below REPLAY: no violation, no bound either
        assert self.judged(near).outcome == "undecided"

    def test_without_joint_or_with_one_order_once(self) -> None:
        assert self.judged(runs()).evidence == "Without runs of JOINT."
        once = runs({"JOINT": (0.9, 0.9)}, repetitions=1, orders=1)
        assert self.judged(once).outcome == "undecided"


class TestGemIsLessAccurateThanReplay:
    judged = staticmethod(accuracy.gem_is_less_accurate_than_replay)
    equal = {"GEM": 0.2, "REPLAY": 0.2}  # noqa: RUF012

    def test_it_sees_the_fractions(self) -> None:
        verdict = self.judged(runs(), {"GEM": 0.2, "REPLAY": 0.05})
        assert verdict.outcome == "not testable"
        assert verdict.evidence == "GEM stores 0.2 of each task and REPLAY 0.05; it needs the same."

    @pytest.mark.parametrize(
        ("gem", "outcome"), [(0.35, "holds"), (0.76, "does not hold"), (0.747, "does not hold")]
    )
    def test_by_two_points(self, gem: float, outcome: str) -> None:
        assert self.judged(runs({"GEM": (0.50, gem)}), self.equal).outcome == outcome

    def test_within_the_noise(self) -> None:
        shaky = np.array([[-0.1], [0.0], [0.1]])
        assert self.judged(runs({"GEM": (0.5, 0.7 + shaky)}), self.equal).outcome == "undecided"
        assert (
            self.judged(runs({"GEM": (0.5, 0.7)}, repetitions=1, orders=2), self.equal).outcome == "undecided"
        )


@pytest.mark.parametrize(
    ("kept", "outcome"), [(0.3, "holds"), (0.9, "does not hold"), (0.85 - 0.1 + noise(0.2), "undecided")]
)
def test_last_tasks_end_higher_with_regularisers(kept: Any, outcome: str) -> None:
    judged = accuracy.last_tasks_end_higher_with_regularisers(runs({"MAS": (0.85, kept)}))
    assert judged.outcome == outcome


class TestRankingOverAllOrders:
    judged = staticmethod(accuracy.ewc_and_twp_are_worst_and_replay_best)

    def test_holds_up_to_ties(self) -> None:
        assert self.judged(runs()).outcome == "holds"
        tie = runs({"TWP": (0.80, 0.173)})  # AA 0.2984: above MAS's 0.29, level with LwF's 0.30
        assert self.judged(tie).outcome == "undecided"
        assert "TWP above MAS" in self.judged(tie).evidence

    def test_two_reversed_pairs_or_another_best(self) -> None:
        two = self.judged(runs({"TWP": (0.80, 0.30), "GEM": (0.5, 0.35)}))
        assert two.outcome == "does not hold" and "TWP above MAS, TWP above LwF" in two.evidence
        assert self.judged(runs({"GEM": (0.9, 0.9)})).outcome == "does not hold"


class TestClassOrdersAreHarder:
    judged = staticmethod(accuracy.class_orders_are_harder_than_task_orders)

    def test_by_direction(self) -> None:
        harder = made({m: (new, max(0.0, kept - 0.1)) for m, (new, kept) in ALL.items()}, orders=7)
        assert self.judged(runs(), harder).outcome == "holds"
        assert self.judged(harder, runs()).outcome == "does not hold"
        assert self.judged(runs(), runs()).outcome == "undecided"

    def test_one_repetition_of_different_orders(self) -> None:
        shaky = {m: (new, 0.3 + noise(0.3, repetitions=1, seed=3)) for m, (new, _) in ALL.items()}
        others = {m: (new, 0.3 + noise(0.3, repetitions=1, seed=4)) for m, (new, _) in ALL.items()}
        pair = made(shaky, repetitions=1), made(others, repetitions=1)
        assert self.judged(*pair).outcome == "undecided"
        assert "Without runs of" in self.judged(runs(), made({"BARE": (0.9, 0.1)})).evidence


def test_lwf_and_replay_keep_old_tasks_better() -> None:
    judged = accuracy.lwf_and_replay_keep_old_tasks_better
    assert judged(runs()).outcome == "holds"
    assert judged(runs({"LwF": (0.7, 0.1)})).outcome == "does not hold"
    assert judged(runs({"LwF": (0.7, 0.18 + noise(0.2))})).outcome == "undecided"
    assert judged(runs(dataset="NTU")).evidence == "It needs UCLA; these runs are of NTU."


@pytest.mark.parametrize(
    ("spread", "outcome"), [(0.01, "holds"), (0.1, "does not hold"), (0.045, "undecided")]
)
def test_order_hardly_matters_for_joint(spread: float, outcome: str) -> None:
    by_order = np.tile(noise(1, repetitions=1), (3, 1)) * spread
    assert accuracy.order_hardly_matters_for_joint(made({"JOINT": (0.9, 0.8 + by_order)})).outcome == outcome


def test_order_hardly_matters_for_joint_beyond_repetition_noise() -> None:
    judged = accuracy.order_hardly_matters_for_joint
    assert judged(made({"JOINT": (0.9, 0.6 + noise(0.09))})).outcome == "holds"  # all of it is noise
    few = judged(made({"JOINT": (0.9, 0.8)}, orders=9))
    assert few.evidence == "It needs JOINT in ten orders or more; there are 9."


def test_overfitting_is_weaker_on_ntu() -> None:
    judged = accuracy.overfitting_is_weaker_on_ntu
    ucla = Difference(0.10, 0.01)
    assert judged({"UCLA": ucla, "NTU": Difference(0.02, 0.01)}).outcome == "holds"
    assert judged({"UCLA": ucla, "NTU": Difference(0.12, 0.01)}).outcome == "does not hold"
    assert judged({"UCLA": ucla, "NTU": Difference(0.07, 0.02)}).outcome == "undecided"
    assert "needs NTU beside UCLA" in judged({}).evidence


class TestGemForgetsLeast:
    judged = staticmethod(forgetting.gem_forgets_least)

    def test_both_readings(self) -> None:
        verdict = self.judged(runs())
        assert verdict.outcome == "holds" and "literal" not in verdict.evidence  # REPLAY forgets more here
        narrow = self.judged(runs({"REPLAY": (0.92, 0.9)}))
        assert narrow.outcome == "holds"
        assert narrow.evidence.endswith("The literal reading (REPLAY too) does not hold.")

    def test_another_forgets_less(self) -> None:
        assert self.judged(runs({"LwF": (0.3, 0.2)})).outcome == "does not hold"
        shaky = np.array([[-0.1], [0.0], [0.1]])
        assert self.judged(runs({"LwF": (0.4, 0.24 + shaky)})).outcome == "undecided"


def test_theorem_1_on_every_run() -> None:
    per_task = task_accuracy(plausible_table(task_orders(3), methods=["BARE", "REPLAY"]))
    verdict = forgetting.accuracy_bounds_forgetting(check_theorem(per_task))
    assert verdict.outcome == "holds"
    assert verdict.evidence.startswith("0 violations in 24 stages of 6 runs; smallest slack ")
    assert "(Eq. 5) and" in verdict.evidence and "(Eq. 10)" in verdict.evidence
    first_tasks = per_task[per_task["trained_on"] == 1]
    assert forgetting.accuracy_bounds_forgetting(check_theorem(first_tasks)).outcome == "not testable"
    per_task.loc[per_task["trained_on"] == 1, "value"] = 3.0
    assert forgetting.accuracy_bounds_forgetting(check_theorem(per_task)).outcome == "does not hold"


@pytest.mark.parametrize(
    ("mas", "outcome"),
    [
        ((0.85, 0.15), "holds"),  # AF 0.70 against EWC's 0.90, new tasks 0.85 against 0.95
        ((0.95, 0.00), "does not hold"),  # AF 0.95
        ((0.96, 0.15), "undecided"),  # forgets less, but learns as well
    ],
)
def test_mas_learns_less_and_forgets_less_than_ewc(mas: tuple[float, float], outcome: str) -> None:
    judged = forgetting.mas_learns_less_and_forgets_less_than_ewc
    assert judged(runs({"MAS": mas})).outcome == outcome


@pytest.mark.parametrize(
    ("mas", "outcome"),
    [(0.05, "holds"), (0.20, "does not hold"), (0.05 + noise(0.3), "undecided")],
)
def test_mas_and_ewc_forget_alike_on_ntu(mas: Any, outcome: str) -> None:
    judged = forgetting.mas_and_ewc_forget_alike_on_ntu
    assert judged(runs({"MAS": (0.95, mas)}, dataset="NTU")).outcome == outcome
    assert judged(runs({"MAS": (0.95, mas)})).evidence == "It needs NTU; these runs are of UCLA."


class TestTwpForgetsLessThanMasAtEqualAccuracy:
    judged = staticmethod(forgetting.twp_forgets_less_than_mas_at_equal_accuracy)

    def verdict(self, mas: tuple[float, float], twp: tuple[float, float]) -> Verdict:
        return self.judged(runs({"MAS": mas, "TWP": twp}))

    def test_in_a_common_bin(self) -> None:
        # AA 0.31 and 0.32; AF 0.70 and 0.60
        assert self.verdict((0.87, 0.17), (0.80, 0.20)).outcome == "holds"
        assert self.verdict((0.80, 0.20), (0.87, 0.17)).outcome == "does not hold"
        assert self.verdict((0.800, 0.20), (0.796, 0.20)).outcome == "undecided"  # 0.4 points

    def test_without_a_common_bin(self) -> None:
        assert "No bin of AA holds 5 orders of both" in self.verdict((0.9, 0.4), (0.8, 0.0)).evidence


class TestForgettingOfLwfSwingsMost:
    judged = staticmethod(forgetting.forgetting_of_lwf_swings_most)

    def verdict(self, lwf: float, others: float) -> Verdict:
        sizes = {m: lwf if m == "LwF" else others for m in ALL}
        swings = {m: (0.9, 0.5 + noise(size, seed=n)) for n, (m, size) in enumerate(sizes.items())}
        return self.judged(runs(swings))

    def test_by_rank(self) -> None:
        assert self.verdict(0.12, 0.01).outcome == "holds"
        assert self.verdict(0.01, 0.12).outcome == "does not hold"
        within = self.judged(runs({"LwF": (0.9, 0.5 + noise(0.05)), "GEM": (0.9, 0.5 + noise(0.05, seed=2))}))
        assert within.outcome == "undecided"


@pytest.mark.parametrize(
    ("low_peak", "outcome"), [(("MAS", "TWP"), "holds"), (("MAS",), "undecided"), ((), "does not hold")]
)
def test_low_forgetting_comes_from_a_low_peak(low_peak: tuple[str, ...], outcome: str) -> None:
    # BARE: peak 0.95, end 0. A low peak explains all of (0.5, 0); a high end explains (0.95, 0.45).
    pairs = {m: (0.5, 0.0) if m in low_peak else (0.95, 0.45) for m in ("MAS", "TWP", "GEM", "LwF")}
    verdict = forgetting.low_forgetting_comes_from_a_low_peak(runs(pairs))
    assert verdict.outcome == outcome
    same = forgetting.low_forgetting_comes_from_a_low_peak(runs({"GEM": (0.95, 0.0)}))
    assert "GEM forgets no less" in same.evidence
