"""Claims on width, depth and ST-GCN, on runs worked by hand: AA = (4 kept + new) / 5, AF = new − kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from driftlab.papers.cgl.claims import architecture, stgcn
from driftlab.papers.cgl.order_runs import OrderRuns
from driftlab.reporting.verdicts import Verdict

from .made_runs import ORDER_METHODS, made

SHAKY = np.array([[-0.05], [0.0], [0.05]])


def sizes(
    values: Sequence[int], kept: dict[str, Sequence[Any]], *, repetitions: int = 3, flat: Any = 0.3
) -> dict[int, OrderRuns]:
    """Runs by size: `kept` of each method per size, `flat` for the methods that are not named."""
    return {
        size: made(
            {m: (0.9, kept[m][n] if m in kept else flat) for m in ORDER_METHODS},
            orders=1,
            repetitions=repetitions,
        )
        for n, size in enumerate(values)
    }


RISING = {m: [0.1, 0.3, 0.5] for m in ORDER_METHODS}  # AA rises by 16 points a step
FALLING = {m: [0.5, 0.3, 0.1] for m in ORDER_METHODS}
WIDTHS, DEPTHS = (32, 64, 512), (1, 2, 16)


class TestWideningDoesNotAlwaysHelp:
    judged = staticmethod(architecture.widening_does_not_always_help)

    def test_a_step_down_of_one_method(self) -> None:
        verdict = self.judged(sizes(WIDTHS, RISING | {"GEM": [0.1, 0.5, 0.4]}))
        assert verdict.outcome == "holds" and "GEM 64 → 512 -8.00" in verdict.evidence
        assert self.judged(sizes(WIDTHS, RISING)).outcome == "does not hold"
        assert (
            "No gain from 32 to 512: EWC +0.00"
            in self.judged(sizes(WIDTHS, RISING | {"EWC": [0.3] * 3})).evidence
        )

    def test_two_equal_drops_are_not_certain(self) -> None:
        # A drop of 0.8 points in all of three pairs (one test sequence in AA is 0.71): the noise is not 0.
        verdict = self.judged(sizes(WIDTHS, RISING | {"GEM": [0.1, 0.5, 0.49]}))
        assert verdict.outcome == "does not hold"
        two = self.judged(sizes(WIDTHS, RISING | {"GEM": [0.1, 0.5, 0.3]}, repetitions=2))
        assert (two.outcome, two.evidence) == (
            "not testable",
            "It needs 3 repetitions or more; there are 2.",
        )


class TestOnlyReplayReactsToDepth:
    judged = staticmethod(architecture.only_replay_reacts_to_depth_in_one_direction)

    def verdict(self, **kept: Sequence[Any]) -> Verdict:
        return self.judged(sizes(DEPTHS, kept))

    def test_by_who_is_consistent(self) -> None:
        falls, mixed = [0.7, 0.6, 0.4], [0.3, 0.5, 0.2]
        assert self.verdict(REPLAY=falls, EWC=mixed).outcome == "holds"
        assert self.verdict(REPLAY=mixed).outcome == "does not hold"
        assert self.verdict(REPLAY=falls, EWC=falls).outcome == "undecided"
        assert self.verdict(REPLAY=falls, EWC=falls, MAS=falls).outcome == "does not hold"

    def test_a_step_within_the_noise_is_a_tie(self) -> None:
        assert self.verdict(REPLAY=[0.7, 0.71 + SHAKY, 0.4]).outcome == "holds"
        assert self.verdict(REPLAY=[0.7, 0.75, 0.4]).outcome == "does not hold"
        assert self.judged(sizes((1, 2), {})).evidence == "It needs 3 sizes or more; there are 2."


def test_more_width_brings_nothing() -> None:
    judged = architecture.more_width_brings_nothing_to_two_layers
    assert judged(sizes(WIDTHS, {})).outcome == "holds"
    assert judged(sizes(WIDTHS, RISING)).outcome == "does not hold"
    three = {m: [0.1, 0.3, 0.5] for m in ("BARE", "EWC", "MAS")}
    assert judged(sizes(WIDTHS, three)).outcome == "undecided"
    assert "It needs width 64" in judged(sizes((32, 512), {})).evidence


def test_forgetting_falls_with_depth() -> None:
    judged = architecture.forgetting_falls_with_depth_for_regularisers_and_bare
    falls = [0.1, 0.2, 0.4]  # AF 0.8, 0.7, 0.5

    def verdict(*names: str) -> Verdict:
        return judged(sizes(DEPTHS, dict.fromkeys(names, falls)))

    assert verdict("BARE", "EWC", "TWP").outcome == "holds"
    assert verdict("BARE", "EWC").outcome == "undecided"
    assert verdict("BARE").outcome == verdict("EWC", "MAS").outcome == "does not hold"
    shaky = judged(sizes(DEPTHS, {"BARE": [0.1, 0.2, 0.15 + 4 * SHAKY], "EWC": falls, "MAS": falls}))
    assert shaky.outcome == "does not hold"


def test_more_depth_does_not_always_hurt() -> None:
    judged = architecture.more_depth_does_not_always_hurt
    assert judged(sizes(DEPTHS, FALLING)).outcome == "does not hold"
    lossless = judged(sizes(DEPTHS, FALLING | {"LwF": [0.1, 0.3, 0.3]}))
    assert lossless.outcome == "holds" and "No loss in 1 of 7 cases, a gain in 0: LwF" in lossless.evidence
    helps = judged(sizes(DEPTHS, FALLING | {"LwF": [0.1, 0.3, 0.4]}))
    assert "a gain in 1: LwF at 16 (+8.00)" in helps.evidence
    shaky = judged(sizes(DEPTHS, FALLING | {"LwF": [0.1, 0.3, 0.28 + SHAKY]}))
    assert shaky.outcome == "undecided"


def test_depth_hurts_replay_most() -> None:
    judged = architecture.depth_hurts_replay_most
    assert judged(sizes(DEPTHS, {"REPLAY": [0.6, 0.6, 0.3]})).outcome == "holds"
    assert judged(sizes(DEPTHS, {})).outcome == "does not hold"
    both = {"REPLAY": [0.6, 0.6, 0.3], "EWC": [0.6, 0.6, 0.3 + SHAKY]}
    assert judged(sizes(DEPTHS, both)).outcome == "undecided"
    assert judged(sizes(DEPTHS, both | {"EWC": [0.6, 0.6, 0.1]})).outcome == "does not hold"


def test_wide_and_shallow_does_not_always_beat_thin_and_deep() -> None:
    judged = architecture.wide_and_shallow_does_not_always_beat_thin_and_deep
    flat = sizes(WIDTHS, {})
    assert judged(flat, sizes(DEPTHS, {})).outcome == "holds"
    assert judged(flat, sizes(DEPTHS, {}, flat=0.1)).outcome == "does not hold"
    one = sizes(DEPTHS, {"LwF": [0.3] * 3}, flat=0.1)
    assert judged(flat, one).outcome == "undecided"


def level(**kept: Any) -> OrderRuns:
    return made({m: (0.9, kept.get(m, 0.05)) for m in ORDER_METHODS})


class TestRegularisersAreLevelWithBare:
    judged = staticmethod(stgcn.regularisers_are_level_with_bare)

    def test_within_five_points(self) -> None:
        verdict = self.judged(level(EWC=0.08))
        assert verdict.outcome == "holds"
        assert "BARE's accuracy directly after training on a task is 90 %." in verdict.evidence
        assert self.judged(level(EWC=0.20)).outcome == "does not hold"
        assert self.judged(level(BARE=0.20)).outcome == "does not hold"  # below BARE fails as well
        assert self.judged(level(EWC=0.08 + 2 * SHAKY)).outcome == "undecided"

    def test_only_networks_that_learnt_are_judged(self) -> None:
        weak = made(dict.fromkeys(ORDER_METHODS, (0.7, 0.05)))
        verdict = self.judged(weak)
        assert verdict.outcome == "not testable"
        assert "70 %, below 80 %: these networks have not learnt their tasks" in verdict.evidence
        assert stgcn.gcn_and_stgcn_show_similar_trends(level(), weak).outcome == "not testable"
        assert stgcn.regularisers_are_low_for_class_orders_too(weak).outcome == "not testable"


def test_gcn_and_stgcn_show_similar_trends() -> None:
    judged = stgcn.gcn_and_stgcn_show_similar_trends
    up = {m: 0.1 * n for n, m in enumerate(ORDER_METHODS)}
    down = {m: 0.6 - value for m, value in up.items()}
    assert judged(level(**up), level(**up)).outcome == "holds"
    assert judged(level(**up), level(**down)).outcome == "does not hold"
    mixed = dict(zip(up, (0.0, 0.3, 0.6, 0.1, 0.2, 0.4, 0.5), strict=True))
    assert judged(level(**up), level(**mixed)).outcome == "undecided"
    assert "Without runs of EWC" in judged(level(), made({"BARE": (0.9, 0.1)})).evidence


@pytest.mark.parametrize(
    ("values", "ranks"),
    [([0.10, 0.11, 0.50], [1.5, 1.5, 3.0]), ([0.10, 0.12, 0.14], [1.5, 1.5, 3.0]), ([0.3, 0.1], [2, 1])],
)
def test_methods_within_two_points_share_a_rank(values: list[float], ranks: list[float]) -> None:
    assert stgcn.shared_ranks(values).tolist() == ranks


def test_regularisers_are_low_for_class_orders_too() -> None:
    judged = stgcn.regularisers_are_low_for_class_orders_too
    assert judged(level(REPLAY=0.6)).outcome == "holds"
    assert judged(level(REPLAY=0.07)).outcome == "does not hold"
    assert judged(level(REPLAY=0.6, MAS=0.4)).outcome == "does not hold"
    assert judged(level(REPLAY=0.6, MAS=0.08 + 2 * SHAKY)).outcome == "undecided"
