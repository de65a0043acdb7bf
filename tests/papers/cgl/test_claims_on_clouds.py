"""Claims on the clouds of points, on clouds made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from driftlab.papers.cgl.claims import scatter as claims
from driftlab.papers.cgl.order_runs import OrderRuns

from .made_runs import ORDER_METHODS, made, method_runs, noise


def clouds(spread: float, *, apart: float = 0.1, slope: bool = True, **options: Any) -> OrderRuns:
    """One cloud a method, `apart` from each other; along a line of AF falling with AA where `slope`."""
    values = {}
    for n, name in enumerate(ORDER_METHODS):
        kept = 0.05 + apart * n + noise(spread, seed=n, orders=options.get("orders", 10))
        values[name] = (0.95 if slope else kept + 0.3, kept)  # AF = new − kept
    return made(values, **options)


def test_each_method_forms_its_own_cluster() -> None:
    judged = claims.each_method_forms_its_own_cluster
    assert judged(clouds(0.01)).outcome == "holds"
    assert judged(clouds(0.02, apart=0.0)).outcome == "does not hold"
    between = judged(clouds(0.22, apart=0.1))
    assert between.outcome == "undecided", between.evidence


def test_the_centroid_leaves_the_point_out() -> None:
    # Of 0, 0, 1 the mean is 1/3; without the first it is 1/2, without the last 0.
    own = np.array([[0.0, 0], [0.0, 0], [1.0, 0]])
    near, far = np.array([[0.4, 0.0]] * 3), np.array([[0.6, 0.0]] * 3)
    assert claims.own_centroid_share("a", {"a": own, "b": near}) == 0.0
    assert claims.own_centroid_share("a", {"a": own, "b": far}) == pytest.approx(2 / 3)


def test_forgetting_falls_linearly_with_accuracy() -> None:
    judged = claims.forgetting_falls_linearly_with_accuracy
    assert judged(clouds(0.01)).outcome == "holds"  # AF = 0.95 − kept
    flat = judged(clouds(0.02, slope=False))
    assert flat.outcome != "holds"
    rising = made({m: (0.3 + 0.1 * n, 0.2 + 0.05 * n) for n, m in enumerate(ORDER_METHODS)})
    assert judged(rising).outcome == "does not hold"


def test_methods_of_similar_accuracy_differ_in_forgetting() -> None:
    judged = claims.methods_of_similar_accuracy_differ_in_forgetting
    # All on one line: no residual differs.
    assert judged(clouds(0.05, apart=0.0)).outcome == "does not hold"
    # TWP has EWC's AA (4·0.2 + 0.9 = 4·0.3 + 0.5) with AF 0.2 instead of 0.7.
    pair = clouds(0.03, apart=0.0).methods | {"EWC": method_runs(0.9, 0.2), "TWP": method_runs(0.5, 0.3)}
    verdict = judged(OrderRuns("UCLA", pair, 14))
    assert verdict.outcome == "holds" and "EWC minus TWP +" in verdict.evidence
    assert "ranges of AA overlap" in judged(clouds(0.0, apart=0.1)).evidence
    assert judged(clouds(0.05, apart=0.0, repetitions=3, orders=10)).claim == "cgl-15"


def two_groups(ends_with: int, *, spread: float = 0.01) -> Any:
    """BARE and LwF: high accuracy in the orders that end with that task, low in the others."""
    last = method_runs(0.9, 0.1, orders=20).tasks[:, -1]
    kept = np.tile(np.where(last == ends_with, 0.5, 0.1), (3, 1)) + noise(spread, orders=20)
    return (0.9, kept)


def test_lwf_and_bare_split_by_their_last_task() -> None:
    judged = claims.lwf_and_bare_split_by_their_last_task

    def verdict(lwf: int, bare: int) -> Any:
        return judged(made({"LwF": two_groups(lwf), "BARE": two_groups(bare)}, orders=20, dataset="NTU"))

    assert verdict(0, 0).outcome == "holds"
    assert verdict(4, 4).outcome == "does not hold"  # the accurate orders end with task 4
    assert verdict(0, 1).outcome == "undecided"  # other orders
    assert judged(made({"LwF": two_groups(0), "BARE": two_groups(0)}, orders=20)).outcome == "not testable"


def test_the_less_accurate_cluster_ends_with_a_hard_task() -> None:
    judged = claims.the_less_accurate_cluster_ends_with_a_hard_task

    def verdict(hard: float) -> Any:
        """Orders that end with task 4 lose the others; it is learnt with the accuracy 0.9 − hard."""
        one = method_runs(0.9, 0.5, orders=20)
        values = one.by_stage.copy()
        values[:, :, :, 8:] -= hard
        ends = one.tasks[:, -1] == 4
        values[:, ends, -1, :8] -= 0.4
        return judged(OrderRuns("UCLA", {"BARE": type(one)(one.seeds, one.orders, values, 2)}, 14))

    assert verdict(0.3).outcome == "holds"
    assert verdict(-0.05).outcome == "does not hold"
    even = judged(made({"BARE": (0.9, noise(0.1, orders=20) + 0.4)}, orders=20))
    assert even.outcome in ("undecided", "does not hold", "not testable")
    assert "ten orders or more" in judged(made({"BARE": (0.9, 0.1)}, orders=5)).evidence


def test_two_clusters() -> None:
    rng = np.random.default_rng(0)
    apart = np.concatenate([rng.normal(0.2, 0.01, (10, 2)), rng.normal(0.6, 0.01, (10, 2))])
    high, exist = claims.two_clusters(apart)
    assert exist and high.tolist() == [False] * 10 + [True] * 10


def test_clouds_of_class_orders_differ() -> None:
    judged = claims.clouds_of_class_orders_differ_from_task_orders
    first = clouds(0.02, orders=10)
    assert judged(first, clouds(0.02, apart=0.14, orders=10)).outcome == "holds"
    other = made({m: (0.95, 0.05 + 0.1 * n + noise(0.02, seed=50 + n)) for n, m in enumerate(ORDER_METHODS)})
    assert judged(first, other).outcome == "does not hold"
    assert "Without runs of EWC" in judged(first, made({"BARE": (0.9, 0.1)})).evidence


def test_permutation_p_counts_the_orders_that_are_as_extreme() -> None:
    values, group = np.array([1.0, 1.0, 0.0, 0.0]), np.array([True, True, False, False])
    # 1 of 6 arrangements is as extreme.
    assert claims.permutation_p(values, group) == pytest.approx(1 / 6, abs=0.04)
    assert claims.permutation_p(values, ~group) == 1.0
