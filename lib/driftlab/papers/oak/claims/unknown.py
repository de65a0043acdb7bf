"""Claims about the unknown vocabulary (Table 2)."""

from __future__ import annotations

from driftlab.core.lineage import carries_lineage
from driftlab.papers.oak.claims.overall import COLUMNS, OFFLINE, alike_verdict
from driftlab.papers.oak.scores import (
    ADAPTING,
    CONTINUAL,
    MARGIN,
    Part,
    Scores,
    above,
    below,
    conclude,
    difference,
    require_pair,
)
from driftlab.reporting.decisions import Decision, greater
from driftlab.reporting.verdicts import Verdict, not_testable


@carries_lineage
def every_method_is_lower_than_with_a_known_vocabulary(known: Scores, unknown: Scores) -> Verdict:
    """oak-5: Every continual method is lower with an unknown vocabulary than with a known one.

    Raises:
        ParameterError: The scores are of other variants than ".../known" and ".../unknown".
    """
    test = (
        f"CAP and FAP of Incremental, EWC and iCaRL each at least {MARGIN} points higher with a known "
        "vocabulary than with an unknown one, beyond the noise. Top-20 and single classes are not part of it."
    )
    if reason := known.missing(CONTINUAL) or unknown.missing(CONTINUAL):
        return not_testable("oak-5", test, reason)
    require_pair(known, unknown)
    parts: list[Part] = []
    for column in COLUMNS:
        for method in CONTINUAL:
            loss = difference(known.samples[column][method], unknown.samples[column][method])
            parts.append((greater(loss, MARGIN), f"{column.upper()} {method}, known − unknown {loss.text()}"))
    return conclude("oak-5", test, parts, known.note(CONTINUAL) or unknown.note(CONTINUAL))


@carries_lineage
def ewc_and_incremental_are_alike_again(unknown: Scores) -> Verdict:
    """oak-16: With an unknown vocabulary EWC and incremental fine-tuning are again alike."""
    return alike_verdict("oak-16", unknown)


@carries_lineage
def icarl_is_above_both(unknown: Scores) -> Verdict:
    """oak-17: With an unknown vocabulary iCaRL is above incremental fine-tuning and EWC."""
    test = "CAP and FAP of iCaRL at least 1 point above Incremental and above EWC, beyond the noise."
    if reason := unknown.missing(CONTINUAL):
        return not_testable("oak-17", test, reason)
    parts = [
        above(unknown, column, "iCaRL", method, 1.0)
        for column in COLUMNS
        for method in ("Incremental", "EWC")
    ]
    return conclude("oak-17", test, parts, unknown.note(CONTINUAL))


@carries_lineage
def idk_is_hardly_ever_found(idk: Scores) -> Verdict:
    """oak-18: IDK is hardly ever found: AP near 1 or below, highest for offline training.

    Args:
        idk: AP of IDK (column `value`) by evaluation.
    """
    test = (
        "AP of IDK below 5 for each adapting method, beyond the noise, and highest for Offline training; a "
        f"lead of at most {MARGIN} points is undecided. A reading of Table 2, not a sentence of the paper."
    )
    if reason := idk.missing(ADAPTING):
        return not_testable("oak-18", test, reason)
    parts: list[Part] = []
    for method in ADAPTING:
        level = idk.level("value", method)
        parts.append((below(level, 5.0), f"IDK of {method} {level.text()}"))
    for method in CONTINUAL:
        lead = idk.difference("value", OFFLINE, method)
        tie: Decision = "undecided" if abs(lead.value) <= MARGIN else greater(lead)
        parts.append((tie, f"IDK {OFFLINE} − {method} {lead.text()}"))
    return conclude("oak-18", test, parts, idk.note(ADAPTING))
