"""Scores of methods with their noise, as Wanderlust's claims compare them.

A score of a run is a mean over units: over classes for CAP, FAP and F, over stretches for FWT and BWT, over
evaluations for IDK. With at least three repetitions the noise of a difference is that of the paired
repetitions; with fewer it is that of 1,000 bootstrap draws over the units, and a verdict is provisional.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.errors import ParameterError
from driftlab.core.evaluation_table import one_variant
from driftlab.core.lineage import carries_lineage
from driftlab.reporting.decisions import Decision, Difference, bootstrapped, every, greater, paired, similar
from driftlab.reporting.verdicts import Verdict, judge

CONTINUAL = ("Incremental", "EWC", "iCaRL")
ADAPTING = (*CONTINUAL, "Offline training")
ALL = ("Non-adaptation", *ADAPTING)
DETERMINISTIC = ("Non-adaptation",)
"""Methods whose repetitions are equal, so that one stands for all."""
ENOUGH = 3
MARGIN = 0.1
"""Points; smaller differences are ties."""

Part = tuple[Decision, str]
"""One comparison of a claim: its decision and its numbers in words."""


@dataclass(frozen=True)
class Sample:
    """One score of one method.

    Attributes:
        values: Percent or points, one row per repetition (seed), one column per unit.
        deterministic: Whether all repetitions are equal.
    """

    values: pd.DataFrame
    deterministic: bool = False

    @property
    def per_repetition(self) -> pd.Series[float]:
        """The score of each repetition, by seed."""
        return self.values.mean(axis=1)

    @property
    def mean(self) -> float:
        """The mean over the repetitions."""
        return float(self.per_repetition.mean())


class Scores:
    """The scores of the methods of one variant.

    Args:
        samples: Column (`cap`, `fap` …) to method to sample.
        unit: What a score is a mean over, in the plural, for evidence: "classes".
        variant: Data, detector and vocabulary, such as "oak/small/known".
    """

    def __init__(self, samples: Mapping[str, Mapping[str, Sample]], unit: str, variant: str) -> None:
        self.samples, self.unit, self.variant = samples, unit, variant

    def missing(self, methods: Iterable[str]) -> str:
        """Which of these methods have no runs, as a sentence; empty if none."""
        there = set.intersection(*(set(of) for of in self.samples.values()))
        absent = [name for name in methods if name not in there]
        return f"Without runs of {', '.join(absent)}." if absent else ""

    def difference(self, column: str, first: str, second: str, factor: float = 1.0) -> Difference:
        """Score of the first method − factor × score of the second."""
        return difference(self.samples[column][first], self.samples[column][second], factor)

    def level(self, column: str, method: str) -> Difference:
        """A score itself, with its noise."""
        sample = self.samples[column][method]
        return difference(sample, Sample(sample.values * 0.0, deterministic=True))

    def mean(self, column: str, method: str) -> float:
        """A score's mean over the repetitions."""
        return self.samples[column][method].mean

    def note(self, methods: Sequence[str]) -> str:
        """How sure a verdict on these methods is, as an addition to its evidence."""
        counts = {
            name: len(of[name].values)
            for of in self.samples.values()
            for name in methods
            if name in of and not of[name].deterministic
        }
        if not counts or min(counts.values()) >= ENOUGH:
            return ""
        few = [name for name, count in counts.items() if count < ENOUGH]
        return (
            f" Provisional: fewer than {ENOUGH} repetitions of {', '.join(few)}; the noise is that of a "
            f"bootstrap over {self.unit}."
        )

    def listed(self, column: str, methods: Sequence[str]) -> str:
        """Means of some methods for evidence: "CAP: Incremental 10.47, EWC 10.52"."""
        return f"{column.upper()}: " + ", ".join(f"{name} {self.mean(column, name):.2f}" for name in methods)


