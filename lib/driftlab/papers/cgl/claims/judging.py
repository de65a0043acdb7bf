"""What all claims have in common: who may judge them, on which runs, and how a verdict is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, runtime_checkable

from driftlab.core.lineage import carry, lineage
from driftlab.reporting.decisions import Decision
from driftlab.reporting.verdicts import Verdict, judge, not_testable

P = ParamSpec("P")
REGULARISERS = ("EWC", "MAS", "TWP")
CGL_METHODS = (*REGULARISERS, "LwF", "GEM", "REPLAY")
ORDER_METHODS = ("BARE", *CGL_METHODS)


@runtime_checkable
class Runs(Protocol):
    """Runs of several methods on one dataset."""

    @property
    def dataset(self) -> str:
        """The paper's name of it, UCLA or NTU."""

    def lacks(self, names: Sequence[str]) -> str:
        """Which methods are missing, as a sentence; empty if none."""


T = TypeVar("T")


class NotJudgeableError(Exception):
    """The runs cannot decide the claim; the text says why."""


def claim(
    name: str, test: str, *, methods: Sequence[str] = (), dataset: str = ""
) -> Callable[[Callable[Concatenate[T, P], tuple[Decision, str]]], Callable[Concatenate[T, P], Verdict]]:
    """Decorate a function of runs that returns a decision and its evidence: it then returns a verdict.

    The verdict is "not testable" if the runs are of another dataset, lack a method, or if the function raises
    `NotJudgeableError`.

    Args:
        name: Id of the claim.
        test: The criterion, in words.
        methods: The methods that it compares; it is not judged on fewer.
        dataset: The dataset that it is about; empty where any will do.
    """

    def decorate(function: Callable[Concatenate[T, P], tuple[Decision, str]]) -> Callable[..., Verdict]:
        @wraps(function)
        def inside(runs: T, *args: P.args, **kwargs: P.kwargs) -> Verdict:
            parts = runs.values() if isinstance(runs, Mapping) else [runs]
            reason = "" if parts or not methods else "There are no such runs."
            for part in parts:
                if isinstance(part, Runs):
                    wrong = dataset and part.dataset != dataset
                    needs = f"It needs {dataset}; these runs are of {part.dataset}." if wrong else ""
                    reason = reason or needs or part.lacks(methods)
            try:
                verdict = not_testable(name, test, reason) if reason else None
                verdict = verdict or judge(name, test, *function(runs, *args, **kwargs))
            except NotJudgeableError as error:
                verdict = not_testable(name, test, str(error))
            return carry(verdict, lineage(runs, *args, *kwargs.values()))

        return inside

    return decorate


def percent(values: Mapping[str, float]) -> str:
    """Fractions by name, for evidence: "EWC 20.1, MAS 25.3"."""
    return ", ".join(f"{name} {100 * value:.1f}" for name, value in values.items())
