"""Claims on the clouds of points in the plane of final AA and AF: Figures 2, 3 and 5."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import pearsonr
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from driftlab.papers.cgl.claims.judging import ORDER_METHODS, NotJudgeableError, claim, percent
from driftlab.papers.cgl.claims.noise import Floats, noisy, points
from driftlab.papers.cgl.order_runs import MethodRuns, OrderRuns
from driftlab.reporting.decisions import DRAWS, Decision

LEVEL = 0.05
"""Of the permutation tests."""


@claim(
    "cgl-13",
    "Each order is a point (AA, AF), mean over repetitions, both scaled to unit variance: the share of "
    "points that are nearest to the centroid of their own method, left out of it, is at least 50 % (chance "
    "14 %); fails below 30 %.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def each_method_forms_its_own_cluster(runs: OrderRuns) -> tuple[Decision, str]:
    """Each method forms its own cluster in the AA-AF plane (cgl-13)."""
    clouds = {name: cloud(one) for name, one in runs.of(ORDER_METHODS).items()}
    scale = np.concatenate(list(clouds.values())).std(axis=0)
    scaled = {name: values / np.where(scale > 0, scale, 1) for name, values in clouds.items()}
    right = {name: own_centroid_share(name, scaled) for name in scaled}
    share = float(np.mean(list(right.values())))
    return "holds" if share >= 0.50 else "fails" if share < 0.30 else "undecided", (
        f"{100 * share:.0f} % of the points are nearest to their own centroid: {percent(right)}."
    )


@claim(
    "cgl-14",
    "Pearson's r of AA and AF over all orders and methods: at most −0.7, and the upper end of its 95 % "
    "bootstrap interval over orders below −0.5; fails above −0.5.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def forgetting_falls_linearly_with_accuracy(runs: OrderRuns) -> tuple[Decision, str]:
    """AF falls linearly as AA rises (cgl-14)."""
    clouds = {name: cloud(one) for name, one in runs.of(ORDER_METHODS).items()}
    stacked = np.stack(list(clouds.values()))  # (methods, orders, 2)
    draw = np.random.default_rng(0)
    samples = [stacked[:, draw.integers(0, stacked.shape[1], stacked.shape[1])] for _ in range(DRAWS)]
    upper = float(np.quantile([correlation(sample) for sample in samples], 0.975))
    r = correlation(stacked)
    each = ", ".join(f"{name} {correlation(values):.2f}" for name, values in clouds.items())
    return "holds" if r <= -0.7 and upper < -0.5 else "fails" if r > -0.5 else "undecided", (
        f"r = {r:.2f}, upper end {upper:.2f}; per method: {each}."
    )


@claim(
    "cgl-15",
    "AF is regressed on AA over all points, with one slope. Of two methods whose ranges of AA (10th to 90th "
    "percentile) overlap, the mean residuals differ by more than 3 points and the noise.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def methods_of_similar_accuracy_differ_in_forgetting(runs: OrderRuns) -> tuple[Decision, str]:
    """Methods of similar AA differ in AF (cgl-15)."""
    of = runs.of(ORDER_METHODS)
    every_point = np.concatenate([cloud(one) for one in of.values()])
    slope, intercept = np.polyfit(every_point[:, 0], every_point[:, 1], 1)
    residuals = {
        name: one.average_forgetting - (slope * one.average_accuracy + intercept) for name, one in of.items()
    }
    ranges = {name: np.quantile(cloud(one)[:, 0], [0.1, 0.9]) for name, one in of.items()}
    pairs = [
        (a, b)
        for a, b in combinations(ORDER_METHODS, 2)
        if ranges[a][0] <= ranges[b][1] and ranges[b][0] <= ranges[a][1]
    ]
    if not pairs:
        raise NotJudgeableError("No two methods' ranges of AA overlap.")
    gaps = {
        (a, b): noisy(lambda x, y: float(x.mean() - y.mean()), residuals[a], residuals[b]) for a, b in pairs
    }
    found = [pair for pair, gap in gaps.items() if abs(gap.value) > max(0.03, 2 * gap.noise)]
    unknown = any(np.isnan(gap.noise) for gap in gaps.values())
    (a, b), largest = max(gaps.items(), key=lambda item: abs(item[1].value))
    return "holds" if found else "undecided" if unknown else "fails", (
        f"{len(found)} of {len(pairs)} overlapping pairs; the largest difference of residuals: {a} minus {b} "
        f"{points(largest)} points."
    )


@claim(
    "cgl-25",
    "2-means on (AA, AF) of LwF and of BARE: two clusters each (Ashman's D on AA above 2, or silhouette at "
    "least 0.6), of the same orders (adjusted Rand index at least 0.9), and at least 95 % of the orders of "
    "the more accurate one end with task 0 or 1 (chance 40 %); fails below 70 %.",
    methods=("LwF", "BARE"),
    dataset="NTU",
)
def lwf_and_bare_split_by_their_last_task(runs: OrderRuns) -> tuple[Decision, str]:
    """On NTU LwF and BARE split into two clusters; the more accurate one ends with task 0 or 1 (cgl-25)."""
    of = runs.of(("LwF", "BARE"))
    clusters = {name: two_clusters(cloud(one)) for name, one in of.items()}
    same = float(adjusted_rand_score(clusters["LwF"][0], clusters["BARE"][0]))
    last = of["LwF"].tasks[:, -1] <= 1
    share = float(np.mean([last[high].mean() for high, _ in clusters.values()]))
    holds = all(exist for _, exist in clusters.values()) and same >= 0.9 and share >= 0.95
    split = ", ".join(f"{name} {'splits' if exist else 'does not'}" for name, (_, exist) in clusters.items())
    return "holds" if holds else "fails" if share < 0.70 else "undecided", (
        f"{split}; Rand index {same:.2f}; {100 * share:.0f} % of the more accurate clusters end with task 0 "
        "or 1."
    )


@claim(
    "cgl-26",
    "BARE's two clusters (as in cgl-25): the last tasks of the less accurate one are more difficult on "
    "average (1 − mean accuracy directly after learning), p < 0.05 by permuting orders.",
    methods=("BARE",),
)
def the_less_accurate_cluster_ends_with_a_hard_task(runs: OrderRuns) -> tuple[Decision, str]:
    """Of two clusters of one method, the one with lower AA ends with a hard task (cgl-26)."""
    bare = runs.methods["BARE"]
    if len(bare.orders) < 10:
        raise NotJudgeableError(f"Clusters need ten orders or more; there are {len(bare.orders)}.")
    high, exist = two_clusters(cloud(bare))
    if not exist:
        raise NotJudgeableError("BARE's points do not form two clusters.")
    learned, tasks = bare.just_learned.mean(axis=0), bare.tasks
    difficulty = np.array([1 - learned[tasks == task].mean() for task in range(tasks.shape[1])])
    last = difficulty[tasks[:, -1]]
    gap = float(last[~high].mean() - last[high].mean())
    p = permutation_p(last, ~high)
    decision: Decision = "holds" if gap > 0 and p < LEVEL else "fails" if gap <= 0 else "undecided"
    hard = ", ".join(f"{100 * value:.1f}" for value in difficulty)
    return decision, (
        f"Difficulty of tasks 0, 1, …: {hard} %. Last tasks of the less accurate cluster ({(~high).sum()} "
        f"orders) are {100 * gap:+.1f} points more difficult, p = {p:.3f}."
    )


@claim(
    "cgl-30",
    "Energy distance between the (AA, AF) points of task orders and of class orders, per method, 1,000 "
    "permutations: p < 0.01 for at least five of seven methods; fails for fewer than three.",
    methods=ORDER_METHODS,
)
def clouds_of_class_orders_differ_from_task_orders(
    by_task: OrderRuns, by_class: OrderRuns
) -> tuple[Decision, str]:
    """With random class orders the clouds of points differ greatly from those of the task orders (cgl-30).

    Args:
        by_task: Over task orders.
        by_class: Over random class orders.
    """
    if reason := by_class.lacks(ORDER_METHODS):
        raise NotJudgeableError(reason)
    first, second = by_task.of(ORDER_METHODS), by_class.of(ORDER_METHODS)
    p = {name: energy_p(cloud(first[name]), cloud(second[name])) for name in ORDER_METHODS}
    differ = sum(value < 0.01 for value in p.values())
    return "holds" if differ >= 5 else "fails" if differ < 3 else "undecided", (
        f"{differ} of 7 methods: {', '.join(f'{name} p = {value:.3f}' for name, value in p.items())}."
    )


def cloud(runs: MethodRuns) -> Floats:
    """(O, 2): AA and AF of each order, mean over repetitions."""
    return np.stack([runs.average_accuracy.mean(axis=0), runs.average_forgetting.mean(axis=0)], axis=1)


def correlation(values: Floats) -> float:
    """Pearson's r of AA and AF over points (…, 2); NaN where one of them is constant."""
    x, y = values.reshape(-1, 2).T
    return float(pearsonr(x, y).statistic) if min(np.ptp(x), np.ptp(y)) > 1e-9 else float("nan")