@carries_lineage
def scores(frame: pd.DataFrame, columns: Sequence[str], *, unit: str = "class") -> Scores:
    """Scores from a table with one row per run and unit.

    Args:
        frame: Columns of a run, the unit and the scores as fractions, of one variant: from `class_metrics`,
            `forgetfulness`, `stretch_transfer` or `unknown_curve`.
        columns: The scores' columns.
        unit: The unit's column.

    Raises:
        ParameterError: The runs are of several variants, or of none.
    """
    rows = one_variant(frame, "claim")
    samples: dict[str, dict[str, Sample]] = {column: {} for column in columns}
    for column in columns:
        for method, of_method in rows.groupby("method"):
            values = 100 * of_method.pivot(index="seed", columns=unit, values=column)
            samples[column][str(method)] = Sample(values, str(method) in DETERMINISTIC)
    units = {"class": "classes", "stretch": "stretches", "trained_on": "evaluations"}
    return Scores(samples, units.get(unit, unit), str(rows["variant"].iloc[0]))


def difference(first: Sample, second: Sample, factor: float = 1.0) -> Difference:
    """Score of the first sample − factor × score of the second, with its noise.

    Repetitions of the same seed are paired. A deterministic method has every repetition.
    """
    a, b = first.per_repetition, second.per_repetition
    if second.deterministic:
        b = pd.Series(b.mean(), index=a.index)
    elif first.deterministic:
        a = pd.Series(a.mean(), index=b.index)
    common = a.index.intersection(b.index)
    if len(common) >= ENOUGH:
        return paired(a[common], factor * b[common])
    values = [_per_unit(sample, common) for sample in (first, second)]
    x, y = (series.to_numpy() for series in values[0].align(values[1] * factor, join="inner"))
    x, y = x[~np.isnan(x + y)], y[~np.isnan(x + y)]
    if len(x) < 2:
        return Difference(first.mean - factor * second.mean, float("nan"))

    def statistic(units: NDArray[np.intp]) -> float:
        return float(x[units].mean() - y[units].mean())

    return bootstrapped(statistic, len(x))


def above(scores: Scores, column: str, first: str, second: str, margin: float = MARGIN) -> Part:
    """GREATER(first, second, margin) with its numbers."""
    found = scores.difference(column, first, second)
    return greater(found, margin), f"{column.upper()} {first} − {second} {found.text()}"


def alike(scores: Scores, column: str, first: str, second: str, tolerance: float) -> Part:
    """SIMILAR(first, second, tolerance) with its numbers."""
    found = scores.difference(column, first, second)
    words = f"{column.upper()} {first} − {second} {found.text()} (tolerance {tolerance:.2f})"
    return similar(found, tolerance), words


def below(found: Difference, limit: float) -> Decision:
    """Whether a level is below a limit beyond its noise."""
    if found.value + 2 * found.noise < limit:
        return "holds"
    return "fails" if found.value - 2 * found.noise >= limit else "undecided"


def conclude(claim: str, test: str, parts: Iterable[Part], note: str = "") -> Verdict:
    """The verdict on a claim that holds if every part holds."""
    found = list(parts)
    evidence = "; ".join(words for _, words in found) + "." + note
    return judge(claim, test, every(decision for decision, _ in found), evidence)


def require_pair(known: Scores, unknown: Scores) -> None:
    """Raise unless two sets of scores are of the known and the unknown vocabulary of one detector.

    Raises:
        ParameterError: They are of other variants than ".../known" and ".../unknown".
    """
    if unknown.variant.removesuffix("unknown") + "known" != known.variant:
        raise ParameterError(
            f"Known and unknown vocabulary are compared, not {known.variant} and {unknown.variant}."
        )


def _per_unit(sample: Sample, seeds: pd.Index) -> pd.Series[float]:
    """The mean of each unit over the repetitions, over the common ones where there are any."""
    values = sample.values
    if len(seeds) and not sample.deterministic:
        values = values.loc[seeds]
    return values.mean(axis=0)
