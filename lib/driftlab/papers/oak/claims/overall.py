"""Claims about overall performance with a known vocabulary (Table 1)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from driftlab.core.lineage import carries_lineage
from driftlab.papers.oak.scores import (
    ADAPTING,
    ALL,
    CONTINUAL,
    MARGIN,
    Part,
    Sample,
    Scores,
    above,
    alike,
    below,
    conclude,
    difference,
)
from driftlab.reporting.decisions import Decision, greater
from driftlab.reporting.verdicts import Verdict, judge, not_testable

COLUMNS = ("cap", "fap")
OFFLINE = "Offline training"
STILL = "Non-adaptation"
NEEDS_OFFICIAL = "Needs official OAK: the criterion is a number of the paper's data."


def judge_all(
    known: Scores, pretrained: Collection[str], boxes: pd.Series[int], *, official: bool
) -> list[Verdict]:
    """The verdicts on all claims about Table 1: oak-1 to 4, 9 to 15.

    Args:
        known: CAP and FAP by class.
        pretrained: Names of the classes that the pretrained detector knows.
        boxes: Training boxes by class name.
        official: Whether the data are official OAK.
    """
    return [
        no_adaptation_is_lowest_and_offline_highest(known),
        icarl_is_above_incremental(known),
        ewc_and_incremental_are_alike(known),
        fap_is_above_cap(known),
        continual_methods_improve_on_no_adaptation(known),
        continual_cap_is_below_20(known, official=official),
        pretrained_detector_does_badly(known, pretrained, official=official),
        ewc_does_not_help(known),
        ewc_and_icarl_are_far_below_offline(known),
        offline_stays_below_50(known, official=official),
        rare_classes_have_lower_ap(known, boxes, official=official),
    ]


@carries_lineage
def no_adaptation_is_lowest_and_offline_highest(known: Scores) -> Verdict:
    """oak-1: Non-adaptation is lowest and offline training highest, in CAP and FAP."""
    test = (
        f"CAP and FAP of Incremental, EWC and iCaRL each at least {MARGIN} points above Non-adaptation and "
        f"at least {MARGIN} below Offline training, beyond the noise."
    )
    if reason := known.missing(ALL):
        return not_testable("oak-1", test, reason)
    parts = [
        above(known, column, *pair)
        for column in COLUMNS
        for method in CONTINUAL
        for pair in ((method, STILL), (OFFLINE, method))
    ]
    return conclude("oak-1", test, parts, known.note(ALL))


@carries_lineage
def icarl_is_above_incremental(known: Scores) -> Verdict:
    """oak-2: ICaRL is significantly above incremental fine-tuning in CAP and FAP."""
    test = "iCaRL at least 1 point above Incremental, beyond the noise, in CAP and in FAP."
    names = ("iCaRL", "Incremental")
    if reason := known.missing(names):
        return not_testable("oak-2", test, reason)
    parts = [above(known, column, *names, 1.0) for column in COLUMNS]
    return conclude("oak-2", test, parts, known.note(names))


@carries_lineage
def ewc_and_incremental_are_alike(known: Scores) -> Verdict:
    """oak-3: EWC and incremental fine-tuning perform alike."""
    return alike_verdict("oak-3", known)


def alike_verdict(claim: str, of_variant: Scores) -> Verdict:
    """The verdict on EWC being like incremental fine-tuning, for either vocabulary."""
    test = (
        "CAP and FAP of EWC and Incremental at most so many points apart, with the noise: a quarter of "
        "|iCaRL − Incremental|, at least 0.5 and at most 2."
    )
    if reason := of_variant.missing(CONTINUAL):
        return not_testable(claim, test, reason)
    parts = []
    for column in COLUMNS:
        quarter = abs(of_variant.difference(column, "iCaRL", "Incremental").value) / 4
        parts.append(alike(of_variant, column, "EWC", "Incremental", min(max(0.5, quarter), 2.0)))
    return conclude(claim, test, parts, of_variant.note(CONTINUAL))


@carries_lineage
def fap_is_above_cap(*variants: Scores) -> Verdict:
    """oak-4: FAP is above CAP for every adapting method.

    Args:
        variants: With a known vocabulary, and with an unknown one where there are runs.
    """
    test = (
        f"FAP at least {MARGIN} points above CAP within the runs of each of Incremental, EWC, iCaRL and "
        "Offline training, beyond the noise, in each vocabulary; Non-adaptation has FAP = CAP exactly."
    )
    reasons = [reason for of in variants if (reason := of.missing(ADAPTING))]
    if reasons:
        return not_testable("oak-4", test, reasons[0])
    parts: list[Part] = []
    for of in variants:
        vocabulary = of.variant.rsplit("/", 1)[-1]
        for method in ADAPTING:
            gain = difference(of.samples["fap"][method], of.samples["cap"][method])
            parts.append((greater(gain, MARGIN), f"{method}, {vocabulary}: FAP − CAP {gain.text()}"))
        if not of.missing([STILL]):
            still = of.mean("fap", STILL) - of.mean("cap", STILL)
            equal: Decision = "holds" if abs(still) <= 1e-6 else "fails"
            parts.append((equal, f"{STILL}, {vocabulary}: FAP − CAP {still:+.2g}"))
    return conclude("oak-4", test, parts, variants[0].note(ADAPTING))


@carries_lineage
def continual_methods_improve_on_no_adaptation(known: Scores) -> Verdict:
    """oak-9: The continual methods generally improve on the detector that does not adapt."""
    test = "CAP of Incremental, EWC and iCaRL each at least 1 point above Non-adaptation, beyond the noise."
    names = (STILL, *CONTINUAL)
    if reason := known.missing(names):
        return not_testable("oak-9", test, reason)
    parts = [above(known, "cap", method, STILL, 1.0) for method in CONTINUAL]
    return conclude("oak-9", test, parts, known.note(names))


@carries_lineage
def continual_cap_is_below_20(known: Scores, *, official: bool) -> Verdict:
    """oak-10: CAP of every continual method is below 20."""
    test = "Official data: CAP of Incremental, EWC and iCaRL each below 20, beyond the noise."
    if not official or (reason := known.missing(CONTINUAL)):
        return not_testable("oak-10", test, NEEDS_OFFICIAL if not official else reason)
    levels = {method: known.level("cap", method) for method in CONTINUAL}
    parts = [(below(found, 20.0), f"{method} {found.text()}") for method, found in levels.items()]
    return conclude("oak-10", test, parts, known.note(CONTINUAL))


@carries_lineage
def pretrained_detector_does_badly(
    known: Scores, pretrained: Collection[str], *, official: bool = False
) -> Verdict:
    """oak-11: The pretrained detector does badly, even on classes that it knows: a large domain gap.

    Args:
        known: CAP and FAP by class.
        pretrained: Names of the classes that the pretrained detector knows.
        official: Whether the data are official OAK, for the last part.
    """
    test = (
        "Non-adaptation has AP 0 on each class that pretraining did not have; on the shared classes the mean "
        "CAP of Offline training is at least 10 points above it, beyond the noise; on official data CAP of "
        "Non-adaptation is below 10."
    )
    if reason := known.missing((STILL, OFFLINE)):
        return not_testable("oak-11", test, reason)
    still = known.samples["cap"][STILL]
    shared = [name for name in still.values.columns if name in pretrained]
    foreign = still.values.drop(columns=shared)
    if not shared:
        return not_testable("oak-11", test, "No evaluated class is one that the pretrained detector knows.")
    wrong = [str(name) for name in foreign.columns[(foreign > 0).any()]]
    zero: Decision = "fails" if wrong else "holds"
    words = f"AP above 0 on {', '.join(wrong)}" if wrong else f"AP 0 on {foreign.shape[1]} other classes"
    offline = Sample(known.samples["cap"][OFFLINE].values[shared])
    gap = difference(offline, Sample(still.values[shared], deterministic=True))
    parts: list[Part] = [
        (zero, words),
        (greater(gap, 10.0), f"{OFFLINE} − {STILL} on {len(shared)} shared classes {gap.text()}"),
    ]
    if official:
        level = known.level("cap", STILL)
        parts.append((below(level, 10.0), f"CAP of {STILL} {level.text()}"))
    return conclude("oak-11", test, parts, known.note((STILL, OFFLINE)))


@carries_lineage
def ewc_does_not_help(known: Scores) -> Verdict:
    """oak-12: EWC does not help overall performance."""
    test = "CAP of EWC is not more than 0.5 points above that of Incremental, beyond the noise."
    names = ("EWC", "Incremental")
    if reason := known.missing(names):
        return not_testable("oak-12", test, reason)
    found = known.difference("cap", *names)
    decision: Decision = "holds" if found.value - 2 * found.noise <= 0.5 else "fails"
    if np.isnan(found.noise):
        decision = "undecided"
    part = (decision, f"CAP EWC − Incremental {found.text()}")
    return conclude("oak-12", test, [part], known.note(names))


@carries_lineage
def ewc_and_icarl_are_far_below_offline(known: Scores) -> Verdict:
    """oak-13: EWC and iCaRL are far below offline training."""
    test = "CAP and FAP of EWC and of iCaRL at most 0.8 of those of Offline training, beyond the noise."
    names = ("EWC", "iCaRL", OFFLINE)
    if reason := known.missing(names):
        return not_testable("oak-13", test, reason)
    parts: list[Part] = []
    for column in COLUMNS:
        for method in names[:2]:
            over = known.difference(column, method, OFFLINE, 0.8)
            share = known.mean(column, method) / max(known.mean(column, OFFLINE), 1e-9)
            words = f"{column.upper()} {method} is {share:.2f} of {OFFLINE}, {over.text()} over 0.8 of it"
            parts.append((below(over, 0.0), words))
    return conclude("oak-13", test, parts, known.note(names))


@carries_lineage
def offline_stays_below_50(known: Scores, *, official: bool) -> Verdict:
    """oak-14: Even offline training stays below 50 AP50."""
    test = "Official data: FAP of Offline training below 50, beyond the noise."
    if not official or (reason := known.missing([OFFLINE])):
        return not_testable("oak-14", test, NEEDS_OFFICIAL if not official else reason)
    found = known.level("fap", OFFLINE)
    part = (below(found, 50.0), f"FAP {found.text()}")
    return conclude("oak-14", test, [part], known.note([OFFLINE]))


@carries_lineage
def rare_classes_have_lower_ap(known: Scores, boxes: pd.Series[int], *, official: bool) -> Verdict:
    """oak-15: The long tail is one cause of the low level (blur and occlusion cannot be tested).

    Args:
        known: CAP and FAP by class.
        boxes: Training boxes by class name.
        official: Whether the data are official OAK.
    """
    test = (
        "Official data: Spearman correlation over classes of Offline training's FAP with the number of "
        "training boxes above 0.3 with p < 0.05. Only the long tail of the conjecture is tested."
    )
    if not official or (reason := known.missing([OFFLINE])):
        return not_testable("oak-15", test, NEEDS_OFFICIAL if not official else reason)
    fap = known.samples["fap"][OFFLINE].values.mean(axis=0)
    found = spearmanr(fap.to_numpy(), boxes.reindex(fap.index).to_numpy())
    supported = found.statistic > 0.3 and found.pvalue < 0.05
    words = f"Spearman {found.statistic:+.2f} (p = {found.pvalue:.2g}) over {len(fap)} classes."
    return judge("oak-15", test, "holds" if supported else "undecided", words)
