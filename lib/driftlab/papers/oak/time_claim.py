"""Wanderlust's claim on a class's AP over time (oak-8)."""

from __future__ import annotations

import pandas as pd

from driftlab.core.evaluation_table import one_variant
from driftlab.core.lineage import carries_lineage
from driftlab.reporting.style import in_order
from driftlab.reporting.verdicts import Verdict, judge, not_testable

DECIDES = "Incremental"
FEWEST = 3


@carries_lineage
def claim_8(exposed: pd.DataFrame) -> Verdict:
    """A class's AP rises while it is seen and falls as time passes without it.

    Args:
        exposed: From `exposure`, known vocabulary.
    """
    test = (
        "Change of a class's AP from one evaluation to the next, with incremental training, apart for "
        "intervals in which the stream showed the class and those, after it was first seen, in which it did "
        "not. Mean over classes: above zero where seen, below zero where not; and so for each of at least "
        f"half of the classes. Classes without both kinds of interval do not count; it needs {FEWEST} with. "
        "(Other methods are shown and do not decide.)"
    )
    changes = _changes(one_variant(exposed, "claim"))
    if DECIDES not in changes.index.get_level_values("method"):
        return not_testable("oak-8", test, f"Without runs of {DECIDES} that saw a class come and go.")
    classes = changes.loc[DECIDES]
    if len(classes) < FEWEST:
        return not_testable("oak-8", test, f"Only {len(classes)} classes came and went.")
    seen, unseen = classes["seen"].mean(), classes["unseen"].mean()
    both = int(((classes["seen"] > 0) & (classes["unseen"] < 0)).sum())
    rises, falls = (changes[kind].groupby("method").mean().to_dict() for kind in ("seen", "unseen"))
    others = [name for name in in_order(map(str, rises)) if name != DECIDES]
    aside = [f"{name} {float(rises[name]):+.2f} and {float(falls[name]):+.2f}" for name in others]
    return judge(
        "oak-8",
        test,
        bool(seen > 0 and unseen < 0 and 2 * both >= len(classes)),
        f"{DECIDES}: {seen:+.2f} points an interval while seen and {unseen:+.2f} while not, so for {both} of "
        f"{len(classes)} classes" + "".join(f"; {text}" for text in aside) + ".",
    )


def _changes(exposed: pd.DataFrame) -> pd.DataFrame:
    """Mean change (points) while seen and while not, a row a method and class that has both."""
    rows = exposed.dropna(subset=["since", "change"])
    kind = rows["seen"].map({True: "seen", False: "unseen"})
    means = 100 * rows.groupby(["method", "class", kind])["change"].mean().unstack()
    return means.reindex(columns=["seen", "unseen"]).dropna()
