"""Claims on the width and depth of the GCN (Figures 7 and 8), judged on one AA and AF per repetition."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from scipy.stats import spearmanr

from driftlab.papers.cgl.claims.judging import ORDER_METHODS, NotJudgeableError, claim
from driftlab.papers.cgl.claims.noise import REPETITIONS, Floats, points
from driftlab.papers.cgl.order_runs import OrderRuns
from driftlab.reporting.decisions import Decision, Difference, every, greater, paired

Sizes = Mapping[int, OrderRuns]
"""Runs by width (or depth), ascending, all of the same orders and repetitions."""


@claim(
    "cgl-7",
    "Paired over at least three repetitions, for at least one method: from one width to the next AA falls by "
    "more than one test sequence beyond the noise, or from the narrowest to the widest it gains less than 2 "
    "points beyond the noise. The noise is at least that of rounding accuracies to whole test sequences.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def widening_does_not_always_help(widths: Sizes) -> tuple[Decision, str]:
    """Widening does not always improve performance (cgl-7)."""
    sizes, resolution = _sizes(widths, 2), _resolution(widths)
    drops, idle = [], []
    for name in ORDER_METHODS:
        accuracy = {size: _accuracy(widths[size], name) for size in sizes}
        for narrow, wide in itertools.pairwise(sizes):
            step = _quantised(accuracy[wide], accuracy[narrow], resolution)
            if step.value + 2 * step.noise < -resolution:
                drops.append(f"{name} {narrow} → {wide} {points(step)}")
        whole = _quantised(accuracy[sizes[-1]], accuracy[sizes[0]], resolution)
        if whole.value + 2 * whole.noise < 0.02:
            idle.append(f"{name} {points(whole)}")
    return "holds" if drops or idle else "fails", (
        f"Steps down: {'; '.join(drops) or 'none'}. No gain from {sizes[0]} to {sizes[-1]}: "
        f"{'; '.join(idle) or 'none'} (points of AA, {_repetitions(widths)} repetitions)."
    )


@claim(
    "cgl-8",
    "A method is consistent if its mean AA over the depths moves in one direction, steps of one test "
    "sequence or within the noise aside, and the ends differ by more than 3 points and the noise. REPLAY "
    "is, and no other method; fails if REPLAY is not; undecided if exactly one other is too.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def only_replay_reacts_to_depth_in_one_direction(depths: Sizes) -> tuple[Decision, str]:
    """More depth has a consistent effect for REPLAY only (cgl-8)."""
    sizes, resolution = _sizes(depths, 3), _resolution(depths)
    consistent = []
    for name in ORDER_METHODS:
        accuracy = [_accuracy(depths[size], name) for size in sizes]
        whole = paired(accuracy[-1], accuracy[0])
        steps = [paired(b, a) for a, b in itertools.pairwise(accuracy)]
        contrary = any(
            step.value * whole.value < 0 and abs(step.value) > max(resolution, 2 * step.noise)
            for step in steps
        )
        if not contrary and abs(whole.value) > max(0.03, 2 * whole.noise):
            consistent.append(name)
    others = [name for name in consistent if name != "REPLAY"]
    decision: Decision = "holds" if not others else "undecided" if len(others) == 1 else "fails"
    return decision if "REPLAY" in consistent else "fails", (
        f"Consistent: {', '.join(consistent) or 'none'}. AA at depths {_listed(depths, 'average_accuracy')}."
    )


@claim(
    "cgl-32",
    "AA at the widest minus AA at width 64: for at least five of seven methods not above 2 points beyond the "
    "noise; fails if above for four or more.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def more_width_brings_nothing_to_two_layers(widths: Sizes) -> tuple[Decision, str]:
    """For a two-layer GNN more width brings nothing (cgl-32). Over-fitting is not measured by the runs."""
    sizes = _sizes(widths, 2)
    if 64 not in sizes or sizes[-1] == 64:
        raise NotJudgeableError(f"It needs width 64 and a larger one; the widths are {sizes}.")
    gains = {name: _gain(widths, name, 64, sizes[-1]) for name in ORDER_METHODS}
    useful = sum(gain.value - 2 * gain.noise > 0.02 for gain in gains.values())
    texts = [f"{m} {points(gain)}" for m, gain in gains.items()]
    decision: Decision = "holds" if 7 - useful >= 5 else "fails" if useful >= 4 else "undecided"
    return decision, f"AA({sizes[-1]}) − AA(64) in points: {'; '.join(texts)}."


@claim(
    "cgl-33",
    "AF falls with depth if Spearman's correlation of depth and mean AF is at most −0.7 and AF at the "
    "deepest is below that at the shallowest beyond the noise. It does for BARE and at least two of EWC, "
    "MAS and TWP; fails if not for BARE or for none of them.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def forgetting_falls_with_depth_for_regularisers_and_bare(depths: Sizes) -> tuple[Decision, str]:
    """AF falls with depth for most regularisation-based methods and for BARE (cgl-33)."""
    sizes = _sizes(depths, 3)
    falls = []
    for name in ("BARE", "EWC", "MAS", "TWP", "GEM"):
        forgetting = [_forgetting(depths[size], name) for size in sizes]
        means = [values.mean() for values in forgetting]
        rank = float(spearmanr(sizes, means).statistic) if np.ptp(means) > 0 else 0.0
        change = paired(forgetting[-1], forgetting[0])
        if rank <= -0.7 and change.value + 2 * change.noise < 0:
            falls.append(name)
    regularisers = sum(name in falls for name in ("EWC", "MAS", "TWP"))
    fails = "BARE" not in falls or regularisers == 0
    return "fails" if fails else "holds" if regularisers >= 2 else "undecided", (
        f"AF falls for: {', '.join(falls) or 'none'} (GEM beside). AF at depths "
        f"{_listed(depths, 'average_forgetting')}."
    )


@claim(
    "cgl-34",
    "For at least one method and one depth above 2, AA is not below that at depth 2 by more than one test "
    "sequence beyond the noise; fails if it is lower beyond the noise everywhere.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def more_depth_does_not_always_hurt(depths: Sizes) -> tuple[Decision, str]:
    """More depth does not always hurt, and may help (cgl-34)."""
    sizes, resolution = _sizes(depths, 3), _resolution(depths)
    deeper = [size for size in sizes if size > 2]
    if 2 not in sizes or not deeper:
        raise NotJudgeableError(f"It needs depth 2 and a larger one; the depths are {sizes}.")
    changes = {(m, size): _gain(depths, m, 2, size) for m in ORDER_METHODS for size in deeper}
    lossless = [k for k, change in changes.items() if change.value - 2 * change.noise >= -resolution - 1e-9]
    helps = [k for k, change in changes.items() if change.value - 2 * change.noise > resolution]
    lost = all(change.value + 2 * change.noise < 0 for change in changes.values())
    named = ", ".join(f"{m} at {size} ({points(changes[m, size])})" for m, size in (helps or lossless))
    return "holds" if lossless else "fails" if lost else "undecided", (
        f"No loss in {len(lossless)} of {len(changes)} cases, a gain in {len(helps)}: {named or 'none'}."
    )


@claim(
    "cgl-35",
    "AA at the deepest minus AA at depth 2 is most negative for REPLAY: below that of every other method "
    "beyond the noise; fails if REPLAY's is not negative beyond the noise.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def depth_hurts_replay_most(depths: Sizes) -> tuple[Decision, str]:
    """Depth worsens over-fitting most visibly in REPLAY (cgl-35); the direction is our reading."""
    sizes = _sizes(depths, 3)
    if 2 not in sizes or sizes[-1] == 2:
        raise NotJudgeableError(f"It needs depth 2 and a larger one; the depths are {sizes}.")
    change = {m: _accuracy(depths[sizes[-1]], m) - _accuracy(depths[2], m) for m in ORDER_METHODS}
    alone = {m: paired(values, np.zeros(len(values))) for m, values in change.items()}
    replay = alone["REPLAY"]
    decision = every(greater(paired(change[m], change["REPLAY"])) for m in ORDER_METHODS if m != "REPLAY")
    return "fails" if replay.value + 2 * replay.noise >= 0 else decision, (
        f"AA({sizes[-1]}) − AA(2) in points: {'; '.join(f'{m} {points(d)}' for m, d in alone.items())}."
    )


@claim(
    "cgl-36",
    "AA of the widest two-layer network minus that of the deepest of width 64: below 2 points beyond the "
    "noise for at least two of seven methods; fails if above for all.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def wide_and_shallow_does_not_always_beat_thin_and_deep(widths: Sizes, depths: Sizes) -> tuple[Decision, str]:
    """The earlier finding, that wide and shallow beats thin and deep, does not carry over (cgl-36)."""
    wide, deep = _sizes(widths, 2)[-1], _sizes(depths, 3)[-1]
    gaps = {m: paired(_accuracy(widths[wide], m), _accuracy(depths[deep], m)) for m in ORDER_METHODS}
    texts = [f"{m} {points(gap)}" for m, gap in gaps.items()]
    not_better = sum(gap.value + 2 * gap.noise < 0.02 for gap in gaps.values())
    all_better = all(gap.value - 2 * gap.noise > 0.02 for gap in gaps.values())
    return "holds" if not_better >= 2 else "fails" if all_better else "undecided", (
        f"AA(width {wide}) − AA(depth {deep}) in points: {'; '.join(texts)}."
    )


def _sizes(runs: Sizes, least: int) -> list[int]:
    if len(runs) < least:
        raise NotJudgeableError(f"It needs {least} sizes or more; there are {len(runs)}.")
    if _repetitions(runs) < REPETITIONS:
        raise NotJudgeableError(
            f"It needs {REPETITIONS} repetitions or more; there are {_repetitions(runs)}."
        )
    return sorted(runs)


def _repetitions(runs: Sizes) -> int:
    return min(len(one.seeds) for size in runs.values() for one in size.methods.values())


def _resolution(runs: Sizes) -> float:
    return max(one.resolution for one in runs.values())


def _accuracy(runs: OrderRuns, method: str) -> Floats:
    """AA of each repetition, (R,): the mean over its orders."""
    return np.asarray(runs.methods[method].average_accuracy.mean(axis=1))


def _forgetting(runs: OrderRuns, method: str) -> Floats:
    return np.asarray(runs.methods[method].average_forgetting.mean(axis=1))


def _gain(runs: Sizes, method: str, first: int, second: int) -> Difference:
    return paired(_accuracy(runs[second], method), _accuracy(runs[first], method))


def _quantised(first: Floats, second: Floats, resolution: float) -> Difference:
    """`paired`, with at least the noise of rounding each AA to whole test sequences.

    Equal differences in all pairs would otherwise count as known without error. Rounding to steps q has the
    deviation q / √12; a difference of two, averaged over R pairs, q / √(6 R).
    """
    difference = paired(first, second)
    return Difference(difference.value, max(difference.noise, resolution / np.sqrt(6 * len(first))))


def _listed(runs: Sizes, what: str) -> str:
    texts = []
    for name in ORDER_METHODS:
        means = [float(getattr(runs[size].methods[name], what).mean()) for size in sorted(runs)]
        texts.append(f"{name} {', '.join(f'{100 * mean:.1f}' for mean in means)}")
    return f"{', '.join(map(str, sorted(runs)))}: {'; '.join(texts)}"
