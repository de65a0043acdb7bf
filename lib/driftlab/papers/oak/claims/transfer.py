"""Claims about forward and backward transfer (Table 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.lineage import carries_lineage
from driftlab.papers.oak.claims.forgetting import less_forgetting
from driftlab.papers.oak.scores import CONTINUAL, MARGIN, Part, Scores, above, below, conclude, scores
from driftlab.reporting.decisions import Decision, Difference, greater
from driftlab.reporting.verdicts import Verdict, not_testable

BOXES = 100
"""Training boxes of a class after which the gain in AP is read (oak-34)."""


@carries_lineage
def ewc_keeps_more_and_transfers_less(transferred: Scores) -> Verdict:
    """oak-7: EWC has a higher BWT and a lower FWT than incremental fine-tuning.

    Args:
        transferred: FWT and BWT by stretch.
    """
    test = (
        f"BWT of EWC at least {MARGIN} points above Incremental, and FWT of Incremental at least {MARGIN} "
        "points above EWC, both beyond the noise."
    )
    names = ("EWC", "Incremental")
    if reason := transferred.missing(names):
        return not_testable("oak-7", test, reason)
    parts = [
        above(transferred, "bwt", "EWC", "Incremental"),
        above(transferred, "fwt", "Incremental", "EWC"),
    ]
    return conclude("oak-7", test, parts, transferred.note(names))


@carries_lineage
def forward_transfer_is_positive_and_backward_negative(transferred: Scores) -> Verdict:
    """oak-19: Every continual method has positive forward and negative backward transfer.

    Args:
        transferred: FWT and BWT by stretch.
    """
    test = "FWT above 0 and BWT below 0, beyond the noise, for each of Incremental, EWC and iCaRL."
    if reason := transferred.missing(CONTINUAL):
        return not_testable("oak-19", test, reason)
    parts: list[Part] = []
    for method in CONTINUAL:
        forward, backward = (transferred.level(column, method) for column in ("fwt", "bwt"))
        negated = Difference(-forward.value, forward.noise)
        parts.append((below(negated, 0.0), f"FWT of {method} {forward.text()}"))
        parts.append((below(backward, 0.0), f"BWT of {method} {backward.text()}"))
    return conclude("oak-19", test, parts, transferred.note(CONTINUAL))


@carries_lineage
def measures_of_forgetting_disagree(transferred: Scores, forgotten: Scores) -> Verdict:
    """oak-20: ICaRL has the highest FWT and the lowest BWT although it has the lowest F.

    Args:
        transferred: FWT and BWT by stretch.
        forgotten: F by class, of the same runs.
    """
    test = (
        f"FWT of iCaRL at least {MARGIN} points above and BWT at least {MARGIN} points below Incremental and "
        "EWC, and F of both at least 0.5 points above iCaRL, all beyond the noise. A reading of Tables 3 and "
        "4."
    )
    if reason := transferred.missing(CONTINUAL) or forgotten.missing(CONTINUAL):
        return not_testable("oak-20", test, reason)
    others = ("Incremental", "EWC")
    parts = [
        *(above(transferred, "fwt", "iCaRL", method) for method in others),
        *(above(transferred, "bwt", method, "iCaRL") for method in others),
        *less_forgetting(forgotten),
    ]
    return conclude("oak-20", test, parts, transferred.note(CONTINUAL))


@carries_lineage
def ewc_is_the_more_cautious_learner(
    transferred: Scores, ap: pd.DataFrame, boxes: NDArray[np.int64], categories: Sequence[str]
) -> Verdict:
    """oak-34: Higher FWT goes with faster learning; EWC is the more cautious learner.

    Args:
        transferred: FWT by stretch.
        ap: From `class_ap`, with the pretrained detector's rows.
        boxes: (steps, C) training boxes of each category at each step.
        categories: Their C names.
    """
    test = (
        f"Mean over classes of the AP gained by the first evaluation after {BOXES} training boxes of the "
        f"class: Incremental above EWC, beyond the noise; a lead of at most {MARGIN} points is undecided. "
        "Beside it FWT, which is oak-7's."
    )
    names = ("Incremental", "EWC")
    if reason := transferred.missing(names):
        return not_testable("oak-34", test, reason)
    gains = early_gains(ap[ap["method"].isin(names)], boxes, categories)
    if gains.empty:
        return not_testable("oak-34", test, f"No class has {BOXES} training boxes before an evaluation.")
    found = scores(gains, ["gain"])
    lead = found.difference("gain", *names)
    tie: Decision = "undecided" if abs(lead.value) <= MARGIN else greater(lead)
    words = (
        f"Gain Incremental − EWC {lead.text()} over {gains['class'].nunique()} classes; "
        f"{transferred.listed('fwt', names)}"
    )
    return conclude("oak-34", test, [(tie, words)], found.note(names))


@carries_lineage
def early_gains(ap: pd.DataFrame, boxes: NDArray[np.int64], categories: Sequence[str]) -> pd.DataFrame:
    """Gain in AP per class at the first evaluation after 100 training boxes, over the pretrained detector.

    Args:
        ap: From `class_ap`, with rows of `trained_on` 0.
        boxes: (steps, C) training boxes of each category at each step.
        categories: Their C names.

    Returns:
        Columns of a run, `class` and `gain`; classes that never reach 100 boxes are absent.
    """
    so_far = boxes.cumsum(axis=0)
    reached = {
        name: int(np.argmax(so_far[:, c] >= BOXES)) + 1
        for c, name in enumerate(categories)
        if so_far[-1, c] >= BOXES
    }
    run = ["paper", "variant", "method", "seed", "order", "class"]
    start = ap[ap["trained_on"] == 0].set_index(run)["value"]
    later = ap[(ap["trained_on"] > 0) & ap["class"].isin(list(reached))]
    after = pd.to_numeric(later["class"].map(reached))
    later = later[later["trained_on"] >= after].sort_values("trained_on")
    first = later.groupby(run)["value"].first()
    return (first - start).dropna().rename("gain").reset_index()