def own_centroid_share(method: str, clouds: Mapping[str, Floats]) -> float:
    """The share of a method's points that are nearest to its own centroid, each left out of the centroid."""
    mine = clouds[method]
    if len(mine) < 2:
        return 0.0
    others = np.stack([values.mean(axis=0) for name, values in clouds.items() if name != method])
    without = (mine.sum(axis=0) - mine) / (len(mine) - 1)
    own = np.linalg.norm(mine - without, axis=1)
    return float((own < cdist(mine, others).min(axis=1)).mean())


def two_clusters(values: Floats) -> tuple[NDArray[np.bool_], bool]:
    """2-means on (AA, AF).

    Args:
        values: (O, 2), from `cloud`.

    Returns:
        Which orders are in the cluster of higher AA, (O,) of bool; and whether there are two clusters.
    """
    labels = KMeans(2, n_init=10, random_state=0).fit_predict(values)
    high = labels == int(values[labels == 1, 0].mean() > values[labels == 0, 0].mean())
    low_aa, high_aa = values[~high, 0], values[high, 0]
    spread = np.sqrt(low_aa.var() + high_aa.var())
    gap = high_aa.mean() - low_aa.mean()
    ashman = np.inf if spread == 0 else np.sqrt(2) * gap / spread
    return high, bool(ashman > 2 or silhouette_score(values, labels) >= 0.6)


def permutation_p(values: Floats, group: NDArray[np.bool_]) -> float:
    """One-sided p that the mean of a group exceeds that of the rest, by 1,000 permutations of the items."""
    draw = np.random.default_rng(0)
    found = values[group].mean() - values[~group].mean()
    shuffled = [draw.permutation(group) for _ in range(DRAWS)]
    larger = sum(values[g].mean() - values[~g].mean() >= found - 1e-12 for g in shuffled)
    return float(larger + 1) / (DRAWS + 1)


def energy_p(first: Floats, second: Floats) -> float:
    """P of the energy distance between two sets of points, by 1,000 permutations."""
    joined = np.concatenate([first, second])
    distance, n = cdist(joined, joined), len(first)
    draw = np.random.default_rng(0)

    def energy(place: NDArray[np.intp]) -> float:
        a, b = place[:n], place[n:]
        between = distance[np.ix_(a, b)].mean()
        return float(2 * between - distance[np.ix_(a, a)].mean() - distance[np.ix_(b, b)].mean())

    found = energy(np.arange(len(joined)))
    larger = sum(energy(draw.permutation(len(joined))) >= found - 1e-12 for _ in range(DRAWS))
    return float(larger + 1) / (DRAWS + 1)
