"""Claims on hyper-parameters and cost: Appendix C, Tables 3 and 5."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from driftlab.papers.cgl.claims.judging import NotJudgeableError, claim
from driftlab.papers.cgl.claims.noise import REPETITIONS, Floats
from driftlab.reporting.decisions import Decision, paired

CLAIMED = ("EWC", "LwF", "GEM", "REPLAY")


@claim(
    "cgl-41",
    "Validation AA of the printed choice of each method against all others of its grid, paired over at "
    "least three repetitions: confirmed if none is better beyond the noise, contradicted if one is, flat "
    "if all lie within the noise. Holds if EWC, LwF, GEM and REPLAY are confirmed; fails if one of them is "
    "contradicted.",
)
def printed_choices_are_best(results: pd.DataFrame, printed: Mapping[str, str]) -> tuple[Decision, str]:
    """Table 3's choices win the search (cgl-41): one finding per method, a cell of Table 3.

    Args:
        results: From `driftlab.papers.cgl.tables.search_results`, on validation data.
        printed: By method, the printed choice in the words of the results.
    """
    grid: dict[str, dict[str, Floats]] = {}
    for (method, settings), group in results.groupby(["method", "settings"], sort=False):
        values = group.sort_values("seed")["average_accuracy"].to_numpy()
        grid.setdefault(str(method), {})[str(settings)] = values
    if any(len(values) < REPETITIONS for settings in grid.values() for values in settings.values()):
        raise NotJudgeableError(f"It needs {REPETITIONS} repetitions or more.")
    if missing := [m for m in CLAIMED if printed.get(m, "") not in grid.get(m, {})]:
        raise NotJudgeableError(f"The grid does not have the printed choice of {', '.join(missing)}.")
    findings = {m: finding(grid[m], printed[m]) for m in grid if printed.get(m, "") in grid[m]}
    claimed = [findings[m].split(" ")[0] for m in CLAIMED]
    holds = all(one == "confirmed" for one in claimed)
    return "fails" if "contradicted" in claimed else "holds" if holds else "undecided", (
        f"{'; '.join(f'{m} {text}' for m, text in findings.items())}."
    )


def finding(settings: Mapping[str, Floats], printed: str) -> str:
    """What the search says of one printed choice: confirmed, contradicted (by which) or flat."""
    others = {name: paired(values, settings[printed]) for name, values in settings.items() if name != printed}
    better = {name: gap for name, gap in others.items() if gap.value - 2 * gap.noise > 0}
    if better:
        best = max(better, key=lambda name: better[name].value)
        return f"contradicted ({best} is {100 * better[best].value:.1f} points better)"
    flat = all(abs(gap.value) <= 2 * gap.noise + 1e-12 for gap in others.values())
    return "flat" if flat else "confirmed"


@claim(
    "cgl-42",
    "Mean wall time of a run, measured alone on one machine: GEM's and REPLAY's exceed each of EWC's, MAS's, "
    "TWP's and LwF's by 10 % or more.",
)
def gem_and_replay_cost_more_time(seconds: Mapping[str, float]) -> tuple[Decision, str]:
    """GEM and REPLAY cost more time per run than the others (cgl-42); it depends on the implementation.

    Args:
        seconds: Mean wall time of a run, by method; empty if it was not measured.
    """
    others = ("EWC", "MAS", "TWP", "LwF")
    if missing := [m for m in (*others, "GEM", "REPLAY") if m not in seconds]:
        raise NotJudgeableError(
            f"The wall time of a run of {', '.join(missing)} was not measured: runs are trained side by side."
        )
    most = max(seconds[m] for m in others)
    return "holds" if min(seconds["GEM"], seconds["REPLAY"]) >= 1.1 * most else "fails", (
        f"Seconds: {', '.join(f'{m} {value:.1f}' for m, value in seconds.items())}."
    )
